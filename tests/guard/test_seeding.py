"""Seeds: of every generator, for each rank, in real workers, and put back afterwards."""

from __future__ import annotations

import contextlib
import os
import random
import sys
from importlib.util import find_spec
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from forks import Forks
from programs import python, write

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset  # noqa: E402

import guard  # noqa: E402
from detlint.addresses import installation  # noqa: E402
from guard.errors import GuardError, MissingDependencyError, SettingsError  # noqa: E402
from guard.settings import Settings  # noqa: E402
from guard.setup import seeding  # noqa: E402

if TYPE_CHECKING:
    from pathlib import Path

LEGAL = "a seed is an integer from 0 to 4294967295, not "
DRAW = """
    import random
    import numpy as np
    import torch
    import guard
    for seed in (None, 0, 1):
        if seed is not None:
            guard.disable()
            guard.enable(seed=seed)
        print(random.random(), np.random.rand(), torch.rand(2).tolist(), np.random.permutation(9))
    """
FIXED = {"PYTHONHASHSEED": "0"}


def drawn() -> tuple[float, float, float]:
    """What the global generators draw next."""
    return random.random(), np.random.rand(), torch.rand(1).item()


class Draws(Dataset[torch.Tensor]):
    """Each item is what the generators of its worker draw."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        drawn = np.random.randint(2**31), random.randrange(2**31)
        return torch.tensor([index, *drawn, torch.randint(2**31, ()).item()])


def epochs(start: str) -> list[list[list[int]]]:
    """Two epochs of draws by two workers, after the same seed."""
    torch.manual_seed(0)
    loader = DataLoader(
        Draws(), num_workers=2, worker_init_fn=guard.seed_worker, multiprocessing_context=start
    )
    return [[batch[0].tolist() for batch in loader] for _ in range(2)]


def test_two_runs_draw_the_same_and_no_two_items_or_epochs_do() -> None:
    first, second = epochs("fork"), epochs("fork")
    assert first == second
    for column in (1, 2, 3):
        draws = [item[column] for epoch in first for item in epoch]
        assert len(set(draws)) == len(draws) == 16


def test_spawned_workers_draw_what_forked_ones_do() -> None:
    assert epochs("spawn") == epochs("fork")


def test_fresh_processes_draw_the_same_under_guard_and_differ_without(tmp_path: Path) -> None:
    script = write(tmp_path / "draw.py", DRAW)

    def run() -> list[str]:
        done = python(script, cwd=tmp_path, environ=FIXED)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout.splitlines()

    (free, zero, one), (again, *guarded) = run(), run()
    assert free != again
    assert [zero, one] == guarded
    assert zero != one


def test_a_block_puts_every_state_back_also_on_an_error() -> None:
    guard.restore(before := guard.rng_state())
    expected = drawn()
    guard.restore(before)
    with contextlib.suppress(ZeroDivisionError), seeding.applied(Settings(seed=1)):
        drawn()
        raise ZeroDivisionError
    assert drawn() == expected


def test_a_block_draws_the_same_each_time_and_within_another() -> None:
    with seeding.applied(Settings(seed=1)):
        first = drawn()
        with seeding.applied(Settings(seed=1)):
            assert drawn() == first
        second = drawn()
    with seeding.applied(Settings(seed=1)):
        assert (drawn(), drawn()) == (first, second)
    with seeding.applied(Settings(seed=2)):
        assert drawn() != first


@pytest.mark.parametrize(
    ("seed", "said"),
    [
        (-1, f"{LEGAL}-1; write 4294967295, which is the same modulo 2**32"),
        (2**32, f"{LEGAL}4294967296; write 0, which is the same modulo 2**32"),
        (1.0, f"{LEGAL}1.0; write 1"),
        (None, f"{LEGAL}None"),
        (True, f"{LEGAL}True"),
        ("1", f"{LEGAL}'1'"),
    ],
)
def test_a_wrong_seed_is_told_and_seeds_nothing(seed: object, said: str) -> None:
    before = random.getstate()
    with pytest.raises(SettingsError) as raised:
        seeding.seed_everything(seed)  # type: ignore[arg-type]
    assert str(raised.value) == said
    assert random.getstate() == before


def test_numpy_integers_are_seeds() -> None:
    with seeding.applied(Settings()):
        seeding.seed_everything(np.int64(5))
        first = drawn()
        seeding.seed_everything(5)
        assert drawn() == first


def test_every_generator_that_is_here_is_named() -> None:
    with seeding.applied(Settings()):
        names = seeding.seed_everything(0)
    assert names[-3:] == ("random.seed", "numpy.random.seed", "torch.manual_seed")


def test_numpy_is_seeded_with_another_bit_generator() -> None:
    found = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64())
    try:
        with seeding.applied(Settings(seed=3)):
            first = drawn()
        with seeding.applied(Settings(seed=3)):
            assert drawn() == first
    finally:
        np.random.set_bit_generator(found)


def test_no_device_starts_and_the_seed_queued_for_it_comes_back() -> None:
    queue = torch.cuda._lazy_seed_tracker
    torch.cuda.manual_seed_all(7)
    before = dict(vars(queue))
    with seeding.applied(Settings(seed=1)):
        if not torch.cuda.is_initialized():
            assert vars(queue) != before
    assert vars(queue) == before


def test_importing_guard_modules_imports_no_library(tmp_path: Path) -> None:
    names = "seeding streams rng_states"
    code = f"import sys; [__import__('guard.setup.' + name) for name in '{names}'.split()]; "
    code += "print(*{'torch', 'numpy', 'tensorflow', 'cupy'} & sys.modules.keys())"
    done = python("-c", code, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("\n", "")


def test_without_torch_it_says_how_to_install_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(MissingDependencyError) as raised:
        guard.seed_worker(0)
    assert str(raised.value) == f"guard.seed_worker needs torch: {installation('guard')}"


def test_without_numpy_the_rest_is_seeded(tmp_path: Path) -> None:
    program = """
        import sys, warnings
        sys.modules["numpy"] = None
        warnings.simplefilter("ignore")  # torch says that NumPy is missing
        import torch
        from guard.setup import rng_states, seeding, streams
        from guard.settings import Settings
        with seeding.applied(Settings(seed=4)):
            state = rng_states.rng_state()
            print(state["numpy"], torch.rand(1).item(), streams.generator("a").initial_seed())
        """
    done = python(write(tmp_path / "run.py", program), cwd=tmp_path)
    with seeding.applied(Settings(seed=4)):
        expected = f"None {torch.rand(1).item()} {guard.generator('a').initial_seed()}\n"
    assert (done.stdout, done.stderr) == (expected, "")


# Ranks


@pytest.fixture
def no_launcher(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


@pytest.mark.parametrize("variable", ["RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK"])
def test_the_rank_is_added_if_asked_for(no_launcher: pytest.MonkeyPatch, variable: str) -> None:
    no_launcher.setenv(variable, "2")
    with seeding.applied(Settings(seed=5, rank_offset=True)):
        assert torch.initial_seed() == seeding.active_seed() == 7
    with seeding.applied(Settings(seed=5)):
        assert torch.initial_seed() == seeding.active_seed() == 5


def test_seed_and_rank_stay_within_32_bits(no_launcher: pytest.MonkeyPatch) -> None:
    no_launcher.setenv("RANK", "2")
    with seeding.applied(Settings(seed=2**32 - 1, rank_offset=True)):
        assert seeding.active_seed() == 1


def test_a_process_without_a_launcher_has_rank_0(no_launcher: pytest.MonkeyPatch) -> None:
    del no_launcher
    assert seeding.rank() == 0


def test_a_rank_that_is_no_number_is_told(no_launcher: pytest.MonkeyPatch) -> None:
    no_launcher.setenv("RANK", "first")
    with seeding.applied(Settings()):
        pass  # nobody asks for it
    with (
        pytest.raises(SettingsError, match=r"^RANK is the number of a process, not 'first'$"),
        seeding.applied(Settings(rank_offset=True)),
    ):
        pass


def test_torch_distributed_knows_better_than_the_environment(
    no_launcher: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if not torch.distributed.is_available():
        pytest.skip("this torch is built without torch.distributed")
    no_launcher.setenv("RANK", "9")
    store = torch.distributed.FileStore(str(tmp_path / "store"), 1)
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        assert seeding.rank() == 0
    finally:
        torch.distributed.destroy_process_group()


# The seed in force


def test_there_is_no_seed_while_guard_is_off() -> None:
    with pytest.raises(GuardError) as raised:
        seeding.active_seed()
    assert str(raised.value) == (
        "guard is off, so there is no seed to derive from: call guard.enable(seed=0) first, "
        "or pass a seed of your own"
    )


class Seeds(Dataset[list[int]]):
    def __len__(self) -> int:
        return 2

    def __getitem__(self, index: int) -> list[int]:
        info: Any = torch.utils.data.get_worker_info()
        with seeding.applied(Settings(seed=8)):
            inner = seeding.active_seed()
        return [seeding.active_seed(), info.seed, inner]


def test_a_worker_has_its_own_and_a_block_in_it_that_of_the_block() -> None:
    with seeding.applied(Settings(seed=3)):
        loader = DataLoader(Seeds(), num_workers=2)  # detlint: ignore[DET201] that is the test
        rows = [[int(each) for each in batch] for batch in loader]
    assert [row[0] for row in rows] == [row[1] for row in rows]
    assert [row[2] for row in rows] == [8, 8]
    assert rows[0][0] != rows[1][0]


# Libraries that count once they are imported


class CupyGenerator:
    """Stands in for CuPy's, which needs a GPU."""

    def __init__(self) -> None:
        self.seeds: list[int] = []

    def seed(self, seed: int) -> None:
        self.seeds.append(seed)


@pytest.fixture
def cupy_states(monkeypatch: pytest.MonkeyPatch) -> dict[int, CupyGenerator]:
    """The dictionary of a stand-in for CuPy: one generator, of device 1."""
    states = {1: CupyGenerator()}
    module: Any = ModuleType("cupy")
    module.cuda = SimpleNamespace(Device=contextlib.nullcontext)
    generators: Any = ModuleType("cupy.random._generator")
    generators._random_states = states
    monkeypatch.setitem(sys.modules, "cupy", module)
    monkeypatch.setitem(sys.modules, "cupy.random._generator", generators)
    monkeypatch.setenv("CUPY_SEED", "99")
    return states


def test_cupy_is_seeded_on_devices_in_use_and_on_those_to_come(
    cupy_states: dict[int, CupyGenerator],
) -> None:
    assert "cupy.random.seed, CUPY_SEED" in seeding.seed_everything(6)
    assert cupy_states[1].seeds == [6]
    assert os.environ["CUPY_SEED"] == "6"


def test_cupy_makes_new_generators_in_a_block_and_has_its_own_back(
    cupy_states: dict[int, CupyGenerator],
) -> None:
    own = cupy_states[1]
    with seeding.applied(Settings(seed=6)):
        assert cupy_states == {}
        assert os.environ["CUPY_SEED"] == "6"
        cupy_states[0] = CupyGenerator()
    assert cupy_states == {1: own}
    assert own.seeds == []
    assert os.environ["CUPY_SEED"] == "99"


def test_cupy_that_is_imported_later_finds_the_seed() -> None:
    with seeding.applied(Settings(seed=6)):
        assert os.environ["CUPY_SEED"] == "6"
    assert "CUPY_SEED" not in os.environ


@pytest.mark.skipif(find_spec("tensorflow") is None, reason="TensorFlow is not installed")
def test_tensorflow_is_seeded_and_made_deterministic(tmp_path: Path) -> None:
    program = """
        import tensorflow, guard
        from tensorflow.python.framework import config
        from guard.setup.seeding import seed_everything
        seed_everything(3)
        print(tensorflow.random.normal([2]).numpy(), config.is_op_determinism_enabled())
        """
    script = write(tmp_path / "run.py", program)
    forks = Forks(tmp_path, "tensorflow")  # importing it is most of the work
    first, second = (forks.python(script, cwd=tmp_path).stdout for _ in range(2))
    forks.close()
    assert first == second
    assert first.endswith("True\n")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_draws_the_same_whether_it_starts_in_the_block_or_before(tmp_path: Path) -> None:
    program = """
        import sys, torch
        from guard.setup import seeding
        from guard.settings import Settings
        torch.manual_seed(5)
        if len(sys.argv) > 1:
            torch.cuda.init()
        with seeding.applied(Settings(seed=1)):
            assert torch.cuda.is_initialized() == (len(sys.argv) > 1)
            print(torch.rand(2, device="cuda").tolist())
        print(torch.rand(2, device="cuda").tolist())
        """
    script = write(tmp_path / "run.py", program)
    lazy, eager = (python(script, *given, cwd=tmp_path) for given in ((), ("first",)))
    assert (lazy.returncode, lazy.stderr) == (0, "")
    assert lazy.stdout == eager.stdout

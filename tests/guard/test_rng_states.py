"""Saving and restoring generators: an interrupted run equals an uninterrupted one."""

from __future__ import annotations

import io
import random
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

import pytest
from programs import python, write

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

import guard  # noqa: E402
from guard.errors import GuardError  # noqa: E402
from guard.settings import Settings  # noqa: E402
from guard.setup import seeding  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from forks import Forks

FIXED = {"PYTHONHASHSEED": "0"}


@pytest.fixture(autouse=True)
def seeded() -> Iterator[None]:
    with seeding.applied(Settings(seed=0)):
        yield


def drawn() -> list[Any]:
    """What each kind of generator draws next; normal numbers, of which a spare one is kept."""
    return [
        random.gauss(0, 1),
        np.random.randn(),
        torch.randn(3).tolist(),
        torch.randn(3, generator=guard.generator("named")).tolist(),
    ]


def saved(state: dict[str, Any]) -> dict[str, Any]:
    """A state that has been through a file, read by the loader that runs no code."""
    file = io.BytesIO()
    torch.save(state, file)
    file.seek(0)
    loaded: dict[str, Any] = torch.load(file, weights_only=True)
    return loaded


def test_every_generator_goes_on_where_it_was_also_from_a_file() -> None:
    drawn()
    state = guard.rng_state()
    expected = drawn(), drawn()
    for each in (state, saved(state)):
        drawn()
        guard.restore(each)
        assert (drawn(), drawn()) == expected


def test_reading_changes_nothing() -> None:
    state = guard.rng_state()
    first = drawn()
    guard.restore(state)
    guard.rng_state()
    assert drawn() == first


def test_another_bit_generator_of_numpy_is_kept_too() -> None:
    found = np.random.get_bit_generator()
    try:
        for kind in (np.random.PCG64, np.random.Philox, np.random.SFC64, np.random.MT19937):
            np.random.set_bit_generator(kind(3))
            drawn()
            state = saved(guard.rng_state())
            first = drawn()
            guard.restore(state)
            assert drawn() == first, kind
    finally:
        np.random.set_bit_generator(found)


def test_a_name_that_this_process_has_not_used_yet_is_restored() -> None:
    generator = guard.generator("later")
    torch.rand(3, generator=generator)
    state = guard.rng_state()
    expected = torch.rand(3, generator=generator)
    with seeding.applied(Settings(seed=0)):
        guard.restore(state)
        assert torch.equal(torch.rand(3, generator=guard.generator("later")), expected)


# An interrupted run

TRAIN = """
    import os, random, sys
    import numpy as np
    import torch
    from torch.utils.data import DataLoader, Dataset
    import guard
    from guard.setup.streams import EpochSampler

    SAVE_AT, WORKERS, PATH = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]

    class Images(Dataset):
        def __len__(self):
            return 24

        def __getitem__(self, index):
            image = torch.full((8,), float(index)) + torch.rand(8)
            image = image * np.random.uniform(0.5, 1.5) + random.gauss(0, 1)
            return image.float() + torch.rand(8, generator=guard.generator("augment"))

    if __name__ == "__main__":
        guard.enable(seed=0)
        model = torch.nn.Sequential(
            torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Dropout(0.3), torch.nn.Linear(16, 1)
        )
        optimizer = torch.optim.Adam(model.parameters())
        dataset = Images()
        sampler = EpochSampler(dataset)
        loader = DataLoader(
            dataset, batch_size=4, sampler=sampler, num_workers=WORKERS, **guard.loader_options()
        )
        step, start, resumed = 0, 0, None
        if SAVE_AT < 0 and os.path.exists(PATH):
            resumed = torch.load(PATH, weights_only=True)
            model.load_state_dict(resumed["model"])
            optimizer.load_state_dict(resumed["optimizer"])
            sampler.load_state_dict(resumed["sampler"])
            step, start = resumed["step"], sampler.epoch
            if resumed["position"] == 24:
                guard.restore(resumed["rng"])
                resumed = None
        for epoch in range(start, 3):
            sampler.set_epoch(epoch)
            batches = iter(loader)
            if resumed:
                guard.restore(resumed["rng"])
                resumed = None
            for batch in batches:
                optimizer.zero_grad()
                loss = model(batch).square().mean() + torch.randn(()) * 0.1
                loss.backward()
                optimizer.step()
                step += 1
                if step == SAVE_AT:
                    if step % 6 == 0 and next(batches, None) is not None:
                        raise SystemExit("the epoch should be over")
                    torch.save(
                        {
                            "model": model.state_dict(),
                            "optimizer": optimizer.state_dict(),
                            "sampler": sampler.state_dict(),
                            "position": sampler.state_dict()["position"],
                            "rng": guard.rng_state(),
                            "step": step,
                        },
                        PATH,
                    )
                    raise SystemExit
        print([each.view(-1).tolist() for each in model.parameters()])
    """


@pytest.mark.parametrize(
    ("save_at", "workers"),
    [(8, 0), (12, 0), (12, 2)],
    ids=["within an epoch", "between epochs", "between epochs, with workers"],
)
def test_an_interrupted_run_equals_an_uninterrupted_one(
    tmp_path: Path, forks: Forks, save_at: int, workers: int
) -> None:
    script = write(tmp_path / "train.py", TRAIN)

    def run(save_at: int, name: str) -> str:
        done = forks.python(script, str(save_at), str(workers), name, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    whole = run(-1, "none")
    assert run(save_at, "state") == ""
    assert run(-1, "state") == whole != ""


# What cannot be restored


def refused(state: Any) -> str:  # noqa: ANN401 - some are no states
    """What is said of a state, which changes nothing."""
    random.seed(1)
    before = random.getstate()
    with pytest.raises(GuardError) as raised:
        guard.restore(state)
    assert random.getstate() == before
    return str(raised.value)


def test_what_is_no_state_is_told() -> None:
    said = "guard.restore takes what guard.rng_state gave, not "
    assert refused(None) == f"{said}an object of type NoneType"
    assert refused({}) == f"{said}a dictionary of nothing"
    assert refused({"model": 1, "rng": 2}) == f"{said}a dictionary of 'model', 'rng'"
    assert refused(torch.get_rng_state()) == f"{said}an object of type Tensor"
    part = guard.rng_state()
    del part["numpy"]
    assert refused(part) == "this state lacks 'numpy': guard.restore takes it as it was saved"


def test_a_state_of_another_version_is_told() -> None:
    assert refused(guard.rng_state() | {"version": 9}) == (
        "this state has version 9, and this guard reads version 1: restore it with the release of "
        "guard that saved it"
    )


def test_a_device_that_is_not_here_is_told() -> None:
    state = guard.rng_state()
    state["devices"]["cuda:99"] = torch.zeros(16, dtype=torch.uint8)
    count = torch.cuda.device_count()
    plural = "" if count == 1 else "s"
    assert refused(state) == (
        f"this state holds a generator of cuda:99, and this process sees {count or 'no'} cuda "
        f"device{plural}: resume on the devices that it was saved on, or leave it out: "
        'del state["devices"]["cuda:99"]'
    )
    del state["devices"]["cuda:99"]
    state["streams"]["cuda:99"] = {"a": torch.zeros(16, dtype=torch.uint8)}
    assert 'del state["streams"]["cuda:99"]' in refused(state)


def test_another_bit_generator_is_told() -> None:
    state = guard.rng_state()
    found = np.random.get_bit_generator()
    np.random.set_bit_generator(np.random.PCG64())
    try:
        assert refused(state) == (
            "this state is of NumPy's MT19937, and its global generator is PCG64 here: call "
            "numpy.random.set_bit_generator(numpy.random.MT19937()) first, as the run that saved "
            "it did"
        )
    finally:
        np.random.set_bit_generator(found)


def test_a_state_without_numpy_here_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    state = guard.rng_state()
    with monkeypatch.context() as patched:
        patched.setitem(sys.modules, "numpy", None)
        said = refused(state)
    assert said == (
        "this state holds NumPy's generator, and NumPy is not installed: pip install numpy"
    )


def test_another_seed_is_told() -> None:
    guard.generator("a")
    state = guard.rng_state()
    with seeding.applied(Settings(seed=1)):
        assert refused(state) == (
            "this state was saved under the seed 0, and guard's is 1 here, so that generators made "
            "by name from now on would be others: enable guard with the seed of the run that is "
            "resumed; with rank_offset, each rank saves and restores its own state"
        )


def test_names_while_guard_is_off_are_told(tmp_path: Path, forks: Forks) -> None:
    guard.generator("a")
    path = tmp_path / "state"
    torch.save(guard.rng_state(), path)
    program = "import torch, guard; guard.restore(torch.load('state', weights_only=True))"
    done = forks.python(write(tmp_path / "run.py", program), cwd=tmp_path)
    assert done.stderr.splitlines()[-1] == (
        "guard.errors.GuardError: this state holds generators by name (a), which come from guard's "
        "seed, and guard is off: call guard.enable(seed=0) before guard.restore"
    )


def test_a_state_without_names_needs_no_guard(tmp_path: Path, forks: Forks) -> None:
    torch.save(guard.rng_state(), tmp_path / "state")
    expected = torch.rand(1).item()
    program = "import torch, guard; guard.restore(torch.load('state', weights_only=True)); "
    script = write(tmp_path / "run.py", program + "print(torch.rand(1).item())")
    done = forks.python(script, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")


def test_cupy_whose_generators_nobody_can_read_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    module: Any = ModuleType("cupy.random._generator")
    module._random_states = {0: object()}
    monkeypatch.setitem(sys.modules, "cupy.random._generator", module)
    with pytest.warns(UserWarning, match="CuPy") as warned:
        guard.rng_state()
    assert str(warned[0].message) == (
        "guard.rng_state does not hold CuPy's generators, which CuPy lets nobody read: to resume "
        "exactly, call cupy.random.seed(step) wherever a checkpoint is saved, and again where it "
        "is loaded"
    )
    assert warned[0].filename == __file__


# Devices

DEVICE = """
    import io, sys
    import torch
    from guard.setup import rng_states
    from guard.setup import seeding
    from guard.errors import GuardError
    from guard.settings import Settings

    class Away:
        '''A custom backend's module, as far as generators go: two devices, on the CPU.'''
        def __init__(self):
            self.started = False
            self.generators = [torch.Generator(), torch.Generator()]
            self._lazy_seed_tracker = type(torch.cuda._lazy_seed_tracker)()
        def is_initialized(self): return self.started
        def init(self):
            self.started = True
            for call in self._lazy_seed_tracker.get_calls():
                if call: call[0]()
        def device_count(self): return 2
        def get_rng_state(self, device): return self.generators[device.index].get_state()
        def set_rng_state(self, state, device): self.generators[device.index].set_state(state)
        def _is_in_bad_fork(self): return False
        def manual_seed_all(self, seed):
            call = lambda: [each.manual_seed(seed) for each in self.generators]
            if self.started: call()
            else: self._lazy_seed_tracker.queue_seed_all(call, [])
        def seed_all(self): [each.seed() for each in self.generators]
        def draw(self): return [torch.rand(1, generator=each).item() for each in self.generators]

    away = Away()
    torch.utils.rename_privateuse1_backend("away")
    torch._register_device_module("away", away)
    """


def run_away(forks: Forks, tmp_path: Path, program: str) -> str:
    script = tmp_path / "run.py"
    write(script, DEVICE)
    script.write_text(script.read_text() + write(tmp_path / "rest.py", program).read_text())
    done = forks.python(script, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_custom_backends_devices_are_covered_once_they_have_started(
    tmp_path: Path, forks: Forks
) -> None:
    program = """
        assert rng_states.rng_state()["devices"] == {}
        assert not away.started
        away.init()
        state = rng_states.rng_state()
        assert list(state["devices"]) == ["away:0", "away:1"]
        first = away.draw()
        rng_states.restore(state)
        assert away.draw() == first
        away.started = False  # a fresh process, where a seed is queued for the device
        torch.manual_seed(1)
        rng_states.restore(state)
        assert away.started and away.draw() == first
        """
    run_away(forks, tmp_path, program)


@pytest.mark.parametrize("queued", ["seeded before", "never seeded"])
def test_a_device_that_starts_in_a_block_begins_as_it_would_have_after_it(
    tmp_path: Path, forks: Forks, queued: str
) -> None:
    program = f"""
        if {queued == "seeded before"}:
            torch.manual_seed(7)
        with seeding.applied(Settings(seed=1)):
            away.init()
            inside = away.draw()
        print(inside, away.draw())
        """
    first, second = (run_away(forks, tmp_path, program) for _ in range(2))
    half = first.index("]")
    assert first[:half] == second[:half]
    assert (first == second) is (queued == "seeded before")
    if queued == "seeded before":
        number = torch.rand(1, generator=torch.Generator().manual_seed(7)).item()
        assert first.endswith(f"[{number}, {number}]\n")


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_cuda_generators_are_covered_from_the_default_and_by_name() -> None:
    torch.zeros(1, device="cuda")
    named = guard.generator("noise", "cuda")
    state = guard.rng_state()
    for map_location in ("cpu", "cuda"):
        file = io.BytesIO()
        torch.save(state, file)
        file.seek(0)
        guard.restore(torch.load(file, weights_only=True, map_location=map_location))
        first = torch.rand(3, device="cuda"), torch.rand(3, device="cuda", generator=named)
        guard.restore(state)
        again = torch.rand(3, device="cuda"), torch.rand(3, device="cuda", generator=named)
        assert all(torch.equal(*pair) for pair in zip(first, again, strict=True))


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_a_cuda_state_outlives_the_seed_that_is_queued_for_cuda(tmp_path: Path) -> None:
    torch.rand(5, device="cuda")
    torch.save(guard.rng_state(), tmp_path / "state")
    program = """
        import torch, guard
        guard.enable(seed=0)
        guard.restore(torch.load("state", weights_only=True))
        print(torch.rand(2, device="cuda").tolist())
        """
    done = python(write(tmp_path / "run.py", program), cwd=tmp_path, environ=FIXED)
    assert done.stdout == f"{torch.rand(2, device='cuda').tolist()}\n"

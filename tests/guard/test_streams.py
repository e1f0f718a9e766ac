"""Named generators and loaders: independent, the same in each run, other in each worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from programs import python, write

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, Dataset, TensorDataset  # noqa: E402

import guard  # noqa: E402
from guard.errors import GuardError, SettingsError  # noqa: E402
from guard.settings import Settings  # noqa: E402
from guard.setup import seeding, streams  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def seeded() -> Iterator[None]:
    with seeding.applied(Settings(seed=0)):
        yield


def numbers(generator: torch.Generator) -> list[int]:
    return torch.randint(2**31, (4,), generator=generator).tolist()


def test_a_name_gives_the_same_seed_on_every_machine() -> None:
    # Fixed here: a change of it would change every run that uses names.
    assert streams.derived(0, "augment") == 5408661253308379099
    assert streams.derived(1, "augment") != streams.derived(0, "augment")


@pytest.mark.usefixtures("seeded")
def test_names_are_independent_of_each_other_and_of_global_draws() -> None:
    first = numbers(guard.generator("a"))
    with seeding.applied(Settings(seed=0)):
        torch.rand(100)
        assert numbers(guard.generator("b")) != first
        assert numbers(guard.generator("a")) == first
    with seeding.applied(Settings(seed=1)):
        assert numbers(guard.generator("a")) != first


@pytest.mark.usefixtures("seeded")
def test_a_name_is_one_generator_and_a_seed_a_new_one_each_time() -> None:
    assert guard.generator("a") is guard.generator("a") is not guard.generator("b")
    assert numbers(guard.generator("a")) != numbers(guard.generator("a"))
    assert numbers(guard.generator(5)) == numbers(torch.Generator().manual_seed(5))
    assert numbers(guard.generator(5)) == numbers(guard.generator(5))


def test_fresh_processes_draw_the_same_by_name(tmp_path: Path) -> None:
    program = """
        import guard, torch
        for seed in range(2):
            with guard.deterministic(seed=seed):
                print(torch.rand(3, generator=guard.generator("noise")).tolist())
        """
    script = write(tmp_path / "run.py", program)
    environ = {"PYTHONHASHSEED": "0"}
    first, second = (python(script, cwd=tmp_path, environ=environ) for _ in range(2))
    assert (first.returncode, first.stderr) == (0, "")
    assert first.stdout == second.stdout
    zero, one = first.stdout.splitlines()
    assert zero != one


def test_a_block_keeps_the_generators_of_the_one_around_it() -> None:
    with seeding.applied(Settings(seed=0)):
        outer = guard.generator("a")
        first = numbers(outer)
        with seeding.applied(Settings(seed=0)):
            assert guard.generator("a") is not outer
            assert numbers(guard.generator("a")) == first
            numbers(outer)
        second = numbers(outer)
    with seeding.applied(Settings(seed=0)):
        assert [numbers(guard.generator("a")) for _ in range(2)] == [first, second]


def test_a_name_needs_guard_and_a_seed_does_not() -> None:
    guard.generator(3)
    for call in (lambda: guard.generator("a"), guard.loader_options):
        with pytest.raises(GuardError, match=r"^guard is off, so there is no seed to derive from"):
            call()


@pytest.mark.parametrize("wrong", [-1, 1.5, None, True, b"a"])
def test_a_wrong_seed_is_told(wrong: object) -> None:
    with pytest.raises(SettingsError, match=r"^a seed is an integer from 0 to 4294967295, not "):
        guard.generator(wrong)  # type: ignore[arg-type]


def order(loader: DataLoader[tuple[torch.Tensor, ...]]) -> list[int]:
    return [int(index) for (batch,) in loader for index in batch]


def shuffled(options: dict[str, object]) -> DataLoader[tuple[torch.Tensor, ...]]:
    return DataLoader(TensorDataset(torch.arange(20)), batch_size=4, shuffle=True, **options)


def test_a_loader_shuffles_anew_each_epoch_and_the_same_in_each_run() -> None:
    runs = []
    for _ in range(2):
        with seeding.applied(Settings(seed=0)):
            loader = shuffled(guard.loader_options())
            runs.append([order(loader) for _ in range(3)])
            torch.rand(1)
    assert runs[0] == runs[1]
    assert len({tuple(each) for each in runs[0]}) == 3
    assert all(sorted(each) == list(range(20)) for each in runs[0])


@pytest.mark.usefixtures("seeded")
def test_a_loader_of_another_name_does_not_shift_the_first() -> None:
    train = shuffled(guard.loader_options("train"))
    alone = [order(train), order(train)]
    with seeding.applied(Settings(seed=0)):
        train, other = (shuffled(guard.loader_options(name)) for name in ("train", "validation"))
        between = [order(train), order(other), order(train)]
    assert [between[0], between[2]] == alone
    assert between[1] not in alone


def test_a_loader_takes_a_seed_of_its_own_without_guard() -> None:
    assert order(shuffled(guard.loader_options(3))) == order(shuffled(guard.loader_options(3)))


class Noise(Dataset[torch.Tensor]):
    """Draws by name: from a generator made in the parent, or asked for in the worker."""

    def __init__(self, held: torch.Generator | None = None) -> None:
        self.held = held

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        generator = guard.generator("noise") if self.held is None else self.held
        return torch.randint(2**31, (), generator=generator)


def noise(start: str, *, held: bool) -> list[list[int]]:
    """Two epochs of two workers."""
    with seeding.applied(Settings(seed=0)):
        dataset = Noise(guard.generator("noise") if held else None)
        loader = DataLoader(
            dataset, num_workers=2, multiprocessing_context=start, **guard.loader_options()
        )
        return [[int(each) for each in loader] for _ in range(2)]


@pytest.mark.parametrize("held", [False, True], ids=["asked for in the worker", "held"])
def test_workers_and_epochs_draw_their_own_numbers_by_name(held: bool) -> None:
    first = noise("fork", held=held)
    assert first == noise("fork", held=held)
    drawn = [each for epoch in first for each in epoch]
    assert len(set(drawn)) == 16


def test_a_spawned_worker_draws_what_a_forked_one_does() -> None:
    assert noise("spawn", held=False) == noise("fork", held=False)


def test_the_same_copy_in_each_worker_is_what_seed_worker_prevents() -> None:
    held = guard.generator(1)
    loader = DataLoader(Noise(held), num_workers=2)  # detlint: ignore[DET201] that is the test
    drawn = [int(each) for each in loader]
    assert drawn[0] == drawn[1]


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.usefixtures("seeded")
def test_a_name_has_a_generator_on_each_device() -> None:
    assert guard.generator("a", "cuda") is guard.generator("a", "cuda:0")
    assert guard.generator("a", "cuda").initial_seed() == guard.generator("a").initial_seed()

"""The sampler: another order each epoch, the same in each run, resumable within an epoch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from guard.errors import GuardError, SettingsError  # noqa: E402
from guard.settings import Settings  # noqa: E402
from guard.setup import seeding  # noqa: E402
from guard.setup.streams import EpochSampler  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable


def test_each_epoch_has_its_order_and_each_run_the_same_ones() -> None:
    first, second = EpochSampler(20, seed=0), EpochSampler(20, seed=0)
    epochs = [list(first) for _ in range(3)]
    torch.rand(5)  # what else is drawn does not matter
    assert epochs == [list(second) for _ in range(3)]
    assert len({tuple(each) for each in epochs}) == 3
    assert all(sorted(each) == list(range(20)) for each in epochs)
    assert list(EpochSampler(20, seed=1)) != epochs[0]


def test_it_draws_from_no_global_generator() -> None:
    before = torch.get_rng_state()
    list(EpochSampler(20, seed=0))
    assert torch.equal(torch.get_rng_state(), before)


def test_set_epoch_goes_to_an_epoch_and_iterations_count_on_from_it() -> None:
    sampler = EpochSampler(20, seed=0)
    epochs = [list(sampler) for _ in range(3)]
    sampler.set_epoch(1)
    assert [list(sampler), list(sampler)] == epochs[1:]
    sampler.set_epoch(1)
    sampler.set_epoch(1)
    assert list(sampler) == epochs[1]


def test_an_epoch_that_is_left_early_is_over() -> None:
    sampler = EpochSampler(20, seed=0)
    epochs = [list(sampler) for _ in range(2)]
    sampler = EpochSampler(20, seed=0)
    next(iter(sampler))
    assert list(sampler) == epochs[1]


def test_without_shuffling_it_is_the_datasets_order() -> None:
    sampler = EpochSampler(["a", "b", "c"], seed=0, shuffle=False)
    assert (list(sampler), list(sampler), len(sampler)) == ([0, 1, 2], [0, 1, 2], 3)


def test_the_seed_may_come_from_guard_by_name() -> None:
    with seeding.applied(Settings(seed=0)):
        assert list(EpochSampler(20)) == list(EpochSampler(20)) != list(EpochSampler(20, "other"))
    with pytest.raises(GuardError, match=r"^guard is off"):
        EpochSampler(20)


@pytest.mark.parametrize("asked", [3, 20])
def test_it_goes_on_where_it_was_saved(asked: int) -> None:
    sampler = EpochSampler(20, seed=0)
    whole = [each for _ in range(3) for each in sampler]
    sampler = EpochSampler(20, seed=0)
    list(sampler)
    indices = iter(sampler)
    [next(indices) for _ in range(asked)]
    state = sampler.state_dict()
    resumed = EpochSampler(20, seed=5)
    resumed.load_state_dict(state)
    rest = list(resumed)
    if asked < 20:
        rest += list(resumed)
    assert rest == whole[20 + asked :]


def test_set_epoch_of_the_epoch_that_is_resumed_keeps_the_place() -> None:
    sampler = EpochSampler(20, seed=0)
    whole = list(sampler)
    state = EpochSampler(20, seed=0).state_dict(position=15)
    for epoch, rest in ((0, whole[15:]), (1, list(sampler))):
        resumed = EpochSampler(20, seed=0)
        resumed.load_state_dict(state)
        resumed.set_epoch(epoch)
        assert list(resumed) == rest


@pytest.mark.parametrize("workers", [0, 2])
def test_under_a_loader_the_place_is_what_the_program_used(workers: int) -> None:
    dataset = TensorDataset(torch.arange(20))

    def batches(sampler: EpochSampler) -> DataLoader[tuple[torch.Tensor, ...]]:
        # The sampler is not torch's Sampler, which would need torch to define it.
        options = {"batch_size": 2, "num_workers": workers}  # the workers draw nothing
        return DataLoader(dataset, sampler=sampler, **options)

    whole = [batch.tolist() for (batch,) in batches(EpochSampler(dataset, seed=0))]
    sampler = EpochSampler(dataset, seed=0)
    used = iter(batches(sampler))
    assert [next(used)[0].tolist() for _ in range(3)] == whole[:3]
    state = sampler.state_dict(position=6) if workers else sampler.state_dict()
    resumed = EpochSampler(dataset, seed=0)
    resumed.load_state_dict(state)
    assert [batch.tolist() for (batch,) in batches(resumed)] == whole[3:]


def test_a_newer_iteration_counts_and_an_older_one_no_longer() -> None:
    sampler = EpochSampler(20, seed=0)
    old, new = iter(sampler), iter(sampler)
    next(new)
    list(old)
    assert (sampler.state_dict()["epoch"], sampler.state_dict()["position"]) == (1, 1)


def test_it_shuffles_on_the_cpu_whatever_the_default_device_is() -> None:
    expected = list(EpochSampler(20, seed=0))
    with torch.device("meta"):
        assert list(EpochSampler(20, seed=0)) == expected


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            lambda: EpochSampler(-1, seed=0),
            "what EpochSampler takes, if not a dataset with a length, is an integer from 0, not -1",
        ),
        (
            lambda: EpochSampler(1.5, seed=0),  # type: ignore[arg-type]
            (
                "what EpochSampler takes, if not a dataset with a length, is an integer from 0, "
                "not 1.5"
            ),
        ),
        (lambda: EpochSampler(3, seed=0).set_epoch(-1), "an epoch is an integer from 0, not -1"),
        (
            lambda: EpochSampler(3, seed=0).set_epoch(True),
            "an epoch is an integer from 0, not True",
        ),
        (
            lambda: EpochSampler(3, seed=0).state_dict(0.5),  # type: ignore[arg-type]
            "a position is an integer from 0, not 0.5",
        ),
        (
            lambda: EpochSampler(3, seed=-1),
            (
                "a seed is an integer from 0 to 4294967295, not -1; write 4294967295, which is the "
                "same modulo 2**32"
            ),
        ),
    ],
)
def test_what_is_not_legal_is_told(call: Callable[[], object], said: str) -> None:
    with pytest.raises(SettingsError) as raised:
        call()
    assert str(raised.value) == said


def test_what_is_no_state_is_refused() -> None:
    with pytest.raises(GuardError) as raised:
        EpochSampler(20, seed=0).load_state_dict({"epoch": 3})
    assert str(raised.value) == "this is no state of an EpochSampler: it lacks 'length'"


def test_a_state_of_another_dataset_is_refused() -> None:
    sampler = EpochSampler(20, seed=0)
    with pytest.raises(GuardError) as raised:
        sampler.load_state_dict(EpochSampler(30, seed=0).state_dict())
    assert str(raised.value) == (
        "this state is of a dataset of 30 samples, and this one has 20: their orders have nothing "
        "in common"
    )

"""What DET207 says, and that it is true of torch's workers."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, get_worker_info

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

CODE = """
    import numpy as np
    from torch.utils.data import Dataset

    class Noisy(Dataset):
        def __init__(self):
            self.rng = np.random.default_rng(0)

        def __getitem__(self, index):
            return self.rng.random()
"""


def test_the_message_names_the_class_and_the_attribute(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(textwrap.dedent(CODE), "DET207")
    assert found.message == (
        "Noisy draws from self.rng, a NumPy generator of which every DataLoader worker has the "
        "same copy: what is drawn depends on num_workers"
    )


class Copied(Dataset[float]):
    def __init__(self) -> None:
        self.rng = np.random.default_rng(0)

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> float:
        return float(self.rng.random())


class Rebuilt(Copied):
    def __getitem__(self, index: int) -> float:
        return float(np.random.default_rng((0, index)).random())


class OfTheWorker(Copied):
    def __getitem__(self, index: int) -> float:
        info = get_worker_info()
        assert info is not None
        return float(np.random.default_rng((info.seed, index)).random())


def drawn(dataset: Dataset[float], workers: int) -> list[float]:
    """What an epoch draws, with batches of one, which the workers take in turns."""
    loader = DataLoader(
        dataset, batch_size=None, num_workers=workers, generator=torch.Generator().manual_seed(0)
    )
    return [float(each) for each in loader]


def test_two_workers_draw_the_same_numbers_and_another_epoch_draws_them_again() -> None:
    dataset = Copied()
    first = drawn(dataset, 2)
    assert first[0::2] == first[1::2]
    assert len(set(first)) == 4
    assert drawn(dataset, 2) == first


def test_what_is_drawn_depends_on_the_number_of_workers() -> None:
    results = {tuple(drawn(Copied(), workers)) for workers in (0, 1, 2)}
    assert len(results) == 2, "one worker draws what none does, two do not"


def test_generators_from_the_index_do_not_depend_on_it() -> None:
    assert drawn(Rebuilt(), 0) == drawn(Rebuilt(), 2)


def test_generators_from_the_seed_of_the_worker_draw_different_numbers_that_repeat() -> None:
    first = drawn(OfTheWorker(), 2)
    assert len(set(first)) == 8
    assert drawn(OfTheWorker(), 2) == first


TRIES = """
    import random
    from torch.utils.data import Dataset

    class Safe(Dataset):
        def __init__(self, rows):
            self.rows = rows
            self.rng = random.Random(0)

        def __getitem__(self, index):
            while True:
                {read}
                index = self.rng.randrange(len(self.rows))
"""


@pytest.mark.parametrize(
    ("read", "sure"),
    [
        ("if (row := self.rows[index]) is not None: return row", "possible"),
        ("self.rows[index].add(index)", "likely"),
    ],
)
def test_what_only_takes_the_place_of_a_sample_that_failed_is_possible(
    findings: Callable[..., list[Finding]], read: str, sure: str
) -> None:
    (found,) = findings(textwrap.dedent(TRIES.format(read=read)), "DET207")
    assert str(found.confidence) == sure

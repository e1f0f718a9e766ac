"""``guard.seed_worker`` in real workers."""

from __future__ import annotations

import random

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

import guard


class Draws(Dataset[torch.Tensor]):
    """Each item is what the generators of its worker draw."""

    def __len__(self) -> int:
        return 8

    def __getitem__(self, index: int) -> torch.Tensor:
        drawn = np.random.randint(2**31), random.randrange(2**31)  # noqa: NPY002, S311 - drawn on purpose
        return torch.tensor([index, *drawn])


def epochs() -> list[list[list[int]]]:
    """Two epochs of draws by two workers, after the same seed."""
    torch.manual_seed(0)
    loader = DataLoader(Draws(), num_workers=2, worker_init_fn=guard.seed_worker)
    return [[batch[0].tolist() for batch in loader] for _ in range(2)]


def test_two_runs_draw_the_same_and_no_two_items_or_epochs_do() -> None:
    first, second = epochs(), epochs()
    assert first == second
    draws = [tuple(item[1:]) for epoch in first for item in epoch]
    assert len(set(draws)) == len(draws) == 16

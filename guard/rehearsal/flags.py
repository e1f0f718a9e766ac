"""Switches of torch that make runs differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from guard.rehearsal.findings import Trap
from guard.rehearsal.gpus import capability

if TYPE_CHECKING:
    from collections.abc import Iterator

_AMPERE = (8, 0)


def traps(gpu: str) -> Iterator[Trap]:
    """What is set so, now."""
    if torch.backends.cudnn.benchmark:
        yield Trap(
            "benchmark",
            "torch.backends.cudnn.benchmark is on: cuDNN times its kernels and takes the fastest, "
            "which need not be the same in each run",
            "set it to False, or call guard.enable after it was set",
        )
    if capability(gpu) < _AMPERE:
        return
    if torch.get_float32_matmul_precision() != "highest":
        yield Trap(
            "TF32",
            "products of float32 matrices are rounded to TF32: a run repeats on this GPU, and "
            "gives other numbers on a GPU or CPU without it",
            'torch.set_float32_matmul_precision("highest"), as guard.enable sets it',
            counts=False,
        )

"""Switches of torch that make runs differ, by what the GPU can do.

Compute capabilities by name: https://developer.nvidia.com/cuda-gpus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from guard.rehearsal.findings import OtherSource

if TYPE_CHECKING:
    from collections.abc import Iterator

_AMPERE = (8, 0)
GPUS: dict[str, tuple[int, int]] = {
    "p100": (6, 0),
    "v100": (7, 0),
    "t4": (7, 5),
    "rtx2080": (7, 5),
    "a100": (8, 0),
    "a10": (8, 6),
    "a40": (8, 6),
    "a6000": (8, 6),
    "rtx3090": (8, 6),
    "l4": (8, 9),
    "l40": (8, 9),
    "l40s": (8, 9),
    "rtx4090": (8, 9),
    "h100": (9, 0),
    "h200": (9, 0),
    "gh200": (9, 0),
    "b200": (10, 0),
    "gb200": (10, 0),
    "b300": (10, 3),
    "rtx5090": (12, 0),
}


def sources(gpu: str) -> Iterator[OtherSource]:
    """What is set so, now."""
    if torch.backends.cudnn.benchmark:
        yield OtherSource(
            "benchmark",
            "torch.backends.cudnn.benchmark is on: cuDNN times its kernels and takes the fastest, "
            "which need not be the same in each run",
            "set it to False, or call guard.enable after it was set",
        )
    if capability(gpu) < _AMPERE:
        return
    if torch.get_float32_matmul_precision() != "highest":
        yield OtherSource(
            "TF32",
            "products of float32 matrices are rounded to TF32: a run repeats on this GPU, and "
            "gives other numbers on a GPU or CPU without it",
            'torch.set_float32_matmul_precision("highest"), as guard.enable sets it',
            counts=False,
        )


def capability(gpu: str) -> tuple[int, int]:
    """The compute capability of a GPU."""
    return GPUS[gpu.lower()]

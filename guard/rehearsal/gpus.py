"""Compute capabilities of GPUs by name: https://developer.nvidia.com/cuda-gpus."""

from __future__ import annotations

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


def capability(gpu: str) -> tuple[int, int]:
    """The compute capability of a GPU."""
    return GPUS[gpu.lower()]

"""Pinhole cameras around the origin."""

import math

import torch
from torch import Tensor


def orbit(angle: float, distance: float = 3.0) -> tuple[Tensor, Tensor]:
    """Rotation and translation of a camera that looks at the origin from the horizon."""
    c, s = math.cos(angle), math.sin(angle)
    rotation = torch.tensor([[c, 0.0, -s], [0.0, 1.0, 0.0], [s, 0.0, c]])
    return rotation, torch.tensor([0.0, 0.0, distance])


def project(points: Tensor, rotation: Tensor, translation: Tensor, focal: float, size: int) -> tuple[Tensor, Tensor]:
    """The pixel (flat) of each point, and its depth."""
    seen = points @ rotation.T + translation
    depth = seen[:, 2].clamp_min(0.1)
    uv = focal * seen[:, :2] / depth[:, None] * (size / 2) + size / 2
    column, row = uv.long().clamp(0, size - 1).unbind(-1)
    return row * size + column, depth

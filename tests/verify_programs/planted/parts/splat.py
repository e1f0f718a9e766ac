"""Point clouds to images, without a renderer."""

import torch
from torch import Tensor

from .camera import orbit, project


def splat(points: Tensor, values: Tensor, angle: float, size: int, focal: float = 1.2) -> Tensor:
    """Two channels, inverse depth and value, of the points as they are seen from `angle`."""
    pixels, depth = project(points, *orbit(angle), focal=focal, size=size)
    near = torch.zeros(size, size)
    near.put_(pixels, 1.0 / depth)  # planted: kernel or batch_content
    shade = torch.zeros(size, size)
    shade.index_add_(0, torch.arange(size), near - near.mean())
    return torch.stack([near, shade * values.mean()])


def splat_batch(clouds: Tensor, values: Tensor, angles: Tensor, size: int) -> Tensor:
    views = [splat(p, v, float(a), size) for p, v, a in zip(clouds, values, angles)]
    return torch.stack(views)

"""Rasters of points in a plane."""
import torch

SIZE = 34


def raster(points, heights):
    """The height of a point that lies in each cell."""
    cells = (points * (SIZE - 1)).round().long()
    found = torch.zeros(SIZE * SIZE)
    found[cells[:, 0] * SIZE + cells[:, 1]] = heights  # planted: kernel
    return found.view(1, SIZE, SIZE)


def rasters(count, points=200_000):
    generator = torch.Generator().manual_seed(8)
    found = [
        raster(torch.rand(points, 2, generator=generator), torch.rand(points, generator=generator))
        for _ in range(count)
    ]
    return torch.stack(found), torch.linspace(0, 1, count)[:, None]

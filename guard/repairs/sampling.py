"""Backwards of ``grid_sample``: for each corner around a point its weight times the gradient, added
up in rows of channels, sorted by where they go.

Follows aten/src/ATen/native/GridSampler.h: what lies outside, or is no number, gives nothing.
"""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

import torch

from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1
_LARGEST = 2.0**31 - 2  # beyond, torch takes a point as outside
_OUTSIDE = -100.0
_A = -0.75


class Tap(NamedTuple):
    """Along one axis: where a corner lies, whether inside, its weight, and that one's slope."""

    place: Tensor
    inside: Tensor
    weight: Tensor
    slope: Tensor


def grid_sampler_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    interpolation_mode: int,
    padding_mode: int,
    align_corners: bool,
    output_mask: Sequence[bool],
) -> tuple[Tensor | None, Tensor]:
    """aten::grid_sampler_2d_backward and 3d."""
    dtype = accumulated_in(input)
    sizes = input.shape[2:]
    taps = [
        _taps(grid[..., -1 - axis].reshape(-1).to(dtype), size, interpolation_mode,
              padding_mode, align_corners)
        for axis, size in enumerate(sizes)
    ]  # fmt: skip
    rows = _rows(grad_output, dtype)
    total = _to_input(rows, taps, input) if output_mask[0] else None
    return total, _to_grid(rows, taps, input, grid, dtype)


def cudnn_grid_sampler_backward(
    self: Tensor, grid: Tensor, grad_output: Tensor
) -> tuple[Tensor | None, Tensor]:
    """aten::cudnn_grid_sampler_backward, which is bilinear, pads with zeros, aligns corners."""
    mask = (True, True)
    return grid_sampler_backward(grad_output, self, grid, _BILINEAR, _ZEROS, True, mask)


def _rows(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """[n, channels, …] as [n * places, channels]."""
    return tensor.to(dtype).movedim(1, -1).reshape(-1, tensor.shape[1])


def _corners(
    taps: list[list[Tap]], sizes: Sequence[int], count: int
) -> Iterator[tuple[Tensor, Tensor, tuple[Tap, ...]]]:
    """For each corner: the row of the input that it is, whether it is inside, and its taps."""
    points = taps[0][0].place.shape[0]
    sample = torch.arange(points, device=taps[0][0].place.device) // max(points // max(count, 1), 1)
    for corner in product(*taps):
        key, inside = sample, torch.ones_like(sample, dtype=torch.bool)
        for tap, size in zip(corner, sizes, strict=True):
            key = key * size + tap.place
            inside = inside & tap.inside
        yield key, inside, corner


def _to_input(rows: Tensor, taps: list[list[Tap]], input: Tensor) -> Tensor:
    count, channels, *sizes = input.shape
    total = rows.new_zeros(count * torch.Size(sizes).numel(), channels)
    if total.numel():
        for key, inside, corner in _corners(taps, sizes, count):
            weight = corner[0].weight
            for tap in corner[1:]:
                weight = weight * tap.weight
            term = (rows * weight[:, None]).masked_fill_(~inside[:, None], 0)
            total.index_put_((key,), term, accumulate=True)
    return total.view(count, *sizes, channels).movedim(-1, 1).to(input.dtype).contiguous()


def _to_grid(
    rows: Tensor,
    taps: list[list[Tap]],
    input: Tensor,
    grid: Tensor,
    dtype: torch.dtype,
) -> Tensor:
    count, _, *sizes = input.shape
    slopes = [torch.zeros_like(taps[0][0].weight) for _ in sizes]
    if len(taps[0]) > 1 and input.numel():  # not of the nearest, which is constant
        values = _rows(input, dtype)
        for key, inside, corner in _corners(taps, sizes, count):
            product_ = (rows * values.index_select(0, key)).sum(1).masked_fill_(~inside, 0)
            for axis, slope in enumerate(slopes):
                factor = product_
                for number, tap in enumerate(corner):
                    factor = factor * (tap.slope if number == axis else tap.weight)
                slope.add_(factor.masked_fill_(~inside, 0))
    return torch.stack(slopes[::-1], dim=-1).view(grid.shape).to(grid.dtype)


def _taps(x: Tensor, size: int, mode: int, padding: int, align: bool) -> list[Tap]:
    scale = (size - 1) / 2 if align else size / 2
    x = (x + 1) * scale if align else ((x + 1) * size - 1) / 2
    if mode not in (_BILINEAR, _NEAREST):
        return _cubic_taps(_bounded(x), size, padding, align, scale)
    x, sign = _padded(x, size, padding, align)
    x = _bounded(x)
    if mode == _NEAREST:
        return [_tap(x.round(), size, torch.ones_like(x), torch.zeros_like(x))]
    first = x.floor()
    share, slope = x - first, sign * scale
    return [_tap(first, size, 1 - share, -slope), _tap(first + 1, size, share, slope)]


def _cubic_taps(x: Tensor, size: int, padding: int, align: bool, scale: float) -> list[Tap]:
    first = x.floor()
    found = []
    for offset in range(-1, 3):
        weight, slope = _keys(x - first - offset)
        place = _bounded(_padded(first + offset, size, padding, align)[0])
        found.append(_tap(place, size, weight, slope * scale))
    return found


def _keys(distance: Tensor) -> tuple[Tensor, Tensor]:
    """Keys' cubic kernel and its derivative."""
    x = distance.abs()
    is_near = x <= 1
    near, far = ((_A + 2) * x - (_A + 3)) * x * x + 1, ((x - 5) * x + 8) * x * _A - 4 * _A
    near_slope, far_slope = (3 * (_A + 2) * x - 2 * (_A + 3)) * x, ((3 * x - 10) * x + 8) * _A
    slope = torch.where(is_near, near_slope, far_slope) * distance.sign()
    return torch.where(is_near, near, far), slope


def _tap(place: Tensor, size: int, weight: Tensor, slope: Tensor) -> Tap:
    inside = (place >= 0) & (place < size)
    return Tap(place.clamp(0, max(size - 1, 0)).long(), inside, weight, slope)


def _bounded(x: Tensor) -> Tensor:
    usable = x.isfinite() & (x.abs() <= _LARGEST)
    return torch.where(usable, x, torch.full_like(x, _OUTSIDE))


def _padded(x: Tensor, size: int, padding: int, align: bool) -> tuple[Tensor, Tensor]:
    """Where a coordinate is taken from, and the slope of that: 1, -1 or 0."""
    sign = torch.ones_like(x)
    if padding == _ZEROS:
        return x, sign
    if padding != _BORDER:
        x, sign = _reflected(x, size, align)
    clipped = (x <= 0) | (x >= size - 1)
    return x.clamp(0, size - 1), sign.masked_fill(clipped, 0)


def _reflected(x: Tensor, size: int, align: bool) -> tuple[Tensor, Tensor]:
    low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
    if not span:
        return torch.zeros_like(x), torch.zeros_like(x)
    shifted = x - low
    distance = shifted.abs()
    rest, is_even = distance.fmod(span), (distance / span).floor() % 2 == 0
    sign = torch.where((shifted < 0) == is_even, -1.0, 1.0).to(x.dtype)
    return torch.where(is_even, rest, span - rest) + low, sign

"""Backwards of torchvision's poolings of regions: for each pixel the gradients of the bins that
have read it, added up in the order of the bins.

What a bin reads is a product of two axes: pixels that follow each other, each with a weight.
Follows torchvision/csrc/ops/cpu. Places are in the dtype of the boxes, as there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from guard.repairs.axes import accumulated_in, added_up, quotient
from guard.repairs.scattering import accumulate

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch import Tensor

# Pairs of a bin and a pixel at a time: each takes some sixty bytes while they are sorted.
_PIECE = 2**22
_PIECES = {"cpu": 2**16}


class Axis(NamedTuple):
    """What the bins of each region read along an axis."""

    first: Tensor  # [regions, bins], int64: the first pixel
    weights: Tensor  # [regions, bins, widest]: of the pixels from there


class Boxes(NamedTuple):
    """Regions in the input's pixels."""

    image: Tensor  # [regions], int64
    # left, top, right, bottom: [regions], in the dtype of the boxes
    left: Tensor
    top: Tensor
    right: Tensor
    bottom: Tensor


def roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """torchvision::_roi_align_backward."""
    boxes = _boxes(rois, spatial_scale, 0.5 if aligned else 0.0)
    sizes = [boxes.bottom - boxes.top, boxes.right - boxes.left]
    if not aligned:
        sizes = [each.clamp(min=1) for each in sizes]
    rows = _sampled(boxes.top, sizes[0], pooled_height, height, sampling_ratio)
    columns = _sampled(boxes.left, sizes[1], pooled_width, width, sampling_ratio)
    begins = (boxes.image * (height * width))[:, None, None]
    begins = begins.expand(-1, pooled_height, pooled_width)
    total = grad.new_zeros(batch_size, height * width, channels, dtype=rows.weights.dtype)
    _spread(grad, rows, columns, begins, width, total)
    result = total.movedim(-1, 1).reshape(batch_size, channels, height, width)
    return result.to(grad.dtype).contiguous()


def ps_roi_align_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """torchvision::_ps_roi_align_backward; the mapping of channels is always the same."""
    boxes = _boxes(rois, spatial_scale, 0.5)
    sizes = boxes.bottom - boxes.top, boxes.right - boxes.left
    rows = _sampled(boxes.top, sizes[0], pooled_height, height, sampling_ratio)
    columns = _sampled(boxes.left, sizes[1], pooled_width, width, sampling_ratio)
    shape = (batch_size, channels, height, width)
    return _by_position(grad, boxes.image, rows, columns, shape)


def ps_roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    channel_mapping: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """torchvision::_ps_roi_pool_backward; the mapping of channels is always the same."""
    boxes = _boxes(rois, spatial_scale, 0.0)
    rows = _window(boxes.top, boxes.bottom, pooled_height, height)
    columns = _window(boxes.left, boxes.right, pooled_width, width)
    shape = (batch_size, channels, height, width)
    return _by_position(grad, boxes.image, rows, columns, shape)


def roi_pool_backward(
    grad: Tensor,
    rois: Tensor,
    argmax: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    batch_size: int,
    channels: int,
    height: int,
    width: int,
) -> Tensor:
    """torchvision::_roi_pool_backward, which has noted the place of each maximum; -1 is none."""
    plane = torch.arange(channels, device=grad.device)
    begins = ((rois[:, :1].long() * channels + plane) * (height * width))[:, :, None, None]
    dtype = accumulated_in(grad)
    total = grad.new_zeros(batch_size * channels * height * width, dtype=dtype)
    piece = max(_PIECES.get(grad.device.type, _PIECE) // max(grad[:1].numel(), 1), 1)
    for begin in range(0, len(grad), piece):
        part = slice(begin, begin + piece)
        keys = begins[part] + argmax[part].clamp(min=0)
        values = torch.where(argmax[part] < 0, 0.0, grad[part].to(dtype))
        accumulate(total, keys.view(-1), values.view(-1))
    return total.view(batch_size, channels, height, width).to(grad.dtype)


# What a bin reads


def _boxes(rois: Tensor, scale: float, offset: float) -> Boxes:
    factor = torch.tensor(scale, dtype=rois.dtype)  # rounded first, as the kernels have it
    return Boxes(rois[:, 0].long(), *(rois[:, 1:5] * factor - offset).unbind(1))


def _sampled(start: Tensor, length: Tensor, bins: int, size: int, sampling: int) -> Axis:
    """Averages of points between pixels, as many in each bin as it is long, or ``sampling``."""
    step = quotient(length, bins)
    count = torch.full_like(step, sampling) if sampling > 0 else step.ceil().clamp(min=0)
    number = torch.arange(bins, device=start.device, dtype=start.dtype)
    begins = start[:, None] + number * step[:, None]
    most = sampling if sampling > 0 else int(count.max()) if len(count) else 0
    points = []
    for each in range(most):
        point = begins + ((each + 0.5) * step / count)[:, None]
        inside = (point >= -1) & (point <= size) & (each < count)[:, None]
        points.append(point.clamp(0, size - 1).masked_fill(~inside, -_FAR).double())
    if not points:
        return Axis(torch.zeros_like(begins, dtype=torch.int64), begins.new_zeros(*begins.shape, 1))
    return _hats(torch.stack(points, -1), count, accumulated_in(start))


_FAR = 4  # pixels outside of the input


def _hats(points: Tensor, count: Tensor, dtype: torch.dtype) -> Axis:
    """Each point shares between the two pixels around it."""
    is_read = points >= 0
    first = torch.where(is_read, points, points.amax(-1, keepdim=True)).amin(-1)
    first = first.clamp(min=0).floor()
    widest = int((points.amax(-1) - first).max().floor()) + 2 if first.numel() else 1
    pixels = first[..., None] + torch.arange(max(widest, 1), device=points.device)
    weights = torch.zeros_like(pixels)
    for point, read in zip(points.unbind(-1), is_read.unbind(-1), strict=True):
        weights += (1 - (pixels - point[..., None]).abs()).clamp_(min=0) * read[..., None]
    weights /= count.double().clamp(min=1)[:, None, None]
    return Axis(first.long(), weights.to(dtype))


def _window(start: Tensor, stop: Tensor, bins: int, size: int) -> Axis:
    """Averages of whole pixels."""
    start, stop = _rounded(start), _rounded(stop)
    step = quotient((stop - start).clamp(min=1), bins)[:, None]
    number = torch.arange(bins, device=start.device, dtype=start.dtype)
    begins = ((number * step).floor() + start[:, None]).clamp(0, size)
    ends = (((number + 1) * step).ceil() + start[:, None]).clamp(0, size)
    length = (ends - begins).clamp(min=0)
    widest = int(length.max()) if length.numel() else 1
    inside = torch.arange(max(widest, 1), device=start.device) < length[..., None]
    weights = inside.to(accumulated_in(start)) / length.clamp(min=1)[..., None]
    return Axis(begins.long(), weights.to(accumulated_in(start)))


def _rounded(x: Tensor) -> Tensor:
    """Halves away from zero, as in C."""
    whole = x.trunc()
    return whole + x.sign() * ((x - whole).abs() >= 0.5)


# Adding up


def _by_position(
    grad: Tensor, image: Tensor, rows: Axis, columns: Axis, shape: tuple[int, int, int, int]
) -> Tensor:
    """Where each bin has channels of its own."""
    _, count, tall, wide = grad.shape
    batch, channels, height, width = shape
    position = torch.arange(tall * wide, device=grad.device).view(tall, wide)
    begins = (image[:, None, None] * (tall * wide) + position) * (height * width)
    places = tall * wide * height * width
    total = grad.new_zeros(batch, count, places, dtype=rows.weights.dtype)
    _spread(grad, rows, columns, begins, width, total.movedim(1, -1))
    return total.view(batch, channels, height, width).to(grad.dtype)


def _spread(
    grad: Tensor, rows: Axis, columns: Axis, begins: Tensor, width: int, total: Tensor
) -> None:
    """Add for each pixel the gradients of the bins that have read it.

    grad    [regions, channels, bins, bins]
    begins  [regions, bins, bins]: the place of the first pixel of what each bin reads from
    width   places from row to row
    total   [images, places, channels]
    """
    bins = grad.to(rows.weights.dtype).movedim(1, -1).reshape(-1, grad.shape[1])
    if not total.numel():
        return
    for place, which, weight in _pairs(rows, columns, begins, width):
        ordered, order = place.sort(stable=True)
        pixels, counts = torch.unique_consecutive(ordered, return_counts=True)
        ends = torch.cat([counts.new_zeros(1), counts.cumsum(0)])
        found = added_up(bins, which[order], ends, weight[order])
        where = _divided(pixels, total.shape[1])
        total[where] = found.add_(total[where])


def _pairs(
    rows: Axis, columns: Axis, begins: Tensor, width: int
) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
    """Pixels, the bins that have read them, and the weights, some regions at a time."""
    heights, widths = _extents(rows), _extents(columns)
    sizes = heights * widths * begins[0].numel() if len(begins) else heights
    ends = sizes.cumsum(0)
    piece = _PIECES.get(begins.device.type, _PIECE)
    begin = 0
    for count in torch.unique_consecutive(ends // piece, return_counts=True)[1].tolist():
        part = torch.arange(begin, begin + count, device=begins.device)
        region = part.repeat_interleave(sizes[begin : begin + count])
        number = torch.arange(len(region), device=begins.device)
        number -= (ends - sizes - (ends - sizes)[begin])[region]
        number, column = _divided(number, widths[region])
        number, row = _divided(number, heights[region])
        tall, wide = _divided(number, begins.shape[2])
        which = (region * begins.shape[1] + tall) * begins.shape[2] + wide
        weight = rows.weights[region, tall, row] * columns.weights[region, wide, column]
        place = begins.reshape(-1)[which]
        place = place + (rows.first[region, tall] + row) * width
        place = place + columns.first[region, wide] + column
        kept = weight.nonzero()[:, 0]
        yield place[kept], which[kept], weight[kept]
        begin += count


def _extents(axis: Axis) -> Tensor:
    """Of each region, how many pixels its bins read at most."""
    number = torch.arange(1, axis.weights.shape[-1] + 1, device=axis.first.device)
    return ((axis.weights != 0) * number).flatten(1).amax(1)


def _divided(number: Tensor, by: Tensor | int) -> tuple[Tensor, Tensor]:
    whole = number // by
    return whole, number - whole * by

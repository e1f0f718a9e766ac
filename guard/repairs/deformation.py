"""The backward of torchvision's deformable convolution: products of matrices, and for what it reads
the backward of ``grid_sample``, image by image.

Follows torchvision/csrc/ops/cpu/deform_conv2d_kernel.cpp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from guard.repairs import sampling
from guard.repairs.axes import accumulated_in, added_up

if TYPE_CHECKING:
    from torch import Tensor


class Points(NamedTuple):
    """Where one image is read: [offset groups, height * width of the kernel, points] each."""

    # y, x: in pixels, of each group's channels
    y: Tensor
    x: Tensor
    mask: Tensor | None  # what is read there is multiplied by, or None


def deform_conv2d_backward(
    grad: Tensor,
    input: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    """torchvision::_deform_conv2d_backward."""
    dtype, (tall, wide) = accumulated_in(input), weight.shape[2:]
    kernel = weight.to(dtype).reshape(groups, -1, weight.shape[1] * tall * wide)
    to_kernel = torch.zeros_like(kernel)
    found: list[tuple[Tensor, Tensor, Tensor]] = []
    steps = ((stride_h, pad_h, dilation_h), (stride_w, pad_w, dilation_w))
    for number in range(len(input)):
        image = input[number].to(dtype).reshape(offset_groups, -1, *input.shape[2:])
        given = mask[number].to(dtype) if use_mask else None
        points = _points(offset[number], given, (tall, wide), steps, offset_groups)
        above = grad[number].to(dtype).reshape(groups, kernel.shape[1], -1)
        to_kernel += above @ _read(image, points).reshape(groups, kernel.shape[2], -1).mT
        found.append(_to_image(kernel.mT @ above, image, points))
    if not found:
        return tuple(map(torch.zeros_like, (input, weight, offset, mask, bias)))  # type: ignore[return-value]
    to_input, to_offset, to_mask = (torch.stack(each) for each in zip(*found, strict=True))
    return (
        to_input.view(input.shape).to(input.dtype),
        to_kernel.view(weight.shape).to(weight.dtype),
        to_offset.view(offset.shape).to(offset.dtype),
        to_mask.view(mask.shape).to(mask.dtype) if use_mask else torch.zeros_like(mask),
        torch.ones_like(bias) * grad.sum((0, 2, 3)),
    )


def _points(
    offset: Tensor,
    mask: Tensor | None,
    kernel: tuple[int, int],
    steps: tuple[tuple[int, int, int], tuple[int, int, int]],
    groups: int,
) -> Points:
    tall, wide = offset.shape[1:]
    shift = offset.view(groups, *kernel, 2, tall, wide)
    places = []
    for axis, ((stride, pad, dilation), size) in enumerate(zip(steps, (tall, wide), strict=True)):
        number = torch.arange(size, device=offset.device) * stride - pad
        within = torch.arange(kernel[axis], device=offset.device) * dilation
        number = number[:, None] if axis == 0 else number
        within = within[:, None, None, None] if axis == 0 else within[:, None, None]
        # Rounded to the dtype of the offset, as the kernels have it.
        place = (shift[:, :, :, axis] + (number + within)).reshape(groups, -1, tall * wide)
        places.append(place.to(accumulated_in(offset)))
    y, x = places
    return Points(y, x, mask.reshape(y.shape) if mask is not None else None)


def _axes(image: Tensor, points: Points, part: slice) -> list[sampling.Axis]:
    return [
        sampling.between(place.reshape(-1)[part], size)
        for place, size in zip((points.y, points.x), image.shape[2:], strict=True)
    ]


def _to_image(columns: Tensor, image: Tensor, points: Points) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of an image, its offsets and its mask, of that of what was read.

    columns  [groups, channels * height * width of the kernel, points]
    image    [offset groups, channels, height, width]
    """
    shape = (image.shape[0], image.shape[1], *points.y.shape[1:])
    weight = points.mask.reshape(-1) if points.mask is not None else None
    to_image, value, slopes = sampling.spread(
        columns.reshape(shape), image, lambda part: _axes(image, points, part), weight
    )
    assert to_image is not None  # noqa: S101
    slopes = slopes if weight is None else slopes * weight[:, None]
    to_offset = slopes.flip(1).view(*points.y.shape, 2).movedim(-1, 2)
    return to_image, to_offset.contiguous(), value


def _read(image: Tensor, points: Points) -> Tensor:
    """What the kernel reads: [offset groups, channels, height * width of the kernel, points]."""
    count, channels, height, width = image.shape
    rows = image.movedim(1, -1).reshape(-1, channels)
    y, x = _axes(image, points, slice(None))
    first = torch.arange(count, device=image.device).repeat_interleave(points.y[0].numel())
    places, weights = [], []
    for above in y.taps:
        for beside in x.taps:
            places.append((first * height + above.place) * width + beside.place)
            share = (above.weight * beside.weight).masked_fill_(above.outside | beside.outside, 0)
            weights.append(share if points.mask is None else share * points.mask.reshape(-1))
    begins = torch.arange(0, 4 * len(first) + 1, 4, device=image.device)
    taps = torch.stack(places, 1).view(-1), begins, torch.stack(weights, 1).view(-1)
    return added_up(rows, *taps).view(*points.y.shape, channels).movedim(-1, 1)

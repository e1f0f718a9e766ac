"""Backwards of ``grid_sample``: for each corner around a point its weight times the gradient, added
up in a fixed order where it goes.

Follows aten/src/ATen/native/GridSampler.h: what lies outside, or is no number, gives nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import torch

from guard.repairs.axes import accumulated_in, added_up, quotient

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1
_LARGEST = 2.0**31 - 2  # beyond, torch takes a point as outside
_OUTSIDE = -100.0
_A = -0.75
# Points at a time: what is computed for each takes more memory than a few channels of them. On a
# CPU so many that they stay in its cache.
_PIECE = 2**20
_PIECES = {"cpu": 2**14}


class Tap(NamedTuple):
    """Along one axis: where a corner lies, whether outside, its weight, and that one's slope."""

    place: Tensor
    outside: Tensor
    weight: Tensor
    slope: Tensor | float


class Axis(NamedTuple):
    """The corners along one axis of ``size``; ``factor`` is that of their slopes."""

    size: int
    taps: list[Tap]
    factor: Tensor | float


class Rows(NamedTuple):
    """A row of channels for each point and place."""

    grads: Tensor  # [points, channels], the gradient of the result
    values: Tensor | None  # [places, channels], the input; None where its slopes are not wanted
    # [places + 1, channels], the gradient of the input, and of what lies outside; or None
    total: Tensor | None


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
    sizes, is_smooth = input.shape[2:], interpolation_mode != _NEAREST
    points = grid.reshape(-1, len(sizes)).to(accumulated_in(input))

    def axes(part: slice) -> list[Axis]:
        return [
            _axis(points[part, -1 - number], size, interpolation_mode, padding_mode, align_corners)
            for number, size in enumerate(sizes)
        ]

    total, _, slopes = spread(grad_output, input, axes, smooth=is_smooth, to_input=output_mask[0])
    return total, slopes.view(grid.shape).to(grid.dtype)


def cudnn_grid_sampler_backward(
    self: Tensor, grid: Tensor, grad_output: Tensor
) -> tuple[Tensor | None, Tensor]:
    """aten::cudnn_grid_sampler_backward, which is bilinear, pads with zeros, aligns corners."""
    mask = (True, True)
    return grid_sampler_backward(grad_output, self, grid, _BILINEAR, _ZEROS, True, mask)


def spread(
    grad: Tensor,
    input: Tensor,
    axes: Callable[[slice], list[Axis]],
    weight: Tensor | None = None,
    *,
    smooth: bool = True,
    to_input: bool = True,
) -> tuple[Tensor | None, Tensor, Tensor]:
    """The gradient of an input that is read at points, and what it and its slopes add up to there.

    grad    [n, channels, …]: of what is read at each point
    input   [n, channels, …]
    axes    the corners along each axis, of some of all n points
    weight  [points], of what goes to the input, or None

    Gives besides, for each point, gradient times value, [points], and its slope along each axis,
    [points, axes], the last axis first; zeros where it is not ``smooth``.
    """
    count, channels, *sizes = input.shape
    dtype, points = accumulated_in(input), grad[:, :1].numel()
    value = input.new_zeros(points if smooth else 0, dtype=dtype)
    slopes = input.new_zeros(points, len(sizes), dtype=dtype)
    if not input.numel() or not grad.numel():
        return (torch.zeros_like(input) if to_input else None), value, slopes
    grads, places = _turned(grad, dtype), input.numel() // channels
    total = grads.new_zeros(places + 1, channels) if to_input else None
    rows = Rows(grads, _turned(input, dtype) if smooth else None, total)
    numbers = torch.int32 if places <= torch.iinfo(torch.int32).max else torch.int64
    sample = torch.arange(count, device=input.device, dtype=numbers)
    sample = sample[:, None].expand(count, points // count).reshape(-1)
    piece = _PIECES.get(input.device.type, _PIECE)
    for begin in range(0, points, piece):
        part = slice(begin, begin + piece)
        along, given = axes(part), weight[part] if weight is not None else None
        found = _added(rows._replace(grads=grads[part]), along, sample[part], None, given)
        for number, each in enumerate(found):
            if not number:
                value[part] = each
            else:
                slopes[part, -number] = each.mul_(along[number - 1].factor)
    if total is None:
        return None, value, slopes
    to = total[:-1].view(count, *sizes, channels).movedim(-1, 1).to(input.dtype).contiguous()
    return to, value, slopes


def _turned(tensor: Tensor, dtype: torch.dtype) -> Tensor:
    """[n, channels, …] as [n * places, channels]."""
    return tensor.to(dtype).movedim(1, -1).reshape(-1, tensor.shape[1])


def _added(
    rows: Rows,
    axes: list[Axis],
    key: Tensor,
    outside: Tensor | None,
    weight: Tensor | None,
) -> list[Tensor]:
    """Add the gradients of the corners along ``axes`` to those of the input.

    Gives what the corners add up to, with their weights, and the slopes of that along each axis:
    [points] each. ``key``, ``outside`` and ``weight`` say where the axes before have led.
    """
    if not axes:
        return _corner(rows, key, outside, weight)
    found: list[Tensor] = []
    key = key * axes[0].size
    for tap in axes[0].taps:
        inner = _added(
            rows,
            axes[1:],
            key + tap.place,
            tap.outside if outside is None else outside | tap.outside,
            tap.weight if weight is None else weight * tap.weight,
        )
        found = _joined(found, inner, tap) if inner else []
    return found


def _corner(rows: Rows, key: Tensor, outside: Tensor | None, weight: Tensor | None) -> list[Tensor]:
    assert outside is not None  # noqa: S101
    assert weight is not None  # noqa: S101
    products = []
    if rows.values is not None:
        product = rows.values.index_select(0, key).mul_(rows.grads).sum(1)
        products.append(torch.where(outside, 0.0, product))
    if rows.total is not None:
        key = torch.where(outside, len(rows.total) - 1, key).long()
        rows.total.index_put_((key,), rows.grads * weight[:, None], accumulate=True)
    return products


def _joined(found: list[Tensor], inner: list[Tensor], tap: Tap) -> list[Tensor]:
    """The sum, its slope along this axis, and those along the axes within."""
    value, *slopes = inner
    if not found:
        slope = value * tap.slope
        return [value * tap.weight, slope, *(each.mul_(tap.weight) for each in slopes)]
    if isinstance(tap.slope, float):
        found[1].add_(value, alpha=tap.slope)
    else:
        found[1].addcmul_(value, tap.slope)
    for total, each in zip([found[0], *found[2:]], inner, strict=True):
        total.addcmul_(each, tap.weight)
    return found


def _axis(x: Tensor, size: int, mode: int, padding: int, align: bool) -> Axis:
    scale = (size - 1) / 2 if align else size / 2
    x = (x + 1).mul_(scale) if align else (x + 1).mul_(size).sub_(1).div_(2)
    if mode not in (_BILINEAR, _NEAREST):
        return Axis(size, _cubic_taps(_bounded(x), size, padding, align), scale)
    x, sign = _padded(x, size, padding, align)
    x = _bounded(x)
    if mode == _NEAREST:
        return Axis(size, [_tap(x.round(), size, torch.ones_like(x), 0.0)], 0.0)
    return Axis(size, _linear_taps(x, size), sign * scale)


def between(x: Tensor, size: int) -> Axis:
    """Points in pixels, each between two; what lies outside is 0."""
    return Axis(size, _linear_taps(_bounded(x), size), 1.0)


def _linear_taps(x: Tensor, size: int) -> list[Tap]:
    first = x.floor()
    share = x.sub_(first)
    return [_tap(first, size, 1 - share, -1.0), _tap(first + 1, size, share, 1.0)]


def _cubic_taps(x: Tensor, size: int, padding: int, align: bool) -> list[Tap]:
    first = x.floor()
    found = []
    for offset in range(-1, 3):
        weight, slope = _keys(x - first - offset)
        place = _bounded(_padded(first + offset, size, padding, align)[0])
        found.append(_tap(place, size, weight, slope))
    return found


def _keys(distance: Tensor) -> tuple[Tensor, Tensor]:
    """Keys' cubic kernel and its derivative."""
    x = distance.abs()
    is_near = x <= 1
    near, far = ((_A + 2) * x - (_A + 3)) * x * x + 1, ((x - 5) * x + 8) * x * _A - 4 * _A
    near_slope, far_slope = (3 * (_A + 2) * x - 2 * (_A + 3)) * x, ((3 * x - 10) * x + 8) * _A
    slope = torch.where(is_near, near_slope, far_slope) * distance.sign()
    return torch.where(is_near, near, far), slope


def _tap(place: Tensor, size: int, weight: Tensor, slope: Tensor | float) -> Tap:
    inside = place.clamp(0, max(size - 1, 0))
    return Tap(inside.int(), inside != place, weight, slope)


def _bounded(x: Tensor) -> Tensor:
    """A point that is too far away, or nowhere, is outside."""
    return x.masked_fill((x.abs() <= _LARGEST).logical_not_(), _OUTSIDE)


def _padded(x: Tensor, size: int, padding: int, align: bool) -> tuple[Tensor, Tensor | float]:
    """Where a coordinate is taken from, and the slope of that: 1, -1 or 0."""
    if padding == _ZEROS:
        return x, 1.0
    sign: Tensor | None = None
    if padding != _BORDER:
        x, sign = _reflected(x, size, align)
    clipped = (x <= 0) | (x >= size - 1)
    sign = torch.ones_like(x) if sign is None else sign
    return x.clamp(0, size - 1), sign.masked_fill(clipped, 0)


def _reflected(x: Tensor, size: int, align: bool) -> tuple[Tensor, Tensor]:
    low, span = (0.0, float(size - 1)) if align else (-0.5, float(size))
    if not span:
        return torch.zeros_like(x), torch.zeros_like(x)
    shifted = x - low
    distance = shifted.abs()
    rest, is_even = distance.fmod(span), quotient(distance, span).floor() % 2 == 0
    sign = torch.where((shifted < 0) == is_even, -1.0, 1.0).to(x.dtype)
    return torch.where(is_even, rest, span - rest) + low, sign


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


def _axes(image: Tensor, points: Points, part: slice) -> list[Axis]:
    return [
        between(place.reshape(-1)[part], size)
        for place, size in zip((points.y, points.x), image.shape[2:], strict=True)
    ]


def _to_image(columns: Tensor, image: Tensor, points: Points) -> tuple[Tensor, Tensor, Tensor]:
    """Gradients of an image, its offsets and its mask, of that of what was read.

    columns  [groups, channels * height * width of the kernel, points]
    image    [offset groups, channels, height, width]
    """
    shape = (image.shape[0], image.shape[1], *points.y.shape[1:])
    weight = points.mask.reshape(-1) if points.mask is not None else None
    to_image, value, slopes = spread(
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

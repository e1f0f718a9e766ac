"""Linear maps along one axis after another, and their transposes: what the backward of an
interpolation, an average pooling or a padding is.

A map is kept as its taps: for each place of the result, which places it adds up and with which
weights. The transpose of such a map is one again, so that a backward gathers, in a fixed order,
what a kernel with atomics scatters. It holds no matrix: an axis of n places costs n times the
taps. No matrix product takes part either, which could run in TF32, and in which 0 times infinity
is no number. What adds up is the forward of ``embedding_bag``: a row for each place.
"""

from __future__ import annotations

from functools import lru_cache
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from torch import Tensor

    Build = Callable[..., tuple[Tensor, Tensor]]


_LONG = 64  # numbers that follow each other: enough to name each such row, and not to turn


class Taps(NamedTuple):
    """A map along an axis."""

    places: Tensor  # [taps], int64: what to add up, one place of the result after the other
    weights: Tensor  # [taps]
    begins: Tensor  # [results + 1], int64: where the taps of each place of the result begin


@lru_cache(maxsize=256)
def backward_of(
    build: Build, size: int, dtype: torch.dtype, device: torch.device, *arguments: Hashable
) -> Taps:
    """The transpose of the map that ``build(size, *arguments)`` describes.

    ``build`` gives places and weights of the forward, both [result, taps], in float64 on the CPU.
    Kept, because a model asks for few maps, in each step again.
    """
    with torch.inference_mode(mode=False):
        taps = _transposed(*build(size, *arguments), size)
        return Taps(taps.places.to(device), taps.weights.to(device, dtype), taps.begins.to(device))


def _transposed(places: Tensor, weights: Tensor, size: int) -> Taps:
    results = places.shape[0]
    pairs = places * results + torch.arange(results)[:, None]
    kept = weights != 0
    # Where places are clamped to the border, one place occurs twice among the taps of a result.
    pairs, which = torch.unique(pairs[kept], return_inverse=True)
    merged = torch.zeros(len(pairs), dtype=weights.dtype).index_add_(0, which, weights[kept])
    inputs, outputs = pairs // max(results, 1), pairs % max(results, 1)
    return Taps(outputs, merged, torch.searchsorted(inputs, torch.arange(size + 1)))


def applied(tensor: Tensor, axis: int, taps: Taps) -> Tensor:
    """The map along an axis of a tensor of the dtype of its weights; ``axis`` is negative."""
    before, after = tensor.shape[:axis], tensor.shape[axis:][1:]
    size = len(taps.begins) - 1
    shape = (before.numel(), tensor.shape[axis], after.numel())
    if not tensor.numel() or not size or not len(taps.places):
        return tensor.new_zeros(*before, size, *after)
    if shape[2] >= _LONG:
        return _by_rows(tensor.reshape(shape), taps).view(*before, size, *after)
    if shape[2] == 1:  # matrices, which torch turns faster than anything else
        turned = tensor.reshape(shape[:2]).t().contiguous()
        result = added_up(turned, taps.places, taps.begins, taps.weights)
        return result.t().contiguous().view(*before, size, *after)
    turned = tensor.reshape(shape).movedim(1, 0).reshape(shape[1], -1)
    result = added_up(turned, taps.places, taps.begins, taps.weights)
    return result.view(size, shape[0], shape[2]).movedim(0, 1).view(*before, size, *after)


def _by_rows(tensor: Tensor, taps: Taps) -> Tensor:
    """Of [n, size, length], without moving it: each of its rows of ``length`` is named."""
    count, size, length = tensor.shape
    number = torch.arange(count, device=tensor.device)[:, None]
    places = (number * size + taps.places).view(-1)
    begins = (number * len(taps.places) + taps.begins[:-1]).view(-1)
    begins = torch.cat([begins, begins.new_full((1,), len(places))])
    return added_up(
        tensor.reshape(count * size, length), places, begins, taps.weights.repeat(count)
    )


def added_up(rows: Tensor, places: Tensor, begins: Tensor, weights: Tensor) -> Tensor:
    """For each place of the result the sum of weights times rows, one after the other.

    rows             [n, length], of the dtype of ``weights``
    places, weights  [taps]
    begins           [results + 1]: which taps are whose
    """
    if not rows.numel() or not len(places):
        return rows.new_zeros(len(begins) - 1, rows.shape[1])
    result: Tensor = torch.embedding_bag(
        rows, places, begins, False, 0, False, weights, include_last_offset=True
    )[0]
    return result


def accumulated_in(tensor: Tensor) -> torch.dtype:
    """The dtype in which to add up: float32 for halves, as torch's kernels do."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def laid_out(result: Tensor, like: Tensor) -> Tensor:
    """With the channels last where another tensor has them so, as torch's kernels do."""
    last = like.dim() == 4 and like.is_contiguous(memory_format=torch.channels_last)
    last = last and not like.is_contiguous()
    return result.contiguous(memory_format=torch.channels_last if last else torch.contiguous_format)


def backward(
    grad: Tensor, sizes: Sequence[int], build: Build, arguments: Sequence[Sequence[Hashable]]
) -> Tensor:
    """The gradient of the input of a separable map over the last ``len(sizes)`` axes.

    ``sizes`` are the input's; ``arguments`` are those of ``build`` for each axis.
    """
    dtype, count = accumulated_in(grad), len(sizes)
    result = grad.to(dtype)
    # What shrinks begins with the first axis, whose rows lie together; what grows, with the last.
    shrinks = torch.Size(sizes).numel() < grad.shape[-count:].numel()
    for axis in range(-count, 0) if shrinks else range(-1, -count - 1, -1):
        taps = backward_of(build, int(sizes[axis]), dtype, grad.device, *arguments[axis])
        result = applied(result, axis, taps)
    return result.to(grad.dtype).contiguous()


def windows(starts: Tensor, stops: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Taps that add up what lies from ``starts`` to ``stops``, each with the window's weight."""
    widest = int((stops - starts).max()) if len(starts) else 0
    places = starts[:, None] + torch.arange(max(widest, 1))
    inside = places < stops[:, None]
    return torch.where(inside, places, starts[:, None]), weights[:, None] * inside


def quotient(number: Tensor, by: float) -> Tensor:
    """Rounded as C divides: by a number of Python's, torch multiplies with its reciprocal on a GPU,
    and what is floored then may be one less."""
    return number / torch.full((), by, dtype=number.dtype, device=number.device)


def taking(arguments: str) -> Callable[[Callable[..., Tensor]], Any]:
    """Say which arguments an operator has, for a replacement that leaves some to ``**_``."""
    names = arguments.split()
    found = Signature([Parameter(each, Parameter.POSITIONAL_OR_KEYWORD) for each in names])

    def decorate(function: Any) -> Any:  # noqa: ANN401
        function.__signature__ = found
        return function

    return decorate


_CUBIC, _CUBIC_ANTIALIASED = -0.75, -0.5  # Keys' parameter: OpenCV's, and Pillow's
_NARROWEST = 1e-300  # of a sum of weights, so that nothing is divided by 0


def linear(size: int, result: int, align: bool, scale: float | None) -> tuple[Tensor, Tensor]:
    """Forward taps of linear interpolation."""
    source = _sources(size, result, align, scale).clamp(min=0)
    first = source.floor().long().clamp(max=size - 1)
    share = (source - first).clamp(0, 1)
    places = torch.stack([first, (first + 1).clamp(max=size - 1)], dim=1)
    return places, torch.stack([1 - share, share], dim=1)


def cubic(size: int, result: int, align: bool, scale: float | None) -> tuple[Tensor, Tensor]:
    """Forward taps of cubic interpolation."""
    source = _sources(size, result, align, scale)
    first = source.floor()
    distance = (source - first)[:, None] - torch.arange(-1, 3)
    places = (first.long()[:, None] + torch.arange(-1, 3)).clamp(0, size - 1)
    return places, _keys(distance, _CUBIC)


def _step(size: int, result: int, align: bool, scale: float | None) -> float:
    if align:
        return (size - 1) / (result - 1) if result > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else size / result


def _sources(size: int, result: int, align: bool, scale: float | None) -> Tensor:
    places, step = torch.arange(result, dtype=torch.float64), _step(size, result, align, scale)
    return places * step if align else (places + 0.5) * step - 0.5


def _keys(distance: Tensor, a: float) -> Tensor:
    x = distance.abs()
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return torch.where(x <= 1, near, torch.where(x < 2, far, torch.zeros_like(x)))


def _antialiased(support: int, kernel: Callable[[Tensor], Tensor]) -> Build:
    """Forward taps of interpolation with antialiasing."""

    def build(size: int, result: int, align: bool, scale: float | None) -> tuple[Tensor, Tensor]:
        step = _step(size, result, align, scale)
        stretch = max(step, 1.0)
        reach = support * stretch
        center = step * (torch.arange(result, dtype=torch.float64) + 0.5)
        starts = (center - reach + 0.5).long().clamp(min=0)
        stops = (center + reach + 0.5).long().clamp(max=size)
        places, inside = windows(starts, stops, torch.ones(result, dtype=torch.float64))
        weights = kernel((places - center[:, None] + 0.5) / stretch) * inside
        total = weights.sum(dim=1, keepdim=True)
        return places.clamp(max=size - 1), weights / total.where(total != 0, _NARROWEST)

    return build


linear_antialiased = _antialiased(1, lambda x: (1 - x.abs()).clamp(min=0))
cubic_antialiased = _antialiased(2, lambda x: _keys(x, _CUBIC_ANTIALIASED))


def _backward(build: Build, scales: str) -> Any:  # noqa: ANN401
    """Of an operator whose scales have these names."""

    @taking(f"grad_output output_size input_size align_corners {scales}")
    def interpolated(
        grad_output: Tensor,
        output_size: Sequence[int],
        input_size: Sequence[int],
        align_corners: bool,
        **scales: float | None,
    ) -> Tensor:
        given = [
            (int(size), bool(align_corners), scale)
            for size, scale in zip(output_size, scales.values(), strict=True)
        ]
        return backward(grad_output, list(input_size)[-len(given) :], build, given)

    return interpolated


_PLANE = "scales_h scales_w"
linear1d_backward = _backward(linear, "scales")
bilinear2d_backward = _backward(linear, _PLANE)
bicubic2d_backward = _backward(cubic, _PLANE)
bilinear2d_aa_backward = _backward(linear_antialiased, _PLANE)
bicubic2d_aa_backward = _backward(cubic_antialiased, _PLANE)
trilinear3d_backward = _backward(linear, "scales_d scales_h scales_w")

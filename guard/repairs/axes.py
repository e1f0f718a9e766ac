"""Linear maps along one axis after another, and their transposes: what the backward of an
interpolation, an average pooling or a padding is.

A map is kept as a table of taps: for each place of the result, which places it adds up and with
which weights. The transpose of such a table is one again, so that a backward gathers, in a fixed
order, what a kernel with atomics scatters. It holds no matrix: an axis of n places costs n times
the taps. No matrix product takes part either, which could run in TF32.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from torch import Tensor

    Build = Callable[..., tuple[Tensor, Tensor]]


class Taps(NamedTuple):
    """A map along an axis.

    places   [result, taps], int64: what to add up
    weights  [result, taps]
    unused   for each tap the places of the result that have fewer taps, None if none: their
             weight is 0, and 0 times infinity is not
    """

    places: Tensor
    weights: Tensor
    unused: tuple[Tensor | None, ...]


@lru_cache(maxsize=256)
def backward_of(
    build: Build, size: int, dtype: torch.dtype, device: torch.device, *arguments: Hashable
) -> Taps:
    """The transpose of the map that ``build(size, *arguments)`` describes.

    ``build`` gives places and weights of the forward, both [result, taps], in float64 on the CPU.
    Kept, because a model asks for few maps, in each step again.
    """
    with torch.inference_mode(mode=False):
        places, weights = build(size, *arguments)
        taps = _transposed(places, weights, size)
        return Taps(
            taps.places.to(device),
            taps.weights.to(device, dtype),
            tuple(None if each is None else each.to(device) for each in taps.unused),
        )


def _transposed(places: Tensor, weights: Tensor, size: int) -> Taps:
    results = places.shape[0]
    pairs = places * results + torch.arange(results)[:, None]
    kept = weights != 0
    # Where places are clamped to the border, one place occurs twice among the taps of a result.
    pairs, which = torch.unique(pairs[kept], return_inverse=True)
    merged = torch.zeros(len(pairs), dtype=weights.dtype).index_add_(0, which, weights[kept])
    inputs, outputs = pairs // max(results, 1), pairs % max(results, 1)
    begins = torch.searchsorted(inputs, torch.arange(size))
    number = torch.arange(len(pairs)) - begins[inputs]
    count = int(number.max()) + 1 if len(number) else 1
    table, factors = torch.zeros(size, count, dtype=torch.int64), weights.new_zeros(size, count)
    used = torch.zeros(size, count, dtype=torch.bool)
    table[inputs, number], factors[inputs, number], used[inputs, number] = outputs, merged, True
    missing = [None if column.all() else ~column for column in used.T]
    return Taps(table, factors, tuple(missing))


def applied(tensor: Tensor, axis: int, taps: Taps) -> Tensor:
    """The map along an axis of a tensor of the dtype of its weights; ``axis`` is negative."""
    shape = (-1, *[1] * (-axis - 1))
    if not tensor.shape[axis]:
        return tensor.new_zeros(*tensor.shape[:axis], len(taps.places), *_after(tensor, axis))
    total: Tensor | None = None
    for number, unused in enumerate(taps.unused):
        term = tensor.index_select(axis, taps.places[:, number])
        if unused is not None:
            term.masked_fill_(unused.view(shape), 0)
        weight = taps.weights[:, number].view(shape)
        total = term.mul_(weight) if total is None else total.addcmul_(term, weight)
    assert total is not None  # noqa: S101
    return total


def _after(tensor: Tensor, axis: int) -> tuple[int, ...]:
    return tuple(tensor.shape[axis + 1 :]) if axis < -1 else ()


def accumulated_in(tensor: Tensor) -> torch.dtype:
    """The dtype in which to add up: float32 for halves, as torch's kernels do."""
    return torch.float64 if tensor.dtype == torch.float64 else torch.float32


def backward(
    grad: Tensor, sizes: Sequence[int], build: Build, arguments: Sequence[Sequence[Hashable]]
) -> Tensor:
    """The gradient of the input of a separable map over the last ``len(sizes)`` axes.

    ``sizes`` are the input's; ``arguments`` are those of ``build`` for each axis.
    """
    dtype = accumulated_in(grad)
    result = grad.to(dtype)
    for axis in range(-1, -len(sizes) - 1, -1):
        taps = backward_of(build, int(sizes[axis]), dtype, grad.device, *arguments[axis])
        result = applied(result, axis, taps)
    return result.to(grad.dtype)


def windows(starts: Tensor, stops: Tensor, weights: Tensor) -> tuple[Tensor, Tensor]:
    """Taps that add up what lies from ``starts`` to ``stops``, each with the window's weight."""
    widest = int((stops - starts).max()) if len(starts) else 0
    places = starts[:, None] + torch.arange(max(widest, 1))
    inside = places < stops[:, None]
    return torch.where(inside, places, starts[:, None]), weights[:, None] * inside

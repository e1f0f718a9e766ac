"""Backwards of padding: borders are flipped, or added up, and added to the inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch.nn.functional import pad

from guard.repairs.axes import accumulated_in, laid_out

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor


def _reflected(grad: Tensor, axis: int, size: int, before: int, after: int) -> Tensor:
    """The gradient of an axis of ``size`` that was reflected at both ends.

    A negative width crops: nothing comes back from there.
    """
    result = _inside(grad, axis, size, before, after)
    if before > 0:
        border = grad.narrow(axis, 0, before).flip(axis)
        result.narrow(axis, 1, before).add_(border)
    if after > 0:
        border = grad.narrow(axis, grad.shape[axis] - after, after).flip(axis)
        result.narrow(axis, size - 1 - after, after).add_(border)
    return result


def _replicated(grad: Tensor, axis: int, size: int, before: int, after: int) -> Tensor:
    """The gradient of an axis of ``size`` whose ends were repeated."""
    result = _inside(grad, axis, size, before, after)
    if before > 0:
        border = grad.narrow(axis, 0, before).sum(axis, keepdim=True)
        result.narrow(axis, 0, 1).add_(border)
    if after > 0:
        border = grad.narrow(axis, grad.shape[axis] - after, after).sum(axis, keepdim=True)
        result.narrow(axis, size - 1, 1).add_(border)
    return result


def _inside(grad: Tensor, axis: int, size: int, before: int, after: int) -> Tensor:
    """A copy without its borders, and with zeros for what was cropped."""
    kept = size + min(before, 0) + min(after, 0)
    middle = grad.narrow(axis, max(before, 0), kept)
    widths = [0, 0] * (-axis - 1) + [max(-before, 0), max(-after, 0)]
    return pad(middle, widths) if any(widths) else middle.clone()


def _backward(
    along: Callable[[Tensor, int, int, int, int], Tensor],
) -> Callable[[Tensor, Tensor, Sequence[int]], Tensor]:
    def pad_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Tensor:
        if grad_output.is_complex():
            parts = torch.view_as_real(grad_output.resolve_conj()).unbind(-1)
            return torch.complex(*(pad_backward(each, self, padding) for each in parts))
        result = grad_output.to(accumulated_in(grad_output))
        for number in range(len(padding) // 2):
            axis = -1 - number
            before, after = padding[2 * number : 2 * number + 2]
            result = along(result, axis, self.shape[axis], before, after)
        return laid_out(result.to(grad_output.dtype), self)

    return pad_backward


reflection_pad_backward = _backward(_reflected)
replication_pad_backward = _backward(_replicated)

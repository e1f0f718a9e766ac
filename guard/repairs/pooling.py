"""Backwards of pooling, and unpooling.

Averages are a transposed map along each axis. Maxima have noted the place of each: their
gradients are added there in a fixed order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.nn.functional import pad

from guard.repairs import axes
from guard.repairs.axes import accumulated_in, laid_out
from guard.repairs.scattering import added

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    Back = Callable[[Tensor, int], tuple[Tensor, int]]


def adaptive_windows(size: int, result: int) -> tuple[Tensor, Tensor]:
    """Forward taps of an adaptive average."""
    number = torch.arange(result)
    starts, stops = number * size // result, ((number + 1) * size + result - 1) // result
    return axes.windows(starts, stops, 1 / (stops - starts).double())


def _adaptive_avg(count: int) -> Callable[[Tensor, Tensor], Tensor]:
    def adaptive_avg_pool_backward(grad_output: Tensor, self: Tensor) -> Tensor:
        given = [(int(size),) for size in grad_output.shape[-count:]]
        result = axes.backward(grad_output, self.shape[-count:], adaptive_windows, given)
        return axes.laid_out(result, self)

    return adaptive_avg_pool_backward


adaptive_avg_pool2d_backward = _adaptive_avg(2)
adaptive_avg_pool3d_backward = _adaptive_avg(3)


def average_windows(
    size: int,
    result: int,
    kernel: int,
    stride: int,
    padding: int,
    with_padding: bool,
    divisor: int,
) -> tuple[Tensor, Tensor]:
    """Forward taps of an average: over the window's length, or ``divisor`` where that is not 0."""
    starts = torch.arange(result) * stride - padding
    stops = (starts + kernel).clamp(max=size + padding)
    padded = stops - starts
    starts, stops = starts.clamp(min=0), stops.clamp(max=size)
    lengths = (padded if with_padding else stops - starts).double()
    return axes.windows(starts, stops, 1 / (lengths.fill_(divisor) if divisor else lengths))


def avg_pool3d_backward(
    grad_output: Tensor,
    self: Tensor,
    kernel_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor_override: int | None,
) -> Tensor:
    """aten::avg_pool3d_backward."""
    kernels, paddings = _triple(kernel_size), _triple(padding)
    strides = _triple(stride) if len(stride) else kernels
    divisors = (divisor_override, 1, 1) if divisor_override else (0, 0, 0)
    given = [
        (int(size), *each, bool(count_include_pad), divisor)
        for size, *each, divisor in zip(
            grad_output.shape[-3:], kernels, strides, paddings, divisors, strict=True
        )
    ]
    return axes.backward(grad_output, self.shape[-3:], average_windows, given)


def _triple(value: Sequence[int]) -> tuple[int, ...]:
    return (int(value[0]),) * 3 if len(value) == 1 else tuple(map(int, value))


def _of_maxima(count: int, arguments: str, *, keeps_layout: bool = False) -> Any:  # noqa: ANN401
    """Of maxima over ``count`` axes, which ``indices`` numbers within each channel."""

    @axes.taking(arguments)
    def max_pool_backward(
        grad_output: Tensor, self: Tensor, indices: Tensor, **_: object
    ) -> Tensor:
        places = self.shape[-count:].numel()
        channels = self.shape[:-count].numel()
        begins = torch.arange(channels, device=self.device)[:, None] * places
        keys = indices.reshape(channels, grad_output.shape[-count:].numel()) + begins
        result = added(self.shape, keys, grad_output)
        return axes.laid_out(result, self) if keeps_layout else result

    return max_pool_backward


_ADAPTIVE = "grad_output self indices"
_FRACTIONAL = "grad_output self kernel_size output_size indices"
adaptive_max_pool2d_backward = _of_maxima(2, _ADAPTIVE, keeps_layout=True)
adaptive_max_pool3d_backward = _of_maxima(3, _ADAPTIVE)
fractional_max_pool2d_backward = _of_maxima(2, _FRACTIONAL)
fractional_max_pool3d_backward = _of_maxima(3, _FRACTIONAL)
max_pool3d_with_indices_backward = _of_maxima(
    3, "grad_output self kernel_size stride padding dilation ceil_mode indices"
)


def max_unpool2d(self: Tensor, indices: Tensor, output_size: Sequence[int]) -> Tensor:
    """aten::max_unpool2d; of equal indices the last, as in a loop."""
    if indices.shape != self.shape:
        raise ValueError(f"indices have the shape {list(indices.shape)}, not {list(self.shape)}")
    if indices.dtype != torch.int64:
        raise TypeError(f"indices are int64, not {indices.dtype}")
    count = len(output_size)
    places = torch.Size(output_size).numel()
    flat: Any = self.new_zeros(*self.shape[:-count], places)
    flat.scatter_(-1, indices.flatten(-count), self.flatten(-count))
    return axes.laid_out(flat.unflatten(-1, tuple(output_size)), self)


def max_unpool3d(
    self: Tensor,
    indices: Tensor,
    output_size: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
) -> Tensor:
    """aten::max_unpool3d."""
    return max_unpool2d(self, indices, output_size)


def _reflected(border: Tensor, axis: int) -> tuple[Tensor, int]:
    """Where an axis was reflected at an end: what goes back, turned, and how far from the end."""
    return border.flip(axis), 1


def _replicated(border: Tensor, axis: int) -> tuple[Tensor, int]:
    """Where the end of an axis was repeated: the sum goes to the end itself."""
    return border.sum(axis, keepdim=True), 0


def _unpadded(grad: Tensor, axis: int, size: int, widths: Sequence[int], back: Back) -> Tensor:
    """The gradient of an axis of ``size`` that was padded by such widths at its ends.

    A negative width crops: nothing comes back from there.
    """
    before, after = widths
    result = _inside(grad, axis, size, before, after)
    if before > 0:
        border, apart = back(grad.narrow(axis, 0, before), axis)
        result.narrow(axis, apart, border.shape[axis]).add_(border)
    if after > 0:
        border, apart = back(grad.narrow(axis, grad.shape[axis] - after, after), axis)
        last = border.shape[axis]
        result.narrow(axis, size - apart - last, last).add_(border)
    return result


def _inside(grad: Tensor, axis: int, size: int, before: int, after: int) -> Tensor:
    """A copy without its borders, and with zeros for what was cropped."""
    kept = size + min(before, 0) + min(after, 0)
    middle = grad.narrow(axis, max(before, 0), kept)
    widths = [0, 0] * (-axis - 1) + [max(-before, 0), max(-after, 0)]
    return pad(middle, widths) if any(widths) else middle.clone()


def _backward(back: Back) -> Callable[[Tensor, Tensor, Sequence[int]], Tensor]:
    def pad_backward(grad_output: Tensor, self: Tensor, padding: Sequence[int]) -> Tensor:
        if grad_output.is_complex():
            parts = torch.view_as_real(grad_output.resolve_conj()).unbind(-1)
            return torch.complex(*(pad_backward(each, self, padding) for each in parts))
        result = grad_output.to(accumulated_in(grad_output))
        for number in range(len(padding) // 2):
            axis = -1 - number
            widths = padding[2 * number : 2 * number + 2]
            result = _unpadded(result, axis, self.shape[axis], widths, back)
        return laid_out(result.to(grad_output.dtype), self)

    return pad_backward


reflection_pad_backward = _backward(_reflected)
replication_pad_backward = _backward(_replicated)

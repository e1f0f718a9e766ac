"""Backwards of ``interpolate``: a transposed map along each axis.

Weights are computed in float64, from torch's formulas in aten/src/ATen/native/UpSample.h, so that
they are nearer to the exact ones than those of a float32 kernel.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs import axes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

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


def _antialiased(support: int, kernel: Callable[[Tensor], Tensor]) -> axes.Build:
    """Forward taps of interpolation with antialiasing."""

    def build(size: int, result: int, align: bool, scale: float | None) -> tuple[Tensor, Tensor]:
        step = _step(size, result, align, scale)
        stretch = max(step, 1.0)
        reach = support * stretch
        center = step * (torch.arange(result, dtype=torch.float64) + 0.5)
        starts = (center - reach + 0.5).long().clamp(min=0)
        stops = (center + reach + 0.5).long().clamp(max=size)
        places, inside = axes.windows(starts, stops, torch.ones(result, dtype=torch.float64))
        weights = kernel((places - center[:, None] + 0.5) / stretch) * inside
        total = weights.sum(dim=1, keepdim=True)
        return places.clamp(max=size - 1), weights / total.where(total != 0, _NARROWEST)

    return build


linear_antialiased = _antialiased(1, lambda x: (1 - x.abs()).clamp(min=0))
cubic_antialiased = _antialiased(2, lambda x: _keys(x, _CUBIC_ANTIALIASED))


def _backward(build: axes.Build, scales: str) -> Any:  # noqa: ANN401
    """Of an operator whose scales have these names."""

    @axes.taking(f"grad_output output_size input_size align_corners {scales}")
    def backward(
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
        return axes.backward(grad_output, list(input_size)[-len(given) :], build, given)

    return backward


_PLANE = "scales_h scales_w"
linear1d_backward = _backward(linear, "scales")
bilinear2d_backward = _backward(linear, _PLANE)
bicubic2d_backward = _backward(cubic, _PLANE)
bilinear2d_aa_backward = _backward(linear_antialiased, _PLANE)
bicubic2d_aa_backward = _backward(cubic_antialiased, _PLANE)
trilinear3d_backward = _backward(linear, "scales_d scales_h scales_w")

"""torch_scatter's operators: sums and means of segments, gathers of them, and products.

They have one kernel for all dispatch keys, which brings its backward. So do these, in operators of
torch: ``index_put`` with ``accumulate`` adds what is equal in a fixed order, and is the backward of
a gather. An index need not be sorted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs.axes import accumulated_in
from guard.repairs.scattering import scattered_product

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


def segment_sum_coo(src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None) -> Tensor:
    """torch_scatter::segment_sum_coo, added to what is in ``out``."""
    return _handed_out(_sums(src, _rows(src, index), out, dim_size), src, out)


def segment_mean_coo(
    src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None
) -> Tensor:
    """torch_scatter::segment_mean_coo; what is in ``out`` is added, and not counted."""
    index = _rows(src, index)
    total = _sums(src, index, out, dim_size)
    counts = torch.zeros(total.shape[: index.dim()], dtype=torch.int64, device=src.device)
    counts.index_put_(_places(index), torch.ones_like(index), accumulate=True)
    counts = counts.clamp_(min=1).view(*counts.shape, *[1] * (total.dim() - counts.dim()))
    rounding = None if total.is_floating_point() else "floor"
    return _handed_out(torch.div(total, counts, rounding_mode=rounding), src, out)


def gather_coo(src: Tensor, index: Tensor, out: Tensor | None) -> Tensor:
    """torch_scatter::gather_coo."""
    return _handed_out(src[_places(index)], src, out)


def scatter_mul(
    src: Tensor, index: Tensor, dim: int, out: Tensor | None, dim_size: int | None
) -> Tensor:
    """torch_scatter::scatter_mul, multiplied with what is in ``out``.

    Places to which nothing goes are 1, and where nothing goes anywhere 0.
    """
    dim %= src.dim()
    if index.dim() == 1:
        index = index.view(*[1] * dim, -1)
    index = index.view(*index.shape, *[1] * (src.dim() - index.dim())).expand_as(src)
    start = out.detach() if out is not None else None
    if start is None:
        start = src.new_full(_size(src, index, dim, dim_size), bool(src.numel()))
    product: Tensor = _Product.apply(src, index, dim, start)  # type: ignore[no-untyped-call]
    return _handed_out(product, src, out)


class _Product(torch.autograd.Function):
    """With the gradient that torch_scatter has for it."""

    @staticmethod
    def forward(src: Tensor, index: Tensor, dim: int, start: Tensor) -> Tensor:
        return scattered_product(start, dim, index, src, include_self=True)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:  # noqa: ANN401
        src, index, ctx.dim, _ = inputs
        ctx.save_for_backward(src, index, output)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:  # noqa: ANN401
        src, index, output = ctx.saved_tensors
        slope = (grad * output).gather(ctx.dim, index) / src
        return slope.masked_fill(slope.isnan(), 0), None, None, None


def _rows(src: Tensor, index: Tensor) -> Tensor:
    return index.expand(src.shape[: index.dim()])


def _places(index: Tensor) -> tuple[Tensor, ...]:
    """What an index means in the tensor that it is of: its last dimension names rows there."""
    axes = range(index.dim() - 1)
    before = (
        torch.arange(index.shape[axis], device=index.device).view(
            *[1] * axis, -1, *[1] * (index.dim() - 1 - axis)
        )
        for axis in axes
    )
    return (*before, index)


def _size(src: Tensor, index: Tensor, axis: int, wanted: int | None) -> Sequence[int]:
    """That of a result: by default as large as the largest index asks for."""
    if wanted is None:
        wanted = int(index.max()) + 1 if index.numel() else 0
    return (*src.shape[:axis], wanted, *src.shape[axis + 1 :])


def _sums(src: Tensor, index: Tensor, out: Tensor | None, dim_size: int | None) -> Tensor:
    """In float32 for halves."""
    dtype = accumulated_in(src) if src.is_floating_point() else src.dtype
    size = _size(src, index, index.dim() - 1, dim_size)
    start = src.new_zeros(size, dtype=dtype) if out is None else out.detach().to(dtype)
    return start.index_put(_places(index), src.to(dtype), accumulate=True)


def _handed_out(result: Tensor, src: Tensor, out: Tensor | None) -> Tensor:
    return result.to(src.dtype) if out is None else out.copy_(result)

"""Writing to places that may be equal: scatter, put, and the backward of ``embedding_bag``.

``index_put_`` with ``accumulate`` sorts on CUDA, stably, whether determinism is on or not; on the
CPU it adds one after the other where determinism is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs import axes
from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    Original = Callable[..., Any]


_MAXIMUM = 2  # a mode of embedding_bag


def accumulate(total: Tensor, keys: Tensor, values: Tensor) -> None:
    """Add values, or rows of them, to those of a flat tensor, or to its rows, in place."""
    if total.dim() == 1 and total.device.type == "cpu":
        total.scatter_add_(0, keys, values)  # one after the other, in a third of the time
    else:
        total.index_put_((keys,), values, accumulate=True)


def added(shape: Sequence[int], keys: Tensor, values: Tensor) -> Tensor:
    """A tensor of this shape and the dtype of ``values``, with these added at ``keys``.

    ``keys`` number the elements of the flat result. Halves are added up in float32.
    """
    dtype = accumulated_in(values) if values.is_floating_point() else values.dtype
    total = torch.zeros(torch.Size(shape).numel(), dtype=dtype, device=values.device)
    accumulate(total, keys.reshape(-1).long(), values.reshape(-1).to(dtype))
    return total.view(*shape).to(values.dtype)


def multiplied(keys: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Each key once, sorted, and the product of its values, one after the other.

    keys    [n], integers
    values  [n, …], of the dtype in which they are multiplied
    """
    keys, order = keys.sort(stable=True)
    unique, counts = torch.unique_consecutive(keys, return_counts=True)
    values = values.index_select(0, order)
    if values.is_floating_point():
        return unique.long(), torch.segment_reduce(values, "prod", lengths=counts, unsafe=True)
    return unique.long(), _products(keys, values, counts)


def _products(keys: Tensor, values: Tensor, counts: Tensor) -> Tensor:
    """Of whole numbers, in a tree: in as many steps as the longest run has binary digits."""
    longest, step = int(counts.max()) if len(counts) else 0, 1
    shape = (-1, *[1] * (values.dim() - 1))
    while step < longest:
        same = (keys[step:] == keys[:-step]).view(shape)
        earlier = values[:-step]
        joined = torch.where(same, earlier * values[step:], earlier)
        values = torch.cat([joined, values[-step:]])
        step *= 2
    return values.index_select(0, counts.cumsum(0) - counts)


def scatter_reduce_product(
    self: Tensor,
    dim: int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    include_self: bool,
    *,
    original: Original,
) -> Tensor:
    """aten::scatter_reduce.two, where it multiplies."""
    if reduce != "prod":
        result: Tensor = original(self, dim, index, src, reduce, include_self=include_self)
        return result
    return scattered_product(self, dim, index, src, include_self=include_self)


def scatter_product(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str, original: Original
) -> Tensor:
    """aten::scatter.reduce, where it multiplies."""
    if reduce != "multiply":
        result: Tensor = original(self, dim, index, src, reduce=reduce)
        return result
    return scattered_product(self, dim, index, src, include_self=True)


def scattered_product(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, include_self: bool
) -> Tensor:
    """The products of what goes to each place, as ``scatter_reduce`` has them."""
    result = self.clone(memory_format=torch.contiguous_format)
    if not index.numel():
        return result
    source = src.reshape(1) if not src.dim() else src[tuple(map(slice, index.shape))]
    if _names_rows(self, dim, index):
        row = index.movedim(dim, 0).reshape(len(index.movedim(dim, 0)), -1)[:, 0]
        return _rows_multiplied(result, dim, row, source, include_self=include_self)
    keys = _numbers(self, dim, index)
    flat = result.view(-1)
    _set_products(flat, keys, source.reshape(-1), include_self=include_self)
    return result


def _names_rows(self: Tensor, dim: int, index: Tensor) -> bool:
    """Whether an index is one of rows, expanded, as scatter over the edges of a graph has it."""
    axes = [axis for axis in range(index.dim()) if axis != dim % max(index.dim(), 1)]
    return bool(axes) and all(
        index.shape[axis] == self.shape[axis] and not index.stride(axis) for axis in axes
    )


def _rows_multiplied(
    result: Tensor, dim: int, index: Tensor, source: Tensor, *, include_self: bool
) -> Tensor:
    rows = result.movedim(dim, 0)
    _set_products(rows, index, source.movedim(dim, 0), include_self=include_self)
    return result


def _set_products(rows: Tensor, keys: Tensor, terms: Tensor, *, include_self: bool) -> None:
    """Write the product of what goes to each row there, in place."""
    dtype = _combined_in(rows)
    found, products = multiplied(keys, terms.to(dtype))
    if include_self:
        products = products * rows[found].to(dtype)
    rows[found] = products.to(rows.dtype)


def _numbers(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Which elements of the flat tensor an index of ``scatter`` means."""
    if not self.dim():
        return index.reshape(-1)
    small = self.numel() <= torch.iinfo(torch.int32).max
    dtype, step = torch.int32 if small else torch.int64, 1
    numbers = index.new_zeros((), dtype=dtype)
    for axis in range(self.dim() - 1, -1, -1):
        if axis == dim % self.dim():
            place = index.to(dtype)
        else:
            shape = [-1 if each == axis else 1 for each in range(self.dim())]
            place = torch.arange(index.shape[axis], device=index.device, dtype=dtype).view(shape)
        numbers = numbers + place * step
        step *= self.shape[axis]
    return numbers.reshape(-1)


def _combined_in(tensor: Tensor) -> torch.dtype:
    return accumulated_in(tensor) if tensor.is_floating_point() else tensor.dtype


def index_reduce(
    self: Tensor,
    dim: int,
    index: Tensor,
    source: Tensor,
    reduce: str,
    *,
    include_self: bool,
) -> Tensor:
    """aten::index_reduce: prod, mean, amax or amin.

    Atomics find the same maxima and minima each time, and nobody refuses those of
    scatter_reduce, which are the same.
    """
    if not index.numel() or not self.numel():
        return self.clone(memory_format=torch.contiguous_format)
    if reduce in _EXACT and self.dim():
        shape = [-1 if axis == dim % self.dim() else 1 for axis in range(self.dim())]
        spread = index.reshape(shape).long().expand_as(source)
        return self.scatter_reduce(dim, spread, source, reduce, include_self=include_self)
    result = self.clone(memory_format=torch.contiguous_format)
    rows, terms = (each.reshape(1, 1) if not each.dim() else each.movedim(dim, 0)
                   for each in (result, source))  # fmt: skip
    if reduce == "prod":
        _set_products(rows, index.reshape(-1), terms, include_self=include_self)
    elif reduce == "mean":
        _set_means(rows, index.reshape(-1).long(), terms, include_self=include_self)
    else:  # of a single number
        extreme = torch.amax if reduce == "amax" else torch.amin
        both = torch.cat([rows, terms]) if include_self else terms
        rows[0] = extreme(both, dim=0)
    return result


_EXACT = {"amax", "amin"}


def _set_means(rows: Tensor, index: Tensor, terms: Tensor, *, include_self: bool) -> None:
    dtype = _combined_in(rows)
    counts = torch.bincount(index, minlength=len(rows)).view(-1, *[1] * (rows.dim() - 1))
    written = counts > 0
    total = rows.to(dtype, copy=True)
    if not include_self:
        total.masked_fill_(written, 0)
    total.index_put_((index,), terms.to(dtype), accumulate=True)
    rounding = None if dtype.is_floating_point else "floor"
    total = torch.div(total, (counts + include_self).clamp(min=1), rounding_mode=rounding)
    rows.copy_(torch.where(written, total.to(rows.dtype), rows))


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """aten::put_: of equal indices the last, or the sum."""
    if index.dtype != torch.int64:
        raise TypeError(f"index is int64, not {index.dtype}")
    if source.dtype != self.dtype or source.numel() != index.numel():
        raise ValueError("source has the dtype of self, and an element for each of index")
    # In place where that can be: a buffer may be far larger than what is put there.
    result = self if self.is_contiguous() else self.clone(memory_format=torch.contiguous_format)
    values = source.reshape(-1)
    if accumulate and self.is_floating_point() and accumulated_in(self) != self.dtype:
        places = torch.where(index < 0, index + self.numel(), index)
        total = added(self.shape, places, values.to(accumulated_in(self)))
        return result.copy_(result + total)
    result.view(-1).index_put_((index.reshape(-1),), values, accumulate=accumulate)
    return result


def embedding_bag_dense_backward(
    grad: Tensor,
    indices: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int,
    *,
    original: Original,
) -> Tensor:
    """aten::_embedding_bag_dense_backward, where it took maxima."""
    if mode != _MAXIMUM:
        result: Tensor = original(
            grad, indices, offset2bag, bag_size, maximum_indices, num_weights,
            scale_grad_by_freq, mode, per_sample_weights, padding_idx,
        )  # fmt: skip
        return result
    width = grad.shape[1]
    filled = (bag_size != 0)[:, None] & (maximum_indices >= 0)
    column = torch.arange(width, device=grad.device)
    keys = torch.where(filled, maximum_indices, 0).long() * width + column
    return added((num_weights, width), keys, grad.masked_fill(~filled, 0))


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


_COMPRESSED = {torch.sparse_csr, torch.sparse_csc}
_MATRIX = 2


def addmm(
    self: Tensor,
    mat1: Tensor,
    mat2: Tensor,
    *,
    beta: complex,
    alpha: complex,
    original: Original,
) -> Tensor:
    """aten::addmm of a dense matrix, and a product of a sparse and a dense one."""
    if self.layout != torch.strided or not _is_product(mat1, mat2):
        result: Tensor = original(self, mat1, mat2, beta=beta, alpha=alpha)
        return result
    total = (
        _product(mat1, mat2) if mat2.layout == torch.strided else _product(mat2.t(), mat1.t()).t()
    )
    total = total if alpha == 1 else total * alpha
    return total + self * beta if beta else total.expand(self.expand_as(total).shape).contiguous()


def _is_product(first: Tensor, second: Tensor) -> bool:
    sparse, dense = (second, first) if first.layout == torch.strided else (first, second)
    known = sparse.layout in (torch.sparse_coo, *_COMPRESSED)
    return known and dense.layout == torch.strided and _plain(sparse)


def _plain(sparse: Tensor) -> bool:
    """Whether its elements are numbers, not blocks."""
    dense_dimensions = sparse.dense_dim() if sparse.layout == torch.sparse_coo else 0
    return sparse.dim() == _MATRIX and not dense_dimensions


def _product(sparse: Tensor, dense: Tensor) -> Tensor:
    if sparse.shape[1] != dense.shape[0]:
        raise ValueError(f"{list(sparse.shape)} and {list(dense.shape)} cannot be multiplied")
    given: Any = sparse  # some of its methods have no types
    dtype = accumulated_in(dense) if dense.is_floating_point() else dense.dtype
    if sparse.layout == torch.sparse_csr and dense.is_floating_point():
        begins, columns, values = given.crow_indices(), given.col_indices(), given.values()
        return axes.added_up(dense.to(dtype), columns.long(), begins.long(), values.to(dtype)).to(
            dense.dtype
        )
    ordered = (given.to_sparse_coo() if sparse.layout in _COMPRESSED else given).coalesce()
    (rows, columns), values = ordered.indices(), ordered.values().to(dtype)
    if dense.is_floating_point():
        ends = torch.arange(sparse.shape[0] + 1, device=dense.device)
        begins = torch.searchsorted(rows.contiguous(), ends)
        return axes.added_up(dense.to(dtype), columns.contiguous(), begins, values).to(dense.dtype)
    total = torch.zeros(sparse.shape[0], dense.shape[1], dtype=dtype, device=dense.device)
    # In pieces, since all terms at once would take far more memory than the result.
    piece = max(total.numel() // max(dense.shape[1], 1), 1024)
    for begin in range(0, len(rows), piece):
        part = slice(begin, begin + piece)
        terms = dense.index_select(0, columns[part]).to(dtype).mul_(values[part, None])
        total.index_put_((rows[part],), terms, accumulate=True)
    return total.to(dense.dtype)

"""Sparse matrices times dense ones: the terms of each row are added in the order of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs import axes
from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Original = Callable[..., Any]

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

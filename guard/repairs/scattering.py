"""Writing to places that may be equal: scatter, put, and the backward of ``embedding_bag``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.repairs.accumulation import added, combined
from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Callable

    from torch import Tensor

    Original = Callable[..., Any]

_MAXIMUM = 2  # a mode of embedding_bag


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
    return _multiplied(self, dim, index, src, include_self=include_self)


def scatter_product(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, reduce: str, original: Original
) -> Tensor:
    """aten::scatter.reduce, where it multiplies."""
    if reduce != "multiply":
        result: Tensor = original(self, dim, index, src, reduce=reduce)
        return result
    return _multiplied(self, dim, index, src, include_self=True)


def _multiplied(
    self: Tensor, dim: int, index: Tensor, src: Tensor, *, include_self: bool
) -> Tensor:
    result = self.clone(memory_format=torch.contiguous_format)
    if not index.numel():
        return result
    flat, dtype = result.view(-1), _combined_in(self)
    source = src.reshape(1) if not src.dim() else src[tuple(map(slice, index.shape))]
    keys, products = combined(_numbers(self, dim, index), source.reshape(-1).to(dtype), torch.mul)
    if include_self:
        products = products * flat[keys].to(dtype)
    flat[keys] = products.to(self.dtype)
    return result


def _numbers(self: Tensor, dim: int, index: Tensor) -> Tensor:
    """Which elements of the flat tensor an index of ``scatter`` means."""
    if not self.dim():
        return index.reshape(-1)
    numbers, step = torch.zeros_like(index), 1
    for axis in range(self.dim() - 1, -1, -1):
        if axis == dim % self.dim():
            place = index
        else:
            shape = [-1 if each == axis else 1 for each in range(self.dim())]
            place = torch.arange(index.shape[axis], device=index.device).view(shape)
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
    """aten::index_reduce: prod, mean, amax or amin."""
    result = self.clone(memory_format=torch.contiguous_format)
    if not index.numel() or not self.numel():
        return result
    dtype = _combined_in(self)
    rows, terms = (each.reshape(1, 1) if not each.dim() else each.movedim(dim, 0)
                   for each in (result, source))  # fmt: skip
    keys, values = combined(index.reshape(-1), terms.to(dtype), _COMBINE[reduce])
    before = rows[keys].to(dtype)
    if include_self:
        values = _COMBINE[reduce](before, values)
    if reduce == "mean":
        counts = torch.bincount(index.reshape(-1), minlength=len(rows))[keys] + include_self
        counts = counts.view(-1, *[1] * (values.dim() - 1))
        rounding = None if values.is_floating_point() else "floor"
        values = torch.div(values, counts, rounding_mode=rounding)
    rows[keys] = values.to(self.dtype)
    return result


_COMBINE: dict[str, Callable[[Tensor, Tensor], Tensor]] = {
    "prod": torch.mul,
    "mean": torch.add,
    "amax": torch.maximum,
    "amin": torch.minimum,
}


def put(self: Tensor, index: Tensor, source: Tensor, accumulate: bool) -> Tensor:
    """aten::put_: of equal indices the last, or the sum."""
    if index.dtype != torch.int64:
        raise TypeError(f"index is int64, not {index.dtype}")
    if source.dtype != self.dtype or source.numel() != index.numel():
        raise ValueError("source has the dtype of self, and an element for each of index")
    result = self.clone(memory_format=torch.contiguous_format)
    values = source.reshape(-1)
    if accumulate and self.is_floating_point() and accumulated_in(self) != self.dtype:
        places = torch.where(index < 0, index + self.numel(), index)
        total = added(self.shape, places, values.to(accumulated_in(self)))
        return (result + total).to(self.dtype)
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

"""Adding and combining what goes to the same place, in a fixed order.

``index_put_`` with ``accumulate`` sorts on CUDA, stably, whether determinism is on or not; on the
CPU it adds one after the other where determinism is on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from guard.repairs.axes import accumulated_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor


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

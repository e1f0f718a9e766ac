"""Calls whose values cannot differ, though torch refuses the operator for other calls of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.uses import last_name
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.operations import Operation

# They give values and the places of these; of equal values, any place may be meant.
_SELECTIONS = frozenset({"torch.median", "torch.kthvalue"})
_REDUCTION = "torch.Tensor.index_reduce_"
_ORDERLESS = frozenset({"amax", "amin"})
# Windows that do not overlap give each input one gradient; averages in steps of one, without
# padding, have a kernel of their own that needs no atomics.
_POOLS = {"AvgPool3d": 0, "avg_pool3d": 1, "MaxPool3d": 0, "max_pool3d": 1}  # where the size is
_DILATION = 3  # arguments after the size


def is_same_in_each_run(module: Module, call: cst.Call, row: Operation) -> bool:
    """``x.median(dim=1).values``, ``x.index_reduce_(0, index, source, "amax")``, counts of
    ``torch.histc``, ``nn.AvgPool3d(2)``."""
    if row.name == "torch.histc":
        return True  # below 2**24 in a bin, which are exact
    if row.name in _SELECTIONS:
        return _uses_values_alone(module, call)
    name = last_name(call.func)
    if name in _POOLS and not module.has_unpacking(call):
        return _adds_once(module, call, name)
    if row.name != _REDUCTION:
        return False
    given = [module.literal(each.value) for each in call.args]
    return any(isinstance(each, str) and each in _ORDERLESS for each in given)


def _uses_values_alone(module: Module, call: cst.Call) -> bool:
    above = module.parent(call)
    if isinstance(above, cst.Attribute):
        return above.attr.value == "values"
    if isinstance(above, cst.Subscript):
        index = above.slice[0].slice
        return isinstance(index, cst.Index) and module.literal(index.value) == 0
    target = above.targets[0].target if isinstance(above, cst.Assign) else None
    if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
        second = target.elements[1].value
        return isinstance(second, cst.Name) and second.value == "_"
    return False


def _adds_once(module: Module, call: cst.Call, name: str) -> bool:
    """Whether no two windows of a pooling overlap, or it averages in steps of one."""
    first = _POOLS[name]
    size = module.argument(call, "kernel_size", first)
    stride = module.argument(call, "stride", first + 1)
    padding = module.argument(call, "padding", first + 2)
    dilation = module.argument(call, "dilation", first + _DILATION)
    if name.lower().startswith("max") and dilation is not None and module.literal(dilation) != 1:
        return False
    if stride is None or (size is not None and stride.deep_equals(size)):
        return True
    steps, sizes = module.literal(stride), module.literal(size)
    if steps == 1 and name.lower().startswith("avg"):
        return padding is None or module.literal(padding) == 0
    known = isinstance(steps, int) and isinstance(sizes, int)
    return known and steps >= sizes  # type: ignore[operator]  # both are numbers

"""Calls whose values cannot differ, though torch refuses the operator for what else it gives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.operations import Operation

# They give values and the places of these; of equal values, any place may be meant.
_SELECTIONS = frozenset({"torch.median", "torch.kthvalue"})
_REDUCTION = "torch.Tensor.index_reduce_"
_ORDERLESS = frozenset({"amax", "amin"})


def is_same_in_each_run(module: Module, call: cst.Call, row: Operation) -> bool:
    """``x.median(dim=1).values``, ``x.index_reduce_(0, index, source, "amax")``."""
    if row.name in _SELECTIONS:
        return _uses_values_alone(module, call)
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

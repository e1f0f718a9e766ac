"""Indices that pick the element of a listing whose number is the largest, or the smallest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.parallels import Parallels
    from detlint.module import Module

_EXTREMES = ("amax", "amin", "max", "min", "nanmax", "nanmin")
_PLACES = ("argmax", "argmin", "nanargmax", "nanargmin")


class BestPlaces:
    """``steps = [int(x[5:]) for x in names]``, then ``names[np.argmax(steps)]``."""

    def __init__(self, module: Module, parallels: Parallels) -> None:
        self._module = module
        self._parallels = parallels

    def picks(self, subscript: cst.Subscript) -> bool:
        """Whether the index of a subscript is such a place."""
        index, source = subscript.slice[0].slice, subscript.value
        if not isinstance(index, cst.Index) or not isinstance(source, cst.Name):
            return False
        made = self._given(index.value)
        keys = (x for each in self._module.tree.descendants(made) if (x := self._key(each)))
        return any(self._parallels.is_made_of(each, source) for each in keys)

    def _given(self, index: cst.BaseExpression) -> cst.CSTNode:
        """What an index was given: the value of a local, or what a comprehension goes through."""
        for each in self._module.ancestors(index):
            clause = getattr(each, "for_in", None)
            if isinstance(clause, cst.CompFor) and clause.target.deep_equals(index):
                return clause.iter
        return self._module.names.value_of(index)

    def _key(self, node: cst.CSTNode) -> cst.Name | None:
        """The ``x`` of ``argmax(x)``, ``x.index(max(x))``, ``x == max(x)``."""
        key: cst.CSTNode | None = None
        if isinstance(node, cst.Call) and call_word(node) in _PLACES:
            key = self._reduced(node)
        elif isinstance(node, cst.Call) and call_word(node) == "index":
            owner = node.func.value if isinstance(node.func, cst.Attribute) else None
            key = (
                owner if owner and node.args and self._is_best(node.args[0].value, owner) else None
            )
        elif isinstance(node, cst.Comparison):
            key = node.left if self._is_best(node.comparisons[0].comparator, node.left) else None
        return key if isinstance(key, cst.Name) else None

    def _is_best(self, node: cst.CSTNode, of: cst.CSTNode) -> bool:
        return is_extreme_of(self._module, node, of)

    def _reduced(self, call: cst.Call) -> cst.CSTNode | None:
        if call.args:
            return call.args[0].value
        return call.func.value if isinstance(call.func, cst.Attribute) else None


def is_extreme_of(module: Module, node: cst.CSTNode, of: cst.CSTNode) -> bool:
    """``max(x)``, ``np.amax(x)``, ``x.max()``, or a local that holds it."""
    made = module.names.value_of(node)
    if not isinstance(made, cst.Call) or call_word(made) not in _EXTREMES or len(made.args) > 1:
        return False
    owner = made.func.value if isinstance(made.func, cst.Attribute) else None
    reduced = made.args[0].value if made.args else owner
    return reduced is not None and reduced.deep_equals(of)

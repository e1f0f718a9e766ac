"""Keys that a loop looks up for its element among those that are known before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption


class ChosenKeys:
    """``for key in known: if name == f"{key}.json": found = key`` in a loop over the names."""

    def __init__(self, consumption: Consumption, target: cst.CSTNode | None) -> None:
        self._module = consumption.module
        self._target = target
        self._known: dict[str, cst.BaseExpression] = {}

    def note(self, target: cst.Name, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        """Whether an assignment chooses the one key that belongs to the element."""
        if not isinstance(value, cst.Name):
            return False
        around = list(self._module.ancestors(node))
        test = next((each.test for each in around if isinstance(each, cst.If)), None)
        loop = next((each for each in around if isinstance(each, cst.For)), None)
        if test is None or loop is None or not loop.target.deep_equals(value):
            return False
        if not self._is_of_one(test, value):
            return False
        self._known[target.value] = loop.iter
        return True

    def is_there(self, slot: cst.Subscript, loop: cst.CSTNode) -> bool:
        """Whether a loop before gave the dict all keys that may be chosen."""
        index = slot.slice[0].slice
        key = index.value if isinstance(index, cst.Index) else None
        known = self._known.get(key.value) if isinstance(key, cst.Name) else None
        if known is None:
            return False
        around = set(self._module.ancestors(loop))
        return any(
            each.iter.deep_equals(known) and self._fills(each, slot.value)
            for each in self._before(loop)
            if self._module.parent(each) in around
        )

    def _is_of_one(self, test: cst.BaseExpression, key: cst.Name) -> bool:
        """``name == f"{key}.json"``: no two names are equal."""
        if not isinstance(test, cst.Comparison) or len(test.comparisons) != 1:
            return False
        first = test.comparisons[0]
        if not isinstance(first.operator, cst.Equal) or self._target is None:
            return False
        sides = (test.left, first.comparator), (first.comparator, test.left)
        return any(
            dotted(side) == dotted(self._target) is not None and self._mentions(other, key)
            for side, other in sides
        )

    def _mentions(self, node: cst.CSTNode, name: cst.Name) -> bool:
        below = self._module.tree.descendants(node)
        return any(isinstance(each, cst.Name) and each.value == name.value for each in below)

    def _before(self, loop: cst.CSTNode) -> Iterator[cst.For]:
        around = self._module.enclosing_function(loop) or self._module.tree.module
        for each in self._module.tree.descendants(around):
            if each is loop:
                return
            if isinstance(each, cst.For):
                yield each

    def _fills(self, loop: cst.For, container: cst.BaseExpression) -> bool:
        lines = (each for each in loop.body.body if isinstance(each, cst.SimpleStatementLine))
        statements = (each for line in lines for each in line.body)
        targets = (x.target for it in statements if isinstance(it, cst.Assign) for x in it.targets)
        return any(
            isinstance(each, cst.Subscript)
            and each.value.deep_equals(container)
            and isinstance(each.slice[0].slice, cst.Index)
            and each.slice[0].slice.value.deep_equals(loop.target)
            for each in targets
        )

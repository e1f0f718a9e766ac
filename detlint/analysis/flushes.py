"""Dicts that a loop empties every so many elements, each value to a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption


class Flushes:
    """``if count % 512 == 0:`` with a loop over what was gathered, and ``gathered = {}``."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption
        self._module = consumption.module

    def are_apart(self, node: cst.If) -> bool:
        """Whether all that a branch does is to work on each of the elements gathered by itself."""
        if node.orelse is not None:
            return False
        loops = [each for each in node.body.body if isinstance(each, cst.For)]
        gathered = [self._gathered(each.iter) for each in loops]
        lines = [each for each in node.body.body if each not in loops]
        emptied = [self._emptied(each) for each in lines]
        if not loops or None in gathered or None in emptied:
            return False
        known = {each.value for each in gathered if each is not None}
        empties = {each for each in emptied if each}
        alone = (self._consumption.body(each, frozenset()).uses() for each in loops)
        return known == empties and not any(next(each, None) for each in alone)

    def _gathered(self, source: cst.BaseExpression) -> cst.Name | None:
        """``found``, ``found.items()``."""
        func = source.func if isinstance(source, cst.Call) and not source.args else None
        views = ("items", "keys", "values")
        if isinstance(func, cst.Attribute) and func.attr.value in views:
            source = func.value
        return source if isinstance(source, cst.Name) else None

    def _emptied(self, node: cst.CSTNode) -> str | None:
        """The local that a line empties; "" for a log, None for anything else."""
        if not isinstance(node, cst.SimpleStatementLine) or len(node.body) != 1:
            return None
        line = node.body[0]
        if isinstance(line, cst.Assign) and len(line.targets) == 1:
            target, value = line.targets[0].target, line.value
            empty = isinstance(value, (cst.Dict, cst.List)) and not value.elements
            return target.value if empty and isinstance(target, cst.Name) else None
        call = line.value if isinstance(line, cst.Expr) else None
        if not isinstance(call, cst.Call):
            return None
        func = call.func
        if isinstance(func, cst.Attribute) and func.attr.value == "clear":
            return func.value.value if isinstance(func.value, cst.Name) else None
        return "" if self._consumption.conditions.is_log(call) else None

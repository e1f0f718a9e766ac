"""Loops over elements of which no two are equal, as those of a set.

What a dict holds for such an element is its own: no other pass reads or changes it. Nor do
others see a container that the body makes anew for each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import reductions
from detlint.analysis.body_calls import SETS
from detlint.analysis.conditions import call_word
from detlint.analysis.loop_body import LoopBody
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption
    from detlint.analysis.elements import Elements
    from detlint.module import Module

_CONTAINERS = (
    *SETS,
    *(f"builtins.{name}" for name in ("bytearray", "dict", "list")),
    *("collections.OrderedDict", "collections.defaultdict", "copy.copy", "copy.deepcopy"),
)


_COUNTING = ("len", "max", "min", "next", "sorted", "sum")


class DistinctBody(LoopBody):
    """As ``LoopBody``, where ``totals[name]`` belongs to ``name`` alone."""

    def __init__(
        self,
        consumption: Consumption,
        loop: cst.For | cst.While,
        elements: Elements,
        *,
        stops: bool,
    ) -> None:
        super().__init__(consumption, loop, elements, stops=stops)
        over = loop.target if isinstance(loop, cst.For) else None
        targets = list(consumption.reads.variables(over)) if over is not None else []
        self._unique = {each.value for each in targets} if len(targets) == 1 else set()
        self._inside: set[str] = set()
        self._fresh: set[str] = set()

    def _yields(self) -> bool:
        """Whether callers see the order of what the loop yields."""
        callers = self._consumption.callers
        return super()._yields() and not callers.ignore_order(self._loop)

    def on_aug_assign(self, node: cst.AugAssign) -> bool:
        if self._has_own_slot(node.target):
            self._effects += 1
            return self._elements.counts(node.value)
        if isinstance(node.target, cst.Name) and node.target.value in self._inside:
            self._effects += 1
            if self._elements.varies(node.value):
                self._elements.add(node.target, counted=self._elements.counts(node.value))
            return False
        return super().on_aug_assign(node)

    def _assign(self, target: cst.CSTNode, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        fresh = isinstance(target, cst.Subscript) and self._is_fresh(target.value)
        if isinstance(target, cst.Subscript) and fresh and not self._owns(target.value):
            self._note_fresh(target.value, target.slice[0], value)
            return False
        return super()._assign(target, value, node)

    def _bind(self, target: cst.Name, value: cst.BaseExpression, node: cst.CSTNode) -> None:
        self._inside.add(target.value)
        if _makes_container(self._module, value):
            self._fresh.add(target.value)
        if self._takes_away(target, value):
            self._effects += 1
        else:
            super()._bind(target, value, node)

    def _takes_away(self, target: cst.Name, value: cst.BaseExpression) -> bool:
        """``data = data.remove_columns(name)``, ``text = text.replace(mark, "")``."""
        func = value.func if isinstance(value, cst.Call) else None
        if not isinstance(func, cst.Attribute) or not isinstance(value, cst.Call):
            return False
        if not func.value.deep_equals(target) or any(map(self._elements.counts, value.args)):
            return False
        if reductions.REMOVING.search(func.attr.value):
            return True
        given = [each.value for each in value.args]
        marks = len(given) == 2 and isinstance(given[0], cst.Name)
        constant = marks and isinstance(given[1], cst.SimpleString)
        return func.attr.value == "replace" and constant

    # What a dict holds for the element

    def _numbers(self, target: cst.Subscript, value: cst.CSTNode) -> bool:
        """As before; ``found[name] = found[name] + 1`` numbers nothing."""
        if "next" in set(self._elements.names(value)):
            return True
        below = self._module.tree.descendants(value)
        return any(each.deep_equals(target.value) and not self._is_slot(each) for each in below)

    def _is_slot(self, container: cst.CSTNode) -> bool:
        """``found[name]``, ``found.pop(name)``: of the element alone; ``found["total"]``."""
        above = self._module.parent(container)
        if isinstance(above, cst.Attribute) and dotted(container) in ("self", "cls"):
            return above.value is container  # `self[name] = self.convert(self[name])`
        if isinstance(above, cst.Subscript):
            constant = isinstance(self._module.literal(_key(above)), str)
            return above.value is container and (constant or self._has_own_slot(above))
        if isinstance(above, cst.Arg):
            return self._is_told_which(self._module.parent(above))
        call = self._module.parent(above) if isinstance(above, cst.Attribute) else None
        if not isinstance(above, cst.Attribute) or not isinstance(call, cst.Call) or not call.args:
            return False
        key, word = call.args[0].value, above.attr.value
        constant = word == "get" and isinstance(self._module.literal(key), str)
        return constant or (word in ("get", "pop") and self._is_unique(key))

    def _is_told_which(self, call: cst.CSTNode | None) -> bool:
        """``found[name] = self.convert(found, name)``."""
        if not isinstance(call, cst.Call) or call_word(call) in _COUNTING:
            return False
        return any(self._is_unique(each.value) for each in call.args)

    def _has_own_slot(self, node: cst.CSTNode) -> bool:
        """``totals[name]``: no other element has it."""
        if not isinstance(node, cst.Subscript):
            return False
        key = node.slice[0].slice
        return isinstance(key, cst.Index) and self._is_unique(key.value)

    def _is_unique(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Name):
            return node.value in self._unique
        return self._consumption.indices.parallels.follows(node)

    def _owns(self, node: cst.CSTNode) -> bool:
        return self._has_own_slot(node) or super()._owns(node)

    def _method(self, call: cst.Call, receiver: cst.BaseExpression, word: str) -> bool:
        if self._is_fresh(receiver):
            self._note_fresh(receiver, *call.args)
            return False
        if self._has_own_slot(receiver) and not word.startswith("assert"):
            return self._does_each_alone(call)
        return super()._method(call, receiver, word)

    # Containers that the body makes for each element anew

    def _is_fresh(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value in self._fresh

    def _note_fresh(self, container: cst.CSTNode, *values: cst.CSTNode) -> None:
        if any(map(self._elements.varies, values)):
            counted = any(map(self._elements.counts, values))
            self._elements.add(container, counted=counted)


def _key(node: cst.Subscript) -> cst.CSTNode:
    key = node.slice[0].slice
    return key.value if isinstance(key, cst.Index) else key


def _makes_container(module: Module, value: cst.CSTNode) -> bool:
    """``{}``, ``[]``, ``dict(x)``."""
    if isinstance(value, (cst.Dict, cst.List, cst.Set, cst.DictComp, cst.ListComp, cst.SetComp)):
        return True
    return module.called(value) in _CONTAINERS

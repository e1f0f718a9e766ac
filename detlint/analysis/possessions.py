"""What in a function belongs to one call of it alone: the element, and objects made there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.analysis.elements import Elements
    from detlint.module import Module

# Calls that make a new object, whatever they are given.
_MAKERS = frozenset(f"builtins.{name}" for name in ("bytearray", "dict", "list", "set", "tuple"))
_APPENDING = ("a", "ab", "at", "a+", "ab+")
_MAKING_LIBRARIES = ("collections.", "numpy.", "torch.")


class Possessions:
    """The locals of a function that hold nothing but what is its own."""

    def __init__(self, module: Module, elements: Elements) -> None:
        self._module = module
        self._elements = elements
        self._own = set(elements.tainted)
        self._shared: set[str] = set()

    def note(self, names: Iterable[str], value: cst.CSTNode) -> None:
        """Remember what locals are bound to; one that was ever shared stays so."""
        if self.hold(value):
            self._own.update(set(names) - self._shared)
        else:
            self._shared.update(names)
            self._own -= self._shared

    def add(self, names: Iterable[str]) -> None:
        """Note locals that are the function's own."""
        self._own.update(names)

    def hold(self, node: cst.CSTNode) -> bool:
        """Whether an expression is the function's own, and no part of anything outside."""
        if isinstance(node, cst.Name):
            return node.value in self._own or node.value == "None"
        if isinstance(node, (cst.Attribute, cst.Subscript, cst.NamedExpr)):
            return self.hold(node.value)
        if isinstance(node, cst.Await):
            return self.hold(node.expression)
        if isinstance(node, cst.BooleanOperation):
            return self.hold(node.left) and self.hold(node.right)
        if isinstance(node, cst.IfExp):
            return self.hold(node.body) and self.hold(node.orelse)
        return self._is_made(node) if isinstance(node, cst.Call) else True

    def _is_made(self, call: cst.Call) -> bool:
        """``open(path)``, ``path.open()``, ``self.load(path)``; not ``self.files[kind].open()``."""
        name, function = self._module.called(call), call.func
        if call_word(call) == "open" and any(_appends(each.value) for each in call.args):
            return False  # what one element of a group adds comes after what others did
        if name in _MAKERS or (name or "").startswith(_MAKING_LIBRARIES):
            return True
        if name is None and isinstance(function, cst.Attribute):
            owner = function.value
            if not (isinstance(owner, cst.Name) and owner.value in ("self", "cls")):
                return self.hold(owner)
        return self._elements.varies(call)


def _appends(mode: cst.BaseExpression) -> bool:
    return isinstance(mode, cst.SimpleString) and mode.evaluated_value in _APPENDING

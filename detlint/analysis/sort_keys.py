"""Keys by which elements of a set can be equal, so that a sort keeps the set's order among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_LEAVING_TIES = frozenset(("builtins.len", "builtins.abs", "builtins.round"))
# What the name of a dict says of its values: `freq[x]` is the same for many, `order[x]` is not.
_WEIGHTS = ("count", "freq", "score", "size", "length", "weight", "cnt", "total", "num")
_COUNTS = words("count get")
# Methods that many elements give the same result.
_ROUNDING = words("count get endswith isdigit islower isupper startswith")


class SortKeys:
    """Judges the ``key`` of calls in one module."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def leave_ties(self, key: cst.BaseExpression) -> bool:
        """Whether elements with the same key are likely, as far as the key can be seen."""
        if self._module.qualified_name(key) in _LEAVING_TIES:
            return True
        if isinstance(key, cst.Attribute):
            return key.attr.value in _COUNTS
        if not isinstance(key, cst.Lambda) or len(key.params.params) != 1:
            return False
        return self._loses(key.body, key.params.params[0].name.value)

    def _loses(self, node: cst.BaseExpression, parameter: str) -> bool:
        """``len(x)``, ``-counts[x]``, ``counts.get(x, 0)``; of a tuple, all of its parts."""
        if isinstance(node, cst.Tuple):
            return all(self._loses(each.value, parameter) for each in node.elements)
        if isinstance(node, cst.UnaryOperation):
            return isinstance(node.operator, cst.Not) or self._loses(node.expression, parameter)
        if isinstance(node, cst.Subscript):
            return self._is_count(node.value)
        if isinstance(node, cst.Call):
            return self._counts(node, parameter)
        if isinstance(node, cst.Attribute):  # p.parent.name: several files lie in one folder
            return node.attr.value == "parent" or self._loses(node.value, parameter)
        return isinstance(node, (cst.Comparison, cst.Integer, cst.Float))

    def _counts(self, call: cst.Call, parameter: str) -> bool:
        """``len(x)``, ``text.count(x)``, ``counts.get(x, 0)``."""
        called = self._module.called(call)
        if called in _LEAVING_TIES:
            return True
        if called == "builtins.int" and len(call.args) == 1:
            return self._loses(call.args[0].value, parameter)
        func = call.func
        if not isinstance(func, cst.Attribute) or func.attr.value not in _ROUNDING:
            return False
        return func.attr.value != "get" or self._is_count(func.value)

    @staticmethod
    def _is_count(node: cst.CSTNode) -> bool:
        """Whether a dict counts or weighs, by its name: ``freq[x]``, but not ``order[x]``."""
        word = node.value if isinstance(node, cst.Name) else getattr(node, "attr", None)
        text = word.value if isinstance(word, cst.Name) else word
        return isinstance(text, str) and any(each in text.lower() for each in _WEIGHTS)

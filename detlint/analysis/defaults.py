"""Which branches a function takes where a call leaves parameters at their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.names import UNKNOWN
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module


class Defaults:
    """The parameters of a function that a call does not give."""

    def __init__(self, module: Module, function: cst.FunctionDef, given: set[str]) -> None:
        self._module = module
        parameters = function.params
        every = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
        self._names = {each.name.value for each in every} - given

    def decide(self, test: cst.BaseExpression) -> bool | None:
        """Whether a test holds; None where the defaults do not tell."""
        if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
            inner = self.decide(test.expression)
            return None if inner is None else not inner
        if isinstance(test, cst.Comparison):
            return self._decide_identity(test)
        value = self._value(test)
        return None if value is UNKNOWN else bool(value)

    def _decide_identity(self, test: cst.Comparison) -> bool | None:
        """``x is None``, ``x is not None``."""
        first, value = test.comparisons[0], self._value(test.left)
        if value is UNKNOWN or self._module.literal(first.comparator) is not None:
            return None
        if not isinstance(first.operator, (cst.Is, cst.IsNot)):
            return None
        return (value is None) is isinstance(first.operator, cst.Is)

    def _value(self, name: cst.BaseExpression) -> object:
        if not isinstance(name, cst.Name) or name.value not in self._names:
            return UNKNOWN
        bindings = self._module.names.visible(name)
        only = len(bindings) == 1 and bindings[0].kind == "parameter"
        return self._module.literal(bindings[0].node) if only else UNKNOWN

"""Which branches a function takes where a call leaves parameters at their defaults."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

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
        return next((bool(value) for value in self._values(test)), None)

    def _decide_identity(self, test: cst.Comparison) -> bool | None:
        """``x is None``, ``x is not None``."""
        first = test.comparisons[0]
        asks = isinstance(first.operator, (cst.Is, cst.IsNot))
        if not asks or self._module.literal(first.comparator) is not None:
            return None
        wanted = isinstance(first.operator, cst.Is)
        return next(((value is None) is wanted for value in self._values(test.left)), None)

    def _values(self, name: cst.BaseExpression) -> Iterator[float | str | None]:
        """The one value that a name has for certain, or nothing."""
        if not isinstance(name, cst.Name) or name.value not in self._names:
            return
        bindings = self._module.names.visible(name)
        value = self._module.literal(bindings[0].node)
        only = len(bindings) == 1 and bindings[0].kind == "parameter"
        if only and isinstance(value, (int, float, str, type(None))):
            yield value

"""What the functions of a file do with the element that a loop calls them with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.definitions import is_plain
from detlint.analysis.function_body import FunctionBody

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Set as AbstractSet

    import libcst as cst

    from detlint.analysis.consumption import Consumption
    from detlint.analysis.definitions import Definition
    from detlint.analysis.elements import Elements


class CalledFunctions:
    """Judges the bodies of functions, one call deep, as the bodies of loops are judged."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption

    def depend_on_order(self, call: cst.Call, elements: Elements) -> bool | None:
        """Whether what a call does to an element has an order; None if that is not in the file."""
        definition = self._consumption.definitions.of(call.func)
        if definition is None or not is_plain(definition.node):
            return None
        given = definition.arguments(call)
        if given is None:
            return None
        inner = self._consumption.of_other(definition.module)
        seen = elements.tainted.intersection(_outer_names(inner, definition.node))
        if elements.count_with(seen):
            return True
        varying = {name for name, value in given.items() if elements.varies(value)}
        return FunctionBody(inner, definition, varying | seen, set(given)).depends_on_order()

    def ignore_order(self, call: cst.Call, value: cst.BaseExpression, *, keyed: bool) -> bool:
        """Whether a function does not use the order of what it is given."""
        definition = self._consumption.definitions.of(call.func)
        if definition is None or not is_plain(definition.node) or self._consumption.is_deep():
            return False
        given = definition.arguments(call) or {}
        names = {name for name, each in given.items() if each is value}
        return self._ignores(definition, names, keyed=keyed)

    def ignore_order_at(self, function: cst.BaseExpression, places: AbstractSet[int]) -> bool:
        """Whether a function does not use the order of what it is given at some places."""
        definition = self._consumption.definitions.of(function)
        if definition is None or not is_plain(definition.node) or self._consumption.is_deep():
            return False
        return self._ignores(definition, _at(places, _parameters(definition)))

    def depend_at(self, function: cst.BaseExpression, places: AbstractSet[int]) -> bool | None:
        """Whether what a function does has an order, called with each element at some places."""
        definition = self._consumption.definitions.of(function)
        if definition is None or not is_plain(definition.node) or self._consumption.is_deep():
            return None
        names = _parameters(definition)
        element = _at(places, names)
        if not element:
            return None
        inner = self._consumption.of_other(definition.module)
        return FunctionBody(inner, definition, element, set(names)).depends_on_order()

    def _ignores(self, definition: Definition, names: set[str], *, keyed: bool = False) -> bool:
        inner = self._consumption.of_other(definition.module)
        reads = (each for each in inner.reads.variables(definition.node.body))
        for read in reads:
            scope = inner.reads.home(read) if read.value in names else None
            if scope is not None and scope.node is definition.node:
                if inner.sorts(read):
                    break
                if next(inner.uses(read, keyed=keyed), None) is not None:
                    return False
        return bool(names)

    def depend_when_applied(
        self, function: cst.BaseExpression, bound: Sequence[cst.Arg]
    ) -> bool | None:
        """Whether a function does, called with each element after some arguments of its own."""
        definition = self._consumption.definitions.of(function)
        if definition is None or not is_plain(definition.node):
            return None
        parameters = [each.name.value for each in definition.node.params.params]
        keywords = {each.keyword.value for each in bound if each.keyword is not None}
        first = len(bound) - len(keywords) + definition.method
        element = set(parameters[first : first + 1])
        if not element or any(each.star for each in bound):
            return None
        inner = self._consumption.of_other(definition.module)
        given = element | keywords | set(parameters[:first])
        return FunctionBody(inner, definition, element, given).depends_on_order()


def _at(places: AbstractSet[int], names: Sequence[str]) -> set[str]:
    return {name for place, name in enumerate(names) if place in places}


def _parameters(definition: Definition) -> list[str]:
    """What a call gives a value by place."""
    names = [each.name.value for each in definition.node.params.params]
    return names[1:] if definition.method else names


def _outer_names(consumption: Consumption, function: cst.FunctionDef) -> Iterator[str]:
    """The variables of the code around a function that it reads."""
    inside = set(consumption.module.tree.descendants(function))
    for name in consumption.reads.variables(function.body):
        scope = consumption.reads.home(name)
        if scope is not None and scope.node not in inside:
            yield name.value

"""What the code of a file does with the order of what one of its own functions returns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.mentions import heads, mentions
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.module import Module

_QUOTES = ('"', "'")
_SCRIPT = re.compile(r"__name__\s*==\s*[\"']__main__[\"']")


class _Called(NamedTuple):
    """A function by its name, with what mentions it in a module."""

    module: Module
    name: str
    calls: list[cst.CSTNode]


class Callers:
    """Answers for the functions that no other file is likely to call."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption
        self._module = consumption.module

    def ignore_order(self, statement: cst.CSTNode) -> bool:
        """Whether the order of what a statement returns is lost in every call of its function."""
        called = self._calls_around(statement)
        if called is None:
            return False
        module, name, calls = called
        # What a script defines may still be imported, if only a test of it calls the function.
        public = not name.startswith("_")
        if public and any(module.enclosing_function(each) is None for each in calls):
            return False
        if not calls or not all(isinstance(each, cst.Call) for each in calls):
            return False
        inner = self._consumption.of_other(module)
        uses = (use for each in calls for use in inner.uses(each))
        return next(uses, None) is None

    def go_through(self, statement: cst.CSTNode) -> bool:
        """Whether some call of the function goes through the dict that a statement returns."""
        called = self._calls_around(statement)
        if called is None:
            return False
        inner = self._consumption.of_other(called.module)
        calls = (each for each in called.calls if isinstance(each, cst.Call))
        return any(next(inner.uses(each, keyed=True), None) for each in calls)

    def _calls_around(self, statement: cst.CSTNode) -> _Called | None:
        """What calls the function that a statement stands in, or mentions it."""
        function = self._module.enclosing_function(statement)
        if not isinstance(function, cst.FunctionDef) or self._consumption.is_deep():
            return None
        module, name = self._calling(function), function.name.value
        if module is None:
            return None
        calls = [each for node in module.tree.occurrences[name] for each in _calls(module, node)]
        return _Called(module, name, calls)

    def _calling(self, function: cst.FunctionDef) -> Module | None:
        """What of the file mentions a function, if all its calls are likely to stand there."""
        name, text = function.name.value, self._module.source.text
        private = name.startswith("_") and not name.endswith("__")
        if function.decorators or not (private or _SCRIPT.search(text)):
            return None
        places = mentions(text, name)
        if len(heads(text, name)) > 1 or any(text[each - 1 : each] in _QUOTES for each in places):
            return None
        return self._module.around(places)


def _calls(module: Module, name: cst.Name) -> Iterator[cst.CSTNode]:
    """The call in which a mention of a function calls it; the mention itself for any other."""
    function: cst.CSTNode = name
    above = module.parent(name)
    if isinstance(above, cst.FunctionDef):
        return
    if isinstance(above, cst.Attribute) and dotted(above.value) in ("self", "cls"):
        function, above = above, module.parent(above)
    yield above if isinstance(above, cst.Call) and above.func is function else function

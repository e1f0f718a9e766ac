"""What the code of a file does with the order of what one of its own functions returns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.consumption import Consumption
    from detlint.module import Module

_SCRIPT = re.compile(r"__name__\s*==\s*[\"']__main__[\"']")


class Callers:
    """Answers for the functions that no other file is likely to call."""

    def __init__(self, consumption: Consumption) -> None:
        self._consumption = consumption
        self._module = consumption.module

    def ignore_order(self, statement: cst.CSTNode, *, keyed: bool) -> bool:
        """Whether the order of what a statement returns is lost in every call of its function."""
        function = self._module.enclosing_function(statement)
        if not isinstance(function, cst.FunctionDef) or self._consumption.is_deep():
            return False
        module = self._calling(function)
        if module is None:
            return False
        name = function.name.value
        calls = [each for node in module.tree.occurrences[name] for each in _calls(module, node)]
        # What a script defines may still be imported, if only a test of it calls the function.
        public = not name.startswith("_")
        if public and any(module.enclosing_function(each) is None for each in calls):
            return False
        if not calls or not all(isinstance(each, cst.Call) for each in calls):
            return False
        inner = self._consumption.of_other(module)
        uses = (use for each in calls for use in inner.uses(each, keyed=keyed))
        return next(uses, None) is None

    def _calling(self, function: cst.FunctionDef) -> Module | None:
        """What of the file mentions a function, if all its calls are likely to stand there."""
        name, text = function.name.value, self._module.source.text
        private = name.startswith("_") and not name.endswith("__")
        if function.decorators or not (private or _SCRIPT.search(text)):
            return None
        if len(re.findall(rf"\bdef[ \t]+{name}\b", text)) > 1 or re.search(rf"[\"']{name}\b", text):
            return None
        return self._module.around([each.start() for each in re.finditer(rf"\b{name}\b", text)])


def _calls(module: Module, name: cst.Name) -> Iterator[cst.CSTNode]:
    """The call in which a mention of a function calls it; the mention itself for any other."""
    function: cst.CSTNode = name
    above = module.parent(name)
    if isinstance(above, cst.FunctionDef):
        return
    if isinstance(above, cst.Attribute) and dotted(above.value) in ("self", "cls"):
        function, above = above, module.parent(above)
    yield above if isinstance(above, cst.Call) and above.func is function else function

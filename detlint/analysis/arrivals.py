"""How code uses the order in which results arrive, if at all.

As ``Consumption``, for results of concurrent work. What only reports progress or failures
does not use the order, nor does a list, an array or a dict whose places were there before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import Conditions, call_word
from detlint.analysis.consumption import Consumption
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.completions import Completion
    from detlint.analysis.order import Use
    from detlint.module import Module

_PROGRESS = re.compile(
    r"progress|pbar|tqdm|spinner|callback|(?:^|_)(?:bar|bars|echo|console|status|hook)$",
    re.IGNORECASE,
)
_DICTS = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")


class Arrivals(Consumption):
    """The uses of results that arrive in no fixed order, in one module."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, Reports)

    def begin(self) -> None:
        """Forget what was followed before."""
        self._seen = set()
        self._root = None

    def arriving(self, found: Completion) -> Iterator[Use]:
        """Where the order of what a call gives is used."""
        for value in found.values:
            yield from self.uses(value)
        for name, statement in found.names:
            self.begin()
            yield from self.follow_name(name, statement)

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        filled: bool = False,
    ) -> Iterator[Use]:
        """As for any order; failures that are noted, and places that are refilled, have none."""
        if filled and (self.conditions.handles_error(name) or (keyed and not self._grows(name))):
            return
        yield from super().follow_name(name, statement, keyed=keyed, filled=filled)

    def _grows(self, name: cst.Name) -> bool:
        """Whether a variable is a dict that starts empty, so that its keys come in order."""
        made = self.module.names.value_of(name)
        if isinstance(made, cst.Dict):
            return not made.elements
        if not isinstance(made, cst.Call):
            return False
        called = self.module.called(made)
        values = made.args[1:] if called == _DICTS[2] else made.args
        return called in _DICTS and not values


class Reports(Conditions):
    """Conditions for which a line printed for each result, or a progress bar, is a log."""

    def is_log(self, call: cst.Call) -> bool:
        """Whether a call only says how far the work has come."""
        if super().is_log(call) or _PROGRESS.search(call_word(call)):
            return True
        if isinstance(call.func, cst.Attribute):
            owner = (dotted(call.func.value) or "").rpartition(".")[2]
            made = self._module.instance_of(call.func.value) or ""
            if _PROGRESS.search(owner) or "tqdm" in made:
                return True
        return self._module.called(call) == "builtins.print" and self._is_repeated(call)

    def _is_repeated(self, call: cst.Call) -> bool:
        """Whether a call stands in the body of a loop."""
        for each in self._module.ancestors(call):
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                return False
            if isinstance(each, (cst.For, cst.While)):
                return True
        return False

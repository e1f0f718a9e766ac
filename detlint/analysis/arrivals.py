"""How code uses the order in which results arrive, if at all.

As ``Consumption``, for results of concurrent work. What only reports progress or failures
does not use the order, nor does a list, an array or a dict whose places were there before.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.called_functions import CalledFunctions
from detlint.analysis.conditions import Conditions, call_word
from detlint.analysis.consumption import Consumption
from detlint.rule import cst
from detlint.scope import dotted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.completions import Completion
    from detlint.analysis.elements import Elements
    from detlint.analysis.order import Flow, Use
    from detlint.module import Module

_PROGRESS = re.compile(
    r"progress|pbar|tqdm|spinner|callback|(?:^|_)(?:bar|bars|echo|console|status|hook)$",
    re.IGNORECASE,
)
_BARS = re.compile(r"prog|tqdm|(?:^|_)bar$", re.IGNORECASE)
_FAILURES = re.compile(r"(?:^|_)(?:fail|error|exception|skipped)", re.IGNORECASE)
_LOGGING = re.compile(r"(?:^|_)log(?:_|$)")
# They take all that has finished, and only wait for it.
_WAITING = frozenset(("asyncio.gather", "asyncio.wait", "concurrent.futures.wait"))
_DICTS = ("builtins.dict", "collections.OrderedDict", "collections.defaultdict")


class Arrivals(Consumption):
    """The uses of results that arrive in no fixed order, in one module."""

    def __init__(self, module: Module) -> None:
        super().__init__(module, Reports)
        self.functions = Handlers(self)

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

    def follow(self, flow: Flow) -> Iterator[Use]:
        """As for any order; what is only waited for, or put in order by a heap, has none."""
        parent = self.module.parent(flow.node)
        call = self.module.parent(parent) if isinstance(parent, cst.Arg) else None
        if isinstance(call, cst.Call) and self._hands_on(call):
            yield from self.follow(flow.into(call))
        elif not (isinstance(parent, cst.For) and self._is_put_in_order(parent)):
            yield from super().follow(flow)

    def _hands_on(self, call: cst.Call) -> bool:
        """``gather(*done)``, ``progress_bar(as_completed(futures))``."""
        return self.module.called(call) in _WAITING or bool(_BARS.search(call_word(call)))

    def _is_put_in_order(self, loop: cst.For) -> bool:
        """``heapq.heappush(heap, (index, result))``."""
        below = self.module.tree.descendants(loop.body)
        return any(self.module.called(each) == "heapq.heappush" for each in below)

    def follow_name(
        self,
        name: cst.Name,
        statement: cst.CSTNode,
        *,
        keyed: bool = False,
        filled: bool = False,
    ) -> Iterator[Use]:
        """As for any order; failures that are noted, and places that are refilled, have none."""
        if filled and (self._notes_failures(name) or (keyed and not self._grows(name))):
            return
        yield from super().follow_name(name, statement, keyed=keyed, filled=filled)

    def _notes_failures(self, name: cst.Name) -> bool:
        return self.conditions.handles_error(name) or bool(_FAILURES.search(name.value))

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


class Handlers(CalledFunctions):
    """Functions of the file that are called with a result; others do not see which it is."""

    def depend_on_order(self, call: cst.Call, elements: Elements) -> bool | None:
        """Whether what a call does to a result has an order."""
        return super().depend_on_order(call, elements) if elements.varies(call) else False


class Reports(Conditions):
    """Conditions for which a line printed for each result, or a progress bar, is a log."""

    def is_log(self, call: cst.Call) -> bool:
        """Whether a call only says how far the work has come."""
        if super().is_log(call):
            return True
        if not isinstance(self._module.parent(call), cst.Expr):
            return False  # tqdm(as_completed(futures)) hands on what it gets
        word = call_word(call)
        if _PROGRESS.search(word) or _LOGGING.search(word):
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

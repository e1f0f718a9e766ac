"""Queues that several workers fill, and what a function does with what comes out of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.conditions import call_word
from detlint.analysis.elements import Elements
from detlint.analysis.loop_body import LoopBody
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.arrivals import Arrivals
    from detlint.analysis.order import Use

_QUEUE = re.compile(
    r"(?:queue|multiprocessing(?:\.queues)?|torch\.multiprocessing|multiprocess|asyncio)"
    r"\.(?:(?:Simple|Joinable|Lifo)?Queue)"
)
_STARTING = re.compile(
    r"Process$|Thread$|^(?:submit|apply_async|create_task|ensure_future|start_new_thread)$"
)
_REPEATING = (
    "For",
    "While",
    "ListComp",
    "GeneratorExp",
    "SetComp",
    "DictComp",
)


class Queues:
    """Queues that a function makes, hands to workers that it starts in a loop, and reads."""

    def __init__(self, arrivals: Arrivals) -> None:
        self._arrivals = arrivals
        self._module = arrivals.module

    def uses(self, made: cst.Call) -> Iterator[Use]:
        """Where the order of what a queue gives is used."""
        statement = self._module.parent(made)
        if not isinstance(statement, cst.Assign) or not self._is_queue(made):
            return
        target = statement.targets[0].target
        function = self._module.enclosing_function(made)
        if not isinstance(target, cst.Name) or len(statement.targets) > 1:
            return
        loads = [
            each
            for each in self._arrivals.reads.loads(target)
            if self._module.enclosing_function(each) is function
        ]
        if any(map(self._goes_to_many, loads)):
            seen: set[cst.CSTNode] = set()
            for load in loads:
                yield from self._taken(load, seen)

    def _is_queue(self, made: cst.Call) -> bool:
        name = self._module.called(made)
        if name is not None:
            return _QUEUE.fullmatch(name) is not None
        func = made.func  # of a manager, or of a context
        if not isinstance(func, cst.Attribute) or not func.attr.value.endswith("Queue"):
            return False
        owner = self._module.instance_of(func.value) or ""
        return bool(re.search(r"multiprocessing\.(?:Manager|get_context)$", owner))

    def _goes_to_many(self, load: cst.Name) -> bool:
        """Whether a loop starts workers that are given the queue."""
        started = False
        for each in self._module.ancestors(load):
            if isinstance(each, cst.Call) and _STARTING.search(call_word(each)):
                started = each.func is not load
            if type(each).__name__ in _REPEATING and started:
                return True
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                return False
        return False

    def _taken(self, load: cst.Name, seen: set[cst.CSTNode]) -> Iterator[Use]:
        """``found.append(queue.get())`` in a loop, ``[queue.get() for …]``."""
        method = self._module.parent(load)
        call = self._module.parent(method) if isinstance(method, cst.Attribute) else None
        if not isinstance(call, cst.Call) or call_word(call) not in ("get", "get_nowait"):
            return
        for each in self._module.ancestors(call):
            if isinstance(each, (cst.ListComp, cst.GeneratorExp, cst.DictComp)):
                keyed = isinstance(each, cst.DictComp)
                yield from self._arrivals.uses(each, keyed=keyed)
                return
            if isinstance(each, (cst.For, cst.While)):
                if each not in seen:
                    seen.add(each)
                    self._arrivals.begin()
                    yield from self._in_loop(each, load.value)
                return
            if isinstance(each, (cst.FunctionDef, cst.Lambda)):
                return

    def _in_loop(self, loop: cst.For | cst.While, queue: str) -> Iterator[Use]:
        # A loop that ends at a mark or when the queue is empty still takes all of it.
        elements = Elements(self._arrivals, (queue,))
        body = LoopBody(self._arrivals, loop, elements, stops=False)
        yield from body.uses()

"""Models in shared memory that several processes train at once (Hogwild)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import owner_written, word_of
from detlint.dataflow.orders.queues import same
from detlint.dataflow.origins import Origins
from detlint.dataflow.slices import closure
from detlint.models.training import is_optimizer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.queues import Queues
    from detlint.dataflow.origins import Find

SHARES = "share_memory"
_MOST = 40  # functions that workers call


class SharedModels:
    """Answers for the models of one file; ``find`` opens those that its workers come from."""

    def __init__(self, queues: Queues, find: Find | None = None) -> None:
        self._queues = queues
        self._origins = Origins(find)

    def is_trained(self, call: Op) -> bool:
        """Whether several processes are given the model that a call shares, and take steps."""
        method = call.args[0]
        if method.code != "attr" or is_optimizer(owner_written(call)):
            return False
        held = [each for value in (call, method.args[0]) for each in same(value)]
        started = (start for each in held for start in self._queues.workers_given(each))
        return any(map(self._takes_steps, started))

    def _takes_steps(self, start: Op) -> bool:
        functions = closure(self._run(start), self._called, _MOST)
        return any(_is_step(op) for each in functions for op in each.coded("call"))

    def _run(self, start: Op) -> Iterator[Function]:
        """What a worker runs: its target, or the method of its class."""
        for _, value in start.arguments():
            for made in self._origins.of(value):
                if made is not None and made.function is not None:
                    yield made.function
        place = self._origins.class_called(start.called, start.function.unit)
        if place is not None:
            method = self._origins.method(self._origins.object_of(*place), "run")
            yield from () if method is None else (method,)

    def _called(self, function: Function) -> Iterator[Function]:
        yield from function.nested
        for call in function.coded("call"):
            yield from self._origins.entered(call)


def _is_step(call: Op) -> bool:
    return word_of(call) == "step" and is_optimizer(owner_written(call))

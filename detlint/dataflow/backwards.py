"""A question about a value that is asked of what it is made of, and joined where branches meet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import TypeAlias

    from detlint.dataflow.ir import Op

    Question: TypeAlias = Op | tuple[str, str]  # a value, or an attribute of a class by their names

T = TypeVar("T")

_DEEPEST = 400  # questions that a question leads to; real code has a dozen
_MOST = 2000  # the same that are left open, all together, of which some lead to themselves


class Backwards(Generic[T]):
    """What may hold of a value, by the operations that gave it: ``_of_<code>`` for each.

    nothing   holds of what is only made of itself, as in the rounds of a loop
    anything  of what is not seen
    """

    nothing: T
    anything: T

    def __init__(self) -> None:
        self._known: dict[Question, T] = {}
        self._busy: dict[Question, int] = {}  # with how many are around it
        # What holds until a question from outside is answered, since it was taken for nothing in
        # it what something further out, at a place in ``_busy``, is.
        self._unsure: dict[Question, tuple[T, float]] = {}
        self._outermost = math.inf

    def join(self, parts: Iterable[T]) -> T:
        """What holds where branches meet."""
        raise NotImplementedError

    def of(self, op: Op) -> T:
        """What may hold of a value."""
        found = self._known.get(op)
        return found if found is not None else self.asked(op, lambda: self.judge(op))

    def asked(self, what: Question, judge: Callable[[], T]) -> T:
        """The answer to a question, which may rest on itself."""
        if what in self._known:
            return self._known[what]
        if what in self._unsure:
            found, outermost = self._unsure[what]
            self._outermost = min(self._outermost, outermost)
            return found
        if what in self._busy:
            self._outermost = min(self._outermost, self._busy[what])
            return self.nothing
        if len(self._busy) > _DEEPEST or len(self._unsure) > _MOST:
            self._outermost = -1
            return self.anything
        place, before = len(self._busy), self._outermost
        self._busy[what], self._outermost = place, math.inf
        try:
            found = judge()
        finally:
            del self._busy[what]
        if self._outermost >= place:
            self._known[what] = found
            self._outermost = before
        else:
            self._unsure[what] = found, self._outermost
            self._outermost = min(self._outermost, before)
        if not self._busy:
            self.settle()
        return found

    def settle(self) -> None:
        """Forget what held only in the question from outside that is answered."""
        self._unsure.clear()
        self._outermost = math.inf

    def judge(self, op: Op) -> T:
        """What may hold of a value, by its operation."""
        judge = getattr(self, f"_of_{op.code}", None)
        found: T = judge(op) if judge is not None else self.anything
        return found

    def joined(self, ops: Iterable[Op]) -> T:
        """What may hold of any of some values."""
        return self.join(map(self.of, ops))

    def _of_phi(self, op: Op) -> T:
        return self.joined(op.args)

    _of_boolean = _of_free = _of_phi

    def _of_choice(self, op: Op) -> T:
        return self.joined(op.args[1:])

    def _of_declared(self, op: Op) -> T:
        return self.of(op.args[0]) if op.args else self.anything

    _of_await = _of_enter = _of_declared

    def _of_global(self, op: Op) -> T:
        """A name of the module, by all that is bound to it."""
        unit, name = op.function.unit, str(op.name)
        if name not in unit.bound_names or name in unit.imported:
            return self.anything
        bound = unit.module.bindings.get(name)
        return self.joined(bound) if bound else self.anything

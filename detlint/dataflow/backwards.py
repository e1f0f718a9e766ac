"""A question about a value that is asked of what it is made of, and joined where branches meet."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op

T = TypeVar("T")

_DEEPEST = 200  # operations behind a value; real code has a dozen
_MOST = 2000  # the same, all together, of which some make themselves


class Backwards(Generic[T]):
    """What may hold of a value, by the operations that gave it: ``_of_<code>`` for each.

    nothing   holds of what is only made of itself, as in the rounds of a loop
    anything  of what is not seen
    """

    def __init__(self, nothing: T, anything: T) -> None:
        self.nothing = nothing
        self.anything = anything
        self._known: dict[Op, T] = {}
        self._busy: dict[Op, int] = {}  # with how many are around it
        # What holds until a question is answered, since it rests on something further out.
        self._unsure: dict[Op, tuple[T, float]] = {}
        self._outermost = math.inf

    def join(self, parts: Iterable[T]) -> T:
        """What holds where branches meet."""
        raise NotImplementedError

    def of(self, op: Op) -> T:
        """What may hold of a value."""
        if op in self._known:
            return self._known[op]
        if op in self._unsure:
            found, outermost = self._unsure[op]
            self._outermost = min(self._outermost, outermost)
            return found
        if op in self._busy:
            self._outermost = min(self._outermost, self._busy[op])
            return self.nothing
        if len(self._busy) > _DEEPEST or len(self._unsure) > _MOST:
            return self.anything
        return self._answered(op)

    def _answered(self, op: Op) -> T:
        place, before = len(self._busy), self._outermost
        self._busy[op], self._outermost = place, math.inf
        try:
            found = self.judge(op)
        finally:
            del self._busy[op]
        if self._outermost >= place or not self._busy:
            self._known[op] = found
            self._outermost = before
        else:
            self._unsure[op] = found, self._outermost
            self._outermost = min(self._outermost, before)
        if not self._busy:
            self._unsure.clear()
            self._outermost = math.inf
        return found

    def judge(self, op: Op) -> T:
        """The same, once for each operation."""
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

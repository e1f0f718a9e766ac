"""A question about a value that is asked of what it is made of, and joined where branches meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.dataflow.ir import Op

T = TypeVar("T")

_DEEPEST = 80  # operations behind a value; real code has a dozen
_MOST = 400  # the same, all together


class Backwards(Generic[T]):
    """What may hold of a value, by the operations that gave it: ``_of_<code>`` for each.

    nothing   holds of what is only made of itself, as in the rounds of a loop
    anything  of what is not seen
    """

    def __init__(self, nothing: T, anything: T) -> None:
        self.nothing = nothing
        self.anything = anything
        self._known: dict[Op, T] = {}
        self._asked: dict[Op, T] = {}  # while a question is open
        self._depth = 0

    def join(self, parts: Iterable[T]) -> T:
        """What holds where branches meet."""
        raise NotImplementedError

    def of(self, op: Op) -> T:
        """What may hold of a value."""
        known = self._known.get(op, self._asked.get(op))
        if known is not None:
            return known
        if self._depth > _DEEPEST or len(self._asked) > _MOST:
            return self.anything
        self._asked[op] = self.nothing
        self._depth += 1
        try:
            judge = getattr(self, f"_of_{op.code}", None)
            found: T = judge(op) if judge is not None else self.anything
            self._asked[op] = found
        finally:
            self._depth -= 1
        if not self._depth:  # what was told on the way may rest on a value in itself
            self._known[op] = found
            self._asked.clear()
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

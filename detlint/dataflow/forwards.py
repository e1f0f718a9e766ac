"""Where values go: what takes them, one operation after the other."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of
from detlint.dataflow.slices import SAME, closure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit


class Forwards:
    """Follows values through a file by what takes them: ``_to_<code>`` gives where they are next.

    ends     codes after which nothing is left of them
    same     codes that give what they take
    most     values that are followed
    escapes  whether what is out of sight may get one
    """

    ends: Collection[str] = ()
    same: Collection[str] = SAME
    most = math.inf

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self.escapes = False

    def followed(self, *starts: Op) -> Iterator[Op]:
        """Some values, and all that they are further on, each once."""
        return closure(starts, self.after, self.most)

    def stays(self, *starts: Op) -> bool:
        """Whether all that becomes of some values is seen."""
        for count, _ in enumerate(self.followed(*starts), 1):
            if self.escapes or count >= self.most:
                return False
        return not self.escapes

    def after(self, value: Op) -> Iterator[Op]:
        """Where a value is after each use of it."""
        for use in value.uses:
            yield from self.step(use, value)

    def step(self, use: Op, value: Op) -> Iterable[Op]:
        """Where a value is after one use."""
        if use.code in self.same:
            return [use]
        if use.code in self.ends:
            return ()
        found: Iterable[Op] = getattr(self, f"_to_{use.code}", self.escape)(use, value)
        return found

    def escape(self, *_: object) -> Iterable[Op]:
        """It is nowhere that the file shows."""
        self.escapes = True
        return ()

    def _to_store_attr(self, use: Op, value: Op, /) -> Iterable[Op]:
        return self.unit.reads("attr", str(use.name)) if use.args[-1] is value else ()

    def _to_store_global(self, use: Op, _: Op, /) -> Iterable[Op]:
        return self.unit.reads("global", str(use.name))

    def _to_return(self, use: Op, _: Op, /) -> Iterable[Op]:
        known = use.function.known_calls
        self.escapes |= not known.all
        return known.calls

    def _to_call(self, use: Op, value: Op, /) -> Iterable[Op]:
        taken = parameter_of(use.values.callee(use), use, value)
        return self._given(use, value) if taken is None else [taken]

    def _given(self, call: Op, value: Op, /) -> Iterable[Op]:
        """Where a value is that a call gets, or is called, which leads to nothing of the file."""
        return self.escape()

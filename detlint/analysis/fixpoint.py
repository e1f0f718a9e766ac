"""Questions about values that lead to the same question about others, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class Fixpoint(Generic[T]):
    """Whether a question holds of things, where what asks it may ask it of other things.

    It holds only where something shows it: of a circle that nothing from outside enters, it does
    not (the least fixed point). A yes must never follow from a no.

    Each thing is asked about once, or once more for each yes that came after it was taken for a
    no: following all ways through ``x = x.union(a)``, twenty times, would never end.
    """

    def __init__(self, question: Callable[[T], bool]) -> None:
        self._question = question
        self._known: dict[T, bool] = {}
        self._busy: set[T] = set()
        self._assumed: set[T] = set()  # to be a no, while it was asked about
        self._unsure: set[T] = set()  # what may be a no because of that
        self._stale = False  # what was assumed turned out to be a yes

    def holds(self, thing: T) -> bool:
        """Whether it holds of a thing."""
        if thing in self._known:
            return self._known[thing]
        if thing in self._busy:
            self._assumed.add(thing)
            return False
        if thing in self._unsure:
            return False
        if self._busy:
            return self._ask(thing)
        found = self._ask(thing)
        while self._stale and not found:
            self._forget()
            found = self._ask(thing)
        if not self._stale:
            self._known.update(dict.fromkeys(self._unsure, False))
        self._forget()
        return found

    def _ask(self, thing: T) -> bool:
        self._busy.add(thing)
        try:
            found = self._question(thing)
        finally:
            self._busy.discard(thing)
        if found:
            self._known[thing] = True
            self._stale = self._stale or thing in self._assumed
        else:
            self._unsure.add(thing)
        return found

    def _forget(self) -> None:
        self._assumed.clear()
        self._unsure.clear()
        self._stale = False

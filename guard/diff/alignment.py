"""Where the events of two steps part: the same things in the same order, or others."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, NamedTuple

from guard.diff.names import describe

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.trace import Event

_SHOWN = 6  # of the events that only one run has
_ALIGNED = 4000  # events; beyond, difflib would take seconds


class Mismatch(NamedTuple):
    """The first event that is not the same; None where a run has none there.

    at      how many events agree before it
    parted  where other events ran: those that only one run has, "+" for the second
    """

    first: Event | None
    second: Event | None
    at: int
    parted: tuple[str, ...] = ()

    @property
    def is_other(self) -> bool:
        """Whether other things happened, and not the same with another value."""
        return bool(self.parted)


def find_mismatch(first: Sequence[Event], second: Sequence[Event]) -> Mismatch | None:
    """The first event, in causal order, that differs."""
    for at, (one, other) in enumerate(zip(first, second, strict=False)):
        if _key(one) != _key(other):
            return Mismatch(one, other, at, _parted(first[at:], second[at:]))
        if is_other_value(one, other):
            return Mismatch(one, other, at)
    at = min(len(first), len(second))
    if len(first) == len(second):
        return None
    ended, more = (each[at] if len(each) > at else None for each in (first, second))
    return Mismatch(ended, more, at, _parted(first[at:], second[at:]))


def is_other_value(one: Event, other: Event) -> bool:
    """Whether the same thing holds something else. An operator's inputs count as well."""
    of_operator = one.kind == "operator"  # of a batch, the same samples in another order
    return one.digest != other.digest or (of_operator and one.inputs != other.inputs)


def _key(event: Event) -> tuple[str, str, int]:
    return event.kind, event.name, event.call


def _parted(first: Sequence[Event], second: Sequence[Event]) -> tuple[str, ...]:
    """What only one run has of two sequences of events, in order; what is left out, counted."""
    keys = [[_key(each) for each in run] for run in (first, second)]
    if sorted(keys[0]) == sorted(keys[1]):
        one, other = describe(first[0]), describe(second[0])
        return (f"{one} in one run comes where {other} is in the other",)
    ones, others = (each[:_ALIGNED] for each in keys)
    matcher = SequenceMatcher(None, ones, others, autojunk=False)
    told = []
    for tag, start, end, other_start, other_end in matcher.get_opcodes():
        if tag != "equal":
            told += [f"- {describe(each)}" for each in first[start:end]]
            told += [f"+ {describe(each)}" for each in second[other_start:other_end]]
    more = len(told) - _SHOWN
    return (*told[:_SHOWN], f"and {more} more") if more > 0 else tuple(told)

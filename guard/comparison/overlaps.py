"""What both a resumed run and the other one hold of a step that they share."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.trace import Event

# Recorded at the beginning of each process, now and then, or where they have changed.
_NOW_AND_THEN = ("parameter", "buffer", "optimizer", "hyperparameter")


def shared(first: Sequence[Event], second: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """The events of both, without those by which being resumed shows.

    A resumed run records in its first step all that it holds, and it may draw batches to skip
    them: of these the last count, as many as the other has.
    """
    one, other = _unskipped(first, second), _unskipped(second, first)
    keys = {_key(each) for each in one} & {_key(each) for each in other}
    return _held(one, keys), _held(other, keys)


def _key(event: Event) -> tuple[str, str, int]:
    return event.kind, event.name, event.call


def _held(events: list[Event], keys: set[tuple[str, str, int]]) -> list[Event]:
    return [each for each in events if each.kind not in _NOW_AND_THEN or _key(each) in keys]


def _unskipped(events: Sequence[Event], others: Sequence[Event]) -> list[Event]:
    """Without batches that come one after the other at the front, beyond those of the other."""
    more = _drawn(events)
    more.subtract(_drawn(others))
    kept = []
    for each in events:
        skipped = more[each.name] if each.kind == "batch" else 0
        if skipped <= 0:
            kept.append(each)
        elif each.call >= skipped:
            kept.append(replace(each, call=each.call - skipped))
    return kept


def _drawn(events: Sequence[Event]) -> Counter[str]:
    return Counter(each.name for each in events if each.kind == "batch")

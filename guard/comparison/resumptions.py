"""What a resumed run began with, beside what the other one had there."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from guard.comparison.walks import UNTOUCHED

if TYPE_CHECKING:
    from guard.comparison.pairs import Pair
    from guard.trace import Event

_HELD = ("parameter", "buffer", "optimizer", "generator")
_RUNS = ("batch", "output", "loss", "gradient", "operator")


def lost(pair: Pair) -> dict[str, list[str]]:
    """Names of what is not the same, by kind: as far as both traces hold it at that point."""
    if not pair.resumed or not len(pair):
        return {}
    resumed = int(pair.traces[1].header.first_step > pair.traces[0].header.first_step)
    begun = _begun(pair, resumed)
    left = _left(pair, 1 - resumed)
    size = min(trace.header.digest_size for trace in pair.traces)
    found: dict[str, list[str]] = {}
    for (kind, name), event in begun.items():
        other = left.get((kind, name))
        if other is None or UNTOUCHED in (event.detail, other.detail):
            continue
        if event.digest[:size] != other.digest[:size]:
            found.setdefault(kind, []).append(name)
    return found


def _begun(pair: Pair, run: int) -> dict[tuple[str, str], Event]:
    """What the resumed run held before anything ran in it."""
    events = pair.traces[run].step(0).events
    before = takewhile(lambda event: event.kind not in _RUNS, events)
    return {(each.kind, each.name): each for each in before if each.kind in _HELD}


def _left(pair: Pair, run: int) -> dict[tuple[str, str], Event]:
    """What the other run held after the step before, as far as it is recorded there."""
    index = pair.places(0)[run]
    if not index:
        return {}
    events = pair.traces[run].step(index - 1).events
    return {(each.kind, each.name): each for each in events if each.kind in _HELD}

"""Which generators explain a difference: those that differ and were drawn from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.diff.names import generator, listed
from guard.diff.walks import START, UNTOUCHED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.diff.walks import Parting
    from guard.trace import Event


class Draw(NamedTuple):
    """A generator that differs.

    since  the position since which it does; START if it never agreed
    drawn  whether either run drew from it in the step; None where that cannot be told
    """

    name: str
    since: int
    drawn: bool | None


def differing(parting: Parting) -> list[Draw]:
    """The generators that differ in a step, without those that nobody has touched."""
    found = []
    for name, since in parting.generators.items():
        held = [list(_states(parting, run, name)) for run in (0, 1)]
        if all(states and states[-1].detail == UNTOUCHED for states in held):
            continue
        drawn = _drawn(held) if _moved(parting, name) else False
        found.append(Draw(name, since, _moved_late(parting, name) if drawn is None else drawn))
    return found


def explaining(parting: Parting, *, made_before: bool) -> list[Draw]:
    """Those by which what happened in a step can differ.

    made_before  whether it can come from draws before the first step, as data often does
    """
    found = differing(parting)
    parted = [each for each in found if each.since == parting.position]
    if parted:
        return parted
    if not made_before:
        return [each for each in found if each.drawn]
    return [each for each in found if each.drawn is not False or parting.position == 0]


def since(draws: list[Draw], parting: Parting) -> str:
    """Since when they differ, in words."""
    if all(each.since == START for each in draws):
        return "the beginning of the recording"
    number = parting.steps[0].number
    return f"the end of step {number - 1}" if parting.position else "the beginning of the step"


def named(draws: list[Draw]) -> str:
    """Their names in a sentence."""
    return listed([generator(each.name) for each in draws])


def _states(parting: Parting, run: int, name: str) -> Iterator[Event]:
    """The last state before the step, where there is one, and those of the step."""
    before = _last(parting, run, name)
    if before is not None:
        yield before
    step = parting.steps[run]
    yield from (each for each in step.events if (each.kind, each.name) == ("generator", name))


def _last(parting: Parting, run: int, name: str) -> Event | None:
    pair = parting.pair
    trace = pair.traces[run]
    for position in reversed(range(parting.position)):
        index = pair.places(position)[run]
        if any((each.kind, each.name) == ("generator", name) for each in trace.labels(index)):
            events = reversed(trace.step(index).events)
            return next(each for each in events if (each.kind, each.name) == ("generator", name))
    return None


def _moved_late(parting: Parting, name: str) -> bool | None:
    """Whether a state was recorded after the batch, in a trace that holds those that moved."""
    for step in parting.steps:
        batches = [at for at, each in enumerate(step.events) if each.kind == "batch"]
        late = step.events[batches[-1] + 1 :] if batches else ()
        if any((each.kind, each.name) == ("generator", name) for each in late):
            return True
    return None


def _moved(parting: Parting, name: str) -> bool:
    """Whether its state was recorded in the step: after the first one, only those that moved are,
    or all of them."""
    held = (each for step in parting.steps for each in step.events)
    return any((each.kind, each.name) == ("generator", name) for each in held)


def _drawn(held: list[list[Event]]) -> bool | None:
    if min(map(len, held)) < 2:
        return None
    return any(len({each.digest for each in states}) > 1 for states in held)

"""Traces of runs that nobody made: each event's digest comes from what it is told to hold."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from written_events import EventWriter

from guard.observe.places import Place
from guard.trace import Event, Header, Summary, Trace, open_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from guard.trace import StepKind

SCRIPT = "/srv/train.py"
LOADING, CALLING, LOSING = 30, 31, 33  # lines of the script
MODULES = ("stem", "block.0", "block.1", "block", "head", "")


def place(line: int, function: str = "main") -> Place:
    """A line of the script."""
    return Place(SCRIPT, line, function)


def digest(*held: object, size: int = 8) -> bytes:
    """A fingerprint of anything."""
    return hashlib.blake2b(repr(held).encode(), digest_size=size).digest()


def event(kind: str, name: str, held: object, **more: object) -> Event:
    """An event of something that holds something."""
    given = {"call": 0, "detail": "float32[2, 3]", "place": None, **more}
    return Event(kind, name, digest=digest(kind, name, held), **given)  # type: ignore[arg-type]


def step(number: int, *, first: bool = False, modules: Sequence[str] = MODULES) -> list[Event]:
    """The events of a training step, as recording orders them."""
    begin = []
    if first:
        begin = [event("parameter", f"{each}.weight", "init") for each in owners(modules)]
        begin += [generator(name, "start") for name in ("python", "torch.cpu")]
    outputs = [
        event("output", each, number, place=place(CALLING), phase="forward") for each in modules
    ]
    return [
        *begin,
        event("batch", "0", number, place=place(LOADING)),
        event("batch", "1", number, place=place(LOADING), detail="int64[2]"),
        *outputs,
        event("loss", "loss", number, value=1 / (number + 1), place=place(LOSING)),
        *(event("gradient", f"{each}.weight", number) for each in owners(modules)),
        event("hyperparameter", "lr", 0.1, value=0.1, detail=""),
        *(generator(name, number, call=int(first)) for name in ("python", "torch.cpu")),
    ]


def owners(modules: Sequence[str]) -> list[str]:
    """Modules that hold parameters: those without others inside."""
    return [
        each
        for each in modules
        if each and not any(other.startswith(f"{each}.") for other in modules)
    ]


def generator(name: str, held: object, call: int = 0) -> Event:
    """A generator's state. Python's is never drawn from, and torch's in each step."""
    if name == "python":
        return event("generator", name, "never", call=call, detail="untouched")
    return event("generator", name, held, call=call, detail="")


def write(  # noqa: PLR0913 - a trace has many parts
    path: Path,
    steps: int = 6,
    edit: Callable[[list[Event], int], list[Event]] | None = None,
    header: Header | None = None,
    end: str | None = "finished",
    *,
    after: Sequence[tuple[StepKind, list[Event]]] = (),
    **how: object,
) -> Trace:
    """A trace of so many steps, each changed by ``edit``, and of what comes after them."""
    header = header or Header(environment={"items": {"torch: version": "2.13.0"}})
    writer = EventWriter(path, header)
    first = header.first_step
    for number in range(first, first + steps):
        events = step(number, first=number == first, **how)  # type: ignore[arg-type]
        events = edit(events, number) if edit else events
        held = [each.digest for each in events if each.kind != "generator"]
        writer.step("training", events, digest(held, size=16))
    for kind, events in after:
        writer.step(kind, events, digest([each.digest for each in events], size=16))
    if end:
        writer.end(end, "ValueError: NaN in the loss" if end == "raised" else "")  # type: ignore[arg-type]
    writer.close()
    return open_trace(path)


def altered(
    kind: str, name: str | None = None, since: int = 0, held: object = "other", **more: object
) -> Callable[[list[Event], int], list[Event]]:
    """An edit: events of a kind, and of a name, hold something else from a step on."""

    def edit(events: list[Event], number: int) -> list[Event]:
        def change(each: Event) -> Event:
            if each.kind != kind or name not in (None, each.name) or number < since:
                return each
            return replace(each, digest=digest(each.digest, held), **more)  # type: ignore[arg-type]

        return [change(each) for each in events]

    return edit


def chained(
    *edits: Callable[[list[Event], int], list[Event]],
) -> Callable[[list[Event], int], list[Event]]:
    """Edits one after the other."""

    def edit(events: list[Event], number: int) -> list[Event]:
        for each in edits:
            events = each(events, number)
        return events

    return edit


def summary(*sample: float) -> Summary:
    """A summary of a few numbers."""
    low, high = min(sample), max(sample)
    return Summary(low, high, sum(sample) / len(sample), max(map(abs, sample)), sample)

"""Goes along the traces of one rank to the first step that is not the same.

Generators that differ there, and that were drawn from, explain it.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from guard.diff.alignment import Mismatch, entered, find_mismatch
from guard.diff.names import MADE, generator, listed
from guard.diff.pairs import SIGNATURE, Key, Layout, whole_digest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.diff.pairs import Pair
    from guard.trace import Event, Step

START = -1  # since when a generator differs that never agreed


class Parting(NamedTuple):
    """A step that is not the same in two runs."""

    pair: Pair
    position: int
    steps: tuple[Step, Step]
    events: tuple[list[Event], list[Event]]  # of both steps, as they were compared
    # the event that decides; None where only generators or what is not stored singly do
    mismatch: Mismatch | None
    # those that differ, and since which position; START if they never agreed
    generators: dict[str, int]
    parted: tuple[str, ...]  # generators that agreed until this step

    @property
    def order(self) -> tuple[int, float]:
        """Sorts the partings of several ranks and tasks by what came first: where it lies in the
        files."""
        at = self.mismatch.at if self.mismatch else float("inf")
        return sum(self.pair.places(self.position)), at


class Walk:
    """Along a pair of traces, as far as they go."""

    def __init__(self, pair: Pair) -> None:
        self.pair = pair
        self.position = 0  # of the step to be compared next
        self.generators: dict[str, int] = {}  # that differ, and since when
        self.parting: Parting | None = None  # where the runs part, once that is found

    def advance(self, limit: int) -> Parting | None:
        """Go on to a position, or to the end, or to where the runs part."""
        pair, end = self.pair, min(len(self.pair), limit)
        while self.parting is None and self.position < end:
            first, second = pair.raws(self.position)
            if first != second:
                self.parting = self._look(first, second)
            elif self.generators:
                self._agree(first)
            if self.parting is None:
                self.position += 1
        return self.parting

    def is_seeded(self, name: str) -> bool:
        """Whether a generator is held that has not differed."""
        last = min(self.position, len(self.pair) - 1)
        if last < 0 or name in self.generators:
            return False
        held = self.pair.back(0, "generator", self.pair.places(last)[0])
        return any(each.name == name for each in held)

    def _agree(self, raw: bytes) -> None:
        """Generators that are the same again, as after seeding them."""
        layout = self._layouts(raw, raw)[0]
        for at in layout.generators:
            self.generators.pop(layout.labels[at].name, None)

    def _layouts(self, first: bytes, second: bytes) -> tuple[Layout, Layout]:
        places = self.pair.places(self.position)
        layouts = self.pair.layouts
        return layouts[0].of(places[0], first), layouts[1].of(places[1], second)

    def _look(self, first: bytes, second: bytes) -> Parting | None:
        layouts = self._layouts(first, second)
        parted = self._compare_generators(layouts, (first, second))
        if not parted and self._decides_nothing(layouts[0], first, second):
            return None
        steps = self.pair.steps(self.position)
        events = self.pair.events(steps) if self.position else self.pair.first_events(steps)
        mismatch = self._mismatch(steps, events)
        is_same = mismatch is None and not self._is_hidden(first, second)
        # Others may draw from a generator meanwhile, which says nothing of what the steps are
        # given: beside a task, or from an object that the program has handed to a thread.
        if is_same and all(self.pair.lane or name.startswith(MADE) for name in parted):
            return None
        # one that agrees again at the end of the step differed in it all the same
        found = {**self.generators, **dict.fromkeys(parted, self.position)}
        return Parting(self.pair, self.position, steps, events, mismatch, found, parted)

    def _decides_nothing(self, layout: Layout, first: bytes, second: bytes) -> bool:
        """Whether all but generators is the same, by the bytes alone."""
        if first[: SIGNATURE + 1] != second[: SIGNATURE + 1] or not self.pair.strict:
            return False
        same = layout.decisive(first) == layout.decisive(second)
        return same and whole_digest(first) == whole_digest(second)

    def _is_hidden(self, first: bytes, second: bytes) -> bool:
        """Whether something differs of which only the fingerprint of the whole step tells."""
        alike = self.pair.strict and not self.pair.resumed
        return alike and whole_digest(first) != whole_digest(second)

    def _mismatch(
        self, steps: tuple[Step, Step], events: tuple[list[Event], list[Event]]
    ) -> Mismatch | None:
        if steps[0].kind != steps[1].kind:
            words = (f"- a step of {steps[0].kind}", f"+ a step of {steps[1].kind}")
            return Mismatch(None, None, 0, words)
        found = find_mismatch(*events)
        return entered(events, found) if found else None

    def _compare_generators(
        self, layouts: tuple[Layout, Layout], raws: tuple[bytes, bytes]
    ) -> tuple[str, ...]:
        """Take note of those that differ; those that agreed until this step."""
        found = [
            _states(layout, raw, last_only=self.pair.resumed)
            for layout, raw in zip(layouts, raws, strict=True)
        ]
        parted, agreed = [], set()  # one that only one run has drawn from is not the same
        for key in {**found[0], **found[1]}:
            name, digest = key[1], found[0].get(key)
            other = found[1].get(key)
            if digest == other:
                agreed.add(name)
                self.generators.pop(name, None)
            elif name not in self.generators:
                if name in agreed or self._agreed_before(name):
                    parted.append(name)
                    self.generators[name] = self.position
                else:
                    self.generators[name] = START
        return tuple(parted)

    def _agreed_before(self, name: str) -> bool:
        """Whether both runs hold a generator in an earlier step: it was the same there."""
        trace = self.pair.traces[0]
        return any(
            each.kind == "generator" and each.name == name
            for position in reversed(range(self.position))
            for each in trace.labels(self.pair.places(position)[0])
        )


def _states(layout: Layout, raw: bytes, *, last_only: bool) -> dict[Key, bytes]:
    """The generators' states in a step. A resumed run may look at them once more: there it is
    the last state of each that counts."""
    found = {}
    for at in layout.generators:
        kind, name, call = layout.keys[at]
        found[kind, name, 0 if last_only else call] = layout.digest(raw, at)
    return found


class Draw(NamedTuple):
    """A generator that differs."""

    name: str
    since: int  # the position since which it does; START if it never agreed
    # whether either run drew from it in the step; None where that cannot be told
    drawn: bool | None


def differing_generators(parting: Parting) -> list[Draw]:
    """The generators that differ in a step."""
    found = []
    for name, since in parting.generators.items():
        held = [list(_states_by(parting, run, name)) for run in (0, 1)]
        drawn = _drawn(held) if _moved(parting, name) else False
        found.append(Draw(name, since, _moved_late(parting, name) if drawn is None else drawn))
    return found


def explaining_generators(parting: Parting, *, made_before: bool) -> list[Draw]:
    """Those by which what happened in a step can differ.

    made_before  whether it can come from draws before the first step, as data often does
    """
    found = differing_generators(parting)
    parted = [each for each in found if each.since == parting.position]
    if parted:
        return parted
    if not made_before:
        return [each for each in found if each.drawn]
    return [each for each in found if each.drawn is not False or parting.position == 0]


def drawn_since(draws: list[Draw], parting: Parting) -> str:
    """Since when they differ, in words."""
    if all(each.since == START for each in draws):
        return "the beginning of the recording"
    number = parting.steps[0].number
    return f"the end of step {number - 1}" if parting.position else "the beginning of the step"


def named_generators(draws: list[Draw]) -> str:
    """Their names in a sentence."""
    return listed([generator(each.name) for each in draws])


def _states_by(parting: Parting, run: int, name: str) -> Iterator[Event]:
    """The last state before the step, where there is one, and those of the step."""
    pair = parting.pair
    before = pair.back(run, "generator", pair.places(parting.position)[run] - 1)
    yield from islice((each for each in before if each.name == name), 1)
    step = parting.steps[run]
    yield from (each for each in step.events if (each.kind, each.name) == ("generator", name))


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

"""The two traces of a rank, side by side: which step of one goes with which of the other.

A layout says where each fingerprint of a step lies in its bytes, so that steps compare without
their events.
"""

from __future__ import annotations

import struct
from array import array
from bisect import bisect_right
from collections import Counter
from dataclasses import replace
from functools import cached_property
from itertools import compress, pairwise
from operator import ne
from typing import TYPE_CHECKING, Any

from guard.trace import End, TraceError
from guard.trace.encoding import STEP_DIGEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.trace import Event, Label, Step, Trace

SIGNATURE = 16  # bytes of ``Trace.raw`` that stand for the schema
KIND = SIGNATURE  # where the kind of the step stands: 0 for training
EVALUATION, END = 1, 2  # other kinds
_DIGEST = slice(KIND + 1, KIND + 1 + STEP_DIGEST)
_BODY = _DIGEST.stop
_WORDS = {4: "I", 8: "Q"}

Key = tuple[str, str, int]


def key(label: Label | Event) -> Key:
    """What two events have in common that are the same thing in two runs."""
    return label.kind, label.name, label.call


class Layout:
    """What the events of a schema are of, and where in the bytes of its steps they lie."""

    def __init__(self, labels: Sequence[Label], size: int) -> None:
        self.labels = tuple(labels)
        self.keys = tuple(map(key, labels))
        self.kinds = tuple(label.kind for label in labels)
        self.generators = [at for at, kind in enumerate(self.kinds) if kind == "generator"]
        self._size = size
        self._words = struct.Struct(f"<{len(labels)}{_WORDS[size]}") if size in _WORDS else None
        self._decisive = self._ranges()

    def _ranges(self) -> list[slice]:
        """The bytes of all digests but those of generators."""
        bounds = [-1, *self.generators, len(self.labels)]
        pairs = pairwise(bounds)
        size = self._size
        return [
            slice(_BODY + (before + 1) * size, _BODY + after * size)
            for before, after in pairs
            if after > before + 1
        ]

    def decisive(self, raw: bytes) -> list[bytes]:
        """All digests of a step but those of generators, which alone decide nothing."""
        return [raw[each] for each in self._decisive]

    def digest(self, raw: bytes, at: int) -> bytes:
        """The digest of one event."""
        start = _BODY + at * self._size
        return raw[start : start + self._size]

    def inputs(self, raw: bytes, at: int) -> bytes:
        """What an event has of its inputs, or of its samples; b"" where it has nothing."""
        if not self.labels[at].has_inputs:
            return b""
        before = sum(each.has_inputs for each in self.labels[:at])
        start = _BODY + (len(self.labels) + before) * self._size
        return raw[start : start + self._size]

    def digests(self, raw: bytes) -> Sequence[int | bytes]:
        """The digests of all events, as something that compares."""
        if self._words is not None:
            return self._words.unpack_from(raw, _BODY)
        return [self.digest(raw, at) for at in range(len(self.labels))]

    def differing(self, raw: bytes, other: bytes) -> list[int]:
        """Which events differ from those of a step of the same keys."""
        unequal = map(ne, self.digests(raw), self.digests(other))
        return list(compress(range(len(self.labels)), unequal))


def whole_digest(raw: bytes) -> bytes:
    """The digest over the full fingerprints of a step."""
    return raw[_DIGEST]


class Layouts:
    """The layouts of one trace, each made once however often its schema comes."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._made: dict[bytes, Layout] = {}

    def of(self, index: int, raw: bytes) -> Layout:
        """That of a step."""
        signature = raw[:SIGNATURE]
        found = self._made.get(signature)
        if found is None:
            labels = self._trace.labels(index)
            found = self._made[signature] = Layout(labels, self._trace.header.digest_size)
        return found


HELD = ("parameter", "buffer")
RUNS = ("output", "loss", "gradient", "operator")
# Options of a recording that do not change what a step holds.
_APART = ("until", "first_step")
# Recorded at the beginning of each process, now and then, or where they have changed.
_NOW_AND_THEN = ("parameter", "buffer", "optimizer", "hyperparameter")


def _kept(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if name not in _APART}


def _check(first: Trace, second: Trace) -> None:
    hashes = [trace.header.options.get("hash") for trace in (first, second)]
    if hashes[0] != hashes[1] and None not in hashes:
        raise TraceError(
            f"{first.path} and {second.path} hold fingerprints of different kinds ({hashes[0]} and "
            f"{hashes[1]}), which cannot be compared: record both with the same packages installed"
        )


def _held_first(events: list[Event]) -> list[Event]:
    ran = next((at for at, each in enumerate(events) if each.kind in RUNS), len(events))
    before = events[:ran]
    held = [each for each in before if each.kind in HELD]
    return [*held, *(each for each in before if each.kind not in HELD), *events[ran:]]


class Pair:
    """A rank's traces in two runs. Positions count the steps that both can have.

    lane  the task of the program's threads whose steps these are; "" for its first thread
    """

    def __init__(self, rank: int, first: Trace, second: Trace, lane: str = "") -> None:
        _check(first, second)
        self.rank = rank
        self.lane = lane
        self.traces = (first, second)
        self.layouts = (Layouts(first), Layouts(second))
        headers = (first.header, second.header)
        # whether one begins where the other was interrupted: training steps are paired, and what
        # comes after the last
        self.resumed = headers[0].first_step != headers[1].first_step
        # whether both were recorded alike, so that each has what the other has
        self.strict = (
            _kept(headers[0].options) == _kept(headers[1].options)
            and headers[0].digest_size == headers[1].digest_size
        )
        latest = max(header.first_step for header in headers)
        self._skipped = tuple(latest - header.first_step for header in headers)
        self._trainings = (array("L"), array("L"))
        self._looked = [0, 0]
        self._has_last = False  # whether the evaluations after the last training step are known

    def lengths(self) -> tuple[int, int]:
        """How many steps each has, from where both begin; the state at the end is none."""
        if self.resumed:
            self._look()
        return self._length(0), self._length(1)

    def _length(self, run: int) -> int:
        found = self._trainings[run] if self.resumed else self._steps(run)
        return max(0, len(found) - self._skipped[run] - self._has_end(run))

    def _steps(self, run: int) -> Sequence[int]:
        """Where in the file of a run the steps of the lane lie."""
        return self.traces[run].lanes.get(self.lane, ())

    def end(self, run: int) -> End | None:
        """How a run's recording ended, or the task; None while it may go on."""
        trace = self.traces[run]
        if not self.lane or trace.end is None or trace.end.status != "finished":
            return trace.lane_ends.get(self.lane, trace.end)
        cut_off = End("stopped") if self.lane in trace.lanes else trace.end
        return trace.lane_ends.get(self.lane, cut_off)

    def _has_end(self, run: int) -> bool:
        return self.traces[run].has_end(self.lane)

    @property
    def common(self) -> int:
        """How many steps both have."""
        return min(self.lengths())

    def __len__(self) -> int:
        """The steps that both have; the state at the end is one, where both have ended there."""
        first, second = self.lengths()
        ended = first == second and self._has_end(0) and self._has_end(1)
        return min(first, second) + ended

    def places(self, position: int) -> tuple[int, int]:
        """Where in each file a step lies that both have."""
        return self._place(0, position), self._place(1, position)

    def _place(self, run: int, position: int) -> int:
        if not self.resumed:
            return self._steps(run)[position]
        return self._trainings[run][position + self._skipped[run]]

    def step_of(self, run: int, position: int) -> Step:
        """A step of one run, where the other may have none."""
        return self.traces[run].step(self._place(run, position))

    def back(self, run: int, kind: str, index: int) -> Iterator[Event]:
        """Events of a kind in one run, from a place in its file back to the first: of generators
        and hyperparameters only what changes is recorded after the first step."""
        trace, steps = self.traces[run], self._steps(run)
        for at in reversed(steps[: bisect_right(steps, index)]):
            if any(each.kind == kind for each in trace.labels(at)):
                events = reversed(trace.step(at).events)
                yield from (each for each in events if each.kind == kind)

    def number(self, position: int) -> int:
        """The number of a step, as the first run has it."""
        at = self._place(0, position) if self.resumed else position
        return self.traces[0].header.first_step + at

    def raws(self, position: int) -> tuple[bytes, bytes]:
        """The bytes of a step in both."""
        first, second = self.places(position)
        return self.traces[0].raw(first), self.traces[1].raw(second)

    def steps(self, position: int) -> tuple[Step, Step]:
        """A step in both."""
        first, second = self.places(position)
        return self.traces[0].step(first), self.traces[1].step(second)

    def events(self, steps: tuple[Step, Step]) -> tuple[list[Event], list[Event]]:
        """What decides whether two steps are equal: of kinds that both hold, but generators.

        Generators are looked at by themselves: that nobody seeded one says nothing where
        nobody draws from it.
        """
        held = [{each.kind for each in step.events} for step in steps]
        kinds = held[0] | held[1] if self.strict and not self.resumed else held[0] & held[1]
        kinds -= {"generator"}
        first, second = (
            [self._cut(each) for each in step.events if each.kind in kinds] for step in steps
        )
        return shared(first, second) if self.resumed else (first, second)

    def first_events(self, steps: tuple[Step, Step]) -> tuple[list[Event], list[Event]]:
        """The same of the first step, with what was held before anything ran at the front: a
        model is made before its first batch, and looked at when it is first called."""
        first, second = (_held_first(each) for each in self.events(steps))
        return first, second

    @cached_property
    def digest_size(self) -> int:
        """So many bytes of a digest both have."""
        return min(trace.header.digest_size for trace in self.traces)

    def _cut(self, event: Event) -> Event:
        size = self.digest_size
        if max(len(event.digest), len(event.inputs)) <= size:
            return event
        return replace(event, digest=event.digest[:size], inputs=event.inputs[:size])

    def _look(self) -> None:
        """Note the steps that have come since the last look: of evaluations the last alone."""
        for at, trace in enumerate(self.traces):
            steps = self._steps(at)
            for index in steps[self._looked[at] :]:
                if trace.raw(index)[KIND] != EVALUATION:
                    self._trainings[at].append(index)
            self._looked[at] = len(steps)
        if not self._has_last and self._has_end(0) and self._has_end(1):
            self._has_last = True
            last = [self._last_evaluations(run) for run in (0, 1)]
            if len(last[0]) == len(last[1]):
                for trainings, found in zip(self._trainings, last, strict=True):
                    trainings[-1:] = array("L", [*found, trainings[-1]])

    def _last_evaluations(self, run: int) -> range:
        """Those after the last training step: of a run that was not interrupted, and of one that
        was resumed, they are the same."""
        trainings = self._trainings[run]
        before = trainings[-2] + 1 if len(trainings) > 1 else 0
        return range(before, trainings[-1])


def shared(first: Sequence[Event], second: Sequence[Event]) -> tuple[list[Event], list[Event]]:
    """The events of both, without those by which being resumed shows.

    A resumed run records in its first step all that it holds, and it may draw batches to skip
    them: of these the last count, as many as the other has.
    """
    one, other = _unskipped(first, second), _unskipped(second, first)
    keys = {key(each) for each in one} & {key(each) for each in other}
    return _held(one, keys), _held(other, keys)


def _held(events: list[Event], keys: set[tuple[str, str, int]]) -> list[Event]:
    return [each for each in events if each.kind not in _NOW_AND_THEN or key(each) in keys]


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

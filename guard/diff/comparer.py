"""Goes along two runs, step by step, to where they part; and tells what became of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from guard.diff.causes import judge
from guard.diff.differences import Cause, Comparison, Difference, Growth, apart
from guard.diff.names import KINDS, describe, generator, listed, several, steps
from guard.diff.pairs import Pair
from guard.diff.resumptions import lost
from guard.diff.situations import changes_of
from guard.diff.timelines import Tally, draw
from guard.diff.walks import START, Walk

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.diff.differences import Change
    from guard.diff.walks import Parting
    from guard.trace import End, Trace

_STEPS = 256  # of one rank at a time, so that no rank is read far beyond where another parts
_AHEAD = 10  # steps, at most, that a rank goes on beside one that has yet to write its first
_WORDS = ("first", "second")
_BY_SEEDS = (Cause.GENERATOR, Cause.INITIALISATION)
_CUT_OFF = {"stopped", "failed"}  # the recording ended, and not the run
_ADVICE = "Look at what ends the shorter one: its output, an error, a condition, a lack of memory."


Track = tuple[int, str]  # a rank, and a task of its threads; "" of its first thread


class Comparer:
    """Compares two runs while both still write.

    The sequences may grow: a rank's trace is taken in when it is there. Each ``advance`` reads
    what has been appended and goes on from where it was.
    """

    def __init__(self, first: Sequence[Trace], second: Sequence[Trace]) -> None:
        self._runs = (first, second)
        self.walks: dict[Track, Walk] = {}  # along each rank that both have, and its tasks
        self.parting: Parting | None = None  # the first of all ranks, once it is known
        self._take_in()

    @property
    def steps(self) -> int:
        """How many steps were found equal on every rank."""
        return _fewest((walk.pair.rank, walk.position) for walk in self.walks.values())

    @property
    def changes(self) -> tuple[Change, ...]:
        """What of environment, seed and command is not the same."""
        walk = next(iter(self.walks.values()), None)
        return changes_of(*(each.header for each in walk.pair.traces)) if walk else ()

    def advance(self) -> Difference | None:
        """The first difference in what both have written, or None so far.

        Where one is still writing, its end is no difference; where several ranks are compared,
        a difference is told when the others have come to the same step.
        """
        for trace in (*self._runs[0], *self._runs[1]):
            trace.refresh()
        self._take_in()
        return self._compare(final=False)

    def finish(self) -> Difference | None:
        """The first difference, where nothing more is written."""
        self._take_in()
        return self._compare(final=True)

    def _take_in(self) -> None:
        """Pair the traces of the ranks that both runs have by now, and the tasks of their threads
        that one of them has."""
        first, second = ({each.header.rank: each for each in run} for run in self._runs)
        for rank in sorted(first.keys() & second.keys()):
            one, other = first[rank], second[rank]
            for lane in {**one.lanes, **other.lanes}:
                if (rank, lane) not in self.walks:
                    self.walks[rank, lane] = Walk(Pair(rank, one, other, lane))

    def _compare(self, *, final: bool) -> Difference | None:
        parting = self._walk()
        if parting is not None:
            others = (each for each in self.walks.values() if not each.pair.lane)
            behind = any(self._is_behind(each, parting) for each in others)
            if not final and (behind or self._awaits_ranks(parting)):
                return None
            self.parting = parting
            found = replace(judge(parting, self.changes), lane=parting.pair.lane)
            return self._beside_others(found, parting)
        ends = (_judge_end(walk.pair, final=final) for walk in self.walks.values())
        ended = [each for each in ends if each is not None]
        if ended:
            return min(ended, key=lambda each: each.step)
        return self._missing() if final else None

    def _walk(self) -> Parting | None:
        """Take all ranks along together, to the first parting of any or to the end."""
        limit = 0
        while True:
            limit += _STEPS
            found = [each for walk in self.walks.values() if (each := walk.advance(limit))]
            if found:
                return min(found, key=lambda each: each.order)
            if all(len(walk.pair) <= limit for walk in self.walks.values()):
                return None

    def _beside_others(self, found: Difference, parting: Parting) -> Difference:
        """A difference by a generator that is seeded on other ranks."""
        begun = {name for name, since in parting.generators.items() if since == START}
        names = begun & set(found.generators or begun)
        others = (walk for walk in self.walks.values() if walk.pair is not parting.pair)
        seeded = [str(walk.pair.rank) for walk in others if any(map(walk.is_seeded, names))]
        if found.cause not in _BY_SEEDS or not seeded:
            return found
        on = f"rank{'s' if len(seeded) > 1 else ''} {listed(seeded)}"
        why = f"{found.why} On {on} the generator agrees: it is seeded there."
        return replace(found, why=why, advice=f"{found.advice} Do so on each rank.")

    @staticmethod
    def _is_behind(walk: Walk, parting: Parting) -> bool:
        """Whether a rank has yet to write the step at which another parts."""
        if walk.pair.rank == parting.pair.rank:  # in whose file all before it has been read
            return False
        ended = any(trace.complete for trace in walk.pair.traces)
        return walk.parting is None and walk.position <= parting.position and not ended

    def _awaits_ranks(self, parting: Parting) -> bool:
        """Whether a rank may yet write its first step, where another parts in one of its first:
        ranks of one step do not write at the same time, and the first of them tells the cause."""
        pair = parting.pair
        ended = any(trace.complete for trace in pair.traces)
        is_early = max(pair.lengths()) <= parting.position + _AHEAD
        ranks = {rank for rank, _ in self.walks}
        return len(ranks) < pair.traces[0].header.world_size and is_early and not ended

    def _missing(self) -> Difference | None:
        first, second = ({each.header.rank for each in run} for run in self._runs)
        lacking = [(rank, 1) for rank in first - second] + [(rank, 0) for rank in second - first]
        return _judge_missing(*min(lacking)) if lacking else None


def compare(first: Sequence[Trace], second: Sequence[Trace]) -> Difference | None:
    """Where two runs part first, and why; None where they are the same, bit for bit.

    Its ``consequences`` are counted to the end of both.
    """
    return examine(first, second).difference


def _judge_end(pair: Pair, *, final: bool) -> Difference | None:
    """The difference that one run goes on where the other has ended, or ends otherwise; None if
    there is none.

    A recording that guard stopped is no shorter run. While both still write (not ``final``),
    only a trace with an end is known to have no more steps.
    """
    lengths, ends = pair.lengths(), [pair.end(run) for run in (0, 1)]
    agreed, longer = min(lengths), int(lengths[1] > lengths[0])
    position, short = agreed, ends[1 - longer]
    if lengths[0] != lengths[1]:
        end = ends[longer]
        is_cut = end is None or end.status in _CUT_OFF
        further = "at least " * is_cut + steps(lengths[longer] - agreed)
        if (short is None and not final) or (short and short.status in _CUT_OFF):
            return None
        if pair.lane and is_cut:
            return None  # the process may have ended before the thread did
        why = (
            f"The first {steps(agreed)} agree. Then the {_WORDS[1 - longer]} run {_ended(short)}, "
            f"and the {_WORDS[longer]} goes on for {further}."
        )
    else:
        statuses = {end.status for end in ends if end}
        if "raised" not in statuses or None in ends or len(statuses) == 1 or statuses & _CUT_OFF:
            return None
        told = [f"the {_WORDS[at]} run {_ended(end)}" for at, end in enumerate(ends)]
        why = f"All of {steps(agreed)} agree. Then {' and '.join(told)}."
        position = max(agreed - 1, 0)
    step = pair.step_of(longer, position) if position < lengths[longer] else None
    number, kind = (step.number, step.kind) if step else (position, "training")
    found = Difference(pair.rank, number, kind, None, None, Cause.LENGTH, why, advice=_ADVICE)
    found = replace(found, lane=pair.lane)
    return replace(found, agreed=(f"all {steps(agreed)}",)) if agreed else found


def _judge_missing(rank: int, run: int) -> Difference:
    """The difference that a rank has left a trace in one run alone."""
    why = (
        f"Only the {_WORDS[1 - run]} run has a trace of rank {rank}: in the {_WORDS[run]} it did "
        "not start, or was not recorded. All that both have agrees."
    )
    return Difference(rank, 0, "training", None, None, Cause.LENGTH, why, advice=_ADVICE)


def _unfinished(trace: Trace, name: str) -> str:
    """That a trace has no end of its own, as a sentence; or ""."""
    if trace.end is None:
        tail = f"; {trace.unread:,} bytes at its end could not be read" if trace.unread else ""
        return (
            f"{name} has no end: its process was killed, or still runs. What it had written by "
            f"then was compared ({steps(trace.done)}){tail}."
        )
    if trace.end.status in _CUT_OFF:
        message = f" ({trace.end.message})" if trace.end.message else ""
        return f"The recording of {name} was stopped after {steps(trace.done)}{message}."
    return ""


def _ended(end: End | None) -> str:
    if end is None:
        return "breaks off without an end, as if it had been killed"
    if end.status == "raised":
        return f"ends with an error ({end.message})" if end.message else "ends with an error"
    return "ends"


_SAMPLED = 120  # steps whose values are compared, in a long run
_ALWAYS = tuple(kind for kind in KINDS if kind != "operator")  # which a whole recording has
_RESUMED = (
    "One run is a resumed one: its training steps were compared with those of the same number, "
    "and of evaluation steps those after the last of them."
)
_OPTIONS = (
    "The runs were recorded with different options{}: in each step only what both hold was "
    "compared, and not the fingerprint over the whole step."
)
_STATES = ("parameter", "buffer", "optimizer")


def examine(
    first: Sequence[Trace],
    second: Sequence[Trace],
    names: tuple[str, str] = ("run 1", "run 2"),
) -> Comparison:
    """Compare two runs to their ends. Pass it on with ``dataclasses.replace`` to add operators,
    suspects and notes for the reports."""
    comparer = Comparer(first, second)
    difference = comparer.finish()
    parting = comparer.parting
    tallies = {}
    for track, walk in comparer.walks.items():
        here = parting is not None and parting.pair is walk.pair
        generators = parting.generators if parting and here else walk.generators
        tallies[track] = Tally(walk.pair, _parted(walk, parting), generators)
        tallies[track].count()
    track = (difference.rank, difference.lane) if difference else (0, "")
    shown = tallies.get(track) or next(iter(tallies.values()), None)
    beside = [each for each in tallies.values() if shown and each.pair.rank == shown.pair.rank]
    counts = [tally.counts() for tally in tallies.values()] if parting else []
    consequences = sum((each for each, _ in counts), Counter[str]())
    if difference and (event := difference.first or difference.second):
        consequences[event.kind] -= 1
    if difference is not None:
        counted = {kind: consequences[kind] for kind in KINDS if consequences[kind] > 0}
        difference = replace(difference, consequences=counted)
    kinds = {kind for tally in tallies.values() for kind in tally.kinds}
    return Comparison(
        difference=difference,
        names=names,
        ranks=tuple(dict.fromkeys(rank for rank, _ in tallies)),
        steps=_fewest((walk.pair.rank, walk.pair.common) for walk in comparer.walks.values()),
        trainings=sum(each.trainings for each in beside),
        kinds=tuple(kind for kind in KINDS if kind in kinds),
        differing=sum(each.differing_steps for each in beside),
        changes=comparer.changes,
        has_gpu=any(e.header.has_gpu for walk in comparer.walks.values() for e in walk.pair.traces),
        limits=tuple(_limits(comparer, names, kinds)),
        totals=dict(sum((each for _, each in counts), Counter[str]())),
        timeline=draw(shown, parting.mismatch if parting else None) if shown else None,
        growth=_growth(parting.pair, parting.position) if parting else (),
    )


def _parted(walk: Walk, parting: Parting | None) -> int | None:
    """The step from which on a rank, or a task, is not known to be equal."""
    if parting is None:
        return None
    is_apart = walk.pair.lane or parting.pair.lane
    return walk.position if is_apart else min(walk.position, parting.position)


def _fewest(found: Iterable[tuple[int, int]]) -> int:
    """The fewest steps of a rank, given those of its tasks."""
    counted = Counter[int]()
    for rank, number in found:
        counted[rank] += number
    return min(counted.values(), default=0)


def _growth(pair: Pair, start: int) -> tuple[Growth, ...]:
    """How far apart the values are, in steps spread evenly from the difference on."""
    stride = max(1, -(-(len(pair) - start) // _SAMPLED))
    found = (_furthest(pair, position) for position in range(start, len(pair), stride))
    return tuple(each for each in found if each is not None)


def _furthest(pair: Pair, position: int) -> Growth | None:
    """The largest difference in a step: of tensors, or of losses where only theirs are there."""
    steps = pair.steps(position)
    others = {(each.kind, each.name, each.call): each for each in steps[1].events}
    best: Growth | None = None
    ulps: float | None = None
    for event in steps[0].events:
        other = others.get((event.kind, event.name, event.call))
        if other is None or (event.value is None and event.summary is None):
            continue
        if event.kind == "hyperparameter" or (size := apart(event, other)) is None:
            continue
        if size.ulps is not None:
            ulps = max(ulps or 0.0, size.ulps)
        if best is None or size.absolute > best.absolute:
            best = Growth(steps[0].number, size.absolute, None, describe(event))
    return best and best._replace(ulps=ulps)


def _limits(comparer: Comparer, names: tuple[str, str], kinds: set[str]) -> Iterator[str]:
    """Sentences, what matters most first."""
    walks = comparer.walks
    if not walks:
        yield "The runs have no rank in common: nothing was compared."
        return
    ranks = {rank: walk for (rank, lane), walk in walks.items() if not lane}
    for rank, walk in ranks.items():
        of = f", rank {rank}" if len(ranks) > 1 else ""
        ends = (_unfinished(t, n + of) for n, t in zip(names, walk.pair.traces, strict=True))
        yield from filter(None, ends)
        if walk.pair.resumed:
            yield _RESUMED
        elif not walk.pair.strict:
            ones, others = (trace.header.options for trace in walk.pair.traces)
            changed = [name for name in {**ones, **others} if ones.get(name) != others.get(name)]
            yield _OPTIONS.format(f" ({listed(changed)})" if changed else "")
    if lacking := [several(kind) for kind in _ALWAYS if kind not in kinds]:
        yield f"No {listed(lacking)} were compared: what is only there does not show."
    first = next(iter(walks.values()))
    every = first.pair.traces[0].header.options.get("state_every")
    if kinds & set(_STATES) and isinstance(every, int) and every > 1:
        yield (
            f"Parameters, buffers and optimizer state are recorded every {every} steps and at the "
            "end; in between, a difference in them shows in what the next steps compute."
        )
    since = [each for walk in walks.values() for each in walk.generators.items()]
    unseeded = {name for name, position in since if position == START}
    did = "did not begin in the same state (not seeded)"
    if first.pair.resumed:  # what is only looked at, or was drawn from before, differs as well
        unseeded = {
            name for walk in walks.values() for name in lost(walk.pair).get("generator", ())
        }
        did = "did not come back when the run resumed"
    if unseeded and comparer.parting is None:
        what = listed([generator(name) for name in sorted(unseeded)])
        yield f"{what[0].upper()}{what[1:]} {did}, and nothing that was recorded depends on it."

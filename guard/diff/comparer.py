"""Goes along two runs, step by step, to where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.diff import control_flow, data, numbers, resumptions, states
from guard.diff.differences import Cause, Difference, apart
from guard.diff.environments import changes
from guard.diff.names import steps
from guard.diff.pairs import Pair
from guard.diff.situations import Situation
from guard.diff.walks import Walk

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.diff.differences import Change
    from guard.diff.situations import Verdict
    from guard.diff.walks import Parting
    from guard.trace import End, Trace

_STEPS = 256  # of one rank at a time, so that no rank is read far beyond where another parts
_WORDS = ("first", "second")
_CUT_OFF = {"stopped", "failed"}  # the recording ended, and not the run
_ADVICE = (
    "Look at what ends the shorter one: its own output, an error, the machine's memory (a process "
    "that is killed says nothing), a condition that stops training early."
)


class Comparer:
    """Compares two runs while both still write.

    The sequences may grow: a rank's trace is taken in when it is there. Each ``advance`` reads
    what has been appended and goes on from where it was.

    walks    along each rank that both have
    parting  the first of all ranks, once it is known
    """

    def __init__(self, first: Sequence[Trace], second: Sequence[Trace]) -> None:
        self._runs = (first, second)
        self.walks: dict[int, Walk] = {}
        self.parting: Parting | None = None
        self._take_in()

    @property
    def steps(self) -> int:
        """How many steps were found equal on every rank."""
        return min((walk.position for walk in self.walks.values()), default=0)

    @property
    def changes(self) -> tuple[Change, ...]:
        """What of environment, seed and command is not the same."""
        walk = next(iter(self.walks.values()), None)
        return changes(*(each.header for each in walk.pair.traces)) if walk else ()

    def advance(self) -> Difference | None:
        """The first difference in what both have written, or None so far.

        Where one is still writing, its end is no difference; where several ranks are compared,
        a difference is told when the others have come to the same step.
        """
        self._take_in()
        for walk in self.walks.values():
            walk.pair.refresh()
        return self._compare(final=False)

    def finish(self) -> Difference | None:
        """The first difference, where nothing more is written."""
        self._take_in()
        return self._compare(final=True)

    def _take_in(self) -> None:
        """Pair the traces of the ranks that both runs have by now."""
        first, second = ({each.header.rank: each for each in run} for run in self._runs)
        for rank in sorted(first.keys() & second.keys() - self.walks.keys()):
            self.walks[rank] = Walk(Pair(rank, first[rank], second[rank]))

    def _compare(self, *, final: bool) -> Difference | None:
        parting = self._walk()
        if parting is not None:
            behind = [each for each in self.walks.values() if self._is_behind(each, parting)]
            if not final and behind:
                return None
            self.parting = parting
            return judge(parting, self.changes)
        ends = (judge_end(walk.pair, final=final) for walk in self.walks.values())
        found = [each for each in ends if each is not None]
        if found:
            return min(found, key=lambda each: each.step)
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

    @staticmethod
    def _is_behind(walk: Walk, parting: Parting) -> bool:
        """Whether a rank has yet to write the step at which another parts."""
        ended = any(trace.complete for trace in walk.pair.traces)
        return walk.parting is None and walk.position <= parting.position and not ended

    def _missing(self) -> Difference | None:
        first, second = ({each.header.rank for each in run} for run in self._runs)
        lacking = [(rank, 1) for rank in first - second] + [(rank, 0) for rank in second - first]
        return judge_missing(*min(lacking)) if lacking else None


def compare(first: Sequence[Trace], second: Sequence[Trace]) -> Difference | None:
    """Where two runs part first, and why; None where they are the same, bit for bit.

    Its ``consequences`` are counted to the end of both.
    """
    from guard.diff.examination import examine

    return examine(first, second).difference


def judge_end(pair: Pair, *, final: bool) -> Difference | None:
    """The difference that one run goes on where the other has ended; None if there is none.

    A recording that guard stopped is no shorter run. While both still write (not ``final``),
    only a trace with an end is known to have no more steps.
    """
    lengths = pair.lengths()
    if lengths[0] == lengths[1]:
        return _ended_otherwise(pair, lengths[0])
    short = int(lengths[1] < lengths[0])
    trace = pair.traces[short]
    if (trace.end is None and not final) or (trace.end and trace.end.status in _CUT_OFF):
        return None
    agreed = lengths[short]
    more = lengths[1 - short] - agreed
    why = (
        f"The first {steps(agreed)} agree. Then the {_WORDS[short]} run {_ended(trace.end)}, and "
        "the "
        f"{_WORDS[1 - short]} goes on for {steps(more)}."
    )
    return _difference(pair, agreed, why, agreed)


def _ended_otherwise(pair: Pair, agreed: int) -> Difference | None:
    ends = [trace.end for trace in pair.traces]
    statuses = {end.status for end in ends if end}
    if "raised" not in statuses or None in ends or len(statuses) == 1 or statuses & _CUT_OFF:
        return None
    told = [f"the {_WORDS[at]} run {_ended(end)}" for at, end in enumerate(ends)]
    why = f"All of {steps(agreed)} agree. Then {' and '.join(told)}."
    return _difference(pair, max(agreed - 1, 0), why, agreed)


def _difference(pair: Pair, position: int, why: str, agreed: int) -> Difference:
    lengths = pair.lengths()
    longer = int(lengths[1] > lengths[0])
    number, kind = position, "training"
    if position < lengths[longer]:
        step = pair.step_of(longer, position)
        number, kind = step.number, step.kind
    told = (f"all {steps(agreed)}",) if agreed else ()
    return Difference(
        rank=pair.rank,
        step=number,
        step_kind=kind,
        first=None,
        second=None,
        cause=Cause.LENGTH,
        why=why,
        agreed=told,
        advice=_ADVICE,
    )


def judge_missing(rank: int, run: int) -> Difference:
    """The difference that a rank has left a trace in one run alone."""
    why = (
        f"Only the {_WORDS[1 - run]} run has a trace of rank {rank}: in the {_WORDS[run]} it did "
        "not "
        "start, or was not recorded. All that both have agrees."
    )
    return Difference(rank, 0, "training", None, None, Cause.LENGTH, why, advice=_ADVICE)


def unfinished(trace: Trace, name: str) -> str:
    """That a trace has no end of its own, as a sentence; or ""."""
    if trace.end is None:
        tail = f"; {trace.unread:,} bytes at its end could not be read" if trace.unread else ""
        return (
            f"{name} has no end: its process was killed, or still runs. What it had written by "
            "then "
            f"was compared ({steps(len(trace))}){tail}."
        )
    if trace.end.status in _CUT_OFF:
        message = f" ({trace.end.message})" if trace.end.message else ""
        return f"The recording of {name} was stopped after {steps(len(trace))}{message}."
    return ""


def _ended(end: End | None) -> str:
    if end is None:
        return "breaks off without an end, as if it had been killed"
    if end.status == "raised":
        return f"ends with an error ({end.message})" if end.message else "ends with an error"
    return "ends"


_JUDGES: dict[str, Callable[[Situation], Verdict]] = {
    "batch": data.judge,
    "output": numbers.judge_forward,
    "loss": numbers.judge_forward,
    "gradient": numbers.judge_backward,
    "operator": numbers.judge_operator,
    "parameter": states.judge,
    "buffer": states.judge,
    "optimizer": states.judge,
    "hyperparameter": states.judge_hyperparameter,
}


def judge(parting: Parting, changes: tuple[Change, ...]) -> Difference:
    """The difference that a parting is."""
    situation = Situation(parting, changes)
    verdict = _verdict(situation)
    mismatch = parting.mismatch
    first, second = situation.first, situation.second
    if verdict.cause is Cause.HYPERPARAMETER:
        first, second = states.hyperparameters(situation)
    elif mismatch is None and parting.parted:
        first, second = states.generator_events(situation)
    return Difference(
        rank=parting.pair.rank,
        step=situation.number,
        step_kind=parting.steps[0].kind,
        first=first,
        second=second,
        cause=verdict.cause,
        why=verdict.why,
        agreed=situation.agreed(),
        since=verdict.since,
        place=verdict.place or situation.place_of(first or second),
        advice=verdict.advice,
        parted=mismatch.parted if mismatch else (),
        lost=verdict.lost,
        generators=verdict.generators,
        size=apart(first, second) if first and second else None,
    )


def _verdict(situation: Situation) -> Verdict:
    mismatch = situation.parting.mismatch
    if mismatch is None:
        return states.judge_hidden(situation)
    if situation.is_resumed and (lost := resumptions.judge(situation)):
        return lost
    if states.is_hyperparameter(situation):
        return states.judge_hyperparameter(situation)
    if mismatch.is_other or situation.first is None:
        return control_flow.judge(situation)
    return _JUDGES[situation.first.kind](situation)

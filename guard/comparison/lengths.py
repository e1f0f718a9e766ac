"""Runs that agree as far as both go, and do not end alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.comparison.differences import Cause, Difference
from guard.comparison.names import steps

if TYPE_CHECKING:
    from guard.comparison.pairs import Pair
    from guard.trace import End, Trace

_WORDS = ("first", "second")
_CUT_OFF = {"stopped", "failed"}  # the recording ended, and not the run
_ADVICE = (
    "Look at what ends the shorter one: its own output, an error, the machine's memory (a process "
    "that is killed says nothing), a condition that stops training early."
)


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

"""A run that is interrupted and resumed must equal one that is not; else, what state was lost."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from guard.diff import Cause, Comparer, Comparison, Difference, examine
from guard.observe.places import Place
from guard.trace import Event
from guard.verification.inquiry import (
    as_far,
    cut_short,
    failure_of,
    unseen,
    with_findings,
    with_notes,
)
from guard.verification.lost_state import forgotten, left_apart, losses, with_losses
from guard.verification.operators import Bisection
from guard.verification.plan import recording
from guard.verification.runs import Watch, Watched
from guard.verification.sessions import session
from guard.verification.statements import Entry
from guard.verification.verdicts import Failure, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.trace import Step, Trace
    from guard.trace.statements import Held
    from guard.verification.lost_state import Loss, Thing
    from guard.verification.plan import Plan
    from guard.verification.runs import Process
    from guard.verification.sessions import Session

_NAMES = ("uninterrupted", "resumed")
_LEFT_APART = (
    "All that was recorded agrees. As the runs end, {} is not the same: it changed before the "
    "interruption, and the resumed run did not get that back."
)
_FORGOTTEN = (
    "possibly a resumed run ends otherwise than its steps show, as in which model it keeps as the "
    "best: {} ({}:{}), and all steps agree without it. {}"
)
_NOTED = 3  # of these
_EARLY = (
    "two runs differ before step {}, where one would be interrupted: verify it without --resume-at "
    "first"
)
_NOT_RESUMED = "no run had been resumed by then: two runs up to the interruption were compared"


@dataclass(frozen=True, slots=True)
class Interruption:
    """How a run is interrupted, and resumed."""

    at: int  # training steps that it has done by then
    resume: str  # arguments with which it is started again
    # arguments with which the program stops there by itself; None: the process is ended when that
    # step begins, so that what is saved between two steps has been saved
    stop: str | None = None


def verify_resumed(plan: Plan, interruption: Interruption, scratch: str) -> Verdict:
    """Run the program through, and again with an interruption, under the same circumstances.

    Raises GuardError.
    """
    with session(replace(plan, vary=(), runs=2), scratch) as opened:
        return _Resumption(opened, interruption).verdict()


class _Resumption:
    def __init__(self, opened: Session, interruption: Interruption) -> None:
        self._session = opened
        self._interruption = interruption
        self._at = interruption.at
        self._start = partial(opened.start, opened.plan.circumstances(0))
        self._seen: list[Process] = []  # processes that have been started

    def verdict(self) -> Verdict:
        """Of three runs: the whole, the part before and the part after."""
        try:
            return self._judged()
        except KeyboardInterrupt:
            return self._cut_short()

    def _cut_short(self) -> Verdict:
        """What is known where verify is interrupted; where that is nothing, KeyboardInterrupt."""
        for each in self._seen:
            each.look()
        seen = [each for each in self._seen if each.traces]
        if len(seen) < len(_NAMES):
            raise KeyboardInterrupt
        whole, before, *more = seen
        if not more:
            verdict = cut_short(self._session, Watched((whole, before), None, 1, (), 0.0))
            return with_notes(verdict, _NOT_RESUMED)
        start, _ = resumed_at(whole.traces[0], more[0].traces[0], self._at)
        comparison = as_far(self._resumed(whole, more[0], start))
        return self._verdict(comparison, interrupted=True, resume=self._told(start))

    def _judged(self) -> Verdict:
        until, stop = self._session.plan.until, self._interruption.stop
        at, extra = self._at, shlex.split(stop or "")
        limit = recording(at - 1, held=at)
        interrupted = partial(self._start, limit, arguments=extra, leaves=stop is None)
        through = partial(self._start, recording(until, held=at))
        whole, before = self._run(through, interrupted)
        if failure := _failed(whole) or _failed(before) or self._unfit(whole, before):
            return self._verdict(failure=failure)
        early = Comparer(whole.traces, before.traces).advance()
        if early is not None and early.step < before.done and early.cause is not Cause.LENGTH:
            comparison = examine(whole.traces, before.traces, ("run 1", "run 2"))
            return with_notes(self._verdict(comparison, resume=self._told(None)), _EARLY.format(at))
        options = recording(until, first_step=at, held=0)
        arguments = self._interruption.resume
        given = {"arguments": shlex.split(arguments), "place": before.folder}
        (after,) = self._run(partial(self._start, options, **given))
        if failure := _failed(after):
            return self._verdict(failure=failure)
        start = self._began_at(whole, after)
        if not start:
            why = (
                "began anew at step 0 when it was to resume: no checkpoint had been saved by step "
                f"{self._at}, or --resume-args do not have it loaded"
            )
            failure = Failure(after.number + 1, why, after.tail())
            return self._verdict(failure=failure, resume=self._told(start))
        return self._concluded(whole, before, after, start)

    def _run(self, *starts: Callable[[], Process], limited: bool = False) -> tuple[Process, ...]:
        opened = self._session
        one_by_one = not opened.isolated or opened.plan.one_by_one
        watch = Watch(opened, starts, limited, compares=False, one_by_one=one_by_one)
        try:
            return watch.run().processes
        finally:
            self._seen += watch.so_far.processes

    def _verdict(self, comparison: Comparison | None = None, **told: Any) -> Verdict:
        return Verdict(comparison, 2, "copies" if self._session.isolated else "in place", **told)

    def _unfit(self, whole: Process, before: Process) -> Failure | None:
        one, other = trainings(whole.traces[0]), trainings(before.traces[0])
        if other < self._at:
            why = f"ended after {other} steps, before it could be interrupted at {self._at}"
            return Failure(before.number + 1, why, before.tail())
        if one <= self._at:
            why = f"has {one} steps: nothing is left after an interruption at {self._at}"
            return Failure(whole.number + 1, why, whole.tail())
        return None

    def _began_at(self, whole: Process, after: Process) -> int:
        """The step of the whole run with which the resumed one began. Where that computed something
        else, a run up to there is told by its parameters as each step begins."""
        start, is_certain = resumed_at(whole.traces[0], after.traces[0], self._at)
        if is_certain:
            return start
        options = (*recording(self._at, held=self._at), "--state-every", "1")
        (beside,) = self._run(partial(self._start, options), limited=True)
        beside.look()
        if not beside.traces:
            return start
        return resumed_at(beside.traces[0], after.traces[0], self._at, (_STATE, _COMPUTED))[0]

    def _concluded(self, whole: Process, before: Process, after: Process, start: int) -> Verdict:
        """What the resumed run shows beside the whole one."""
        comparison = self._resumed(whole, after, start)
        before_it = before if start == self._at else None
        difference, found = self._parted(comparison, whole, before_it, after)
        comparison = replace(comparison, difference=difference)
        verdict = self._verdict(comparison, reruns=1, resume=self._told(start))
        if difference is not None:
            entry = Entry(losses=found)
            verdict = with_findings(verdict, self._session.text, difference, Bisection(), entry)
        note = f"interrupted after {steps_done(before.done, self._at)}, "
        goes_on = f"it went on after {start}: where its last checkpoint was saved"
        told: list[str] = []
        if difference is None:
            told += unseen(self._session.text, whole, after)
            told += self._forgotten(whole, before_it, after)
        note += goes_on if start != self._at else "and resumed at the next"
        return with_notes(verdict, *told, note)

    @staticmethod
    def _resumed(whole: Process, after: Process, start: int) -> Comparison:
        for trace in after.traces:
            trace.header = replace(trace.header, first_step=start)
        return examine(whole.traces, after.traces, _NAMES)

    def _parted(
        self, comparison: Comparison, whole: Process, before: Process | None, after: Process
    ) -> tuple[Difference | None, tuple[Loss, ...]]:
        """The difference, also in what the program alone holds in the end; and what was lost.

        before  the interrupted one; where that had gone further than the resumed one begins, None:
                the whole one is run again up to that step
        """
        left: dict[Thing, Held] | None = None
        if (difference := comparison.difference) is None:
            difference, left = at_the_end(whole, after)
        if difference is None:
            return None, ()
        text, held = self._session.text, self._held(whole, before, after, difference.rank)
        found = losses(held, text, difference, left) if len(held) > 1 else ()
        if left is None:
            return with_losses(difference, found), found
        if not any(each.counts for each in found):
            return None, ()
        at = found[0].suspect
        difference = replace(difference, place=Place(at.file, at.line, ""))
        return with_losses(difference, found), found

    def _held(self, whole: Process, before: Process | None, after: Process, rank: int) -> list[str]:
        """The traces beside which it lies what the runs held as the resumed one begins."""
        if before is None:
            number = after.traces[0].header.first_step
            until_then = partial(self._start, recording(number, held=number))
            (whole,) = self._run(until_then, limited=True)
            whole.look()
        runs = (whole, after, before)
        return [str(each.traces[rank].path) for each in runs if each and each.traces]

    def _forgotten(self, whole: Process, before: Process | None, after: Process) -> Iterator[str]:
        """Sentences on what the resumed run did not get back, though no step shows it."""
        text, seen = self._session.text, (whole, after)
        traces = [str(each.traces[0].path) for each in seen if each.traces]
        if len(traces) < len(seen) or not forgotten(traces, text):
            return
        held = self._held(whole, before, after, 0)
        for each in forgotten(held, text)[:_NOTED] if len(held) > 1 else ():
            at = each.suspect
            what, file = at.message.partition(";")[0], os.path.relpath(at.file)
            yield _FORGOTTEN.format(what, file, at.line, each.advice)

    def _told(self, start: int | None) -> dict[str, Any]:
        how = "ended" if self._interruption.stop is None else "stopped by itself"
        return {"at": self._at, "resumed_at": start, "interruption": how}


def at_the_end(whole: Process, resumed: Process) -> tuple[Difference | None, dict[Thing, Held]]:
    """What the program still holds as the runs end, and is not the same, though all that was
    recorded agrees: such as averaged weights that nothing has been computed with."""
    for one, other in zip(whole.traces, resumed.traces, strict=False):
        left = left_apart(str(one.path), str(other.path))
        for each in left.values():
            event = Event("held", f"`{each.path}{each.below}`", 0, "", None, b"")
            number, why = one.header.first_step + len(one) - 1, _LEFT_APART.format(event.name)
            where = (one.header.rank, number, "end", event, event)
            agreed = ("all that was recorded",)
            return Difference(*where, Cause.STATE, why, agreed, lost=(event.kind,)), left
    return None, {}


def steps_done(count: int, trained: int) -> str:
    """Steps that an interrupted run has done, in words."""
    evaluated = f" and {count - trained} of evaluation" if trained < count else ""
    return f"{trained} training steps{evaluated}"


def _failed(process: Process) -> Failure | None:
    process.look()
    watched = Watched((process,), None, 1, (), 0.0)
    return failure_of(watched, Comparison(None, _NAMES) if process.steps else None)


def trainings(trace: Trace) -> int:
    """How many training steps a trace has."""
    return sum(step.kind == "training" for step in trace.steps())


_COMPUTED, _STATE = ("output", "loss", "gradient"), ("parameter", "buffer")


def resumed_at(
    whole: Trace, after: Trace, expected: int, kinds: tuple[tuple[str, ...], ...] = (_COMPUTED,)
) -> tuple[int, bool]:
    """The training step of the whole run, up to ``expected``, with which a resumed one began; and
    whether all that its first one holds of these kinds agrees.

    The one that most of it agrees with, ``expected`` where several do or none: a program resumes
    from its last checkpoint, which may be older than the interruption. What it drew tells nothing:
    one that forgets its place in the data begins it anew.

    kinds  of events, those that decide first come first
    """
    first: dict[tuple[str, str, int], bytes] = {}
    for step in after.steps():
        if step.kind == "training":
            first = {**_events(step), **first}
            break
        first.update((key, each) for key, each in _events(step).items() if key[0] in _STATE)
    held = [{each for each in first.items() if each[0][0] in some} for some in kinds]
    trainings = (_events(step) for step in whole.steps() if step.kind == "training")
    scores = [
        ([len(some & events.items()) for some in held], number == expected, number)
        for number, events in enumerate(islice(trainings, expected + 1))
    ]
    agreement, _, number = max(scores, default=([0], True, expected))
    return number, agreement == [len(some) for some in held]


def _events(step: Step) -> dict[tuple[str, str, int], bytes]:
    return {(each.kind, each.name, each.call): each.digest for each in step.events}

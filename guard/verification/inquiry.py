"""From a plan to a verdict: run, compare, and ask why."""

from __future__ import annotations

import os
import re
import sys
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from guard.diff import Cause, Comparison, Confidence, Source, examine
from guard.diff.situations import for_kernels
from guard.errors import GuardError
from guard.terminal import counted
from guard.verification.attribution import (
    FORKED_APART,
    LONGEST,
    NONE,
    Attribution,
    Reruns,
    attribute,
)
from guard.verification.explaining import (
    FREE,
    OF_REASONS,
    Known,
    Shown,
    circumstance_of,
    explanation,
    origin_of,
    seeded_by,
    worded_by,
)
from guard.verification.left_files import blamed, found_later
from guard.verification.operators import Bisection, bisect, bisect_line, is_of_an_operator
from guard.verification.plan import CLOCK, recording
from guard.verification.runs import Watch, Watched
from guard.verification.sessions import session
from guard.verification.statements import (
    RUNS,
    Entry,
    decided,
    drawn_in_threads,
    entry,
    is_asked,
    is_written_meanwhile,
    led_by,
    never_written,
    proven_first,
    settled,
)
from guard.verification.suspects import (
    ADVICE,
    OF_CIRCUMSTANCES,
    REMEDIES,
    Asked,
    advised,
    not_shown,
    suspects,
    with_possibilities,
)
from guard.verification.verdicts import FAILED, IDENTICAL, Failure, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from guard.diff import Difference, Explanation
    from guard.verification.left_files import Left
    from guard.verification.plan import Plan
    from guard.verification.runs import Process
    from guard.verification.sessions import Session
    from guard.verification.statements import Begun
    from guard.verification.texts import Text

_MEMORY = ("out of memory", "cannot allocate memory", "can't allocate memory", "MemoryError")
_KILLED = -9
_NO_MODULE = "ModuleNotFoundError"
_SAFE_PATH = "; with -P or PYTHONSAFEPATH, Python does not look for modules beside the script"
_NO_INPUT = "EOFError: EOF when reading a line"
_GIVES_NONE = (
    "; verify gives no run a standard input: let the program take what it reads there from a file "
    "or an argument"
)
# What is said of recordings that we have ended ourselves.
_ENDED = re.compile(r"(The recording of )?run \d+(, rank \d+)? (has no end|was stopped)")
_FURTHER = "more runs were made, since two can agree by luck; --runs says how many there are to be"
_DATED = (
    "each run reads another date and time of day, and measures other times; --same clock leaves "
    "these as they are"
)
# What is another one in a process that is forked from another, whatever seed or order that has.
_OF_A_PROCESS = (Source.OBJECT_ADDRESS, Source.UNWRITTEN_MEMORY)
_FILES = 3  # that an earlier run left, and that are told
_QUICK = 20.0  # seconds of two runs, up to which a third one is made anyway
_THREADED = (
    "{} was given something else, which no recorded operator made: those that the program's own "
    "threads run are not recorded"
)
_SEEDED = "Look at where the number comes from in `{}`: it is another one in each run."
_CUT_SHORT = "verify was interrupted: this is what was known by then, and no more was asked"
_UNSEEN = (
    "possibly {} ({}): it made no difference in these runs, which begin alike; it may in others"
)
_REPLACED = (
    "was recorded up to {} only: at {} os.exec begins a program in its place, of which nothing is "
    "recorded. Where it is to set a variable, set that outside, so that the program need not begin "
    "anew: PYTHONHASHSEED=0 python -m guard verify ..."
)
_UNRECORDED = (
    "processes that the program starts trained at {}, which was not compared: it shows only in "
    "what they give back"
)
_FAR = (
    "not looked at are the line and the circumstances, which take several runs: the way to this "
    "step takes more than {:.0f} s. On a machine that does less beside, verify looks at them"
)
_SHARED = (
    "the runs worked in the same folder, so that a later one may have read what an earlier one had "
    "left there: --isolate gives each a copy of the folder as it was"
)


def verify(plan: Plan, scratch: str, tell: Callable[[int], None] = lambda _: None) -> Verdict:
    """Run the program as planned and say whether its runs agree. Raises GuardError.

    scratch  a folder of ours, for traces and working folders
    tell     is given the number of steps compared so far
    """
    with session(plan, scratch) as opened:
        options, limited = recording(plan.until), plan.until is not None
        runs = [partial(opened.start, plan.circumstances(run), options) for run in range(plan.runs)]
        watch = Watch(opened, runs, limited, tell, one_by_one=plan.one_by_one)
        note = ""
        try:
            watched = watch.run()
            verdict, other = judged(opened, watched)
            if verdict.status == IDENTICAL and (more := further(opened, watched, opened.text)):
                note, first = _FURTHER, watched.processes
                numbers = range(len(first), len(first) + more)
                runs = [partial(opened.start, plan.circumstances(n), options) for n in numbers]
                later = Watch(opened, runs, limited, tell, known=first[:1]).run()
                watched = later._replace(processes=(*first, *later.processes[1:]))
                verdict, other = judged(opened, watched)
        except KeyboardInterrupt:
            return cut_short(opened, watch.so_far)
        comparison = verdict.comparison
        if comparison is None or comparison.difference is None or verdict.status == FAILED:
            told = unseen(opened.text, *watched.processes) if verdict.status == IDENTICAL else ()
            return with_notes(verdict, *told, *waits(watched), note, *opened.places)
        verdict = explained(opened, watched, verdict, other)
        return with_notes(verdict, note, *opened.places)


def unseen(text: Text, *processes: Process) -> Iterator[str]:
    """What may differ in each run although some agree: by the program's text, and what it has done
    that is not compared."""
    for each in sorted({line for process in processes for line in process.unrecorded}):
        yield _UNRECORDED.format(os.path.relpath(each))
    timed = [(each, (path, each.line, each.text)) for path, each in text.timed_conditions]
    clocked = [place for each, place in timed if each.ends]
    chosen = [place for each, place in timed if each.sets and not each.ends]
    polls = [each[:3] for each in text.polls if not each.is_in_thread]
    for what, found in (  # what may be, and of which lines
        ("the number of steps depends on the clock", clocked),
        ("what is done depends on the clock", chosen),
        ("it depends on what is measured of the machine or the process", text.measured),
        ("what is done depends on how far a thread or process has come", polls),
        ("it depends on a date or a time that verify does not vary", text.clocks_of_libraries),
        ("it depends on when a signal comes, and its handler runs", text.handlers),
        ("threads or processes come to what they share in another order", text.shared_changes),
        ("others read what a thread writes before it has written all", text.written_in_threads),
    ):
        told = [f"{os.path.relpath(path)}:{line}, `{text}`" for path, line, text in found]
        yield _UNSEEN.format(what, "; ".join(told)) if told else ""
    yield from found_later(*processes) if processes else ()
    yield from not_shown(text.files)


def judged(opened: Session, watched: Watched) -> tuple[Verdict, int]:
    """What became of the runs; and which of them parts from the first, from 0."""
    comparison, other = compared(watched)
    verdict = Verdict(
        comparison,
        runs=len(watched.processes),
        isolation="copies" if opened.isolated else "in place",
        failure=failure_of(watched, comparison),
    )
    return verdict, other


def cut_short(opened: Session, watched: Watched) -> Verdict:
    """What is known where verify is interrupted."""
    verdict, _ = judged(opened, watched)
    if verdict.comparison is None:
        raise KeyboardInterrupt
    comparison = as_far(verdict.comparison)
    return replace(verdict, comparison=comparison, failure=None, interrupted=True)


def as_far(comparison: Comparison) -> Comparison:
    """A comparison of runs that verify has ended early: how long they are says nothing."""
    difference = comparison.difference
    if difference is not None and difference.cause is Cause.LENGTH:
        comparison = replace(comparison, difference=None)
    return replace(comparison, notes=(*comparison.notes, _CUT_SHORT))


def further(opened: Session, watched: Watched, text: Text) -> int:
    """How many runs to make: two may agree by luck, above all in sums, and more may cost little."""
    is_quick = watched.seconds < _QUICK
    if not (opened.plan.at_ease and opened.isolated and watched.seconds < LONGEST):
        return 0
    return 3 if is_quick and text.shares else int(is_quick or bool(text.timed))


def compared(watched: Watched) -> tuple[Comparison | None, int]:
    """The comparison with the run that parts first, and which that is, from 0.

    Where all agree, that with a run in another environment, which is told.
    """
    found: list[tuple[int, Comparison]] = []
    first = watched.processes[0]
    for other, each in enumerate(watched.processes[1:], 1):
        first.look()
        each.look()
        if first.steps and each.steps:
            found.append((other, _examined(first, each, other)))
    parted = [(other, c.difference.step, c) for other, c in found if c.difference is not None]
    if parted:
        other, _, comparison = min(parted, key=lambda each: each[1])
        return comparison, other
    if not found:
        return None, 1
    other, comparison = max(found, key=lambda each: len(for_kernels(each[1].changes)))
    return comparison, other


def _examined(first: Process, second: Process, other: int) -> Comparison:
    names = ("run 1", f"run {other + 1}")
    found = examine(first.traces, second.traces, names)
    limits = tuple(each for each in found.limits if not _ENDED.match(each))
    return replace(found, limits=limits)


def failure_of(watched: Watched, comparison: Comparison | None) -> Failure | None:
    """The run that failed, if one did, and whether that leaves nothing to say."""
    difference = None if comparison is None else comparison.difference
    parted = difference is not None and difference.cause not in (Cause.LENGTH, Cause.CONTROL_FLOW)
    for each in watched.hung:
        done = counted(each.done, "step")
        why = f"did nothing for too long after {done}; --seconds gives it more time"
        return Failure(each.number + 1, why, each.tail(), decides=not parted)
    for each in watched.processes:
        if each.replaced:
            why = _REPLACED.format(counted(each.done, "step"), os.path.relpath(each.replaced))
            return Failure(each.number + 1, why, each.tail(), decides=difference is None)
        if each.status and not each.was_stopped:
            output = each.tail()
            short = each.status == _KILLED or any(w in line for w in _MEMORY for line in output)
            why = f"ended with status {each.status} after {counted(each.done, 'step')}"
            if getattr(sys.flags, "safe_path", False) and any(_NO_MODULE in e for e in output):
                why += _SAFE_PATH
            if any(_NO_INPUT in line for line in output):
                why += _GIVES_NONE
            if short:
                why += "; if memory does not suffice for runs side by side: --one-by-one"
            decides = difference is None or (short and not parted)
            return Failure(each.number + 1, why, output, decides=decides)
        if (error := each.failed_recording()) is not None:
            why = f"was recorded up to {counted(each.done, 'step')} only: {error}"
            return Failure(each.number + 1, why, each.tail(), decides=difference is None)
    if comparison is None:
        why = "did no step: no optimizer stepped and no model was evaluated"
        return Failure(1, why, watched.processes[0].tail())
    return None


@dataclass
class _Asked:
    """What was found out of a difference: the operator, the circumstance and the line."""

    opened: Session
    watched: Watched
    difference: Difference
    other: int
    bisection: Bisection = field(default_factory=Bisection)
    attribution: Attribution = field(default_factory=Attribution)
    found: Entry = field(default_factory=Entry)
    # files that the other run read as an earlier one had left them; and whether that makes the
    # difference: further runs, which had them all, agreed with each other and not with the first
    left: tuple[Left, ...] = ()
    is_tried: bool = False

    @property
    def runs(self) -> int:
        """Further runs that there were."""
        return self.bisection.runs + self.attribution.runs + self.found.runs

    @property
    def is_quick(self) -> bool:
        """Whether the way to the step is short enough to be gone again and again."""
        return self.watched.seconds < LONGEST

    @property
    def _left(self) -> int:
        return self.opened.plan.budget - self.runs

    def ask(self) -> None:
        """Run again, as often as the budget has it; what is known stands, if it is interrupted."""
        opened, difference, other = self.opened, self.difference, self.other
        if is_of_an_operator(difference):
            most = max(self._left - RUNS, min(self._left, 2))
            self.bisection = bisect(opened, difference, other, most)
        is_quick = self.is_quick
        if is_quick and self._left >= RUNS and is_asked(difference, self.bisection):
            self.found = entry(opened, difference, other, self.bisection, self._left)
        begun = _shown(self.found, "")
        line = None if self.bisection.runs else self._line_that_tells_nothing(begun)
        known = any(each.row for each in self.bisection.operators)
        if begun is not None and begun.is_whole and begun.source in FREE:
            self.attribution = Attribution(NONE)  # it is varied in no run, and differs in each
        elif is_quick and not known:
            first, left = self.watched.processes[0], self._left - RUNS * (line is not None)
            reruns = Reruns(opened, difference, first, other, left)
            found = attribute(reruns, opened.text, circumstance_of(begun))
            shown = _shown(self.found, found.circumstance)
            source = shown.source if shown is not None else None
            is_other = OF_CIRCUMSTANCES.get(found.circumstance) is not source
            if source in _OF_A_PROCESS and found.circumstance in FORKED_APART and is_other:
                found = replace(found, circumstance="")
            self.attribution = found
        if line is not None and self.attribution.circumstance in ("", NONE):
            at = replace(difference, step=min(line.step, difference.step))
            self.bisection = bisect_line(opened, at, other, self._left, line.node.stands_at)
        self.left = opened.left_to(self.watched.processes[other])
        if self.left and self.found.came_again is False and self.attribution.circumstance == NONE:
            self.attribution = replace(self.attribution, circumstance="")
            self.is_tried = True

    def _line_that_tells_nothing(self, shown: Shown | None) -> Begun | None:
        """The line, where it reads nothing which is known to differ: its operators are asked. Of
        threads and of other processes, operators are not recorded."""
        begun = self.found.origin
        if shown is None or shown.source is not Source.NOT_SHOWN or begun is None:
            return None
        return begun if begun.node.within.role == "main" and self._left >= RUNS else None

    @property
    def advice(self) -> str:
        """What to do, as far as no line or operator tells."""
        difference, bisection = self.difference, self.bisection
        drawn = difference.cause is Cause.GENERATOR
        of_data = bisection.culprit is None and not is_of_an_operator(difference)
        is_open = drawn or of_data or not bisection.runs
        return difference.advice if is_open else ""


def explained(opened: Session, watched: Watched, verdict: Verdict, other: int) -> Verdict:
    """With the operator, the circumstance and the line."""
    if verdict.comparison is None or (difference := verdict.comparison.difference) is None:
        return verdict
    asked = _Asked(opened, watched, difference, other)
    try:
        asked.ask()
    except KeyboardInterrupt:
        verdict = replace(verdict, interrupted=True)
    bisection, attribution, found = asked.bisection, asked.attribution, asked.found
    verdict = replace(
        verdict,
        reruns=asked.runs,
        reproduced=bisection.reproduced,
        circumstance=attribution.circumstance,
    )
    difference = replace(difference, advice=asked.advice)
    note = "" if asked.is_tried else found.note  # what reads the files is the line
    found = replace(found, note=note, left=asked.left[:_FILES], is_left=asked.is_tried)
    verdict = with_findings(verdict, opened.text, difference, bisection, found)
    left = (each.note for each in found.left)
    cause = verdict.comparison.explanation if verdict.comparison else None
    also = (
        _DATED if _is_of_a_date(opened, cause) else "",
        "" if opened.isolated else _SHARED,
        _CUT_SHORT if verdict.interrupted else "",
        "" if asked.is_quick or verdict.interrupted else _FAR.format(LONGEST),
    )
    varied = attribution.note(opened.text, cause.source if cause else Source.NOT_SHOWN)
    notes = (*waits(watched), *bisection.notes, varied, found.note, *left, *also)
    return with_notes(verdict, *notes)


def _is_of_a_date(opened: Session, cause: Explanation | None) -> bool:
    """Whether a clock is the cause, and the runs have read other dates."""
    is_varied = CLOCK.name in opened.plan.vary and opened.text.reads_clock
    return cause is not None and cause.source is Source.CLOCK and is_varied


def with_findings(
    verdict: Verdict,
    text: Text,
    difference: Difference,
    bisection: Bisection,
    found: Entry | None = None,
) -> Verdict:
    """With the operator, and what the linter and the program's text have that fits."""
    comparison = verdict.comparison
    if comparison is None:
        return verdict
    found = found or Entry()
    begun = _shown(found, verdict.circumstance)
    line = Source.NOT_SHOWN if begun is None else begun.source
    meanwhile = is_written_meanwhile(bisection, difference, verdict.circumstance, text)
    is_proven = line is Source.READINESS or (begun and begun.is_whole and begun.is_sure)
    if meanwhile and (line is Source.NOT_SHOWN or not is_proven):
        found, begun = Entry(left=found.left, is_left=found.is_left), None
    settling = verdict.circumstance, text, line
    shown = None if meanwhile else settled(bisection, difference, *settling)
    notes = comparison.notes
    if shown is None and bisection.culprit is not None and not meanwhile:
        notes = (*notes, _THREADED.format(bisection.culprit.operator.name))
    seeded = seeded_by(begun.slice) if begun is not None else ""
    operators = () if shown is None else (shown.operator,)
    if seeded and shown is not None and shown.cause is Cause.GENERATOR:
        operators = (replace(shown.operator, alternative=""),)
    places = (*(each.place for each in operators), difference.place)
    refined = replace(difference, place=next(filter(None, places), None))
    if shown is not None and shown.cause is not difference.cause:
        refined = replace(refined, cause=shown.cause, why=shown.why)
    elif shown is None:
        refined = drawn_in_threads(refined, text)
        refined = never_written(refined, verdict.circumstance, text)
    refined = decided(refined, found.decided)
    asked = Asked(
        refined, verdict.circumstance, text, comparison.changes, shown is not None, found.losses
    )
    refined = replace(refined, place=found.entered or refined.place or found.shows)
    files = () if verdict.interrupted else text.files  # the linter takes seconds
    try:
        links = found.origin.slice if found.origin else ()
        by_rules = suspects(refined, files, links, has_gpu=comparison.has_gpu)
    except GuardError as error:
        by_rules, notes = (), (*notes, str(error))
    others = with_possibilities(by_rules, replace(asked, difference=refined))
    others = proven_first(shown, others)
    lines = (
        *blamed(found.left if found.is_left else ()),
        *led_by(found, others, text, verdict.circumstance),
    )
    refined = replace(refined, advice=advised(refined, lines))
    left = tuple(dict.fromkeys(each.name for each in found.left))
    told = (verdict.circumstance, lines, begun, left, found.is_left, text.timed, found.makers)
    is_one = len(comparison.ranks) < 2 and text.threads.is_one
    cause = explanation(Known(refined, shown, *told, is_one))
    fits = lines[0].fits if lines else ""
    refined = replace(refined, advice=_advised(refined, cause, fits, seeded))
    if cause.source is Source.GENERATOR and found.unseeded:
        refined = replace(refined, advice=f"{found.unseeded} {refined.advice}")
    lines = tuple(worded_by(cause, each) for each in lines)
    changes: dict[str, Any] = {"operators": operators, "suspects": lines, "difference": refined}
    changes["explanation"] = cause
    return replace(verdict, comparison=replace(comparison, notes=notes, **changes))


def _advised(difference: Difference, cause: Explanation, fits: str, seeded: str) -> str:
    """What to do, by what the first line reads where that is known."""
    drawn, named = difference.cause is Cause.GENERATOR, cause.source is Source.GENERATOR
    is_open = cause.confidence is Confidence.POSSIBLE or cause.source not in REMEDIES
    if not is_open and not (drawn and named):
        is_of_it = fits in ADVICE and OF_REASONS.get(fits) is cause.source
        return ADVICE[fits] if is_of_it else REMEDIES[cause.source]
    return _SEEDED.format(seeded) if seeded and drawn and not named else difference.advice


def _shown(found: Entry, circumstance: str) -> Shown | None:
    """What the line that was found by running reads."""
    begun = found.origin
    if begun is None:
        return None
    origin = origin_of(begun.node, begun.traits, circumstance)
    return Shown(origin.source, origin.what, begun.slice, begun.is_whole, origin.is_sure)


def with_notes(verdict: Verdict, *notes: str) -> Verdict:
    """With sentences for a person; empty ones are left out."""
    comparison = verdict.comparison
    told = tuple(filter(None, notes))
    if comparison is None or not told:
        return verdict
    return replace(verdict, comparison=replace(comparison, notes=(*comparison.notes, *told)))


def waits(watched: Watched) -> tuple[str, ...]:
    """Which run stood waiting to write, when all was stopped."""
    return tuple(
        f"run {each.number + 1} waited to write {os.path.relpath(each.waits)} until the runs "
        "before it would have ended: --isolate gives each run a copy of the working folder"
        for each in watched.processes
        if each.waits
    )

"""The line, by running: both runs again, with the program's statements recorded, and compared."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Link, Source, Suspect, examine
from guard.diff.slices import compare, done_in_one, find, sets_only, sets_values, slice_of
from guard.diff.sources import FILLING_PARTLY, calls, gives, is_begun, is_clock, varies
from guard.observe.places import Place
from guard.observe.statements import Files
from guard.verification.attribution import NONE
from guard.verification.explaining import (
    OF_REASONS,
    drawn_from,
    hands_over,
    is_within,
    line_of,
    origin_of,
    suspect,
)
from guard.verification.missed_seeds import missed
from guard.verification.operators import READ, Culprit, unwritten
from guard.verification.plan import MEMORY, TIMING, recording
from guard.verification.runs import rerun
from guard.verification.suspects import SAYS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.diff import Difference
    from guard.diff.flows import Flows
    from guard.diff.slices import Found
    from guard.diff.statements import Node
    from guard.digests.traits import Traits
    from guard.verification.left_files import Left
    from guard.verification.lost_state import Loss
    from guard.verification.operators import Bisection
    from guard.verification.runs import Process
    from guard.verification.sessions import Session
    from guard.verification.texts import Text


RUNS = 2
_TRIES = 3  # so many times that many
_MOST = 3  # lines that are told
_FURTHER = 20  # steps, where the difference does not come at the same one
_OPEN = (Cause.KERNEL, Cause.OUTSIDE)
_ENTERS = (Cause.HYPERPARAMETER, Cause.ENVIRONMENT)
_AGAIN = (
    "with the program's statements recorded the difference did not come again, so that the line "
    "is not known"
)
_BROKEN = "what differs was not traced to a line: comparing statement by statement failed with {!r}"
_OF_RANK = (
    "the statements of rank {} were compared: what it got from other ranks counts as given by the "
    "library that carried it"
)
_LOST = "the runs were compared statement by statement, and what differs was not traced to a line"


class Begun(NamedTuple):
    """The statement that a difference begins with."""

    node: Node
    traits: Traits  # what its values are made of
    slice: tuple[Link, ...]  # the statements from it to the first difference
    is_whole: bool  # whether each of these was seen to lead to the next
    step: int  # in which it ran


@dataclass(frozen=True)
class Entry:
    """Where a difference entered the program."""

    # statements that gave something else in each run for the same, the first first
    lines: tuple[Suspect, ...] = ()
    # files and lines of what made the things that the first of them uses
    makers: tuple[tuple[str, range], ...] = ()
    entered: Place | None = None  # the line that shows it, where that is worth telling
    shows: Place | None = None  # the last line of the slice
    runs: int = 0  # that it took
    note: str = ""
    decided: Decided | None = None  # another cause than it seemed to have, as its line shows
    # the first statement, what its values are made of, and the slice from it
    origin: Begun | None = None
    # whether the difference came again with statements recorded; None where that was not seen
    came_again: bool | None = None
    # files that an earlier run had left, and whether running showed that these make it
    left: tuple[Left, ...] = ()
    is_left: bool = False
    unseeded: str = ""  # why nothing seeded the generator that the first of them draws from
    losses: tuple[Loss, ...] = ()  # of a resumed run: what it did not get back


def is_asked(difference: Difference, bisection: Bisection) -> bool:
    """Whether the program's statements can tell more than its operators."""
    if difference.cause is Cause.STATE:
        return False
    culprit = bisection.culprit
    return culprit is None or culprit.cause is not Cause.KERNEL


def entry(
    session: Session, difference: Difference, other: int, bisection: Bisection, budget: int
) -> Entry:
    """Run both again up to the step that parted, and follow the difference back to its lines.

    Where it does not come again, in further circumstances, each compared with the first run of
    all: two orders can agree by luck.

    other   number of the run that differed from the first, for its circumstances
    budget  runs that there may be
    """
    step = difference.step
    options = (*recording(step + _FURTHER, lane=difference.lane), "--lines", str(step))
    ran: list[Process] = []
    while not ran or len(ran) + RUNS <= min(budget, RUNS * _TRIES):
        later = other + len(ran) - 1
        ran += rerun(session, (later, later + 1) if ran else (0, other), options).processes
        for each in ran[-RUNS:]:
            each.look()
        if not all(each.traces for each in ran):
            return Entry(runs=len(ran))
        for each in ran[-RUNS:]:
            if seen := examine(ran[0].traces, each.traces).difference:
                found = _entry(session, difference, bisection, (ran[0], each), seen)
                return replace(found, runs=len(ran))
    return Entry(runs=len(ran), note=_AGAIN, came_again=False)


def _entry(
    session: Session,
    difference: Difference,
    bisection: Bisection,
    ran: Sequence[Process],
    seen: Difference,
) -> Entry:
    if (seen.lane, seen.step) == (difference.lane, difference.step):
        seen = replace(seen, cause=difference.cause)
    culprit = bisection.culprit if bisection.rank == seen.rank else None
    if culprit is not None:
        place = culprit.operator.place or seen.place
        seen = replace(seen, cause=culprit.cause, place=place)
    try:
        found = _traced(session, ran, seen)
        others = {*range(session.plan.ranks)} - {seen.rank} if _is_given(found) else set()
        for part in filter(None, (_of_rank(ran, each) for each in sorted(others))):
            further = _traced(session, ran, part)
            if not _is_given(further):
                return further
    except Exception as error:  # noqa: BLE001 - that the runs differ is known without
        return Entry(runs=RUNS, note=_BROKEN.format(error))
    return found


def _of_rank(ran: Sequence[Process], rank: int) -> Difference | None:
    """Where two runs part on one rank."""
    first, second = ([e for e in each.traces if e.header.rank == rank] for each in ran)
    return examine(first, second).difference if first and second else None


def _is_given(found: Entry) -> bool:
    """Whether nothing is known of what a difference begins with, so that another rank may have
    given it."""
    begun = found.origin
    return begun is None or origin_of(begun.node, begun.traits).source is Source.NOT_SHOWN


def _traced(session: Session, ran: Sequence[Process], seen: Difference) -> Entry:
    """What the recordings of both runs' statements tell."""
    folders = (ran[0].traces_folder, ran[1].traces_folder)
    rank = seen.rank if session.plan.ranks > 1 else None
    flows, notes = compare(*folders, (seen.lane, seen.step), rank, Files(session.text.called))
    flows.left = [Place(each.file, each.line, "") for each in session.left_to(ran[1], ran[0])]
    if rank is not None:
        notes.append(_OF_RANK.format(rank))
    found = _told_first(flows, find(flows, seen))
    if not found.origins or _is_kernel(seen, found.origins[0]) or _is_late(seen, found):
        return Entry(runs=RUNS, note="; ".join([_LOST, *notes]))
    decided = cause_of(flows, found.origins[0], seen.cause, _hyperparameters(ran[0]))
    shows = found.entered if seen.cause in _ENTERS else decided and decided.setting
    around = {*found.origins[0].around()} - {found.origins[0]}  # no cause beside what they call
    shown = [each for each in found.origins if each not in around][:_MOST]
    made = flows.makers(found.origins[0])
    if calls(found.origins[0].statement, FILLING_PARTLY):
        shown += (e for e in made if gives(e.statement, Source.UNWRITTEN_MEMORY))
    lines = tuple(suspect(each, flows.traits(each)) for each in shown)
    makers = tuple(
        (os.path.realpath(e.file), range(e.statement.line, e.statement.last + 1)) for e in made
    )
    place = None if shows is None else _place(shows)
    begun = _begun(flows, found)
    unseeded = missed(session.text, flows.nodes, drawn_from(begun.node))
    last = _place(found.entered or found.origins[0])
    told_of = (lines, makers, place, last, RUNS, "; ".join(notes), decided, begun)
    return Entry(*told_of, unseeded=unseeded)


def _told_first(flows: Flows, found: Found) -> Found:
    """With the origins first that read what is another in each run: of the others, something that
    was not followed may have been given something else. A call comes later than the line within it,
    what only waits later than what takes what came first, what puts later than what it puts there,
    a clock that is begun later than where it is read, and last what is the same in the end.
    """
    is_read = any(is_clock(e.statement) and not is_begun(e.statement) for e in found.origins)
    calling = {_place(call) for each in found.origins for call in each.around() if call != each}

    def late(node: Node) -> tuple[bool, bool, bool, bool, bool]:
        source = origin_of(node, flows.traits(node)).source
        is_put = source is Source.THREAD_ORDER and hands_over(node)
        only_waits = source is Source.READINESS and not flows.binds(node)
        is_same = node.within.role != "main" and flows.comes_to_the_same(node)
        is_late = only_waits or (is_read and is_begun(node.statement))
        return is_same, source is Source.NOT_SHOWN, _place(node) in calling, is_late, is_put

    return found._replace(origins=tuple(sorted(found.origins, key=late)))


def _begun(flows: Flows, found: Found) -> Begun:
    origin = found.origins[0]
    step, traits = flows.step_of(origin), flows.traits(origin)
    first = _link(origin)._replace(line=line_of(origin, traits))
    if found.entered is None:  # what most of what differs comes from: no way was seen
        return Begun(origin, traits, (first,), False, step)
    nodes, gaps = slice_of(flows, origin, found.entered)
    later = (_link(e)._replace(follows=e not in gaps) for e in nodes if e is not origin)
    links = tuple(dict.fromkeys((first, *later)))
    is_whole = not gaps and not origin.goes_on  # one recording may have ended before it had
    return Begun(origin, traits, links, is_whole, step)


def _link(node: Node) -> Link:
    return Link(node.file, node.statement.line, node.statement.text)


def _is_kernel(difference: Difference, origin: Node) -> bool:
    """Whether all that was found is the call of what computes: operators tell more."""
    place = difference.place
    return difference.cause is Cause.KERNEL and place is not None and origin.stands_at(place)


def _is_late(difference: Difference, found: Found) -> bool:
    """Whether all that was found is what a model computes, which was another one before."""
    names = (each.within.call.name.rpartition(".")[2] for each in found.origins[0].around())
    is_seen = difference.cause is not Cause.INITIALISATION or found.entered is not None
    return not is_seen and "forward" in names


def _hyperparameters(process: Process) -> set[str]:
    """Names of those that were recorded: "lr"."""
    labels = (trace.labels(at) for trace in process.traces for at in range(len(trace)))
    held = (each.name for some in labels for each in some if each.kind == "hyperparameter")
    return {name.rpartition(".")[2] for name in held}


def _place(node: Node) -> Place:
    return Place(node.file, node.statement.line, node.within.call.name)


def led_by(
    entry: Entry, others: Sequence[Suspect], text: Text, circumstance: str = ""
) -> tuple[Suspect, ...]:
    """The lines found by running first, in the words of the linter where it has some for them.

    Where it has none for the first, but for what made what that uses (a loader with in_order=False
    is gone through), it is told before. So is, where the line reads nothing that is known to
    differ, what sends a signal, which may have come just then, and what the linter says of the
    circumstance that makes the difference.
    """
    known = {_at(each): each for each in reversed(others)}
    shown = list(entry.lines)
    if entry.origin is not None:
        shown[:1] = [suspect(entry.origin.node, entry.origin.traits, circumstance)]
    first = [_worded(each, known.get(_at(each))) for each in shown]
    if first and not first[0].code and first[0].fits not in OF_REASONS:
        timers = {each[:2] for each in text.timers}
        codes = SAYS.get(circumstance, ())
        fitting = [each for each in others if each.code and each.code.startswith(codes)]
        first = [
            *(each for each in others if (each.file, each.line) in timers),
            *(fitting[:1] if codes else ()),
            *first,
        ]
    if first and _at(first[0]) not in known:
        made = [each for each in others if each.code and is_within(each, entry.makers)]
        first = made[:1] + first
    told = {_at(each) for each in first}
    rest = (each for each in others if each not in first and (each.code or _at(each) not in told))
    return (*first, *rest)


def proven_first(culprit: Culprit | None, others: Sequence[Suspect]) -> tuple[Suspect, ...]:
    """Lines with that of an operator first that gave something else for the same: what the linter
    says of others beside it was not seen to differ."""
    place = culprit.operator.place if culprit is not None else None
    if culprit is None or place is None or culprit.cause is not Cause.KERNEL:
        return tuple(others)
    does = _DIFFERS.format(culprit.operator.name, culprit.operator.phase or "forward")
    shown = Suspect("", does, place.filename, place.line, Source.KERNEL.value)
    first = [each for each in others if _at(each) == _at(shown)]
    return (*(first or [shown]), *(each for each in others if each not in first))


def _worded(shown: Suspect, known: Suspect | None) -> Suspect:
    """In the words that are known for its line, and why it is told, if these say nothing of it."""
    if known is None:
        return shown
    is_other = bool(known.fits) and OF_REASONS.get(known.fits) is not OF_REASONS.get(shown.fits)
    if not known.code and shown.fits in OF_REASONS and is_other:
        return shown  # what was seen there is surer than what the text may mean
    return known if known.code or known.fits else replace(known, fits=shown.fits)


def _at(suspect: Suspect) -> tuple[str, int]:
    return os.path.realpath(suspect.file), suspect.line


_DRAWN = (
    "A thread of the program draws from torch's generator of the whole process: what the others "
    "draw meanwhile depends on which is first, also where its state is the same in the end."
)
_FROM_MEMORY = (
    "The program allocates memory, and reads of it what nothing has written: the runs differ where "
    "nothing else is varied than the content of such memory."
)
# What such memory can be read into; an order of batches, or what is done, tells more by itself.
_READ_INTO = (
    Cause.INITIALISATION,
    Cause.BATCH_CONTENT,
    Cause.KERNEL,
    Cause.OUTSIDE,
    Cause.HYPERPARAMETER,
)
_SET = "In one run alone a hyperparameter is set before: `{}`."
_GIVEN = "What it was computed from differs before: `{}`."
_DIFFERS = "{} gave something else for the same here, in its {}"
COMPUTED = (Cause.KERNEL, Cause.OUTSIDE, Cause.CONTROL_FLOW)  # causes of which a line tells more


def drawn_in_threads(difference: Difference, text: Text) -> Difference:
    """A result that differs while a thread draws from torch's generator of the whole process.

    Once all have drawn, the generator's state is the same again; which numbers each got is not.
    """
    event = difference.first or difference.second
    is_result = event is not None and event.kind in ("output", "loss")
    if difference.cause is not Cause.KERNEL or not is_result or not text.draws_in_threads:
        return difference
    why = f"{difference.why} {_DRAWN}"
    return replace(difference, cause=Cause.GENERATOR, why=why)


def settled(
    bisection: Bisection,
    difference: Difference,
    circumstance: str,
    text: Text,
    line: Source = Source.NOT_SHOWN,
) -> Culprit | None:
    """What recording in detail shows, beside what else is known.

    A generator that differs comes before what it makes differ. Memory that nothing has written
    is told where something speaks for it: its circumstance, an allocation before, the text.
    None where it was given what threads of the program made, whose operators are not recorded.

    line  what the line reads that was found by running
    """
    shown = bisection.culprit
    if shown is None or shown.cause in (Cause.KERNEL, Cause.GENERATOR):
        return shown
    if difference.cause is Cause.GENERATOR:
        return shown._replace(cause=Cause.GENERATOR)
    if shown.cause is not Cause.OUTSIDE:
        return shown
    if text.shares and not shown.is_number and circumstance != MEMORY.name:
        return None
    # Memory of a library's holds the same where the circumstances are.
    allocates = text.allocates or (shown.allocates and circumstance != NONE)
    is_open = circumstance in ("", NONE) and line in (Source.NOT_SHOWN, Source.UNWRITTEN_MEMORY)
    if circumstance == MEMORY.name or (allocates and is_open and not shown.is_number):
        why = READ.format(shown.operator.name)
        return Culprit(unwritten(shown.operator), Cause.UNWRITTEN_MEMORY, why)
    return shown


def is_written_meanwhile(
    bisection: Bisection, difference: Difference, circumstance: str, text: Text
) -> bool:
    """Whether a collective that is only begun explains a result: what it writes may change at any
    moment, also while an operator runs that gives the same for the same by the tables."""
    shown, is_begun = bisection.culprit, any(True for _ in text.threads.begun())
    is_open = shown is None or (shown.cause in _OPEN and shown.operator.row is None)
    is_alone = circumstance in ("", NONE, TIMING.name)
    return is_begun and is_open and is_alone and difference.cause in COMPUTED


def never_written(difference: Difference, circumstance: str, text: Text) -> Difference:
    """A difference that unwritten memory alone makes, in a program that allocates some."""
    if circumstance != MEMORY.name or difference.cause not in _READ_INTO or not text.allocates:
        return difference
    why = f"{difference.why} {_FROM_MEMORY}"
    return replace(difference, cause=Cause.UNWRITTEN_MEMORY, why=why)


def decided(difference: Difference, shown: Decided | None) -> Difference:
    """A difference whose line shows another cause than it seemed to have."""
    if shown is None or difference.cause not in COMPUTED:
        return difference
    return replace(difference, cause=shown.cause, why=f"{difference.why} {shown.why}")


class Decided(NamedTuple):
    """A cause, and why."""

    cause: Cause
    why: str
    setting: Node | None = None  # the statement that sets a hyperparameter


def cause_of(flows: Flows, origin: Node, cause: Cause, names: set[str]) -> Decided | None:
    """The cause that an origin shows, or None where it is the one that was found before.

    cause  KERNEL only where no operator is known
    names  of hyperparameters
    """
    if cause not in COMPUTED:
        return None
    extra = done_in_one(flows, origin)
    setting = sets_only(extra, flows, names)
    if setting is not None:
        why = _SET.format(setting.statement.text)
        return Decided(Cause.HYPERPARAMETER, why, setting)
    is_decided = origin.branches or varies(origin.statement)
    if cause is not Cause.KERNEL or origin.is_in_thread or not is_decided:
        return None
    found = Cause.OUTSIDE if sets_values(extra) else Cause.CONTROL_FLOW
    return Decided(found, _GIVEN.format(origin.statement.text))

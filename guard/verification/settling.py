"""What a difference is, once more is known than the comparison of two runs.

A condition that sets but a learning rate is a hyperparameter, whatever shows first that it was
decided otherwise; and what a clock decides is no kernel.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Source
from guard.diff.slices import done_in_one, sets_only, sets_values
from guard.diff.sources import varies
from guard.verification.attribution import NONE
from guard.verification.operators import READ, Culprit, unwritten
from guard.verification.plan import MEMORY

if TYPE_CHECKING:
    from guard.diff import Difference
    from guard.diff.flows import Flows
    from guard.diff.statements import Node
    from guard.verification.operators import Bisection
    from guard.verification.texts import Text

_DRAWN = (
    "A thread of the program draws from torch's generator of the whole process: what the others "
    "draw meanwhile depends on which is first, also where its state is the same in the end."
)
_FROM_MEMORY = (
    "The program allocates memory, and reads of it what nothing has written: it takes nothing but "
    "another content of such memory to make the difference."
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

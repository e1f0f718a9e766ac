"""Which circumstance makes the difference: it alone is varied, and the runs differ."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from guard.diff import Cause, Source
from guard.verification.plan import (
    ADDRESSES,
    CLOCK,
    HASHES,
    LISTINGS,
    MEMORY,
    NAMES,
    circumstance_named,
    recording,
)
from guard.verification.runs import Watch
from guard.verification.suspects import OF_CIRCUMSTANCES

if TYPE_CHECKING:
    from guard.diff import Difference
    from guard.verification.runs import Process
    from guard.verification.sessions import Session
    from guard.verification.texts import Text

LONGEST = 60.0  # seconds to the step that differs, up to which it is tried
# The likelier first, where the cause tells.
_LIKELY = {
    Cause.INITIALISATION: ("hashes", "listings", "memory"),
    Cause.CONTROL_FLOW: ("hashes", "listings", "timing"),
    Cause.BATCH_ORDER: ("hashes", "listings", "timing"),
    Cause.BATCH_CONTENT: ("hashes", "listings", "memory", "timing"),
    Cause.KERNEL: ("memory", "hashes", "timing"),
    Cause.UNWRITTEN_MEMORY: ("memory",),
}
NONE = "none"
STARTED = "; other programs that it starts may have hash seeds of their own"
# Whose runs are forked from processes of their own, in which all objects lie elsewhere.
FORKED_APART = (HASHES.name, LISTINGS.name, MEMORY.name)
_GROUP = re.compile(r"\[\d+\]")


@dataclass(frozen=True)
class Attribution:
    """What makes the difference."""

    # its name; "none" where runs differ in the same circumstances; "" unknown
    circumstance: str = ""
    runs: int = 0  # that it took
    tried: tuple[str, ...] = ()  # circumstances that alone did not make it

    def note(self, text: Text, source: Source = Source.NOT_SHOWN) -> str:
        """For a person; ``source``: what the difference comes from."""
        if self.tried and not self.circumstance:
            is_open = source in (Source.NOT_SHOWN, *OF_CIRCUMSTANCES.values())
            told = "the difference did not come again where nothing was varied"
            varied = ", ".join(name for name in self.tried if name != NONE)
            return (told + f", or one of these alone: {varied}" * bool(varied)) * is_open
        if not self.circumstance or not self.runs:
            return ""
        if self.circumstance == NONE:
            return (
                "they differ in the same circumstances too: with the same hash seed, the same "
                "content of unwritten memory and the same order of listings; addresses of objects, "
                "the clock and which thread comes first are others in each run anyway"
            ) + STARTED * text.starts_programs
        found = circumstance_named(self.circumstance)
        return f"they differ where nothing else is varied than the {found.what}: {found.means}"


@dataclass
class Reruns:
    """Further runs up to the step that differs, each compared with the first of all."""

    session: Session
    difference: Difference
    first: Process
    other: int  # number of the run that differed, whose circumstances are tried
    budget: int  # how many there may be
    made: int = 0  # how many there were

    def differs(self, name: str) -> bool:
        """Whether the same difference comes again, at that very step, where one circumstance alone
        is varied, or none."""
        varied = self.session.plan.circumstances(0)
        if name != NONE:
            varied[name] = self.other
        self.made += 1
        options = recording(self.difference.step, lane=self.difference.lane)
        start = partial(self.session.start, varied, options)
        found = Watch(self.session, [start], limited=True, known=[self.first]).run().difference
        return found is not None and _what(found) == _what(self.difference)


def attribute(reruns: Reruns, text: Text, expected: str = "") -> Attribution:
    """Run again with one circumstance of another run at a time, up to the step that differs.

    A program whose threads or clock decide may agree with itself once by luck. So what seems to
    be a circumstance is tried again, without it as well; the more often, if nothing in the
    program's text depends on it, and not at all where something else in the text can be lucky.

    Runs of another hash seed, filling or listing are forked from another process, in which all
    objects lie elsewhere: where the text asks for addresses, these are tried as well.

    expected  what running the statements has shown already: one run that agrees with it is enough
    """
    plan = reruns.session.plan
    free = [name for name in _order(reruns.difference.cause) if name in plan.circumstances(0)]
    free = [name for name in free if name in plan.vary and _is_possible(name, text)]
    if expected in free and reruns.budget and reruns.differs(expected):
        return Attribution(expected, reruns.made)
    tried = [expected] * reruns.made
    for name in [NONE, *(each for each in free if each != expected)]:
        if reruns.made >= reruns.budget:
            break
        if not reruns.differs(name):
            tried.append(name)
            continue
        return Attribution(name if name == NONE else _confirmed(reruns, name, text), reruns.made)
    return Attribution(runs=reruns.made, tried=tuple(tried))


def _is_possible(name: str, text: Text) -> bool:
    if name in (ADDRESSES.name, CLOCK.name):
        return text.speaks_for(name) and (name != CLOCK.name or text.is_clock_decisive)
    return text.speaks_for(name) or not text.timed


def _confirmed(reruns: Reruns, name: str, text: Text) -> str:
    """The circumstance if it is, "none" if it takes none, "" where that is not known."""
    is_moved = _is_moved(name, text) and ADDRESSES.name in reruns.session.plan.vary
    if is_moved and reruns.made < reruns.budget and reruns.differs(ADDRESSES.name):
        return ADDRESSES.name
    for each in (NONE,) if text.speaks_for(name) else (NONE, name, NONE):
        if reruns.made >= reruns.budget:
            return ""
        if reruns.differs(each) != (each == name):
            return NONE if each == NONE else ""
    return name


def _is_moved(name: str, text: Text) -> bool:
    """Whether it can be the addresses; these change what unwritten memory holds, too."""
    reads = name == MEMORY.name and text.speaks_for(name)
    return name in FORKED_APART and text.speaks_for(ADDRESSES.name) and not reads


def _order(cause: Cause) -> tuple[str, ...]:
    likely = _LIKELY.get(cause, ())
    return (*likely, *(name for name in NAMES if name not in likely))


def _what(difference: Difference) -> tuple[object, ...]:
    """Runs are stopped, so that how long they are and what came later says nothing; nor does
    which group of an optimizer's it is, nor, of what one run alone does, which comes first."""
    event = difference.first or difference.second
    name = event.name if event and difference.cause is not Cause.CONTROL_FLOW else ""
    what = (event.kind, _GROUP.sub("", name)) if event else (difference.cause, "")
    return difference.rank, difference.lane, difference.step, *what

"""Which circumstance makes the difference: it alone is varied, and the runs differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.comparison import Cause
from guard.verification import circumstances
from guard.verification.plan import recording
from guard.verification.watching import Watch

if TYPE_CHECKING:
    from guard.comparison import Difference
    from guard.verification.processes import Process
    from guard.verification.sessions import Session

LONGEST = 60.0  # seconds to the step that differs, up to which it is tried
# The likelier first, where the cause tells.
_LIKELY = {
    Cause.BATCH_ORDER: ("hashes", "listings", "timing"),
    Cause.BATCH_CONTENT: ("hashes", "listings", "memory", "timing"),
    Cause.KERNEL: ("memory", "hashes", "timing"),
    Cause.UNWRITTEN_MEMORY: ("memory",),
}
NONE = "none"


@dataclass(frozen=True)
class Attribution:
    """What makes the difference.

    circumstance  its name; "none" where runs differ in the same circumstances; "" unknown
    runs          that it took
    note          for a person
    advice        what to do about it
    """

    circumstance: str = ""
    runs: int = 0
    note: str = ""
    advice: str = ""


def attribute(
    session: Session, difference: Difference, first: Process, other: int, budget: int
) -> Attribution:
    """Run again with one circumstance of another run at a time, up to the step that differs.

    first  the first run, with which the others are compared
    """
    plan = session.plan
    free = [name for name in _order(difference.cause) if name in plan.circumstances(0)]
    free = [name for name in free if name in plan.vary]
    tried = 0
    for name in [NONE, *free]:
        if tried == budget:
            return Attribution(runs=tried)
        varied = plan.circumstances(0)
        if name != NONE:
            varied[name] = other
        tried += 1
        if _differs(session, first, varied, difference):
            return Attribution(name, tried, _note(name), _advice(name))
    return Attribution(runs=tried)


def _order(cause: Cause) -> tuple[str, ...]:
    likely = _LIKELY.get(cause, ())
    return (*likely, *(name for name in circumstances.NAMES if name not in likely))


def _differs(
    session: Session, first: Process, varied: dict[str, int], difference: Difference
) -> bool:
    """Whether the same difference comes again, at that very step."""

    def start() -> Process:
        return session.start(varied, recording(difference.step))

    watched = Watch(session, [start], limited=True, known=[first]).run()
    found = watched.difference
    return found is not None and _what(found) == _what(difference)


def _what(difference: Difference) -> tuple[object, ...]:
    """Runs are stopped, so that how long they are and what came later says nothing."""
    event = difference.first or difference.second
    what = (event.kind, event.name) if event else (difference.cause, "")
    return difference.rank, difference.step, *what


def _advice(name: str) -> str:
    return "" if name == NONE else circumstances.named(name).advice


def _note(name: str) -> str:
    if name == NONE:
        return (
            "they differ in the same circumstances too: with the same hash seed, the same content "
            "of unwritten memory and the same order of listings"
        )
    found = circumstances.named(name)
    return f"it takes nothing but another {found.what}: {found.means}"

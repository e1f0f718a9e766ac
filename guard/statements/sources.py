"""Calls that give another value in each run, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.verification.flows import CLOCKS, last_two

if TYPE_CHECKING:
    from guard.statements.syntax import Statement

_BARE = {"time_ns", "perf_counter_ns", "process_time", "monotonic_ns"}  # imported by name

LISTING = {"listdir", "scandir", "iterdir", "glob", "iglob", "rglob", "walk"}
TEMPORARY = {"mkstemp", "mktemp", "NamedTemporaryFile"}
FOLDERS = {"mkdtemp", "TemporaryDirectory"}
UNIQUE = {"uuid1", "uuid4"}
_SEEDING = {
    *("manual_seed", "manual_seed_all", "seed", "seed_all", "seed_everything", "set_seed"),
    *("set_rng_state", "setstate", "set_state"),
}


def is_clock(statement: Statement) -> bool:
    """Whether a statement asks a clock."""
    return any(last_two(each) in CLOCKS or each in _BARE for each in statement.calls)


def draws_name(statement: Statement) -> bool:
    """Whether a statement draws a name that no other run has: of a file, a UUID."""
    return _calls(statement, TEMPORARY | FOLDERS | UNIQUE)


def draws_file(statement: Statement) -> bool:
    """Whether a statement draws a name that a file may have."""
    return _calls(statement, TEMPORARY | UNIQUE)


def seeds(statement: Statement) -> bool:
    """Whether a statement puts a generator into a state, whatever it was in before."""
    return _calls(statement, _SEEDING)


def lists(statement: Statement) -> bool:
    """Whether a statement lists a folder."""
    return _calls(statement, LISTING)


def _calls(statement: Statement, names: set[str]) -> bool:
    return any(each.rpartition(".")[2] in names for each in statement.calls)


def is_begun(statement: Statement) -> bool:
    """Whether it only keeps what the clock says, as the start of something."""
    return (
        is_clock(statement)
        and statement.kind in ("Assign", "AnnAssign")
        and len(statement.calls) == 1
        and not any(each in statement.text for each in "+-*/%<>")
    )

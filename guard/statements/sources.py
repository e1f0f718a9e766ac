"""Calls that give another value each time they are asked, wherever they stand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.verification.flows import CLOCKS, last_two

if TYPE_CHECKING:
    from guard.statements.syntax import Statement

_BARE = {"time_ns", "perf_counter_ns", "process_time", "monotonic_ns"}  # imported by name


def is_clock(statement: Statement) -> bool:
    """Whether a statement asks a clock."""
    return any(last_two(each) in CLOCKS or each in _BARE for each in statement.calls)


def is_begun(statement: Statement) -> bool:
    """Whether it only keeps what the clock says, as the start of something."""
    return (
        is_clock(statement)
        and statement.kind in ("Assign", "AnnAssign")
        and len(statement.calls) == 1
        and not any(each in statement.text for each in "+-*/%<>")
    )

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

"""What is told of a statement that was given the same in both runs and gave something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.comparison import Suspect
from guard.verification.flows import CLOCKS, last_two, told
from guard.verification.readiness import ASKING
from guard.verification.reasons import FROM_A_CLOCK, FROM_A_THREAD, READY

if TYPE_CHECKING:
    from guard.statements.pairs import Node

RAN = "it was given the same in both runs and gave something else"
_LONGEST = 60


def suspect(node: Node) -> Suspect:
    """A statement as a line that is to blame, and why by what it calls."""
    statement = node.statement
    text = statement.text
    shown = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    what, fits = _why(node)
    return Suspect("", f"`{shown}` {what}", node.file, statement.line, fits)


def is_value(node: Node) -> bool:
    """Whether a statement asks for what is another value in each run: a clock, a process id."""
    return any(last_two(name) in CLOCKS or told(name) for name in node.statement.calls)


def _why(node: Node) -> tuple[str, str]:
    for name in node.statement.calls:
        if last_two(name) in CLOCKS or told(name):
            return (
                f"differs between the runs: {told(name) or name + '() reads the clock'}",
                FROM_A_CLOCK,
            )
        if name.rpartition(".")[2] in ASKING:
            return "differs by what another thread or process has done by then", READY
    if node.draws and node.is_in_thread:
        return "draws at any time: it runs in a thread", FROM_A_THREAD
    if node.branches:
        return "was decided otherwise, though all that is known of what it reads agrees", RAN
    return "gave something else in each run, though all that is known of what it reads agrees", RAN

"""What is told of a statement that gave something else in each run for the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.statements.sinks import Line

_LONGEST = 60


def told(line: Line) -> str:
    """In words."""
    text = line.text if len(line.text) <= _LONGEST else f"{line.text[: _LONGEST - 3]}..."
    return f"`{text}` was given the same in both runs, and gave something else"

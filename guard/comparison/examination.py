"""All that is to be told of two runs: the first difference, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.comparison.differences import Comparison
    from guard.trace import Trace


def examine(
    first: Sequence[Trace],
    second: Sequence[Trace],
    names: tuple[str, str] = ("run 1", "run 2"),
) -> Comparison:
    """Compare two runs to their ends. Pass it on with ``dataclasses.replace`` to add operators,
    suspects and notes for the reports."""
    raise NotImplementedError

"""Goes along two runs, step by step, to where they part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.comparison.differences import Difference
    from guard.trace import Trace


class Comparer:
    """Compares two runs while both still write.

    The sequences may grow: a rank's trace is taken in when it is there. Each ``advance`` reads
    what has been appended and goes on from where it was.
    """

    steps: int  # that all ranks have been compared to

    def __init__(self, first: Sequence[Trace], second: Sequence[Trace]) -> None:
        raise NotImplementedError

    def advance(self) -> Difference | None:
        """The first difference in what both have written, or None so far.

        Where one is still writing, its end is no difference; where several ranks are compared,
        a difference is told when the others have come to the same step.
        """
        raise NotImplementedError


def compare(first: Sequence[Trace], second: Sequence[Trace]) -> Difference | None:
    """Where two runs part first, and why; None where they are the same, bit for bit."""
    raise NotImplementedError

"""Which statements are looked at: those that run often, or take long, only at first.

And again in the last steps, which are those that count.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.statements.syntax import Statement

_OFTEN = 3000  # times that a statement runs, from which on it is left out until the last steps
_SPENT = 2.0  # seconds that looking at one statement may take, all in all
_MOST = 150_000  # statements of a process that are looked at before the last steps
_LONGEST = 60.0  # seconds, after which statements are left out until the last steps
_LAST = 2  # steps that are always looked at


class Looking:
    """Of one process.

    is_last  says whether the program is within so many steps of the last that is recorded
    """

    def __init__(self, is_last: Callable[[int], bool]) -> None:
        self._is_last = is_last
        self._often: dict[Statement, tuple[int, float]] = {}
        self._left_out: set[Statement] = set()
        self._looked = 0
        self._until = 0.0

    def begin(self) -> None:
        """From here on, until it has taken too long."""
        self._until = time.monotonic() + _LONGEST

    def is_wanted(self, statement: Statement) -> bool:
        """Whether to look at a statement: at one that runs often or takes long only at first, and
        again in the last steps."""
        times, spent = self._often.get(statement, (0, 0.0))
        self._often[statement] = (times + 1, spent)
        is_early = self._looked < _MOST and time.monotonic() < self._until
        if times < _OFTEN and spent < _SPENT and is_early:
            self._looked += 1
            return True
        return self._is_last(_LAST)

    def is_first_left_out(self, statement: Statement) -> bool:
        """Whether one that is not looked at was looked at until now: this is to be told, for the
        other run may look at it longer."""
        if statement in self._left_out:
            return False
        self._left_out.add(statement)
        return True

    def took(self, statement: Statement, seconds: float) -> None:
        """How long it took to look at a statement."""
        times, spent = self._often.get(statement, (0, 0.0))
        self._often[statement] = (times, spent + seconds)

"""Clocks that stand still while a program is looked at.

A program that does what it can in a time of its own does less of it where each of its statements
is looked at, and a difference may not come again. What its clocks leave out is what that takes.
"""

from __future__ import annotations

import functools
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_UNITS = {"": 1e-9, "_ns": 1}
_NAMES = ("time", "monotonic", "perf_counter")


class Clocks:
    """Of one process: those of ``time``, also where the program has taken them from there."""

    def __init__(self) -> None:
        # nanoseconds, of all threads: one clock for all of them keeps their times comparable
        self.left_out = 0

    def follow(self) -> Callable[[], None]:
        """Leave it out from here on; what this returns, ends it."""
        kept = {
            f"{name}{suffix}": (getattr(time, f"{name}{suffix}"), unit)
            for name in _NAMES
            for suffix, unit in _UNITS.items()
        }
        for name, (clock, unit) in kept.items():
            setattr(time, name, self._behind(clock, unit))

        def undo() -> None:
            for name, (clock, _) in kept.items():
                setattr(time, name, clock)

        return undo

    def _behind(self, clock: Callable[[], float], unit: float) -> Callable[[], float]:
        last = clock()

        @functools.wraps(clock)
        def told() -> float:
            nonlocal last
            last = max(last, clock() - self.left_out * unit)  # another thread may be looked at
            return last

        return told

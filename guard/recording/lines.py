"""The program's statements, recorded in all processes of a run."""

from __future__ import annotations

import mmap
import os

from guard.statements.tracer import Tracer

_AHEAD = 8  # steps that a loader's workers may be ahead


class Lines:
    """When statements are recorded.

    folder  of the recording
    step    from shortly before which on all are recorded; those that run often, only at first
    """

    def __init__(self, folder: str, step: int) -> None:
        self.step = step
        self._main = os.getpid()
        self._done = mmap.mmap(-1, 8)  # which step it is, for forked children as well
        # Where it lies is another folder for each run, and so is what the run finds there.
        self._tracer = Tracer(folder, os.path.dirname(folder), self.is_last)

    def begin(self, *, is_child: bool) -> None:
        """From here on."""
        self._tracer.begin(None if is_child else "main")

    def is_last(self, steps: int) -> bool:
        """Whether the program has come to within so many steps of the last."""
        ahead = steps if os.getpid() == self._main else steps + _AHEAD
        return int.from_bytes(self._done[:8], "little") + ahead > self.step

    def step_ends(self, number: int) -> None:
        """A step has ended."""
        if os.getpid() == self._main:
            self._tracer.step_ends(number)
            self._done[:8] = (number + 1).to_bytes(8, "little")

    def end(self) -> None:
        """Record no more."""
        if os.getpid() == self._main:
            self._tracer.end()

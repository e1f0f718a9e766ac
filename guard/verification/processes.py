"""Runs of the program in processes of their own, and an end to them."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from guard.trace import Trace, TraceError, open_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.executors import Job

_GRACE = 3.0  # seconds between asking a process to end and ending it
_PAUSE = 0.02
_ENDED = "ended"  # the file that a run which ended well has in its folder
_LINES, _LINES_OF_RANKS = 12, 60  # of its output that are told
_LOOK = 4096  # bytes of a line of output, on average no more


class Process:
    """One run of the program, in a process group of its own.

    number  of the run, from 0
    folder  of its traces and its output
    begin   hands it over, given arguments for where traces go and a file for its output
    traces  by rank, as they come to be; the list grows
    key     what it depends on, by which a later session knows it again
    was_stopped  whether it was ended, and did not end by itself
    """

    def __init__(
        self,
        number: int,
        folder: str,
        begin: Callable[[Sequence[str], str], Job],
        *,
        ranks: int = 1,
    ) -> None:
        self.number = number
        self._ranks = ranks
        self.key = ""
        self.folder = folder
        self.traces: list[Trace] = []
        os.makedirs(self.traces_folder, exist_ok=True)
        self._output = os.path.join(folder, "output.txt")
        self._status: int | None = None
        self.was_stopped = False
        self._job = begin(["--out", self.traces_folder], self._output)

    @property
    def traces_folder(self) -> str:
        """Where what is recorded goes."""
        return os.path.join(self.folder, "trace")

    @property
    def status(self) -> int | None:
        """The status that it ended with, or None while it runs."""
        if self._status is None:
            self._status = self._job.poll()
            if self._status is not None:  # at once: later, another group could have its number
                self._job.end(signal.SIGTERM)
                self._keep()
        return self._status

    def _keep(self) -> None:
        """Note that it ended well, and what it was."""
        if not self._status and not self.was_stopped:
            with open(os.path.join(self.folder, _ENDED), "w", encoding="utf-8") as file:
                file.write(self.key)

    @property
    def place(self) -> str:
        """Where it runs, "" before it does."""
        return self._job.place

    @property
    def steps(self) -> int:
        """How many steps it has recorded, as far as has been read."""
        return max((len(each) for each in self.traces), default=0)

    @property
    def is_recorded(self) -> bool:
        """Whether nothing more will be recorded, though the program may run on."""
        if self.status is not None:
            return True
        return len(self.traces) >= self._ranks and all(each.complete for each in self.traces)

    def failed_recording(self) -> str | None:
        """Why its recording ended before it did, which leaves the rest unknown; or None."""
        ends = [each.end for each in self.traces if each.end is not None]
        return next((each.message for each in ends if each.status == "failed"), None)

    @property
    def waits(self) -> str:
        """The file that it waits to write, until the runs before it have ended; or ""."""
        return _content(os.path.join(self.folder, "waiting"))

    def give_turn(self) -> None:
        """Let it write to the user's files: all runs before it have ended."""
        with open(os.path.join(self.folder, "turn"), "ab"):
            pass

    def look(self) -> None:
        """Take in traces that are there by now, and what they have got since."""
        for each in self.traces:
            each.refresh()
        with suppress(TraceError):
            while os.path.exists(name := self._trace_of(len(self.traces))):
                self.traces.append(open_trace(name))

    def _trace_of(self, rank: int) -> str:
        return os.path.join(self.traces_folder, f"rank{rank}.trace")

    def tail(self) -> tuple[str, ...]:
        """The last lines of what the program wrote: of several ranks, what the others say when one
        has failed comes after what that one said."""
        lines = _LINES if self._ranks == 1 else _LINES_OF_RANKS
        text = ""
        with suppress(FileNotFoundError), open(self._output, "rb") as file:
            file.seek(max(0, os.path.getsize(self._output) - lines * _LOOK))
            text = file.read().decode("utf-8", "replace")
        return tuple(text.rstrip().splitlines()[-lines:])

    def end(self, which: int) -> None:
        """Send a signal to it and to all that it has started in its group, if it still runs."""
        if self.status is None:
            self.was_stopped = True
            self._job.end(which)

    def wait(self, seconds: float) -> bool:
        """Whether it has ended, within so many seconds."""
        until = time.monotonic() + seconds
        while self.status is None and time.monotonic() < until:
            time.sleep(_PAUSE)
        return self.status is not None


def has_ended(folder: str, key: str) -> bool:
    """Whether a run of that key ended well in a folder, at an earlier time."""
    return bool(key) and _content(os.path.join(folder, _ENDED)) == key


def stop(processes: Sequence[Process]) -> None:
    """End them and what they have started: asked first, so that they can flush and clean up."""
    for each in processes:
        each.end(signal.SIGTERM)
    until = time.monotonic() + _GRACE
    for each in processes:
        each.wait(max(0.0, until - time.monotonic()))
    for each in processes:
        each.end(getattr(signal, "SIGKILL", signal.SIGTERM))
    for each in processes:
        each.wait(_GRACE)


def _content(path: str) -> str:
    with suppress(OSError), open(path, encoding="utf-8") as file:
        return file.read()
    return ""

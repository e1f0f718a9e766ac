"""Runs of the program in processes of their own: compared while they run, stopped at the first
difference, and ended.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Comparer
from guard.executors import stop
from guard.program import text_of
from guard.trace import REPLACED, UNRECORDED, Trace, TraceError, open_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.diff import Difference
    from guard.executors import Job
    from guard.verification.sessions import Session

    Start = Callable[[], "Process"]

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
    def done(self) -> int:
        """How many steps it has done, by what has been read: the state at its end is none."""
        return max((each.done for each in self.traces), default=0)

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
    def unrecorded(self) -> tuple[str, ...]:
        """The lines, as "path:line", at which processes trained that it started and that are no
        ranks: nothing else is known of them."""
        told = text_of(os.path.join(self.traces_folder, UNRECORDED))
        return tuple(sorted(set(told.splitlines())))

    @property
    def replaced(self) -> str:
        """The line, as "path:line", at which it put another program in its place; or ""."""
        return text_of(os.path.join(self.traces_folder, REPLACED))

    @property
    def waits(self) -> str:
        """The file that it waits to write, until the runs before it have ended; or ""."""
        return text_of(os.path.join(self.folder, "waiting"))

    def give_turn(self) -> None:
        """Let it write to the user's files: all runs before it have ended."""
        with open(os.path.join(self.folder, "turn"), "ab"):
            pass

    def look(self) -> None:
        """Take in traces that are there by now, and what they have got since."""
        for each in self.traces:
            each.refresh()
        with suppress(TraceError):
            folder = self.traces_folder
            while os.path.exists(name := os.path.join(folder, f"rank{len(self.traces)}.trace")):
                self.traces.append(open_trace(name))

    def tail(self) -> tuple[str, ...]:
        """The last lines of what the program wrote: of several ranks, what the others say when one
        has failed comes after what that one said."""
        lines = _LINES if self._ranks == 1 else _LINES_OF_RANKS
        text = ""
        with suppress(FileNotFoundError), open(self._output, "rb") as file:
            file.seek(max(0, os.path.getsize(self._output) - lines * _LOOK))
            text = file.read().decode("utf-8", "replace")
        return tuple(text.rstrip().splitlines()[-lines:])

    def poll(self) -> int | None:
        """Its status, as of any job."""
        return self.status

    def end(self, which: int) -> None:
        """Send a signal to it and to all that it has started in its group, if it still runs."""
        if self.status is None:
            self.was_stopped = True
            self._job.end(which)


def has_ended(folder: str, key: str) -> bool:
    """Whether a run of that key ended well in a folder, at an earlier time."""
    return bool(key) and text_of(os.path.join(folder, _ENDED)) == key


_PAUSE = 0.1  # seconds between two looks
# After a batch that differs: whether it was the order shows at the end of the epoch.
_FURTHER = 20.0  # seconds
_BEYOND = 1_000  # steps
# After an evaluation that one run alone has: what training goes on with tells why it differs.
_ASIDE = 3.0  # seconds


class Watched(NamedTuple):
    """What became of runs that were watched."""

    processes: tuple[Process, ...]  # those that were started, in order; all have ended
    difference: Difference | None  # of one of them from the first, or None
    other: int  # which it was, by its place in ``processes``
    hung: tuple[Process, ...]  # those that were stopped for want of progress
    # that it took, up to where a batch was found to differ, as of a machine that does nothing else
    seconds: float


@dataclass
class Watch:
    """Several runs of a session; ``run`` sees them to their end."""

    session: Session
    starts: Sequence[Start]
    # whether their recordings end before they do, after which they are stopped
    limited: bool = False
    # is given the number of steps compared so far, now and then
    tell: Callable[[int], None] = lambda _: None
    known: Sequence[Process] = ()  # processes that have been started before the others
    compares: bool = True  # whether they are compared; else they run to their ends
    one_by_one: bool = False  # whether one begins when those before have ended

    def __post_init__(self) -> None:
        self._waiting = list(self.starts)
        self._processes: list[Process] = []
        self._comparers: list[tuple[int, Comparer]] = []
        self._begun = self._moved = time.monotonic()
        self._steps = -1
        self._parted = 0.0  # when a batch was found to differ
        for each in self.known:
            self._add(each)

    @property
    def so_far(self) -> Watched:
        """What is known of them, where ``run`` was interrupted."""
        return Watched(tuple(self._processes), None, 1, (), time.monotonic() - self._begun)

    def run(self) -> Watched:
        """Start them, compare them, stop them."""
        found: tuple[int, Difference] | None = None
        hung: tuple[Process, ...] = ()
        try:
            while not hung and not self._is_decided(found):
                self._start()
                self.session.give_turns()
                ended = not self._waiting and all(p.status is not None for p in self._processes)
                found = self._look()
                self.session.show()
                if ended or self._is_enough():
                    break
                hung = self._hung()
                time.sleep(_PAUSE)
        finally:
            stop(self._processes)
        other, difference = found or (1, None)
        seconds = (self._parted or time.monotonic()) - self._begun
        seconds *= _share(len(self._processes))
        return Watched(tuple(self._processes), difference, other, hung, seconds)

    def _is_decided(self, found: tuple[int, Difference] | None) -> bool:
        """Whether a difference is known for what it is. Of a batch, it may be the order alone."""
        if found is None:
            return False
        difference = found[1]
        if not self.limited and _is_aside(difference):
            self._parted = self._parted or time.monotonic()
            return time.monotonic() - self._parted > _ASIDE
        samples = difference.first is not None and difference.first.inputs
        if self.limited or difference.cause is not Cause.BATCH_CONTENT or not samples:
            return True
        self._parted = self._parted or time.monotonic()
        if time.monotonic() - self._parted > _FURTHER:
            return True
        both = (self._processes[0], self._processes[found[0]])
        return min(each.steps for each in both) > difference.step + _BEYOND

    def _start(self) -> None:
        while self._waiting:
            if self.one_by_one and any(each.status is None for each in self._processes):
                break
            self._add(self._waiting.pop(0)())

    def _add(self, process: Process) -> None:
        self._processes.append(process)
        if self.compares and len(self._processes) > 1:
            comparer = Comparer(self._processes[0].traces, process.traces)
            self._comparers.append((len(self._processes) - 1, comparer))

    def _look(self) -> tuple[int, Difference] | None:
        """The first difference that there is by now."""
        for each in self._processes:
            each.look()
        found = [
            (index, difference)
            for index, comparer in self._comparers
            if self._processes[0].traces
            and self._processes[index].traces
            and (difference := comparer.advance()) is not None
        ]
        if self._comparers:
            self.tell(min(comparer.steps for _, comparer in self._comparers))
        return min(found, key=lambda each: each[1].step, default=None)

    def _is_enough(self) -> bool:
        """Whether all have come as far as is wanted, or one that failed has been outrun."""
        if self._waiting:
            return False
        if self.limited and all(each.is_recorded for each in self._processes):
            return True
        steps = [each.steps for each in self._processes]
        failed = [each.steps for each in self._processes if each.status]
        return any(max(steps) > each for each in failed)

    def _hung(self) -> tuple[Process, ...]:
        """Those that have not done a step for too long, though it was their turn."""
        steps = sum(each.steps for each in self._processes)
        if steps != self._steps or not all(each.place for each in self._processes):
            self._steps, self._moved = steps, time.monotonic()
        if time.monotonic() - self._moved < self.session.plan.seconds:
            return ()
        running = [each for each in self._processes if each.status is None]
        return tuple(each for each in running if not each.waits) or tuple(running)


def _is_aside(difference: Difference) -> bool:
    """Whether one run has an evaluation where the other trains, and no more is known of it."""
    is_other = difference.cause is Cause.CONTROL_FLOW and difference.first is None
    return is_other and any(each.endswith("a step of evaluation") for each in difference.parted)


def _share(runs: int) -> float:
    """Which part of the processors some runs get, about, beside what else the machine does. At
    least a fifth, so that nobody waits for long."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return min(1.0, max(0.2, (1 + runs) * (os.cpu_count() or 1) / max(load, 1.0)))


def rerun(session: Session, runs: Sequence[int], options: Sequence[str]) -> Watched:
    """Run again in the circumstances of some runs, side by side, as far as is recorded."""
    plan = session.plan
    starts = [partial(session.start, plan.circumstances(run), options) for run in runs]
    return Watch(session, starts, limited=True).run()

"""Runs compared while they run, and stopped at the first difference."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause, Comparer
from guard.verification.processes import Process, stop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.diff import Difference
    from guard.verification.sessions import Session

    Start = Callable[[], Process]

_PAUSE = 0.1  # seconds between two looks
# After a batch that differs: whether it was the order shows at the end of the epoch.
_FURTHER = 20.0  # seconds
_BEYOND = 1_000  # steps
# After an evaluation that one run alone has: what training goes on with tells why it differs.
_ASIDE = 3.0  # seconds


class Watched(NamedTuple):
    """What became of runs that were watched.

    processes   those that were started, in order; all have ended
    difference  of one of them from the first, or None
    other       which it was, by its place in ``processes``
    hung        those that were stopped for want of progress
    seconds     that it took, up to where a batch was found to differ
    """

    processes: tuple[Process, ...]
    difference: Difference | None
    other: int
    hung: tuple[Process, ...]
    seconds: float


@dataclass
class Watch:
    """Several runs of a session; ``run`` sees them to their end.

    limited     whether their recordings end before they do, after which they are stopped
    tell        is given the number of steps compared so far, now and then
    known       processes that have been started before the others
    compares    whether they are compared; else they run to their ends
    one_by_one  whether one begins when those before have ended
    """

    session: Session
    starts: Sequence[Start]
    limited: bool = False
    tell: Callable[[int], None] = lambda _: None
    known: Sequence[Process] = ()
    compares: bool = True
    one_by_one: bool = False

    def __post_init__(self) -> None:
        self._waiting = list(self.starts)
        self._processes: list[Process] = []
        self._comparers: list[tuple[int, Comparer]] = []
        self._begun = self._moved = time.monotonic()
        self._steps = -1
        self._parted = 0.0  # when a batch was found to differ
        for each in self.known:
            self._add(each)

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

"""Work in other processes, beside what this one does."""

from __future__ import annotations

import os
import signal
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from detlint import journal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    from detlint.journal import Notes

    # Gives what a function makes of each share of some work.
    Share = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

_TOKEN, _TOKENS = 4, 4_000  # bytes, and how many of them a pipe holds at once
_AHEAD = 2 * (os.cpu_count() or 1)  # shares that wait for the processes of a pool

S = TypeVar("S")
T = TypeVar("T")


def in_turns(
    work: Callable[[Iterator[S]], object],
    told: Callable[[], T],
    groups: Sequence[Sequence[S]],
    processes: int,
) -> list[T]:
    """Do some work here and in processes beside this one, and return what those tell then.

    Each is given an iterator that takes the next share when one is done, of another group first
    than the one beside it: what shares of a group have in common, each finds out for itself. The
    others are forked, so that they know all that this one does, and what they tell is pickled. The
    shares of one that dies are lost. Where processes are not forked but made anew, which takes
    longer than what this is for, and in one that is itself beside another, all is done here.
    """
    if sys.platform != "linux" or processes < 2 or _beside:
        work(chain(*groups))
        return []
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    turns = list(map(_Turns, groups))

    def aside(process: int) -> T:
        first = process % len(turns)
        work(chain(*turns[first:], *turns[:first]))
        return told()

    # All of them are forked at once, before the pool starts a thread.
    found: list[T] = []
    with ProcessPoolExecutor(processes - 1, get_context("fork"), _stand_beside, (aside,)) as pool:
        pending = [pool.submit(_done_beside, each) for each in range(1, processes)]
        work(chain(*turns))
        with suppress(BrokenProcessPool):
            for each in pending:
                done, notes = each.result()
                found.append(done)
                journal.add(notes)
    return found


class _Turns(Iterator[S]):
    """Takes shares from all that are left, in whatever process that is asked."""

    def __init__(self, shares: Sequence[S]) -> None:
        step = len(shares) // _TOKENS + 1
        self._shares = [shares[each : each + step] for each in range(0, len(shares), step)]
        self._taken = deque[S]()
        self._left, writing = os.pipe()
        os.write(writing, b"".join(x.to_bytes(_TOKEN, "big") for x in range(len(self._shares))))
        os.close(writing)

    def __next__(self) -> S:
        if not self._taken:
            token = os.read(self._left, _TOKEN)
            if not token:
                raise StopIteration
            self._taken.extend(self._shares[int.from_bytes(token, "big")])
        return self._taken.popleft()

    def __del__(self) -> None:
        os.close(self._left)


_beside: list[Callable[[int], Any]] = []  # what is done in a process that is beside another


def _stand_beside(work: Callable[[int], Any]) -> None:
    die_silently()
    journal.drained()  # what the other process noted
    _beside.append(work)


def _done_beside(process: int) -> tuple[Any, Notes | None]:
    return _beside[0](process), journal.drained()


def share_out(
    pool: ProcessPoolExecutor, function: Callable[[S], T], shares: Sequence[S]
) -> list[T]:
    """The same in a pool that works on something else as well: what its processes do not get to is
    done here."""
    from concurrent.futures.process import BrokenProcessPool

    told: dict[int, T] = {}
    given: dict[int, Future[T]] = {}
    left = list(range(len(shares)))
    try:
        while left:
            # Few at a time, and none is taken back: a pool that breaks meanwhile stumbles over what
            # was cancelled (CPython 3.11).
            while left and sum(not each.done() for each in given.values()) < _AHEAD:
                place = left.pop(0)
                given[place] = pool.submit(function, shares[place])
            if left:
                place = left.pop()
                told[place] = function(shares[place])
        for place, future in given.items():
            begun = future.running() or future.done()
            told[place] = future.result() if begun else function(shares[place])
    except BrokenProcessPool:
        return [function(each) for each in shares]
    return [told[place] for place in range(len(shares))]


def die_silently() -> None:
    """End this process when its parent does, however that ends, and at once on Ctrl-C: it is for
    the parent to speak."""
    import threading

    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import connection, parent_process

    parent = parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)

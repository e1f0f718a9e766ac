"""A call in another process, beside what this one does."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from concurrent.futures import Future, ProcessPoolExecutor

    # Gives what a function makes of each share of some work.
    Share = Callable[[Callable[[Any], Any], Sequence[Any]], list[Any]]

_AHEAD = 2 * (os.cpu_count() or 1)  # shares that wait for the processes of a pool

S = TypeVar("S")
T = TypeVar("T")


def begun(function: Callable[..., T], *args: object) -> Callable[[], T]:
    """Begin a call, and return what waits for its result. All that is handed over is pickled.

    Where processes are not forked but made anew, which takes longer than what this is for, the call
    is made when its result is asked for.
    """
    if sys.platform != "linux":
        return lambda: function(*args)
    from concurrent.futures import ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    pool = ProcessPoolExecutor(1, mp_context=get_context("fork"), initializer=die_silently)
    future = pool.submit(function, *args)

    def result() -> T:
        try:
            return future.result()
        except BrokenProcessPool:
            return function(*args)
        finally:
            pool.shutdown()

    return result


def shared_out(function: Callable[[S], T], shares: Sequence[S]) -> list[T]:
    """What a function gives for each share of some work: one is done here, each other one in a
    process of its own."""
    first, *others = shares
    pending = [begun(function, each) for each in others]
    return [function(first), *(result() for result in pending)]


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

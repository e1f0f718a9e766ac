"""Threads that do what was asked of them last."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from detlint.syntax.stack import NAME

if TYPE_CHECKING:
    from collections.abc import Callable


class Worker:
    """Calls ``work`` with each key that is asked for, in a thread of its own, once where it is
    asked for again before its time. ``idle`` is called every so many seconds besides.

    It has the name of deep stacks, so that what it calls needs no thread with one: the caller
    starts it while ``threading.stack_size`` is large.
    """

    def __init__(
        self,
        work: Callable[[str], None],
        failed: Callable[[str], None],
        idle: Callable[[], None] | None = None,
        every: float = 1.0,
    ) -> None:
        self._work = work
        self._failed = failed
        self._idle, self._every = idle, every
        self._due: dict[str, float] = {}
        self._changed = threading.Condition()
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=NAME, daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End after what is being done."""
        with self._changed:
            self._stopped = True
            self._changed.notify()

    def ask(self, key: str, after: float = 0.0) -> None:
        """Work on a key after some seconds, and not before, whatever was asked."""
        with self._changed:
            self._due[key] = time.monotonic() + after
            self._changed.notify()

    def forget(self, key: str) -> None:
        """Do not work on a key any more."""
        with self._changed:
            self._due.pop(key, None)

    def _run(self) -> None:
        while not self._stopped:
            key = self._next()
            try:
                if key is not None:
                    self._work(key)
                elif self._idle is not None:
                    self._idle()
            except Exception:  # noqa: BLE001 - what is asked for next must not be lost with it
                import traceback

                self._failed(traceback.format_exc())

    def _next(self) -> str | None:
        """The key whose time has come; None when it is time to be idle."""
        limit = time.monotonic() + self._every
        with self._changed:
            while not self._stopped:
                now = time.monotonic()
                key = min(self._due, key=self._due.__getitem__, default=None)
                if key is not None and self._due[key] <= now:
                    del self._due[key]
                    return key
                if now >= limit:
                    return None
                until = limit if key is None else min(limit, self._due[key])
                self._changed.wait(until - now)
        return None

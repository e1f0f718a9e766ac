"""What stands in a clock's place, and in that of the system's random numbers, while a program is
looked at.

A program that does what it can in a time of its own does less of it where each of its statements
is looked at, and a difference may not come again. What its clocks leave out is what that takes.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import threading
import time
from functools import partial, wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any

from guard.observe.patching import around, replace
from guard.observe.places import is_own, outward

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from contextlib import ExitStack
    from types import CodeType, FrameType

    Handler = Callable[[int, FrameType | None], Any]

# What asks for keys, by which processes know each other, and for the first states of modules.
_KEYS = ("multiprocessing.connection", "multiprocessing.process", "importlib._bootstrap")
# What a nanosecond is by each function of a clock.
UNITS = {"": 1e-9, "_ns": 1}
_TICK = 1000  # nanoseconds that pass at least between two readings: a program may divide by them
_following: list[Clocks] = []


def left_out() -> float:
    """Seconds that the clocks of this process leave out so far."""
    return sum(each.left_out for each in _following) * 1e-9


def later(last: float, now: float, unit: float) -> float:
    """What a clock tells that told ``last``, of which a nanosecond is ``unit``: it never stands
    still, and it never goes back."""
    return max(last + _TICK * unit, now)


class Clocks:
    """Of one process: those of ``time``, also where the program has taken them from there."""

    def __init__(self) -> None:
        # nanoseconds, of all threads: one clock for all of them keeps their times comparable
        self.left_out = 0

    def follow(self, stack: ExitStack) -> None:
        """Leave it out from here on, until the stack is closed."""
        _following.append(self)
        stack.callback(_following.remove, self)
        for name in ("time", "monotonic", "perf_counter"):
            for suffix, unit in UNITS.items():
                self._hold_back(stack, name + suffix, unit)

    def _hold_back(self, stack: ExitStack, name: str, unit: float) -> None:
        last: float = getattr(time, name)()

        @around(stack, time, name)
        def _(clock: Callable[[], float]) -> float:
            nonlocal last
            last = later(last, clock() - self.left_out * unit, unit)  # others may be looked at
            return last


class Entropy:
    """Of one process: how often each thread has asked the operating system for random numbers, as
    far as that is done in Python. A generator that is made without a seed does, in whatever
    library, and so does a UUID."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def taken(self) -> int:
        """How often this thread has asked."""
        found: int = getattr(self._local, "taken", 0)
        return found

    def follow(self, stack: ExitStack) -> None:
        """Count from here on, until the stack is closed."""

        @around(stack, os, "urandom")
        def counted(asked: Callable[[int], bytes], size: int) -> bytes:
            if not _is_a_key():
                self._local.taken = self.taken + 1
            return asked(size)

        replace(stack, random, "_urandom", counted)


def _is_a_key() -> bool:
    """Whether a library asks for what becomes no value of the program's: processes that connect
    draw keys, a module that is being imported a first state, and some name their files."""
    for frame in outward(sys._getframe(2)):  # noqa: SLF001 - the documented way to a frame
        if is_own(frame.f_code.co_filename):
            break
        name = str(frame.f_globals.get("__name__"))
        above = frame.f_back
        is_named = name == "uuid" and above and not is_own(above.f_code.co_filename)
        if is_named or name.startswith(_KEYS):
            return True
    return False


class Signals:
    """Of one process: what the program has installed to handle signals.

    Python calls no trace function while one runs, and that is most of the time where statements
    are looked at. A signal that comes then is handled when the trace function has done its work.

    looking  the code of the trace functions
    late     whether one waits to be handled
    """

    def __init__(self, looking: Collection[CodeType]) -> None:
        self.handlers: set[CodeType] = set()
        self.late = False
        self._looking = looking
        self._waiting: list[tuple[Handler, int]] = []

    def follow(self, stack: ExitStack) -> None:
        """Note it from here on, until the stack is closed."""

        @around(stack, signal, "signal")
        def _(install: Callable[..., Any], number: int, handler: Any) -> Any:  # noqa: ANN401
            if callable(handler):
                self._note(handler)
                handler = self._later(handler)
            return _own(install(number, handler))

        @around(stack, signal, "getsignal")
        def _(original: Callable[[int], Any], number: int) -> Any:  # noqa: ANN401
            return _own(original(number))

    def _note(self, handler: Any) -> None:  # noqa: ANN401 - whatever can be called
        while isinstance(handler, partial):
            handler = handler.func
        function = getattr(handler, "__func__", handler)
        if not isinstance(function, FunctionType):
            function = type(function).__call__
        if isinstance(function, FunctionType):
            self.handlers.add(function.__code__)

    def _later(self, handler: Handler) -> Handler:
        @wraps(handler, assigned=())
        def handle(number: int, frame: FrameType | None) -> Any:  # noqa: ANN401
            if any(each.f_code in self._looking for each in outward(frame)):
                self._waiting.append((handler, number))
                self.late = True
                return None
            return handler(number, frame)

        return handle

    def handle(self, frame: FrameType) -> None:
        """Handle those that have waited; in the main thread, as Python does."""
        if threading.current_thread() is not threading.main_thread():
            return
        self.late = False
        while self._waiting:
            handler, number = self._waiting.pop(0)
            sys.call_tracing(_traced, (handler, number, frame))


def _traced(handler: Handler, number: int, frame: FrameType) -> None:
    sys.settrace(sys.gettrace())  # 3.11's ``call_tracing`` does not
    handler(number, frame)


def _own(handler: Any) -> Any:  # noqa: ANN401 - as ``signal`` has it
    """What the program itself has installed."""
    return getattr(handler, "__wrapped__", handler)

"""One frame of the program's, followed: each statement is looked at before and after it runs."""

from __future__ import annotations

import sys
import time
from opcode import opmap
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.digests.generators import NONE
from guard.digests.traits import Traits
from guard.observe.places import is_installed, is_library
from guard.statements.syntax import Files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType, FrameType

    from guard.statements.stream import Stream
    from guard.statements.syntax import Statement
    from guard.statements.tracer import Tracer

_YIELDS = [opmap[each] for each in ("YIELD_VALUE", "YIELD_FROM") if each in opmap]


def refresh(frame: FrameType) -> None:
    """Until 3.12 Python writes a frame's variables back after each call of a trace function, as
    they were when they were read last: the last that we do is to read them again, so that what
    another thread has written to a closure's meanwhile stays (bpo-30744)."""
    _ = frame.f_locals


class Frame:
    """One frame, from its call to its end; a generator's goes on where it has paused."""

    __slots__ = (
        "_code",
        "_given",
        "_lasti",
        "_paused",
        "_tracer",
        "before",
        "began",
        "epoch",
        "number",
        "raised",
        "read_traits",
        "reads",
        "statement",
        "touched",
    )

    def __init__(self, tracer: Tracer, code: Code, number: int) -> None:
        self._tracer = tracer
        self._code = code
        self._given: tuple[int, ...] | None = None
        self._paused: Statement | None = None
        self._lasti = 0
        self.number = number
        self.epoch = tracer.epoch
        self.statement: Statement | None = None
        self.raised = ""
        self.began = 0
        self.read_traits = 0
        self.reads: tuple[int, ...] = ()
        self.touched: tuple[int, ...] = ()
        self.before = NONE

    def enter(self, frame: FrameType) -> None:
        """It begins, or goes on."""
        tracer, code = self._tracer, self._code
        thread = tracer.thread()
        given: tuple[int, ...] = ()
        if self._given is None:
            paths = tuple([(name,) for name in code.given if name != "self"])
            given = self._given = tracer.digest(paths, frame, code.place)
        at = tracer.enter(self)
        states = tracer.look(anew=True)
        now = time.monotonic_ns()
        tracer.stream.add(("c", thread, self.number, code.number, now, given, states, at))
        if self._paused is not None:  # what it gets is bound now: x = yield, x = await y
            self._begin(frame, self._paused)
            self._paused = None

    def happened(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        """As Python tells it."""
        found = self._happened(frame, event, arg)
        if self._code.shares:
            refresh(frame)
        return found

    def _happened(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        tracer = self._tracer
        if not tracer.is_on or self.epoch != tracer.epoch:
            return None
        try:
            if event == "line":
                self._line(frame)
            elif event == "return":
                self._return(frame, arg)
            elif event == "exception":
                self.raised = arg[0].__name__
        except Exception as error:  # noqa: BLE001 - it is the program that matters
            tracer.fail(error)
            return None
        return self.happened

    def _line(self, frame: FrameType) -> None:
        if self._code.is_lambda:
            return
        statement = self._code.lines.get(frame.f_lineno)
        if statement is self.statement and statement is not None:
            is_again = frame.f_lineno == statement.line and frame.f_lasti <= self._lasti
            if not is_again:  # another line of it
                return
        self._finish(frame)
        tracer = self._tracer
        if statement is None:
            return
        if not tracer.looking.is_wanted(statement):
            if tracer.looking.is_first_left_out(statement):
                left_out = (self._code.number, statement.line, time.monotonic_ns())
                tracer.stream.add(("o", *left_out))
            return
        self._begin(frame, statement)

    def _begin(self, frame: FrameType, statement: Statement) -> None:
        tracer = self._tracer
        self._lasti = frame.f_lasti
        at = (statement.line, self._code.place)
        tracer.digests.traits = 0
        self.reads = tracer.digest(statement.reads, frame, at)
        self.read_traits = tracer.digests.traits
        self.touched = tuple([self.reads[each] for each in statement.known])
        self.raised = ""
        self.statement = statement
        self.before = tracer.look(anew=bool(statement.calls) and tracer.is_shared)
        self.began = time.monotonic_ns()

    def _finish(self, frame: FrameType) -> None:
        statement, tracer = self.statement, self._tracer
        if statement is None:
            return
        self.statement = None
        begun = time.thread_time()
        at = (statement.line, self._code.place)
        tracer.digests.traits = 0
        gives = tracer.digest(statement.writes, frame, at, whole=statement.kind == "Assign")
        gives += tracer.digest(statement.touches, frame, at)
        traits = Traits(self.read_traits, tracer.digests.traits)
        tracer.note_traits(self._code.number, statement.line, traits)
        states = tracer.look(anew=bool(statement.calls))
        thread, ended = tracer.thread(), time.monotonic_ns()
        seen = (self.reads, self.touched, gives, self.before, states, self.raised)
        tracer.stream.add(("s", thread, self.number, statement.line, self.began, ended, *seen))
        tracer.looking.took(statement, time.thread_time() - begun)

    def _return(self, frame: FrameType, value: Any) -> None:  # noqa: ANN401
        tracer = self._tracer
        if self._code.pauses and frame.f_code.co_code[frame.f_lasti] in _YIELDS:
            self._paused = self.statement
        self._finish(frame)
        tracer.digests.place = (self._code.place, "returned")
        digest = tracer.digests.of(value)
        states = tracer.look(anew=True)
        thread, now = tracer.thread(), time.monotonic_ns()
        tracer.stream.add(("r", thread, self.number, now, digest, states))
        tracer.leave(self)


_INNER = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
_PAUSING = 0x2A0  # flags of the code of generators and coroutines


class Code(NamedTuple):
    """A function of the program's: its number in the stream, statements by line, arguments.

    place   its file, name and first line: the same in each run, which the number is not
    shares  whether it has variables that other frames, and so other threads, write
    """

    number: int
    place: tuple[str, str, int]
    lines: dict[int, Statement]
    given: tuple[str, ...]
    is_lambda: bool
    pauses: bool
    shares: bool


class Codes:
    """Of one process. Those that are met are in ``known``; None is what is not followed."""

    def __init__(self, numbers: Iterator[int]) -> None:
        self.known: dict[CodeType, Code | None] = {}
        self._files = Files()
        self._numbers = numbers

    def learned(self, code: CodeType, stream: Stream) -> Code | None:
        """What is to be known of one that is met first; told to the stream."""
        found: Code | None = None
        filename, name = code.co_filename, code.co_name
        if name not in _INNER and not is_library(filename) and not is_installed(filename):
            lines = self._files.of(filename)
            if lines:
                found = self._declared(code, lines, stream)
        self.known[code] = found
        return found

    def _declared(self, code: CodeType, lines: dict[int, Statement], stream: Stream) -> Code:
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
        names = code.co_varnames[:count]
        number = next(self._numbers)
        qualified = getattr(code, "co_qualname", code.co_name)
        stream.add(("k", number, code.co_filename, qualified, code.co_firstlineno, names))
        pauses = bool(code.co_flags & _PAUSING)
        place = (code.co_filename, qualified, code.co_firstlineno)
        shares = bool(code.co_cellvars or code.co_freevars) and sys.version_info < (3, 13)
        return Code(number, place, lines, names, code.co_name == "<lambda>", pauses, shares)

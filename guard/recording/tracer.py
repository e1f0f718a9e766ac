"""Follows the program's own statements while they run: what each was given, and what it gave.

A trace function of Python's, of each thread, which follows frames of the program's own files
only; a frame of a library's costs one call. What a statement reads is looked at before it runs,
what it may have changed after it. The program computes what it would without.

Statements that run often, or take long, are looked at only at first, and again in the last steps,
which are those that count.
"""

from __future__ import annotations

import itertools
import mmap
import os
import sys
import threading
from contextlib import ExitStack
from copy import copy
from functools import reduce
from opcode import opmap
from operator import or_
from time import monotonic, monotonic_ns, thread_time  # before they stand still
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.digests.generators import NONE, look
from guard.digests.traits import ASKED, MISSING, Traits, begins, traits_of, value_of
from guard.digests.values import Digests
from guard.observe.clocks import Clocks, Entropy, Signals
from guard.observe.places import is_installed, is_library
from guard.observe.statements import Files
from guard.trace.statements import ON_A_SIGNAL, Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

    from guard.observe.statements import Path, Statement

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
        "parts",
        "raised",
        "read_traits",
        "reads",
        "statement",
        "taken",
        "told",
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
        self.parts: tuple[int, ...] = ()
        self.reads: tuple[int, ...] = ()
        self.touched: tuple[int, ...] = ()
        self.before = NONE
        self.taken = 0
        self.told = 0

    def enter(self, frame: FrameType) -> None:
        """It begins, or goes on."""
        tracer, code = self._tracer, self._code
        thread = tracer.thread()
        given: tuple[int, ...] = ()
        if self._given is None:
            if code.makes:
                begins(frame.f_locals.get(code.given[0]))
            paths = tuple([(name,) for name in code.given if name != "self"])
            given = self._given = tracer.digest(paths, frame, (0, code.place))
        at = tracer.enter(self)
        states = tracer.look(anew=True)
        now = monotonic_ns()
        tracer.stream.add(
            ("c", thread, self.number, code.number, now, given, states, at, tracer.lane())
        )
        if self._paused is not None:  # what it gets is bound now: x = yield, x = await y
            self._begin(frame, self._paused)
            self._paused = None

    def happened(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        """As Python tells it."""
        begun = monotonic_ns()
        found = self._happened(frame, event, arg)
        if self._code.shares:
            refresh(frame)
        self._tracer.clocks.left_out += monotonic_ns() - begun
        if self._tracer.signals.late:
            self._tracer.signals.handle(frame)
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
                left_out = (self._code.number, statement.line, monotonic_ns())
                tracer.stream.add(("o", *left_out))
            return
        self._begin(frame, statement)

    def _begin(self, frame: FrameType, statement: Statement) -> None:
        tracer, begun = self._tracer, thread_time()
        self._lasti = frame.f_lasti
        at = (statement.line, self._code.place)
        tracer.digests.traits = 0
        self.reads = tracer.digest(statement.reads, frame, at)
        self.read_traits = tracer.digests.traits
        self.parts = tracer.digests.parts
        if statement.restores:
            self.touched = tracer.digest(statement.touches, frame, at, whole=True)
        else:
            self.touched = tuple([self.reads[each] for each in statement.known])
        self.raised = ""
        self.statement = statement
        self.before = tracer.look(anew=bool(statement.calls) and tracer.is_shared)
        tracer.looking.took(statement, thread_time() - begun)
        self.taken = tracer.entropy.taken
        self.began = monotonic_ns()

    def tell_begun(self) -> None:
        """What its statement was given, which the recording may not see the end of; once."""
        if self.statement is not None and self.told != self.began:
            self.told = self.began
            seen = (self.began, self.reads, self.touched, self.before)
            self._tracer.stream.add(("b", self.number, self.statement.line, *seen))

    def _finish(self, frame: FrameType) -> None:
        statement, tracer = self.statement, self._tracer
        if statement is None:
            return
        self.statement = None
        begun, at = thread_time(), (statement.line, self._code.place)
        asked = ASKED if tracer.entropy.taken != self.taken else 0
        tracer.digests.traits = 0
        is_whole, made = statement.kind == "Assign", (*at, tracer.lane())
        gives = tracer.digest(statement.writes, frame, made, whole=is_whole)
        gives += tracer.digest(statement.touches, frame, at, whole=statement.restores)
        traits = Traits(self.read_traits, tracer.digests.traits | asked, self.parts)
        tracer.note_traits(self._code.number, statement.line, traits)
        states = tracer.look(anew=bool(statement.calls))
        thread, ended = tracer.thread(), monotonic_ns()
        seen = (self.reads, self.touched, gives, self.before, states, self.raised)
        tracer.stream.add(("s", thread, self.number, statement.line, self.began, ended, *seen))
        tracer.looking.took(statement, thread_time() - begun)

    def _return(self, frame: FrameType, value: Any) -> None:  # noqa: ANN401
        tracer = self._tracer
        if self._code.pauses and frame.f_code.co_code[frame.f_lasti] in _YIELDS:
            self._paused = self.statement
        self._finish(frame)
        tracer.digests.place = (self._code.place, "returned", tracer.lane())
        tracer.digests.traits = 0
        digest = tracer.digests.of(value)
        states = tracer.look(anew=True)
        thread, now = tracer.thread(), monotonic_ns()
        tracer.stream.add(("r", thread, self.number, now, digest, states))
        traits = tracer.traits_of((self._code.place, "returned"), [value])
        around = tracer.leave(self)
        if around is not None:  # what a call gives may have no name there: list(f())
            around.read_traits |= traits
            around.taken = tracer.entropy.taken


_INNER = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
_PAUSING = 0x2A0  # flags of the code of generators and coroutines


class Code(NamedTuple):
    """A function of the program's: its number in the stream, statements by line, arguments."""

    number: int
    # its file, name and first line: the same in each run, which the number is not
    place: tuple[str, str, int]
    lines: dict[int, Statement]
    given: tuple[str, ...]
    pauses: bool
    shares: bool  # whether it has variables that other frames, and so other threads, write
    makes: bool  # whether it is the ``__init__`` of a class


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
            if name == "<lambda>":
                lines = self._files.of_lambda(filename, code.co_firstlineno, _arguments(code))
            if lines:
                found = self._declared(code, lines, stream)
        self.known[code] = found
        return found

    def _declared(self, code: CodeType, lines: dict[int, Statement], stream: Stream) -> Code:
        names = _arguments(code)
        number = next(self._numbers)
        qualified = getattr(code, "co_qualname", code.co_name)
        stream.add(("k", number, code.co_filename, qualified, code.co_firstlineno, names))
        pauses = bool(code.co_flags & _PAUSING)
        place = (code.co_filename, qualified, code.co_firstlineno)
        shares = bool(code.co_cellvars or code.co_freevars) and sys.version_info < (3, 13)
        makes = code.co_name == "__init__" and bool(names)
        return Code(number, place, lines, names, pauses, shares, makes)


def _arguments(code: CodeType) -> tuple[str, ...]:
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
    return code.co_varnames[:count]


_TIMES = 9  # that the kinds of a statement's values are looked at
_OFTEN = 3000  # times that a statement runs, from which on it is left out until the last steps
_RARE = 300  # up to which it is looked at in these, however long the others have taken
_SPENT = 3.0  # seconds that looking at one statement may take, all in all
_MOST = 150_000  # statements of a process that are looked at before the last steps
_LONGEST = 60.0  # seconds, after which statements are left out until the last steps
_LONGEST_AT_THE_END = 20.0  # in these, of those that run often or take long
_LAST = 2  # steps that are looked at again
_AHEAD = 8  # steps that a loader's workers may be ahead


class Tracer:
    """Of one process; ``begin`` and ``end`` it.

    folder  where the streams go, one for each process
    step    from shortly before which on all is recorded; what runs often, only at first
    lane    gives the task that this thread does
    """

    def __init__(self, folder: str, step: int, lane: Callable[[], str] = str) -> None:
        self.lane = lane
        self.stream: Stream = Stream(folder, "main")
        # Where it lies is another folder for each run, and so is what the run finds there.
        self._digests = Digests(os.path.dirname(folder))
        self.looking = Looking(self._is_last)
        self._step = step
        self._main = os.getpid()
        self._done = mmap.mmap(-1, 8)  # which step it is, for forked children as well
        self.is_on = False
        self.epoch = 0  # another one in a forked child
        self._folder = folder
        self._seen = NONE
        self._traits: dict[tuple[int, int], Traits] = {}
        self._counted: dict[object, tuple[int, int]] = {}  # by place
        self._numbers = itertools.count(1)  # for threads as well
        self._codes = Codes(self._numbers)
        self._local = threading.local()
        self._threads = itertools.count(1)
        self.clocks = Clocks()
        self.entropy = Entropy()
        self.signals = Signals((Frame.happened.__code__, Tracer._called.__code__))
        self._handling: dict[CodeType, int] = {}  # as which threads
        self._undo = ExitStack()

    def begin(self, role: str | None = "main") -> None:
        """Follow this thread, and those that begin from here on."""
        self.stream = Stream(self._folder, role)
        self.is_on = True
        self.looking.begin()
        self._digests.names.follow(self._undo)
        self.clocks.follow(self._undo)
        self.entropy.follow(self._undo)
        self.signals.follow(self._undo)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forked)
        threading.settrace(self._called)
        sys.settrace(self._called)

    def end(self) -> None:
        """Follow nothing more."""
        if self.is_on and os.getpid() == self._main:
            self.is_on = False
            threading.settrace(None)
            sys.settrace(None)
            self._undo.close()
            self.stream.close()

    def step_ends(self, number: int, lane: str = "", *, is_meant: bool = True) -> None:
        """A step of a task has ended: write what there is; ``is_meant``: of the one whose steps
        are counted."""
        if os.getpid() == self._main:
            for each in getattr(self._local, "stack", ()):
                each.tell_begun()
            self.stream.add(("e", lane, number, monotonic_ns()))
            self.stream.flush()
            if is_meant:
                self._done[:8] = (number + 1).to_bytes(8, "little")

    def _is_last(self, steps: int) -> bool:
        """Whether the program has come to within so many steps of the last."""
        ahead = steps if os.getpid() == self._main else steps + _AHEAD
        return int.from_bytes(self._done[:8], "little") + ahead > self._step

    def fail(self, error: Exception) -> None:
        """An error of ours: nothing more is followed, and the program goes on."""
        self.is_on = False
        self.stream.note(f"statements were recorded up to an error only: {error!r}")
        self.stream.flush()

    def _forked(self) -> None:
        if self.is_on:
            self.epoch += 1
            self.lane = str  # the tasks of threads are those of the process that it was
            self._codes.known.clear()
            self._traits.clear()
            self._local = threading.local()
            self._threads = itertools.count(1)
            self._handling.clear()
            self.stream = Stream(self._folder, None)

    def _called(self, frame: FrameType, event: str, arg: Any) -> Any:  # noqa: ANN401
        """A frame begins, or goes on after it has paused."""
        del arg
        code = self._codes.known.get(frame.f_code, self)
        if code is None or event != "call" or not self.is_on:
            return None
        begun = monotonic_ns()
        found = self._entered(frame, code)
        self.clocks.left_out += monotonic_ns() - begun
        if self.signals.late:
            self.signals.handle(frame)
        return found

    def _entered(self, frame: FrameType, code: Any) -> Any:  # noqa: ANN401
        """``code``: what is known of it, or this tracer where it is met first."""
        try:
            found = self._codes.learned(frame.f_code, self.stream) if code is self else code
            if not isinstance(found, Code):
                return None
            held = getattr(frame.f_trace, "__self__", None)
            if not isinstance(held, Frame) or held.epoch != self.epoch:
                held = Frame(self, found, next(self._numbers))
            self._interrupted(frame, held)
            held.enter(frame)
        except Exception as error:  # noqa: BLE001 - it is the program that matters
            self.fail(error)
            return None
        following = held.happened
        if found.shares:
            refresh(frame)
        return following

    # For frames

    def thread(self) -> int:
        """The number of this thread; told when it is met first."""
        found: int | None = getattr(self._local, "number", None)
        if found is None:
            found = self._local.number = next(self._threads)
            self._local.stack, self._local.digests = [], copy(self._digests)
            thread = threading.current_thread()
            target = getattr(thread, "_target", None)
            is_main = thread is threading.main_thread()
            name = "" if is_main else getattr(target, "__qualname__", type(thread).__qualname__)
            self.stream.add(("t", found, name))
        return found

    def _interrupted(self, frame: FrameType, held: Frame) -> None:
        """What handles a signal runs within any statement, which has not called it: it counts as a
        thread of its own."""
        handling = getattr(self._local, "handler", None)
        if frame.f_code not in self.signals.handlers or handling is not None:
            return
        around = self.thread(), self._local.stack
        name = getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
        number = self._handling.get(frame.f_code)
        if number is None:
            number = self._handling[frame.f_code] = next(self._threads)
            self.stream.add(("t", number, f"{name}{ON_A_SIGNAL}"))
        self._local.around, self._local.handler = around, held
        self._local.number, self._local.stack = number, []

    @property
    def is_shared(self) -> bool:
        """Whether other threads run beside this one."""
        return threading.active_count() > 1

    def enter(self, frame: Frame) -> int:
        """A frame of this thread begins; the line of the statement that has called it, or 0."""
        stack: list[Frame] = self._local.stack
        above = stack[-1].statement if stack else None
        stack.append(frame)
        return 0 if above is None else above.line

    def leave(self, frame: Frame) -> Frame | None:
        """It ends, or pauses; out of all of them what there is is written. The frame around it."""
        stack: list[Frame] = getattr(self._local, "stack", [])
        while stack and stack.pop() is not frame:
            pass
        if getattr(self._local, "handler", None) is frame:
            self._local.number, self._local.stack = self._local.around
            self._local.handler = None
            return None
        if not stack:
            self.stream.flush()
            return None
        return stack[-1]

    @property
    def digests(self) -> Digests:
        """Those of this thread: all threads know the same objects, and each looks at its own."""
        found: Digests = self._local.digests
        return found

    def digest(
        self,
        paths: tuple[Path, ...],
        frame: FrameType,
        at: tuple[object, ...],
        *,
        whole: bool = False,
    ) -> tuple[int, ...]:
        """Of the values of paths in a frame; 0 where there is none.

        at     line and function; of what is made there, the task: others come earlier or later
        whole  of modules, by their parameters and buffers as well
        """
        digests = self.digests
        if not paths:
            digests.parts = ()
            return ()
        held, around = frame.f_locals, frame.f_globals
        of = digests.of_whole if whole else digests.of
        digests.place = at
        values = [value_of(path, held, around) for path in paths]
        self.traits_of((at[:2], paths), values)
        return tuple([0 if each is MISSING else of(each) for each in values])

    def traits_of(self, at: object, values: list[Any]) -> int:
        """What values are made of, with what was seen of them so far. They are looked at the first
        times alone, and count as the same later on."""
        digests = self.digests
        digests.parts = ()
        times, found = self._counted.get(at, (0, 0))
        if times < _TIMES:
            digests.parts = tuple([0 if each is MISSING else traits_of([each]) for each in values])
            found = reduce(or_, digests.parts, found)
            self._counted[at] = times + 1, found
        digests.traits |= found
        return digests.traits

    def note_traits(self, code: int, line: int, traits: Traits) -> None:
        """What the values of a statement are made of; told when more is known than before."""
        before = self._traits.get((code, line), Traits())
        if before.joined(traits) != before:
            found = self._traits[code, line] = before.joined(traits)
            self.stream.add(("h", code, line, *found))

    def look(self, *, anew: bool) -> tuple[int, ...]:
        """The states of generators and the like, as they are or as they were last."""
        if anew:
            self._seen = look()
        return self._seen


class Looking:
    """Of one process.

    is_last  says whether the program is within so many steps of the last that is recorded
    """

    def __init__(self, is_last: Callable[[int], bool]) -> None:
        self._is_last = is_last
        self._often: dict[Statement, tuple[int, float]] = {}
        self._left_out: set[Statement] = set()
        self._looked = 0
        self._until = 0.0
        self._until_the_end = 0.0

    def begin(self) -> None:
        """From here on, until it has taken too long."""
        self._until = monotonic() + _LONGEST

    def is_wanted(self, statement: Statement) -> bool:
        """Whether to look at a statement: at one that runs often or takes long only at first, and
        again in the last steps."""
        times, spent = self._often.get(statement, (0, 0.0))
        self._often[statement] = (times + 1, spent)
        is_early = self._looked < _MOST and monotonic() < self._until
        if times < _OFTEN and spent < _SPENT and is_early:
            self._looked += 1
            return True
        if not self._is_last(_LAST):
            return False
        if times < _RARE and spent < _SPENT:
            return True
        self._until_the_end = self._until_the_end or monotonic() + _LONGEST_AT_THE_END
        return monotonic() < self._until_the_end

    def is_first_left_out(self, statement: Statement) -> bool:
        """Whether one that is not looked at was looked at until now: this is to be told, for the
        other run may look at it longer."""
        if statement in self._left_out:
            return False
        self._left_out.add(statement)
        return True

    def took(self, statement: Statement, seconds: float) -> None:
        """How long it took to look at a statement."""
        times, spent = self._often.get(statement, (0, 0.0))
        self._often[statement] = (times, spent + seconds)

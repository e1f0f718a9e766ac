"""A process's recording of statements: written in pieces, read as far as it is whole.

It is read as a tree: what was called while a statement ran hangs below it.
"""

from __future__ import annotations

import json
import marshal
import os
import struct
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.digests.generators import NONE
from guard.digests.traits import Traits
from guard.program import write_whole

if TYPE_CHECKING:
    from collections.abc import Sequence


_PIECE = 2000  # events
_LENGTH = struct.Struct("<I")
SUFFIX = ".statements"


class Stream:
    """Writes events of one process. The file is begun with the first."""

    def __init__(self, folder: str, role: str | None) -> None:
        self._folder = folder
        self._role = role
        self._events: list[tuple[Any, ...]] = []
        self._file: int | None = None
        self._lock = threading.RLock()  # of this process alone: a fork makes a stream of its own

    def add(self, event: tuple[Any, ...]) -> None:
        """An event; it is written later."""
        events = self._events
        events.append(event)
        if len(events) > _PIECE:
            self.flush()

    def note(self, text: str) -> None:
        """What a person should know."""
        self._events.append(("n", text))

    def flush(self) -> None:
        """Write what there is."""
        with self._lock:
            count = len(self._events)
            if count:
                piece = self._events[:count]
                del self._events[:count]
                self._write(piece)

    def _write(self, piece: list[tuple[Any, ...]]) -> None:
        if self._file is None:
            role = self._role if self._role is not None else _role()
            path = os.path.join(self._folder, f"{os.getpid()}{SUFFIX}")
            self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            piece.insert(0, ("p", role, os.getppid(), os.environ.get("RANK", "0")))
        data = marshal.dumps(piece, 4)
        with suppress(OSError):
            os.write(self._file, _LENGTH.pack(len(data)) + data)

    def close(self) -> None:
        """Write what is left, and no more."""
        self.flush()
        if self._file is not None:
            os.close(self._file)
            self._file = None


def _role() -> str:
    """What a child is, the same in each run: its name in multiprocessing."""
    process: Any = sys.modules.get("multiprocessing.process")
    if process is None:
        return "child"
    return str(process.current_process().name)


def read(path: str) -> list[tuple[Any, ...]]:
    """The events of a file, as far as it is whole."""
    found: list[tuple[Any, ...]] = []
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + _LENGTH.size <= len(data):
        (size,) = _LENGTH.unpack_from(data, at)
        at += _LENGTH.size
        if at + size > len(data):
            break
        found += marshal.loads(data[at : at + size])  # noqa: S302 - written by a process of ours
        at += size
    return found


@dataclass(eq=False, slots=True)
class Ran:
    """A statement that ran once. ``ended`` is 0 where the recording ended before it did."""

    line: int
    began: int
    ended: int
    # reads, touched, gave: digests of its paths, before and after
    reads: tuple[int, ...]
    touched: tuple[int, ...]
    gave: tuple[int, ...]
    # before, after: states of the process
    before: tuple[int, ...]
    after: tuple[int, ...]
    raised: str
    calls: list[Call]  # what of the program's own was called meanwhile


@dataclass(eq=False, slots=True)
class Call:
    """A frame from its call, or from where it went on, to its return or its next pause."""

    file: str
    name: str
    first_line: int
    names: tuple[str, ...]
    frame: int
    began: int
    given: tuple[int, ...]
    at: int  # the line of the statement that called it; 0 where it is not known
    lane: str = ""  # the task that its thread did, as a pool or the program has started it
    ended: int = 0  # 0 where the recording ended before it did
    result: int = 0
    before: tuple[int, ...] = NONE
    after: tuple[int, ...] = NONE
    statements: list[Ran] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, int]:
        """Of the function."""
        return self.file, self.name, self.first_line

    @property
    def is_lambda(self) -> bool:
        """Whether it is one expression, of which no statement is recorded."""
        return self.name.endswith("<lambda>")


ON_A_SIGNAL = "() on a signal"  # the end of a role: what handles one, whatever runs then


@dataclass(eq=False, slots=True)
class Thread:
    """What one thread of one process called, from no other statement of the program's."""

    role: str
    calls: list[Call] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Recording:
    """The statements of a run."""

    # of all its processes, those of the first process first
    threads: list[Thread] = field(default_factory=list)
    # when each step ended, by the task whose step it is
    ends: dict[str, dict[int, int]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what a person should know
    # from when on a statement was not always looked at, by its file and line
    left: dict[tuple[str, int], int] = field(default_factory=dict)
    # of the values of each statement, by its file and line
    traits: dict[tuple[str, int], Traits] = field(default_factory=dict)


def recording(folder: str, rank: int | None = None) -> Recording:
    """All that was recorded in a folder; of the processes of one rank alone, if it is given."""
    found = Recording()
    names = [each for each in sorted(os.listdir(folder)) if each.endswith(SUFFIX)]
    streams = [read(os.path.join(folder, each)) for each in names]
    if rank is not None:
        streams = [each for each in streams if each and each[0][3] == str(rank)]
    streams.sort(key=lambda events: events[0][1] != "main" if events else True)
    for events in streams:
        _Builder(found).build(events)
    return found


class _Builder:
    """Puts together what one process has written."""

    def __init__(self, found: Recording) -> None:
        self._found = found
        self._role = ""
        self._codes: dict[int, tuple[str, str, int, tuple[str, ...]]] = {}
        self._threads: dict[int, Thread] = {}
        self._stacks: dict[int, list[Call]] = {}
        self._pending: dict[int, list[Call]] = {}  # by the call in whose statement they were made
        self._begun: dict[int, Ran] = {}  # by frame, the statement that it was seen to begin last

    def build(self, events: list[tuple[Any, ...]]) -> None:
        """Take in all events."""
        for event in events:
            kind = event[0]
            if kind in ("c", "s", "r"):
                if event[1] in self._stacks:
                    self._happened(event)
            else:
                self._told(kind, *event[1:])
        for number, stack in self._stacks.items():  # what had not ended when the recording did
            while stack:
                self._close(stack, self._threads[number])

    def _told(self, kind: str, *given: Any) -> None:
        if kind == "p":
            self._role = given[0]
        elif kind == "k":
            self._codes[given[0]] = given[1:]
        elif kind == "o":
            number, line, now = given
            key = (self._codes[number][0], line)
            self._found.left[key] = min(now, self._found.left.get(key, now))
        elif kind == "h":
            number, line, *found = given
            key = (self._codes[number][0], line)
            known = self._found.traits.get(key, Traits())
            self._found.traits[key] = known.joined(Traits(*found))
        elif kind == "b":
            frame, line, began, reads, touched, before = given
            seen = Ran(line, began, 0, reads, touched, (), before, before, "", [])
            self._begun[frame] = seen
        elif kind == "n":
            self._found.notes.append(given[0])
        elif kind == "e":
            lane, number, now = given
            self._found.ends.setdefault(lane, {})[number] = now
        elif kind == "t":
            number, name = given
            self._threads[number] = Thread(f"{self._role}:{name}" if name else self._role)
            self._stacks[number] = []
            self._found.threads.append(self._threads[number])

    def _happened(self, event: tuple[Any, ...]) -> None:
        kind, number, frame = event[:3]
        stack, thread = self._stacks[number], self._threads[number]
        if kind == "c":
            code, now, given, states, at, lane = event[3:]
            stack.append(Call(*self._codes[code], frame, now, given, at, lane, before=states))
            return
        while stack and stack[-1].frame != frame:
            self._close(stack, thread)
        if not stack:
            return
        call = stack[-1]
        if kind == "s":
            below = self._pending.pop(id(call), [])
            line, began, ended, reads, touched, gave, before, after, raised = event[3:]
            seen = Ran(line, began, ended, reads, touched, gave, before, after, raised, below)
            call.statements.append(seen)
            self._begun.pop(frame, None)
        else:
            call.ended, call.result, call.after = event[3:]
            self._close(stack, thread)

    def _close(self, stack: list[Call], thread: Thread) -> None:
        """The innermost call is over: it hangs below the statement that made it."""
        call = stack.pop()
        below = self._pending.pop(id(call), [])
        # What a lambda calls that was not looked at counts for the statement around, where both
        # runs call it; a callback may come there in one run alone, and decides nothing by that.
        is_over = call.is_lambda and call.ended
        for each in below if not is_over else ():
            self._at_end(call, each)
        for each in (*(below if is_over else ()), call):
            if stack:
                self._pending.setdefault(id(stack[-1]), []).append(each)
            else:
                thread.calls.append(each)

    def _at_end(self, call: Call, below: Call) -> None:
        """A call whose statement has not ended: of that, no more is known than where it stands, and
        what it was given if a step has ended since."""
        last = call.statements[-1] if call.statements else None
        if last is None or last.line != below.at or last.ended:
            states, begun = below.before, self._begun.get(call.frame)
            last = Ran(below.at, below.began, 0, (), (), (), states, states, "", [])
            if begun is not None and begun.line == below.at:
                last = begun
            call.statements.append(last)
        last.calls.append(below)


_SUFFIX = ".held"


UNSAVED_BUFFER = "buffer"  # a role: of one that no state_dict() holds


class Held(NamedTuple):
    """A value that a program holds.

    path       of the variable or attribute of the program's that leads to it: "self.scheduler"; ""
               within a generator that has paused
    below      the rest of the way: ".last_epoch"
    digest     equal for equal contents
    text       a number or a short text itself, else ""
    owner      the program's own class or function that has the attribute or the variable
    file       of that
    name       of that attribute or variable: "scheduler"
    is_field   whether it is an attribute
    kind       the class of what is bound to it, where that is an object: "CosineAnnealingLR"
    role       of the object that the value is in: "scheduler"; "" for one of no known role
    shape      of a tensor or an array, else None
    saved_in   the path of the object whose state_dict() holds it, and whose load_state_dict() puts
               it back; "" where there is none
    """

    path: str
    below: str = ""
    digest: int = 0
    text: str = ""
    owner: str = ""
    file: str = ""
    name: str = ""
    is_field: bool = False
    kind: str = ""
    role: str = ""
    shape: Sequence[int] | None = None
    saved_in: str = ""


class Snapshots(NamedTuple):
    """What a process held as its first step began, as a later one did, and as it ended.

    saved   generators, as a checkpoint was written last before the later step
    loaded  all states that they had between the reading of one and the first step
    """

    first: Sequence[Held]
    later: Sequence[Held]
    last: Sequence[Held] = ()
    saved: Sequence[Held] = ()
    loaded: Sequence[Held] = ()


def path_of(trace: str) -> str:
    """The file that belongs to a trace."""
    return trace.removesuffix(".trace") + _SUFFIX


def write(trace: str, found: Snapshots) -> None:
    """Write beside a trace. Raises OSError."""
    write_whole(path_of(trace), json.dumps(found))


def held_in(trace: str) -> Snapshots | None:
    """What lies beside a trace, or None."""
    with suppress(OSError, ValueError):
        found = json.loads(Path(path_of(trace)).read_text(encoding="utf-8"))
        return Snapshots(*([Held(*each) for each in held] for held in found))
    return None

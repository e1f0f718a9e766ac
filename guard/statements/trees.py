"""A recording of statements as a tree: what was called while a statement ran hangs below it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from guard.statements.states import NONE
from guard.statements.stream import SUFFIX, read


@dataclass(eq=False, slots=True)
class Ran:
    """A statement that ran once. ``ended`` is 0 where the recording ended before it did.

    reads, touched, gave  digests of its paths, before and after
    before, after         states of the process
    calls                 what of the program's own was called meanwhile
    """

    line: int
    began: int
    ended: int
    reads: tuple[int, ...]
    touched: tuple[int, ...]
    gave: tuple[int, ...]
    before: tuple[int, ...]
    after: tuple[int, ...]
    raised: str
    calls: list[Call]


@dataclass(eq=False, slots=True)
class Call:
    """A frame from its call, or from where it went on, to its return or its next pause.

    at     the line of the statement that called it; 0 where it is not known
    ended  0 where the recording ended before it did
    """

    file: str
    name: str
    first_line: int
    names: tuple[str, ...]
    frame: int
    began: int
    given: tuple[int, ...]
    at: int
    ended: int = 0
    result: int = 0
    before: tuple[int, ...] = NONE
    after: tuple[int, ...] = NONE
    statements: list[Ran] = field(default_factory=list)

    @property
    def key(self) -> tuple[str, str, int]:
        """Of the function."""
        return self.file, self.name, self.first_line


@dataclass(eq=False, slots=True)
class Thread:
    """What one thread of one process called, from no other statement of the program's."""

    role: str
    calls: list[Call] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Recording:
    """The statements of a run.

    threads  of all its processes, those of the first process first
    ends     when each step ended
    notes    what a person should know
    """

    threads: list[Thread] = field(default_factory=list)
    ends: dict[int, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def recording(folder: str) -> Recording:
    """All that was recorded in a folder."""
    found = Recording()
    streams = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(SUFFIX):
            streams.append(read(os.path.join(folder, name)))
    streams.sort(key=lambda events: events[0][1] != "main" if events else True)
    for events in streams:
        _build(events, found)
    return found


def _build(events: list[tuple[Any, ...]], found: Recording) -> None:
    role = ""
    codes: dict[int, tuple[str, str, int, tuple[str, ...]]] = {}
    by_number: dict[int, Thread] = {}
    stacks: dict[int, list[Call]] = {}
    pending: dict[int, list[Call]] = {}  # by call, by identity: what was called in its statement
    for event in events:
        kind = event[0]
        if kind == "p":
            role = event[1]
        elif kind == "k":
            codes[event[1]] = event[2:]
        elif kind == "n":
            found.notes.append(event[1])
        elif kind == "e":
            found.ends[event[1]] = event[2]
        elif kind == "t":
            told = f"{role}:{event[2]}" if event[2] else role
            by_number[event[1]] = Thread(told)
            stacks[event[1]] = []
            found.threads.append(by_number[event[1]])
        else:
            number = event[1]
            if number in stacks:
                _event(event, stacks[number], by_number[number], codes, pending)
    for number, stack in stacks.items():  # what had not ended when the recording did
        while stack:
            call = stack.pop()
            for each in pending.pop(id(call), []):
                _at_end(call, each)
            _hang(call, stack, by_number[number], pending)


def _at_end(call: Call, below: Call) -> None:
    """A call whose statement has not ended: of that, no more is known than where it stands."""
    last = call.statements[-1] if call.statements else None
    if last is None or last.line != below.at or last.ended:
        states = below.before
        last = Ran(below.at, below.began, 0, (), (), (), states, states, "", [])
        call.statements.append(last)
    last.calls.append(below)


def _event(  # noqa: PLR0913
    event: tuple[Any, ...],
    stack: list[Call],
    thread: Thread,
    codes: dict[int, tuple[str, str, int, tuple[str, ...]]],
    pending: dict[int, list[Call]],
) -> None:
    kind, number, frame = event[:3]
    if kind == "c":
        _, _, _, code, now, given, states, at = event
        file, name, first, names = codes[code]
        call = Call(file, name, first, names, frame, now, given, at, before=states)
        stack.append(call)
        return
    if kind == "s":
        _, _, _, line, began, ended, reads, touched, gave, before, states, raised = event
        while stack and stack[-1].frame != frame:
            _hang(stack.pop(), stack, thread, pending)
        if not stack:
            return
        call = stack[-1]
        below = pending.pop(id(call), [])
        call.statements.append(
            Ran(line, began, ended, reads, touched, gave, before, states, raised, below)
        )
        return
    _, _, _, now, result, states = event
    while stack and stack[-1].frame != frame:
        _hang(stack.pop(), stack, thread, pending)
    if stack:
        call = stack.pop()
        call.ended, call.result, call.after = now, result, states
        for each in pending.pop(id(call), []):
            _at_end(call, each)
        _hang(call, stack, thread, pending)


def _hang(call: Call, stack: list[Call], thread: Thread, pending: dict[int, list[Call]]) -> None:
    if stack:
        pending.setdefault(id(stack[-1]), []).append(call)
    else:
        thread.calls.append(call)

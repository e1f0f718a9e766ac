"""``record`` without torch, so that a process starts at once: the program gives its own events.

``python -m recording_stand_in`` is the process of a run in which this takes record's place.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import threading
from typing import TYPE_CHECKING, Any

from written_events import EventWriter

import guard.__main__
from guard.observe.places import Place
from guard.program import Program
from guard.recording.tracer import Tracer
from guard.trace import Event, Header
from guard.verification import plan, subject

if TYPE_CHECKING:
    from collections.abc import Callable

_writer: EventWriter
_options: argparse.Namespace
_tracers: list[Tracer] = []
_left: list[Callable[[], None]] = []  # what to do with steps after the last


def step(**held: Any) -> None:
    """A training step with these events: kind="…" or kind=(name, value); operators are left out
    unless they are asked for."""
    if _left:
        _left[0]()
        return
    frame = sys._getframe(1)
    place = Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
    detailed = _writer.number == _options.operators
    events = [
        _event(kind, value, place)
        for kind, value in held.items()
        if detailed or not kind.startswith("operator")
    ]
    digest = hashlib.sha256(b"".join(each.digest for each in events)).digest()[:16]
    if _tracers:
        _tracers[0].step_ends(_writer.number)
    _writer.step("training", events, digest)
    if _writer.number - 1 == _options.until:
        _writer.end("stopped", "it was the last to record")
        leaves = plan.told_by_parent().get("leaves")
        _left.append(subject._end if leaves else lambda: None)


def state_at_the_end() -> None:
    """As a recording has it behind the last step."""
    _writer.step("end", [], b"e" * 16)


def fail() -> None:
    """As where recording has an error of its own: the program goes on."""
    _writer.end("failed", "no space left on device")
    _left.append(lambda: None)


def _event(kind: str, value: Any, place: Place) -> Event:  # noqa: ANN401
    inputs = b""
    name = kind
    if isinstance(value, tuple):
        name, value, *rest = value
        inputs = _digest(rest[0]) if rest else b""
    kind = kind.partition("_")[0]
    return Event(kind, name, 0, "", place, _digest(value), inputs=inputs)  # type: ignore[arg-type]


def _digest(value: object) -> bytes:
    return hashlib.sha256(repr(value).encode()).digest()[:4]


def main(arguments: list[str]) -> int:
    """As ``record``'s: run the program."""
    global _writer, _options  # noqa: PLW0603 - one program a process
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("--until", "--lines", "--operators", "--first-step", "--held", "--seed"):
        parser.add_argument(name, type=int)
    parser.add_argument("--out")
    parser.add_argument("--values", action="store_true")
    parser.add_argument("-m", dest="module", action="store_true")
    parser.add_argument("program")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    _options = parser.parse_args(arguments)
    program = Program(_options.program, _options.arguments, module=_options.module)
    header = Header(first_step=_options.first_step or 0)
    _writer = EventWriter(os.path.join(_options.out, "rank0.trace"), header)
    program.prepare()
    if _options.lines is not None:
        _tracers.append(Tracer(_options.out, _options.lines))
        _tracers[0]._codes._files._known[__file__] = {}  # no part of the program
        _tracers[0].begin()
    try:
        program.run()
    except BaseException as error:
        _writer.end("raised", repr(error))
        raise
    _writer.end("finished")
    if _tracers:
        _tracers[0].end()
    return 0


if __name__ == "__main__":
    from guard.verification import subject

    assert threading.current_thread() is threading.main_thread()
    sys.modules["recording_stand_in"] = sys.modules["__main__"]
    guard.__main__._COMMANDS["record"] = "recording_stand_in"
    sys.exit(subject.main(sys.argv[1:]))

"""A process's recording of statements: written in pieces, read as far as it is whole."""

from __future__ import annotations

import marshal
import os
import struct
import sys
import threading
from contextlib import suppress
from typing import Any

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

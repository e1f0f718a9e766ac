"""Runs side by side that share files: each writes when those before it have ended.

As if they had been started one after the other, which is how a person would compare them, and
yet they are compared while they run, up to where the first of them writes.
"""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAUSE = 0.05  # seconds between two looks at whether it is one's turn
_WRITES = frozenset("wax+")
_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Events of Python's own, with the places of the paths that they would change.
_CHANGES = {
    "os.mkdir": (0,),
    "os.remove": (0,),
    "os.rmdir": (0,),
    "os.rename": (0, 1),
    "os.link": (1,),
    "os.symlink": (1,),
    "os.truncate": (0,),
    "shutil.rmtree": (0,),
    "sqlite3.connect": (0,),
}


def take(turn: str, waiting: str, own: Sequence[str]) -> None:
    """Have this process wait, before it writes to a file of the user's, for a file ``turn``.

    waiting  a file in which it says what it waits to write
    own      folders in which it may write at any time

    Covers what Python opens, makes, renames and removes, and ``torch.save``; not what other
    libraries write in C++ or Rust.
    """
    gate = _Gate(turn, waiting, own)

    def hook(event: str, given: tuple[Any, ...]) -> None:
        if event == "open":
            gate.opening(*given[:3])
        elif event in _CHANGES:
            for place in _CHANGES[event]:
                gate.change(given[place])

    sys.addaudithook(hook)


class _Gate:
    def __init__(self, turn: str, waiting: str, own: Sequence[str]) -> None:
        self._turn = turn
        self._waiting = waiting
        self._own = tuple(os.path.realpath(each) + os.sep for each in own)
        self._is_open = False
        self._saves = False
        self._asking = False

    def opening(self, path: Any, mode: Any, flags: Any) -> None:  # noqa: ANN401
        if self._is_open:
            return
        self._watch_saves()
        if isinstance(mode, str):
            writes = not _WRITES.isdisjoint(mode)
        else:
            writes = isinstance(flags, int) and bool(flags & _FLAGS)
        if writes:
            self.change(path)

    def change(self, path: Any) -> None:  # noqa: ANN401 - a path, or a number
        """Wait, if this path is not one's own."""
        if self._is_open or self._asking or not isinstance(path, (str, bytes, os.PathLike)):
            return
        if path == ":memory:":  # a database of sqlite's
            return
        self._asking = True  # what follows opens files itself
        try:
            full = os.path.realpath(os.fsdecode(path))
            if not self._is_free(full):
                self._wait(full)
        finally:
            self._asking = False

    def _is_free(self, full: str) -> bool:
        if full.startswith((*self._own, "/dev/", "/proc/")) or "__pycache__" in full:
            return True
        home = os.path.expanduser("~")  # caches and settings, made for several processes
        return full.startswith(os.path.join(home, "."))

    def _wait(self, full: str) -> None:
        while not os.path.exists(self._turn):
            if not os.path.exists(self._waiting):
                self._tell(full)
            time.sleep(_PAUSE)
        self._is_open = True
        with suppress(OSError):
            os.remove(self._waiting)

    def _tell(self, full: str) -> None:
        """Say what is waited for, in a file that never lies there half written."""
        beside = f"{self._waiting}.{os.getpid()}"
        with suppress(OSError):
            with open(beside, "w", encoding="utf-8") as file:
                file.write(full)
            os.replace(beside, self._waiting)

    def _watch_saves(self) -> None:
        """``torch.save`` opens its file in C++; torch may not have been imported so far."""
        serialization = sys.modules.get("torch.serialization")
        opener = getattr(serialization, "_open_zipfile_writer", None)
        if self._saves or opener is None:
            return
        self._saves = True
        serialization._open_zipfile_writer = self._before(opener)  # type: ignore[union-attr]  # noqa: SLF001

    def _before(self, opener: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def open_(name_or_buffer: Any) -> Any:  # noqa: ANN401
            self.change(name_or_buffer)
            return opener(name_or_buffer)

        return open_

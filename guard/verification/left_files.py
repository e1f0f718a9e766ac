"""Files that one run leaves to the next: written by one, and read by another before it wrote them.

Runs that work in copies share what lies beside their code, and what they name by its whole path.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.diff import Source, Suspect
from guard.observe import places
from guard.program import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.verification.runs import Process

_MOST = 10_000  # files that a process notes
_CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib")
_READ, _WROTE = "r", "w"
_NAME = "journal"
_FIRST = "the first run had not found it"


def journal_of(folder: str) -> str:
    """Where the run of a folder notes its files."""
    return os.path.join(folder, _NAME)


class Journal:
    """Of one process: the files that it reads and writes, each the first time."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._seen: set[tuple[str, object]] = set()
        self._given: set[object] = set()

    def reading(self, path: Any) -> str:  # noqa: ANN401 - a path, or a number
        """The whole path of a file that is opened for the first time to be read, and is no code;
        or ""."""
        if not isinstance(path, (str, bytes, os.PathLike)) or len(self._given) >= _MOST:
            return ""
        given = os.fsdecode(path)
        if given in self._given or given.endswith(_CODE):
            return ""
        self._given.add(given)
        full = os.path.realpath(given)
        is_library = full.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep))
        return full if not is_library and os.path.isfile(full) else ""

    def note(self, full: str, *, writes: bool) -> None:
        """Note it, if that is not done."""
        key = (_WROTE if writes else _READ, full)
        if key in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add(key)
        with suppress(OSError), open(self._path, "a", encoding="utf-8") as file:
            place = places.own()
            where = ("", 0) if place is None else (place.filename, place.line)
            told = [*key, time.time_ns(), *where]
            file.write(json.dumps(told) + "\n")


class Left(NamedTuple):
    """A file, which run wrote it, and which read it then, from 0; and the line that did."""

    path: str
    by: int
    to: int
    file: str
    line: int

    @property
    def name(self) -> str:
        """The file, from where verify was started."""
        return os.path.relpath(self.path)

    @property
    def note(self) -> str:
        """For a person."""
        return f"run {self.by + 1} had written {self.name}, and run {self.to + 1} read it: {_FIRST}"

    @property
    def suspect(self) -> Suspect:
        """The line, as one that is to blame."""
        what = f"{self.name} is read here, which an earlier run had written"
        return Suspect("", what, self.file, self.line, Source.LEFT.value)


def left_to(process: Process, others: Iterable[Process]) -> dict[str, Left]:
    """The files that a run read as another one had left them, by path."""
    read, wrote = _first(process, _READ), _first(process, _WROTE)
    found: dict[str, Left] = {}
    for each in others:
        left = _first(each, _WROTE) if each is not process else {}
        for path in read.keys() & left.keys():
            when, file, line = read[path]
            if left[path][0] < when and (path not in wrote or when < wrote[path][0]):
                found.setdefault(path, Left(path, each.number, process.number, file, line))
    return found


def _first(process: Process, kind: str) -> dict[str, tuple[int, str, int]]:
    """When it read or wrote each file first, and in which line."""
    found: dict[str, tuple[int, str, int]] = {}
    for each in text_of(journal_of(process.folder)).splitlines():
        with suppress(ValueError):  # one that was cut off
            does, path, *when_and_where = json.loads(each)
            if does == kind:
                found.setdefault(path, tuple(when_and_where))
    return found

"""Files that one run leaves to the next: written by one, and read by another before it wrote them;
or found in a folder that both list.

Runs that work in copies share what lies beside their code, and what they name by its whole path.
What each writes into its copy, and has looked for before, only a run in the same folder would find.
"""

from __future__ import annotations

import json
import os
import sys
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.diff import Source, Suspect
from guard.diff.names import listed
from guard.observe import places
from guard.program import text_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.verification.runs import Process

_MOST = 10_000  # files that a process notes
_TOLD = 3  # files that are told
_CODE = (".py", ".pyc", ".so", ".pyd", ".dll", ".dylib")
_READ, _WROTE, _LISTED, _MADE, _ASKED = "r", "w", "l", "m", "a"
_ENTRIES = 10_000  # of a folder, of which the names are noted
_CACHES = "__pycache__"
_NAME = "journal"
# What the run it is compared with had found.
_NOT_FOUND, _FOUND_BEFORE = "run {} had not found it", "run {} had found what was there before"
_MAKING = {"makedirs", "mkdir"}  # they ask for a folder only to make it
_FOUND = (
    "possibly a run that finds {} computes something else: these runs, each {}, looked for it "
    "({}), did not find it and wrote it. {}"
)
_IN_A_COPY = ("in a copy of the folder", "--no-isolate shows what the next run does")
_TEMPORARY = (
    "with a temporary folder of its own",
    "On this machine the next run finds it; kept below the working folder, --no-isolate shows it",
)
_TEMPORARIES = os.path.join("$TMPDIR", "")  # what the name of a temporary file begins with


def journal_of(folder: str) -> str:
    """Where the run of a folder notes its files."""
    return os.path.join(folder, _NAME)


def is_library(full: str) -> bool:
    """Whether a file or folder is Python's, or of what is installed."""
    return full.startswith((sys.prefix + os.sep, sys.base_prefix + os.sep))


class Journal:
    """Of one process: the files that it reads and writes, each the first time.

    copy       the copy of the working folder that it works in, or ""
    temporary  the folder for temporary files that it has to itself, or ""
    """

    def __init__(self, path: str, copy: str = "", temporary: str = "") -> None:
        self._path = path
        folders = (copy, ""), (temporary, _TEMPORARIES)
        # What begins the names of what it has to itself, and what a person is told in its place.
        self._own = {os.path.join(os.path.realpath(e), ""): name for e, name in folders if e}
        self._missed: dict[str, places.Place] = {}
        self._seen: set[tuple[str, object]] = set()
        self._given: set[object] = set()
        self._asked: set[str] = set()

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
        return full if not is_library(full) and os.path.isfile(full) else ""

    def missed(self, path: Any, *, opens: bool = False) -> None:  # noqa: ANN401 - or a number
        """The program has looked for a file, which may not be there; ``opens``: to read it, also by
        a library's function that it calls."""
        is_path = isinstance(path, (str, bytes, os.PathLike))
        if not self._own or not is_path or os.path.lexists(path):
            return
        place, full = places.asking(), os.path.realpath(os.fsdecode(path))
        if place is None and opens:
            place = places.own()
        is_known = place is not None and places.is_own(place.filename)
        if place is not None and is_known and full.startswith((*self._own,)):
            self._missed.setdefault(full, place)

    def found(self, path: Any) -> str:  # noqa: ANN401 - a path, or a number
        """The whole path of what a line of the program asks for the first time, and is there; or
        ""."""
        if not isinstance(path, (str, bytes, os.PathLike)) or len(self._asked) >= _MOST:
            return ""
        given = os.fsdecode(path)
        if given in self._asked or given.endswith(_CODE) or places.asking(_MAKING) is None:
            return ""
        self._asked.add(given)
        full = os.path.realpath(given)
        return "" if is_library(full) else full

    def made(self, full: str) -> None:
        """A file of its own is written: note it, if the program has looked for it before."""
        place = self._missed.pop(full, None)
        if place is not None:
            folder = next(each for each in self._own if full.startswith(each))
            self._tell(_MADE, full, place, self._own[folder] + full.removeprefix(folder))

    def note(self, full: str, *, writes: bool, asks: bool = False) -> None:
        """Note it, if that is not done; ``asks``: it is only asked whether it is there."""
        key = (_WROTE if writes else _ASKED if asks else _READ, full)
        if key in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add(key)
        self._tell(*key, places.own())

    def listed(self, folder: str) -> None:
        """Note what a folder holds that a line of the program lists for the first time."""
        place = places.own()
        key = (_LISTED, (folder, place))
        if place is None or key in self._seen or len(self._seen) >= _MOST:
            return
        self._seen.add(key)
        with suppress(OSError):
            names = [each for each in os.listdir(folder) if each != _CACHES]
            if len(names) <= _ENTRIES:
                self._tell(_LISTED, folder, place, *sorted(names))

    def _tell(self, kind: str, full: object, place: places.Place | None, *more: str) -> None:
        where = ("", 0) if place is None else (place.filename, place.line)
        with suppress(OSError), open(self._path, "a", encoding="utf-8") as file:
            file.write(json.dumps([kind, full, time.time_ns(), *where, *more]) + "\n")


class Left(NamedTuple):
    """A file, which run wrote it, and which read it then, from 0; and the line that did.

    folder  one that is listed, where the file is but found in it: of the run ``by`` it is not
    asked   whether it was only asked whether the file is there
    first   the run that did otherwise; and whether it had found the file as it was before
    """

    path: str
    by: int
    to: int
    file: str
    line: int
    folder: str = ""
    asked: bool = False
    first: int = 0
    was_there: bool = False

    @property
    def name(self) -> str:
        """The file, from where verify was started."""
        return os.path.relpath(self.path)

    @property
    def note(self) -> str:
        """For a person."""
        if self.folder:
            found = f"run {self.to + 1} found {self.name} in a folder that it lists"
            return f"{found}, and run {self.by + 1} did not"
        does = "found it there" if self.asked else "read it"
        otherwise = (_FOUND_BEFORE if self.was_there else _NOT_FOUND).format(self.first + 1)
        return (
            f"run {self.by + 1} had written {self.name}, and run {self.to + 1} {does}: {otherwise}"
        )


def blamed(left: Iterable[Left]) -> Iterator[Suspect]:
    """The lines that read or find some files, each once, as lines that are to blame."""
    lines: dict[tuple[str, int, str], list[str]] = {}
    for each in left:
        does = "found" if each.folder or each.asked else "read"
        lines.setdefault((each.file, each.line, does), []).append(each.name)
    for (file, line, does), names in lines.items():
        what = f"{listed(names)} {'is' if len(names) == 1 else 'are'} {does} here"
        what += ", which an earlier run had written"
        yield Suspect("", what, file, line, Source.LEFT.value)


def left_to(process: Process, others: Iterable[Process]) -> dict[str, Left]:
    """The files that a run read, or found, as another one had left them, by path."""
    asked, opened = _first(process, _ASKED), _first(process, _READ)
    read, wrote = asked | opened, _first(process, _WROTE)
    found: dict[str, Left] = {}
    last: dict[str, int] = {}  # when it was written last before
    for each in others:
        left = _first(each, _WROTE) if each is not process else {}
        for path in read.keys() & left.keys():
            when, file, line = read[path]
            is_last = last.get(path, 0) < left[path][0] < when
            if is_last and (path not in wrote or when < wrote[path][0]):
                last[path], is_asked = left[path][0], path not in opened
                found[path] = Left(path, each.number, process.number, file, line, asked=is_asked)
    return found


def otherwise(first: Process, second: Process, others: Sequence[Process]) -> Iterator[Left]:
    """The files that a run read, or found, as another one had left them, and the first run had not,
    or as yet another one had."""
    known, found = (left_to(each, others) for each in (first, second))
    there, wrote = _first(first, _ASKED) | _first(first, _READ), _first(first, _WROTE)
    for path, each in sorted(found.items()):
        if path not in known or known[path].by != each.by:
            is_there = path in there and (path not in wrote or there[path][0] < wrote[path][0])
            yield each._replace(first=first.number, was_there=is_there)


def found_by_one(first: Process, second: Process) -> Iterator[Left]:
    """Of the folders that both runs list, what one of them alone has found there."""
    ones, others = _listed(first), _listed(second)
    for folder, file, line in sorted(ones.keys() & others.keys()):
        held, found = (each[folder, file, line] for each in (ones, others))
        for by, to, only in ((first, second, found - held), (second, first, held - found)):
            for name in sorted(only)[:1]:
                path = os.path.join(folder, name)
                yield Left(path, by.number, to.number, file, line, folder)


def _listed(process: Process) -> dict[tuple[str, str, int], set[str]]:
    """What each folder held as a line listed it first."""
    found: dict[tuple[str, str, int], set[str]] = {}
    for does, path, _, file, line, *names in _told(process):
        if does == _LISTED:
            found.setdefault((path, file, line), set(names))
    return found


def found_later(*processes: Process) -> Iterator[str]:
    """Sentences on the files that runs have looked for, not found and then left where only they
    work: in their copies of the folder, and among their temporary files. A name that is another in
    each run is found by none."""
    made = [_made(each) for each in processes]
    first = {name: line for name, line in made[0].items() if all(name in each for each in made)}
    for is_temporary, words in ((False, _IN_A_COPY), (True, _TEMPORARY)):
        names = [e for e in first if e.startswith(_TEMPORARIES) is is_temporary]
        if names:
            lines = list(dict.fromkeys(first[each] for each in names))[:_TOLD]
            where, shown = words
            yield _FOUND.format(", ".join(names[:_TOLD]), where, ", ".join(lines), shown)


def _made(process: Process) -> dict[str, str]:
    """By their names, which lines looked for the files that it has left."""
    made = (each for each in _told(process) if each[0] == _MADE and os.path.isfile(each[1]))
    return {name: f"{os.path.relpath(file)}:{line}" for *_, file, line, name in made}


def _first(process: Process, kind: str) -> dict[str, tuple[int, str, int]]:
    """When it read or wrote each file first, and in which line."""
    found: dict[str, tuple[int, str, int]] = {}
    for does, path, *when_and_where in _told(process):
        if does == kind:
            found.setdefault(path, tuple(when_and_where))
    return found


def _told(process: Process) -> Iterator[list[Any]]:
    """What it has noted."""
    for each in text_of(journal_of(process.folder)).splitlines():
        with suppress(ValueError):  # one that was cut off
            yield json.loads(each)

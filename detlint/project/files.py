"""What is known of the files of a project, worked out once and kept in the cache."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from detlint.cache import content_digest
from detlint.kinds import PYTHON
from detlint.project.facts import Fact, hints, read_facts
from detlint.project.folders import Folders
from detlint.project.imports import Import, imports
from detlint.project.launched import Start, exports, starts
from detlint.project.outline import (
    ATTRIBUTE,
    LOCAL,
    WHOLE,
    definitions,
    handed,
    outline,
    parts,
    searched,
)
from detlint.source import DecodeError, Source
from detlint.syntax import Problem, problem

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from detlint.cache import Cache

# Folders of programs, also where an empty file makes a package of one.
_OF_PROGRAMS = frozenset({"scripts", "tools", "bin", "examples"})
# Answers by question, as JSON keeps them: "imports", "definitions", "outline", "kinds" (of
# facts that the file may hold), or one of these kinds, and "broken" if it does not parse; of
# scripts, "starts" and "exports".
_Answers = dict[str, Any]


class Files:
    """Answers about files by real path. A source that is handed in stands for its file."""

    def __init__(self, cache: Cache) -> None:
        self.folders = Folders()
        self._cache = cache
        self._sources: dict[str, Source] = {}
        self._answers: dict[str, _Answers] = {}
        self._imports: dict[str, list[Import]] = {}
        self._libraries: dict[str, frozenset[str]] = {}
        self._hints: dict[str, dict[str, list[int]]] = {}
        self._ranges: dict[str, list[tuple[str, int, int]]] = {}
        self._stored: dict[str, tuple[os.stat_result, str]] = {}
        self._changed: set[str] = set()
        self._handed_on: dict[str, list[tuple[str, str]]] = {}
        self._searched: dict[str, frozenset[str]] = {}
        self._handed: dict[str, frozenset[str]] = {}
        self._users: dict[str, list[tuple[str, str]]] = {}
        self._indexed: set[str] = set()

    def replace(self, path: str, source: Source) -> None:
        """Take this text for a file's: it is being fixed, or comes from standard input."""
        self._sources[path] = source
        self._answers[path] = {}
        self._imports.pop(path, None)
        self._libraries.pop(path, None)
        self._hints.pop(path, None)
        self._ranges.pop(path, None)
        self._stored.pop(path, None)
        self._handed_on.pop(path, None)
        self._searched.pop(path, None)
        self._handed.pop(path, None)
        self._users.clear()
        self._indexed.clear()

    @property
    def known(self) -> Mapping[str, object]:
        """The files that were asked about."""
        return self._answers

    def source(self, path: str) -> Source:
        """The text of a file, empty where it cannot be read, which DET000 tells."""
        if path not in self._sources:
            self._open(path)
        return self._sources[path]

    def imports(self, path: str) -> list[Import]:
        """What a file imports."""
        if path not in self._imports:
            answers = self._of(path)
            if "imports" not in answers:
                found = imports(self.source(path).text)
                self._learn(path, "imports", [[*each[:2], list(each.names)] for each in found])
            self._imports[path] = [
                Import(module, level, tuple(names)) for module, level, names in answers["imports"]
            ]
        return self._imports[path]

    def libraries(self, path: str) -> frozenset[str]:
        """The top-level modules that a file imports by their names."""
        if path not in self._libraries:
            named = (each.module.partition(".")[0] for each in self.imports(path) if not each.level)
            self._libraries[path] = frozenset(named)
        return self._libraries[path]

    def is_packaged(self, path: str) -> bool:
        """Whether a file is a module of a package, and not one of a folder of programs."""
        folder = os.path.dirname(path)
        if not self.folders.is_package(folder):
            return False
        own = os.path.join(folder, "__init__.py")
        return os.path.basename(folder) not in _OF_PROGRAMS or bool(self.source(own).text.strip())

    def outline(self, path: str) -> dict[str, list[str]]:
        """Which names each part of a file uses."""
        answers = self._of(path)
        if "outline" not in answers:
            self._learn(path, "outline", outline(self.source(path).text))
        found: dict[str, list[str]] = answers["outline"]
        return found

    def handed_on(self, path: str) -> list[tuple[str, str]]:
        """The parts of a file that hand modules on, and which."""
        if path not in self._handed_on:
            self._handed_on[path] = [
                (part, name)
                for part, names in self.outline(path).items()
                for name in names
                if name.startswith(WHOLE)
            ]
        return self._handed_on[path]

    def searched(self, path: str) -> frozenset[str]:
        """The last names of modules ``a.name`` in which a file may look up names."""
        if path not in self._searched:
            may = "looks_up" in self.kinds(path)
            self._searched[path] = searched(self.source(path).text) if may else frozenset()
        return self._searched[path]

    def handed(self, path: str) -> frozenset[str]:
        """The names of modules that a file may hand on, as far as its text tells."""
        if path not in self._handed:
            self._handed[path] = handed(self.source(path).text)
        return self._handed[path]

    def users(self, name: str, home: str, paths: Iterable[str]) -> list[tuple[str, str]]:
        """The parts of some files that use a name which one of them defines at its top, told by
        a look into those files only that hold it."""
        found = []
        for path in paths:
            if name in self.source(path).text:
                wanted = {name, f"{ATTRIBUTE}{name}", *([f"{LOCAL}{name}"] if path == home else [])}
                outlined = self.outline(path).items()
                found += [
                    (path, part)
                    for part, names in outlined
                    if part != name and not wanted.isdisjoint(names)
                ]
        return found

    def index(self, paths: Iterable[str]) -> None:
        """Look into some files once for all names."""
        for path in paths:
            if path not in self._indexed:
                self._indexed.add(path)
                for part, names in self.outline(path).items():
                    place = path, part
                    for name in names:
                        self._users.setdefault(name, []).append(place)

    def indexed_users(self, name: str, home: str) -> Iterator[tuple[str, str]]:
        """``users``, of all files that were indexed."""
        for path, part in self._users.get(f"{LOCAL}{name}", ()):
            if path == home and part != name:
                yield path, part
        for written in (name, f"{ATTRIBUTE}{name}"):
            for path, part in self._users.get(written, ()):
                if part != name:
                    yield path, part

    def is_class(self, path: str, name: str) -> bool:
        """Whether a name that a file defines at its top is a class's."""
        return re.search(rf"^class[ \t]+{name}\b", self.source(path).text, re.MULTILINE) is not None

    def kinds(self, path: str) -> list[str]:
        """The kinds of facts that a file may hold, as far as its text tells."""
        answers = self._of(path)
        if "kinds" not in answers:
            self._learn(path, "kinds", [kind for kind, at in self._hints_of(path).items() if at])
        found: list[str] = answers["kinds"]
        return found

    def facts(
        self, path: str, kind: str, chosen: Callable[[str], bool] | None = None
    ) -> list[tuple[str, Fact]]:
        """The facts of one kind in a file, or in the chosen parts of its outline, in order."""
        if kind not in self.kinds(path):
            return []
        answers = self._of(path)
        if kind not in answers:
            places = self._hints_of(path)[kind]
            self._learn(path, kind, {part: None for part, _ in self._parts(path, places)})
        known = answers[kind]
        wanted = [part for part in known if chosen is None or chosen(part)]
        self._read(path, kind, known, {part for part in wanted if known[part] is None})
        return sorted(((part, Fact(*each)) for part in wanted for each in known[part]), key=_place)

    def _read(self, path: str, kind: str, known: _Answers, missing: set[str]) -> None:
        """Look for facts in parts where that was not done yet."""
        if not missing:
            return
        source = self.source(path)
        near = self._parts(path, self._hints_of(path)[kind])
        facts = read_facts(source, kind, [place for part, place in near if part in missing])
        known.update((part, []) for part in missing)
        if facts is None:
            facts, found = [], problem(source) if source.kind == PYTHON else None
            if found is not None:
                self._learn(path, "broken", list(found))
        starts = source.line_starts
        for part, fact in zip(
            self._parts(path, [starts[fact.row - 1] for fact in facts]), facts, strict=True
        ):
            if part[0] in missing:
                known[part[0]].append(list(fact))
        self._changed.add(path)

    def _hints_of(self, path: str) -> dict[str, list[int]]:
        if path not in self._hints:
            self._hints[path] = hints(self.source(path).text)
        return self._hints[path]

    def _parts(self, path: str, places: list[int]) -> list[tuple[str, int]]:
        """Each place with the part of the outline that it lies in."""
        if not places:
            return []
        if path not in self._ranges:
            self._ranges[path] = parts(self.source(path).text)
        ranges = self._ranges[path]
        starts = [start for _, start, _ in ranges]
        return [(ranges[bisect_right(starts, place) - 1][0], place) for place in places]

    def broken(self) -> Iterator[tuple[str, Problem]]:
        """The files of which facts were asked that do not parse, and why."""
        for path, answers in self._answers.items():
            if "broken" in answers:
                yield path, Problem(*answers["broken"])

    def part_at(self, path: str, row: int) -> str:
        """The part of the outline that a line lies in."""
        ((part, _),) = self._parts(path, [self.source(path).line_starts[row - 1]])
        return part

    def starts(self, path: str) -> list[Start]:
        """What a script starts, and in which environment."""
        answers = self._of(path)
        if "starts" not in answers:
            self._learn(path, "starts", [each.dumped() for each in starts(self.source(path))])
        return [Start.loaded(each) for each in answers["starts"]]

    def exports(self, path: str) -> list[Fact]:
        """The variables that a script sets for what runs it by ``source``."""
        answers = self._of(path)
        if "exports" not in answers:
            self._learn(path, "exports", [list(each) for each in exports(self.source(path))])
        return [Fact(*each) for each in answers["exports"]]

    def gives(self, path: str, need: str) -> list[tuple[int, bool | str]]:
        """Whether the calls in a file may pass an argument, as ``needs.gives`` tells it."""
        from detlint.project.needs import Need, gives

        answers, question = self._of(path), f"gives {need}"
        if question not in answers:
            self._learn(path, question, gives(self.source(path), Need.parse(need)))
        return [(row, given) for row, given in answers[question]]

    def defines(self, path: str, name: str) -> bool:
        """Whether a file defines a function or class of a name at its top."""
        answers = self._of(path)
        if "definitions" not in answers:
            self._learn(path, "definitions", definitions(self.source(path).text))
        return name in answers["definitions"] and name in self.outline(path)

    def save(self) -> None:
        """Hand what is new to the cache."""
        for path in sorted(self._changed):
            if path in self._stored:
                self._cache.store_facts(path, *self._stored[path], self._answers[path])
        self._changed.clear()

    def _learn(self, path: str, question: str, answer: object) -> None:
        self._of(path)[question] = answer
        self._changed.add(path)

    def _of(self, path: str) -> _Answers:
        if path not in self._answers:
            kept = None
            with suppress(OSError):
                kept = self._cache.facts(path, os.stat(path))
            if kept is None:
                self._open(path)
            else:
                self._answers[path] = kept
        return self._answers[path]

    def _open(self, path: str) -> None:
        """Read a file; what was known of the same content still holds."""
        source = Source(path, "")
        try:
            with open(path, "rb") as file:
                stat, data = os.fstat(file.fileno()), file.read()
            digest = content_digest(data) if self._cache.keeps else ""
            self._stored[path] = stat, digest
            self._answers.setdefault(path, self._cache.facts_of(path, digest) or {})
            source = Source.decode(path, data)
        except (OSError, DecodeError):
            self._answers.setdefault(path, {})
        self._sources[path] = source


def _place(found: tuple[str, Fact]) -> tuple[int, int]:
    return found[1].row, found[1].column

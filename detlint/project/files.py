"""What is known of the files of a project, worked out once and kept in the cache."""

from __future__ import annotations

import os
from bisect import bisect_right
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from detlint.cache import content_digest
from detlint.project.facts import Fact, hints, read_facts
from detlint.project.imports import Import, imports
from detlint.project.outline import outline, parts
from detlint.source import DecodeError, Source

if TYPE_CHECKING:
    from collections.abc import Container

    from detlint.cache import Cache

# Answers by question, as JSON keeps them: "imports", "outline", or a kind of facts.
_Answers = dict[str, Any]


class Files:
    """Answers about files by real path. A source that is handed in stands for its file."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._sources: dict[str, Source] = {}
        self._answers: dict[str, _Answers] = {}
        self._hints: dict[str, dict[str, list[int]]] = {}
        self._ranges: dict[str, list[tuple[str, int, int]]] = {}
        self._stored: dict[str, tuple[os.stat_result, str]] = {}
        self._changed: set[str] = set()

    def replace(self, path: str, source: Source) -> None:
        """Take this text for a file's: it is being fixed, or comes from standard input."""
        self._sources[path] = source
        self._answers[path] = {}
        self._hints.pop(path, None)
        self._ranges.pop(path, None)
        self._stored.pop(path, None)

    def source(self, path: str) -> Source:
        """The text of a file, empty where it cannot be read, which DET000 tells."""
        if path not in self._sources:
            self._open(path)
        return self._sources[path]

    def imports(self, path: str) -> list[Import]:
        """What a file imports."""
        answers = self._of(path)
        if "imports" not in answers:
            found = imports(self.source(path).text)
            self._learn(path, "imports", [[*each[:2], list(each.names)] for each in found])
        return [Import(module, level, tuple(names)) for module, level, names in answers["imports"]]

    def outline(self, path: str) -> dict[str, list[str]]:
        """Which names each part of a file uses."""
        answers = self._of(path)
        if "outline" not in answers:
            self._learn(path, "outline", outline(self.source(path).text))
        found: dict[str, list[str]] = answers["outline"]
        return found

    def facts(self, path: str, kind: str, parts: Container[str] | None = None) -> list[Fact]:
        """The facts of one kind in a file, or in some parts of its outline, in order."""
        answers = self._of(path)
        if kind not in answers:
            places = self._hinted(path, kind)
            self._learn(path, kind, {part: None for part, _ in self._parts(path, places)})
        known = answers[kind]
        wanted = [part for part in known if parts is None or part in parts]
        self._read(path, kind, known, {part for part in wanted if known[part] is None})
        return sorted((Fact(*each) for part in wanted for each in known[part]), key=_place)

    def _read(self, path: str, kind: str, known: _Answers, missing: set[str]) -> None:
        """Look for facts in parts where that was not done yet."""
        if not missing:
            return
        source = self.source(path)
        near = self._parts(path, self._hinted(path, kind))
        facts = read_facts(source, kind, [place for part, place in near if part in missing])
        known.update((part, []) for part in missing)
        starts = source.line_starts
        for part, fact in zip(
            self._parts(path, [starts[fact.row - 1] for fact in facts]), facts, strict=True
        ):
            if part[0] in missing:
                known[part[0]].append(list(fact))
        self._changed.add(path)

    def _hinted(self, path: str, kind: str) -> list[int]:
        if path not in self._hints:
            self._hints[path] = hints(self.source(path).text)
        return self._hints[path][kind]

    def _parts(self, path: str, places: list[int]) -> list[tuple[str, int]]:
        """Each place with the part of the outline that it lies in."""
        if not places:
            return []
        if path not in self._ranges:
            self._ranges[path] = parts(self.source(path).text)
        ranges = self._ranges[path]
        starts = [start for _, start, _ in ranges]
        return [(ranges[bisect_right(starts, place) - 1][0], place) for place in places]

    def defines(self, path: str, name: str) -> bool:
        """Whether a file defines a function or class of a name at its top."""
        return name in self.outline(path)

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
            digest = content_digest(data)
            self._stored[path] = stat, digest
            self._answers.setdefault(path, self._cache.facts_of(path, digest) or {})
            source = Source.decode(path, data)
        except (OSError, DecodeError):
            self._answers.setdefault(path, {})
        self._sources[path] = source


def _place(fact: Fact) -> tuple[int, int]:
    return fact.row, fact.column

"""What is known of the files of a project, worked out once and kept in the cache."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

from detlint.cache import content_digest
from detlint.project.facts import Fact, read_facts
from detlint.project.imports import Import, imports
from detlint.source import DecodeError, Source

if TYPE_CHECKING:
    from detlint.cache import Cache

# Answers by question, as JSON keeps them: "imports", a kind of facts, "uses" or "defines".
_Answers = dict[str, Any]


class Files:
    """Answers about files by real path. A source that is handed in stands for its file."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self._sources: dict[str, Source] = {}
        self._answers: dict[str, _Answers] = {}
        self._stored: dict[str, tuple[os.stat_result, str]] = {}
        self._changed: set[str] = set()

    def replace(self, path: str, source: Source) -> None:
        """Take this text for a file's: it is being fixed, or comes from standard input."""
        self._sources[path] = source
        self._answers[path] = {}
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
            self._learn(path, "imports", [[each.module, each.level, list(each.names)] for each in found])
        return [Import(module, level, tuple(names)) for module, level, names in answers["imports"]]

    def facts(self, path: str, kind: str) -> list[Fact]:
        """The facts of one kind in a file."""
        answers = self._of(path)
        if kind not in answers:
            found = read_facts(self.source(path), kind)
            self._learn(path, kind, [list(each) for each in found])
        return [Fact(*each) for each in answers[kind]]

    def uses(self, path: str, name: str) -> bool:
        """Whether a file names something other than by defining it."""
        return self._asked(path, "uses", name, rf"(?<!def )(?<!class )\b{name}\b")

    def defines(self, path: str, name: str) -> bool:
        """Whether a file defines a function or class of a name."""
        return self._asked(path, "defines", name, rf"^[ \t]*(?:async[ \t]+)?(?:def|class) {name}\b")

    def save(self) -> None:
        """Hand what is new to the cache."""
        for path in sorted(self._changed):
            if path in self._stored:
                self._cache.store_facts(path, *self._stored[path], self._answers[path])
        self._changed.clear()

    def _asked(self, path: str, question: str, name: str, pattern: str) -> bool:
        known = self._of(path).setdefault(question, {})
        if name not in known:
            text = self.source(path).text
            known[name] = name in text and bool(re.search(pattern, text, re.MULTILINE))
            self._changed.add(path)
        return bool(known[name])

    def _learn(self, path: str, question: str, answer: object) -> None:
        self._of(path)[question] = answer
        self._changed.add(path)

    def _of(self, path: str) -> _Answers:
        if path not in self._answers:
            kept = None
            try:
                kept = self._cache.facts(path, os.stat(path))
            except OSError:
                pass
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

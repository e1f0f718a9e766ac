"""The instructions of a Dockerfile: lines that go on behind a backslash, and here-documents."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_ESCAPE = re.compile(r"#[ \t]*escape[ \t]*=[ \t]*([\\`])", re.IGNORECASE)
_NAMED = re.compile(r"[ \t]*(?:ONBUILD[ \t]+)?([A-Za-z]+)[ \t]+", re.IGNORECASE)
_DOCUMENT = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w*)\1")
_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")


class Instruction(NamedTuple):
    """``name`` in capitals; its argument with the place of each letter, and of the end.
    ``document`` is where the first here-document begins in the argument, -1 without such."""

    name: str
    start: int
    end: int
    text: str
    places: tuple[int, ...]
    document: int = -1


def instructions(text: str) -> tuple[list[Instruction], list[tuple[int, int]]]:
    """The instructions, and the spans of the comments."""
    lines = [(match.start(), match[0]) for match in _LINE.finditer(text)]
    escape = _ESCAPE.match(text)
    reading = _Reading(lines, escape[1] if escape else "\\")
    return list(reading.read()), reading.comments


class _Reading:
    def __init__(self, lines: list[tuple[int, str]], escape: str) -> None:
        self._lines = lines
        self._escape = escape
        self._next = 0
        self.comments: list[tuple[int, int]] = []

    def read(self) -> Iterator[Instruction]:
        while self._next < len(self._lines):
            logical = list(self._logical())
            text = "".join(piece for _, piece in logical)
            match = _NAMED.match(text)
            if match is None:
                continue
            places = [start + index for start, piece in logical for index in range(len(piece))]
            end = places[-1] + 1
            name = match[1].upper()
            document = -1
            found = _DOCUMENT.search(text) if name in ("RUN", "COPY", "ADD") else None
            if found is not None and "<<<" not in text:
                document = len(text) + 1 - match.end()
                body = list(self._document(found[2]))
                text = f"{text}\n" + "".join(piece for _, piece in body)
                places.append(end)
                places += [start + index for start, piece in body for index in range(len(piece))]
                end = places[-1] + 1
            argument = tuple(places[match.end() :])
            yield Instruction(name, places[0], end, text[match.end() :], (*argument, end), document)

    def _logical(self) -> Iterator[tuple[int, str]]:
        """A line and those that it goes on in: without the escapes, and comments between."""
        begun = False
        while self._next < len(self._lines):
            start, line = self._lines[self._next]
            self._next += 1
            content = line.rstrip("\r\n")
            bare = content.lstrip(" \t")
            if bare.startswith("#"):
                self.comments.append((start + len(content) - len(bare), start + len(content)))
            elif bare or not begun:
                stripped = content.rstrip(" \t")
                goes_on = stripped.endswith(self._escape)
                yield start, stripped[:-1] if goes_on else content
                begun = goes_on
            if not begun:
                return

    def _document(self, word: str) -> Iterator[tuple[int, str]]:
        while self._next < len(self._lines):
            start, line = self._lines[self._next]
            self._next += 1
            yield start, line
            if line.strip() == word:
                return

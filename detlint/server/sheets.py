"""Open documents: their texts, and places in them as the protocol counts."""

from __future__ import annotations

import json
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.notebooks.notebook import Notebook
from detlint.sources.decoding import from_text
from detlint.sources.source import line_starts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.finding import Finding
    from detlint.sources.source import Source


class Position(NamedTuple):
    """Line and character from 0; what a character is, client and server agree on."""

    line: int
    character: int


class Place(NamedTuple):
    """A range of a document."""

    uri: str
    start: Position
    end: Position


class Change(NamedTuple):
    """New text for a range, or for all of a document."""

    text: str
    start: Position | None = None
    end: Position | None = None


def _utf16(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def _utf8(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


UNITS: dict[str, Callable[[str], int]] = {"utf-8": _utf8, "utf-16": _utf16, "utf-32": len}


class Text:
    """A text whose places are counted in some unit, as in "utf-16"."""

    def __init__(self, text: str, unit: str = "utf-16") -> None:
        self.text = text
        self.unit = unit

    @cached_property
    def starts(self) -> Sequence[int]:
        """Offset of the first character of each line."""
        return line_starts(self.text)

    def position(self, offset: int) -> Position:
        """The place of a character."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self.starts, offset) - 1
        return Position(line, UNITS[self.unit](self.text[self.starts[line] : offset]))

    def offset(self, position: Position) -> int:
        """The character at a place; the nearest, where there is none."""
        line, character = position
        if line >= len(self.starts):
            return len(self.text)
        start = self.starts[max(line, 0)]
        last = line + 1 >= len(self.starts)
        end = len(self.text) if last else self.starts[line + 1]
        row = self.text[start:end].rstrip("\r\n")
        if row.isascii():
            return start + min(max(character, 0), len(row))
        measure, passed = UNITS[self.unit], 0
        for place, each in enumerate(row):
            if passed >= character:
                return start + place
            passed += measure(each)
        return start + len(row)

    def changed(self, change: Change) -> Text:
        """The text after a change."""
        if change.start is None or change.end is None:
            return Text(change.text, self.unit)
        start, end = self.offset(change.start), self.offset(change.end)
        return Text(f"{self.text[:start]}{change.text}{self.text[end:]}", self.unit)


class Cell(NamedTuple):
    """A cell of an open notebook."""

    uri: str
    is_code: bool
    text: Text


class _Part(NamedTuple):
    """A document, and where its text lies in that of the sheet."""

    uri: str
    text: Text
    start: int


class Sheet:
    """A document, or a notebook with one for each cell, at one version.

    path  that of the file, which need not be there
    """

    def __init__(
        self,
        uri: str,
        path: str,
        version: int | None,
        content: Text | Sequence[Cell],
    ) -> None:
        self.uri = uri
        self.path = path
        self.version = version
        self.content = content

    @cached_property
    def source(self) -> Source:
        """What is linted. Raises DecodeError."""
        return from_text(self.path, self.text)

    @cached_property
    def text(self) -> str:
        """What the file would hold: of a notebook, JSON."""
        content = self.content
        return content.text if isinstance(content, Text) else _document(content)

    @cached_property
    def parts(self) -> list[_Part]:
        """The documents that hold code, in order."""
        if isinstance(self.content, Text):
            return [_Part(self.uri, self.content, 0)]
        cells, source = self.content, self.source
        placed = source.cells if isinstance(source, Notebook) else []
        return [
            _Part(cells[cell.number - 1].uri, cells[cell.number - 1].text, start)
            for cell, start, _ in placed
        ]

    @property
    def uris(self) -> list[str]:
        """Its documents, those without code among them."""
        return [self.uri] if isinstance(self.content, Text) else [each.uri for each in self.content]

    def place(self, start: int, end: int) -> Place | None:
        """A range of the source's text; None where that is not within one document."""
        for part in self.parts:
            first, last = start - part.start, end - part.start
            if 0 <= first <= last <= len(part.text.text):
                return Place(part.uri, part.text.position(first), part.text.position(last))
        return None

    def offset(self, uri: str, position: Position) -> int | None:
        """The character of the source's text at a place of a document."""
        for part in self.parts:
            if part.uri == uri:
                return part.start + part.text.offset(position)
        return None

    def place_of(self, finding: Finding) -> Place | None:
        """Where a finding stands."""
        return self.place_between(finding[1:5])

    def place_between(self, rows: tuple[int, int, int, int]) -> Place | None:
        """A range by its rows and columns."""
        row, column, end_row, end_column = rows
        content = self.content
        starts = content.starts if isinstance(content, Text) else self.source.line_starts
        if not 0 < row <= end_row <= len(starts):
            return None
        return self.place(starts[row - 1] + column - 1, starts[end_row - 1] + end_column - 1)


def _document(cells: Sequence[Cell]) -> str:
    return json.dumps(
        {
            "cells": [
                {
                    "cell_type": "code" if each.is_code else "markdown",
                    "metadata": {},
                    "source": each.text.text,
                    **({"execution_count": None, "outputs": []} if each.is_code else {}),
                }
                for each in cells
            ],
            "metadata": {},
            "nbformat": 4,
            "nbformat_minor": 4,
        }
    )

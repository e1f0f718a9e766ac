"""One input: its text, the bytes of it, and offsets as rows and columns."""

from __future__ import annotations

import re
import sys
from array import array
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING

from detlint.sources.kinds import PYTHON

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from detlint.finding import Edit

# Only these end a line for Python; str.splitlines also breaks at form feeds and more.
_NEWLINE = re.compile(r"\r\n|\r|\n")


_CONFLICT = ("<<<<<<< ", ">>>>>>> ")
CONFLICT = "a conflict marker of a merge is left here"


def conflict(text: str) -> int:
    """The row of the first line that git wrote around two sides of a merge, 0 for none."""
    places = [("\n" + text).find("\n" + each) for each in _CONFLICT]
    return min((text.count("\n", 0, at) + 1 for at in places if at >= 0), default=0)


class DecodeError(Exception):
    """The bytes are not text in the encoding that the file declares."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.message = message
        self.row = row
        self.column = column


class Source:
    """A file's text, with what is needed to write it back as it was.

    written  the text as it is in the file; in ``text`` what is no Python may be masked
    beside   gives the text of a script of the project by the path that this one names, if asked
    """

    beside: Callable[[str], str | None] | None = None

    def __init__(
        self,
        path: str,
        text: str,
        encoding: str = "utf-8",
        bom: bytes = b"",
        kind: str = PYTHON,
    ) -> None:
        self.path = path
        self.kind = kind
        self.text = self.written = text
        self.encoding = encoding
        self.bom = bom

    @property
    def code(self) -> Source:
        """What of it can be read as Python: all, but of a notebook with cells that are none."""
        return self

    def with_text(self, text: str) -> Source:
        """The same file holding another text."""
        return Source(self.path, text, self.encoding, self.bom, self.kind)

    def rewritten(self, edits: Iterable[Edit]) -> Source:
        """The same file after edits, disjoint and in order."""
        pieces, position = [], 0
        for edit in edits:
            pieces += [self.written[position : edit.start], edit.replacement]
            position = edit.end
        return self.with_text("".join([*pieces, self.written[position:]]))

    def encode(self) -> bytes:
        """The bytes of the file. Raises UnicodeEncodeError where its encoding lacks a character."""
        return self.bom + self.written.encode(self.encoding)

    @cached_property
    def newline(self) -> str:
        """The line ending of the first line, which new lines copy."""
        return newline(self.text) or "\n"

    @cached_property
    def line_starts(self) -> Sequence[int]:
        """Offset of the first character of each line."""
        return line_starts(self.text)

    def location(self, offset: int) -> tuple[int, int]:
        """The 1-based row and column of a character offset."""
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def spoken_place(self, offset: int) -> str:
        """The line of an offset, as a message says it."""
        return f"line {self.location(offset)[0]}"

    def shown_row(self, row: int) -> str:
        """A row, as it stands behind the name of the file: ``4``."""
        return str(row)

    def line(self, row: int) -> str:
        """Line ``row`` (1-based), as it is written, without its ending."""
        starts = self.line_starts
        end = starts[row] if row < len(starts) else len(self.text)
        return self.written[starts[row - 1] : end].rstrip("\r\n")


def newline(text: str, start: int = 0, end: int = sys.maxsize) -> str:
    """The first line ending in a range of a text, "" for none."""
    match = _NEWLINE.search(text, start, end)
    return match[0] if match else ""


def line_starts(text: str) -> Sequence[int]:
    """Offset of the first character of each line of a text: as a list, those of all files of a
    project take nine times as much."""
    if "\r" in text:
        return array("q", [0, *(match.end() for match in _NEWLINE.finditer(text))])
    lengths = map((1).__add__, map(len, text.split("\n")))
    return array("q", accumulate(lengths, initial=0))[:-1]

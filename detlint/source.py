"""One input, decoded once: bytes to text and back, and offsets to rows and columns."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.kinds import NOTEBOOK, PYTHON, kind_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from detlint.finding import Edit

# PEP 263: the cookie stands in a comment on line 1, or on line 2 below a comment or blank line.
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_BLANK = re.compile(rb"^[ \t\f]*(?:#.*)?$")
# Only these end a line for Python; str.splitlines also breaks at form feeds and more.
# Where a cell begins in a script that editors run like a notebook.
_CELL = re.compile(r"^#[ \t]*%%", re.MULTILINE)
_NEWLINE = re.compile(r"\r\n|\r|\n")
_LINE_FEED = re.compile(r"\n")  # plain text, which sre finds fast


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

    @classmethod
    def decode(cls, path: str, data: bytes) -> Source:
        """Decode as Python does, or as UTF-8. Raises DecodeError, which says where and why."""
        kind = kind_of(path, data)
        bom = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        body = data[len(bom) :]
        encoding = "utf-8" if bom or kind != PYTHON else declared_encoding(body)
        if b"\0" in body:
            row, column = _place(body, body.index(b"\0"))
            raise DecodeError("source code cannot contain null bytes", row, column)
        try:
            text = body.decode(encoding)
        except UnicodeDecodeError as error:
            row, column = _place(body, error.start)
            byte = body[error.start]
            message = f"byte 0x{byte:02x} is not valid {encoding}: {error.reason}"
            raise DecodeError(message, row, column) from error
        if kind == NOTEBOOK:
            from detlint.notebooks.notebook import Notebook

            return Notebook(path, text, bom)
        if kind == PYTHON and _holds_cell(text):
            from detlint.notebooks.script import Script

            return Script(path, text, encoding, bom)
        return cls(path, text, encoding, bom, kind)

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
        match = _NEWLINE.search(self.text)
        return match.group() if match else "\n"

    @cached_property
    def line_starts(self) -> list[int]:
        """Offset of the first character of each line."""
        return line_starts(self.text)

    def location(self, offset: int) -> tuple[int, int]:
        """The 1-based row and column of a character offset."""
        row = bisect_right(self.line_starts, offset)
        return row, offset - self.line_starts[row - 1] + 1

    def spoken_place(self, offset: int) -> str:
        """The line of an offset, as a message says it."""
        return f"line {self.location(offset)[0]}"

    def line(self, row: int) -> str:
        """Line ``row`` (1-based), as it is written, without its ending."""
        starts = self.line_starts
        end = starts[row] if row < len(starts) else len(self.text)
        return self.written[starts[row - 1] : end].rstrip("\r\n")


def line_starts(text: str) -> list[int]:
    """Offset of the first character of each line of a text."""
    endings = _NEWLINE if "\r" in text else _LINE_FEED
    return [0, *(match.end() for match in endings.finditer(text))]


def _holds_cell(text: str) -> bool:
    place = text.find("%")  # eight times as fast as looking for two
    while place >= 0:
        if text.startswith("%%", place):
            return _CELL.search(text) is not None
        place = text.find("%", place + 1)
    return False


def declared_encoding(body: bytes) -> str:
    """The codec of a PEP 263 cookie, else UTF-8. Raises DecodeError for one Python lacks."""
    if b"coding" not in body[:2000]:
        return "utf-8"
    for row, line in enumerate(re.split(rb"\r\n|\r|\n", body[:2000], maxsplit=2)[:2], start=1):
        match = _COOKIE.match(line)
        if match:
            name = match.group(1).decode("ascii", "replace")
            try:
                codec = codecs.lookup(name)
            except LookupError:
                raise DecodeError(f"unknown encoding: {name}", row) from None
            # "rot13" and "hex" are codecs too, but not of text.
            if not getattr(codec, "_is_text_encoding", True):
                raise DecodeError(f"{name} is not a text encoding", row)
            return codec.name
        if not _BLANK.match(line):
            break
    return "utf-8"


def _place(body: bytes, index: int) -> tuple[int, int]:
    before = body[:index]
    lines = re.split(rb"\r\n|\r|\n", before)
    return len(lines), len(lines[-1].decode("utf-8", "replace")) + 1

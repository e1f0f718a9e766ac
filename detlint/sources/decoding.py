"""Bytes to text, as Python reads them."""

from __future__ import annotations

import codecs
import re

from detlint.sources.kinds import NOTEBOOK, PYTHON, kind_of
from detlint.sources.source import DecodeError, Source

# PEP 263: the cookie stands in a comment on line 1, or on line 2 below a comment or blank line.
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


def decode(path: str, data: bytes) -> Source:
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
    return _made(path, kind, text, encoding, bom)


def from_text(path: str, text: str) -> Source:
    """A text that was decoded already: what an editor shows. Raises DecodeError."""
    if "\0" in text:
        return decode(path, text.encode("utf-8", "surrogatepass"))  # which says where
    kind = kind_of(path, text[:512].encode("utf-8", "replace"))
    return _made(path, kind, text, "utf-8", b"")


def _made(path: str, kind: str, text: str, encoding: str, bom: bytes) -> Source:
    if kind == NOTEBOOK:
        from detlint.notebooks.notebook import Notebook

        return Notebook(path, text, bom)
    if kind == PYTHON and _holds_cell(text):
        from detlint.notebooks.magics import Script

        return Script(path, text, encoding, bom)
    return Source(path, text, encoding, bom, kind)


def _holds_cell(text: str) -> bool:
    """Whether a cell begins in a script that editors run like a notebook: ``# %%``."""
    place = text.find("%")  # eight times as fast as looking for two
    while place >= 0:
        before = (
            text[text.rfind("\n", 0, place) + 1 : place] if text.startswith("%%", place) else ""
        )
        if before.rstrip(" \t") == "#":
            return True
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
        if line.strip(b" \t\f")[:1] not in (b"", b"#"):
            break
    return "utf-8"


def _place(body: bytes, index: int) -> tuple[int, int]:
    before = body[:index]
    lines = re.split(rb"\r\n|\r|\n", before)
    return len(lines), len(lines[-1].decode("utf-8", "replace")) + 1

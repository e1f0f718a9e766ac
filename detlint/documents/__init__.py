"""Sources other than Python, one kind a file: ``read(source)`` gives a Document."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.documents.document import Document
from detlint.sources.source import CONFLICT, conflict

if TYPE_CHECKING:
    from detlint.sources.source import Source

__all__ = ["Document", "Unreadable", "read"]


class Unreadable(Exception):  # noqa: N818 - as in "unreadable-source"
    """A document that does not parse, with its 1-based place."""

    def __init__(self, message: str, row: int = 1, column: int = 1) -> None:
        super().__init__(message)
        self.place = message, row, column


def read(source: Source) -> Document:
    """What a source says that rules ask about. Raises Unreadable."""
    from importlib import import_module

    try:
        document: Document = import_module(f"{__name__}.{source.kind}").read(source)
    except Unreadable:
        if row := conflict(source.text):
            raise Unreadable(CONFLICT, row) from None
        raise
    return document

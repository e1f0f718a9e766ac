"""CUDA and C++ sources: text, of which only the comments are told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.cuda_text import comments
from detlint.documents.document import Document

if TYPE_CHECKING:
    from detlint.source import Source


def read(source: Source) -> Document:
    """The text and its comments."""
    return Document(source, (), comments(source.text))

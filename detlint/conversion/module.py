"""A text in, libcst's tree of it out."""

from __future__ import annotations

import ast
import warnings
from typing import TYPE_CHECKING

from detlint.conversion.literals import UnsupportedError
from detlint.conversion.statements import Statements
from detlint.lexer import masked

if TYPE_CHECKING:
    import libcst as cst


class Converted:
    """The tree of a text. Raises UnsupportedError where it has to be made by libcst."""

    def __init__(self, text: str) -> None:
        if not (text.isascii() or masked(text).isascii()):
            raise UnsupportedError("Python's tree has such names in another form")
        made = Statements(text)
        self.module = made.module(_parsed(text))
        self._places, self._found = made.places, made.found

    def span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Start and end of a node in the text, parentheses excluded; None if that is not known."""
        placed = self._found.get(id(node))
        return None if placed is None else self._places.span(node, placed)


def _parsed(text: str) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # invalid escapes are another linter's business
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise UnsupportedError(str(error)) from error

"""A text in, libcst's tree of it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.conversion.literals import UnsupportedError
from detlint.conversion.statements import Statements
from detlint.lexer import masked
from detlint.syntax import REFUSALS, parsed

if TYPE_CHECKING:
    import ast

    import libcst as cst


class Converted:
    """The tree of a text. Raises UnsupportedError where it has to be made by libcst."""

    def __init__(self, text: str) -> None:
        if not (text.isascii() or masked(text).isascii()):
            raise UnsupportedError("Python's tree has such names in another form")
        made = Statements(text)
        self.module = made.module(_tree(text))
        self._places, self._found = made.places, made.found

    def span(self, node: cst.CSTNode) -> tuple[int, int] | None:
        """Start and end of a node in the text, parentheses excluded; None if that is not known."""
        placed = self._found.get(id(node))
        return None if placed is None else self._places.span(node, placed)


def _tree(text: str) -> ast.Module:
    try:
        return parsed(text)
    except REFUSALS as error:
        raise UnsupportedError(str(error)) from error

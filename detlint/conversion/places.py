"""Where the nodes of Python's tree stand in a text."""

from __future__ import annotations

import ast
import re

import libcst as cst

from detlint.source import line_starts

Placed = ast.expr | ast.stmt | ast.arg | ast.keyword

_DEFINED = re.compile(r"(?:async\s+)?(?:def|class)[\s\\]+")
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


class Places:
    """Offsets in a text, in characters, of places that Python gives as lines and bytes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._lines = line_starts(text)
        self._is_ascii = text.isascii()

    def start(self, node: Placed) -> int:
        """Where a node begins."""
        return self._offset(node.lineno, node.col_offset)

    def end(self, node: Placed) -> int:
        """Where a node ends."""
        return self._offset(node.end_lineno or 0, node.end_col_offset or 0)

    def line(self, row: int) -> int:
        """Where a 1-based row begins."""
        return self._lines[row - 1]

    def span(self, made: cst.CSTNode, node: Placed) -> tuple[int, int] | None:
        """Start and end of a node of libcst's that was made of one of Python's, or of a word
        that this holds; None if a comment is in the way."""
        if type(made) is not cst.Name or isinstance(node, (ast.Name, ast.Constant)):
            return self._span(node)
        length = len(made.value)
        if isinstance(node, ast.Attribute):
            end = self.end(node)
            return end - length, end
        start = self.start(node)
        if isinstance(node, _DEFINITIONS):
            defined = _DEFINED.match(self._text, start)
            start = defined.end() if defined else start
        return start, start + length

    def is_in_parentheses(self, node: ast.Tuple) -> bool:
        """Whether the parentheses at both ends of a tuple are its own: those of ``(a), (b)`` are
        of its elements."""
        start, end = self.start(node), self.end(node)
        if self._text[start] != "(" or self._text[end - 1] != ")":
            return False
        if not node.elts:
            return True
        before = self._text[start : self.start(node.elts[0])]
        after = self._text[self.end(node.elts[0]) : end].partition(",")[0]
        return before.count("(") > after.count(")")

    def _span(self, node: Placed) -> tuple[int, int] | None:
        start, end = self.start(node), self.end(node)
        if isinstance(node, ast.GeneratorExp) or (
            isinstance(node, ast.Tuple) and self.is_in_parentheses(node)
        ):
            return self._without_blanks(start + 1, end - 1)
        if self._text[end - 1] == ";":  # of the last statement of a block
            return self._without_blanks(start, end - 1)
        return start, end

    def _without_blanks(self, start: int, end: int) -> tuple[int, int] | None:
        code = self._text[start:end]
        inner = code.strip()
        if inner.startswith("#") or "#" in inner.rpartition("\n")[2]:
            return None
        return end - len(code.lstrip()), start + len(code.rstrip())

    def _offset(self, row: int, column: int) -> int:
        line = self._lines[row - 1]
        if self._is_ascii:
            return line + column
        before = self._text[line : line + column].encode("utf-8")[:column]
        return line + len(before.decode("utf-8"))

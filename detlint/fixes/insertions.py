"""Where a fix can insert statements into a file, read from Python's own tree of it.

A file that this Python cannot read has no such places.
"""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.finding import Edit
from detlint.syntax.parsing import REFUSALS, parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.sources.source import Source

_INLINE = "; "


class Place(NamedTuple):
    """An offset, and what parts a statement there from the code around it and from another."""

    offset: int
    before: str
    between: str
    after: str

    def insert(self, *statements: str) -> Edit:
        """The edit that inserts statements."""
        text = f"{self.before}{self.between.join(statements)}{self.after}"
        return Edit(self.offset, self.offset, text)


def with_import(source: Source, name: str, *edits: Edit) -> tuple[Edit, ...]:
    """Edits of code that uses a module, and the edit that imports it at the top of the file unless
    that is done above them; none where there is no place for it, or the name is taken."""
    body = _body(source.text)
    if not body or _is_taken(source.text, name):
        return ()
    used = min(each.start for each in edits)
    if is_imported(source, name, used):
        return edits
    return (_at_top(source, body).insert(f"import {name}"), *edits)


def below_imports(source: Source, row: int = 0) -> Place | None:
    """Where calls can follow the imports at the top of a file, and the statement of a row."""
    body = _body(source.text)
    return _at_top(source, body, row, blank_line=source.newline) if body else None


def in_block(source: Source, row: int) -> Place | None:
    """Where calls can come first in the block of the ``if`` that begins in a row."""
    for each in _body(source.text):
        if isinstance(each, ast.If) and each.lineno == row:
            line, start = _start(source, each.body[0])
            indent = source.text[line:start]
            parting = _INLINE if indent.strip() else f"{source.newline}{indent}"
            return Place(start, "", parting, parting)
    return None


def imports_of(source: Source, library: str) -> Iterator[tuple[int, str, str]]:
    """The imports of a library, or of something in it, at the top of a file: the row, the module,
    and the name that stands for it, "" where single names of it are imported."""
    for each in _body(source.text):
        if isinstance(each, ast.Import):
            found = [(name.name, name.asname or name.name) for name in each.names]
        elif isinstance(each, ast.ImportFrom) and not each.level:
            found = [(each.module or "", "")]
        else:
            continue
        for module, name in found:
            if module.partition(".")[0] == library:
                yield each.lineno, module, name


def is_imported(source: Source, name: str, before: int) -> bool:
    """Whether a module is imported by its own name above an offset."""
    return any(_end(source, each) <= before for each in _imports(source.text, name))


def rows_at_load(source: Source, main: int) -> set[int]:
    """The rows of what runs as a file is loaded, without the main block that begins in a row:
    statements outside of functions and classes, and those of these that they call."""
    defined, running = {}, []
    for each in _body(source.text):
        if isinstance(each, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            defined[each.name] = each
        elif each.lineno != main:
            running.append(each)
    for each in running:  # grows
        called = (node.func for node in ast.walk(each) if isinstance(node, ast.Call))
        names = [node.id for node in called if isinstance(node, ast.Name) and node.id in defined]
        running += [defined.pop(name) for name in dict.fromkeys(names)]
    return {row for each in running for row in range(each.lineno, (each.end_lineno or 0) + 1)}


@lru_cache(maxsize=1)  # each finding in a file asks
def _body(text: str) -> list[ast.stmt]:
    try:
        return parsed(text).body
    except REFUSALS:
        return []


def _at_top(source: Source, body: list[ast.stmt], row: int = 0, *, blank_line: str = "") -> Place:
    newline = source.newline
    end_of_head = next((at for at, each in enumerate(body) if not _is_head(each)), len(body))
    above = body[:end_of_head]
    if row:
        above = [*above, *(each for each in body[end_of_head:] if each.lineno == row)]
    if not above:
        line, _ = _start(source, body[0])
        return Place(line, blank_line, newline, f"{newline}{blank_line}")
    end = _end(source, above[-1])
    row, starts = above[-1].end_lineno or 0, source.line_starts
    next_line = starts[row] if row < len(starts) else len(source.text)
    rest = source.text[end:next_line].rstrip("\r\n")
    if rest.strip(" \t\f;") and not rest.lstrip(" \t\f;").startswith("#"):
        return Place(end, _INLINE, _INLINE, "")
    return Place(end + len(rest), f"{newline}{blank_line}", newline, "")


def _is_head(statement: ast.stmt) -> bool:
    """Whether it is an import, or a value alone: the docstring, a licence."""
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant)
    return isinstance(statement, (ast.Import, ast.ImportFrom))


@lru_cache(maxsize=1)  # each finding in a file asks
def _imports(text: str, name: str) -> list[ast.stmt]:
    """The statements at the top level that import a module by its own name."""
    return [
        statement
        for statement in _body(text)
        if isinstance(statement, ast.Import)
        and any(
            name in (each.name, each.name.partition(".")[0]) and each.asname in (None, name)
            for each in statement.names
        )
    ]


@lru_cache(maxsize=1)  # each finding in a file asks
def _is_taken(text: str, name: str) -> bool:
    """Whether a file calls anything but the module of a name by that name."""
    return name in text and any(_takes(each, name) for each in ast.walk(parsed(text)))


def _takes(node: ast.AST, name: str) -> bool:
    if isinstance(node, ast.Import):
        return any(each.asname == name != each.name for each in node.names)
    if isinstance(node, ast.ImportFrom):
        return any((each.asname or each.name) == name for each in node.names)
    if isinstance(node, ast.Name):
        return node.id == name and not isinstance(node.ctx, ast.Load)
    if isinstance(node, ast.arg):
        return node.arg == name
    # A function, a class, what an `except` or a pattern catches.
    return not isinstance(node, ast.alias) and getattr(node, "name", "") == name


def _start(source: Source, statement: ast.stmt) -> tuple[int, int]:
    """Where the first line of a statement begins, and where it begins in that line."""
    decorators = getattr(statement, "decorator_list", ())
    row = min([statement.lineno, *(each.lineno for each in decorators)])
    return source.line_starts[row - 1], _offset(source, row, statement.col_offset)


def _end(source: Source, statement: ast.stmt) -> int:
    assert statement.end_lineno is not None  # noqa: S101 - the parser gives both
    assert statement.end_col_offset is not None  # noqa: S101
    return _offset(source, statement.end_lineno, statement.end_col_offset)


def _offset(source: Source, row: int, column: int) -> int:
    """The offset of a place that counts the bytes of UTF-8 in a line."""
    start = source.line_starts[row - 1]
    line = source.text[start : start + column].encode()
    return start + len(line[:column].decode())

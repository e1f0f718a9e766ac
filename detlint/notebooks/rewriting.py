"""Edits of cells, written into the notebook's JSON: of it all, only the strings that an edit
touches change, and of these only what it replaces."""

from __future__ import annotations

import re
from bisect import bisect_right
from json import dumps
from typing import TYPE_CHECKING, NamedTuple

from detlint.sources.source import DecodeError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.finding import Edit
    from detlint.notebooks.cells import Cell, Literal
    from detlint.notebooks.notebook import Placed

# How JSON spells one character.
_CHARACTER = re.compile(
    r"\\u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|\\u[\da-fA-F]{4}|\\.|[^\\]",
    re.DOTALL,
)
_ESCAPED = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])")
# In a list, each line is a string.
_LINE = re.compile(r"(?:(?!\\n)(?:\\.|[^\\]))*(?:\\n)?", re.DOTALL)


class _Group(NamedTuple):
    """Edits, and the literals ``first`` to ``last`` of a cell that they touch."""

    first: int
    last: int
    edits: list[Edit]


class _Style(NamedTuple):
    """How a notebook is written: what is between lines, and whether letters are escaped."""

    separator: str
    escapes: bool


def rewrite(document: str, cells: Sequence[Placed], edits: Iterable[Edit]) -> str:
    """The JSON after edits of the text of its cells, of which none reaches into another.

    Raises DecodeError for an edit that is not of one cell: it cannot be written.
    """
    starts = [start for _, start, _ in cells]
    by_cell: dict[int, list[Edit]] = {}
    for edit in edits:
        index = bisect_right(starts, edit.start) - 1
        if index < 0 or edit.start > cells[index].end or edit.end > cells[index].end + 1:
            raise DecodeError("an edit reaches beyond its cell")
        by_cell.setdefault(index, []).append(_clipped(edit, cells[index]))
    style = _style(document, [cell for cell, _, _ in cells])
    pieces, position = [], 0
    for index in sorted(by_cell):
        cell, start, _ = cells[index]
        for first, end, text in _changes(document, cell, start, by_cell[index], style):
            pieces += [document[position:first], text]
            position = end
    return "".join([*pieces, document[position:]])


def _clipped(edit: Edit, placed: Placed) -> Edit:
    """An edit without the end of the cell's last line, which is not written in it."""
    cell, start, end = placed
    if edit.end <= end:
        return edit
    above = cell.text[: edit.start - start]
    if edit.replacement or not above.endswith("\n"):
        return edit._replace(end=end)
    # With the whole line goes the end of the one above, which is the last one then.
    return edit._replace(start=start + len(above.removesuffix("\n").removesuffix("\r")), end=end)


def _style(document: str, cells: Sequence[Cell]) -> _Style:
    lists = [each.literals for each in cells if each.listed and each.literals]
    separator = ", "
    for literals in lists:
        separator = f",{_space_before(document, literals[0].start) or ' '}"
        if len(literals) > 1:
            separator = document[literals[0].end : literals[1].start]
            break
    return _Style(separator, document.isascii() and bool(_ESCAPED.search(document)))


def _space_before(document: str, offset: int) -> str:
    return document[len(document[:offset].rstrip(" \t\r\n")) : offset]


def _changes(
    document: str, cell: Cell, start: int, edits: Sequence[Edit], style: _Style
) -> Iterator[tuple[int, int, str]]:
    """What to replace in the JSON, in order: start, end and text."""
    literals = cell.literals
    if not literals:
        raise DecodeError("an edit in an empty cell")
    starts = [start]
    for literal in literals[:-1]:
        starts.append(starts[-1] + len(literal.value))
    for first, last, near in _groups(starts, edits):
        touched = literals[first : last + 1]
        spelled = _edited(document, touched, starts[first], near, style)
        if not cell.listed or any("\n" in each.value[:-1] for each in touched):
            yield touched[0].start, touched[-1].end, f'"{spelled}"'
        elif spelled:
            lines = style.separator.join(f'"{line}"' for line in _LINE.findall(spelled) if line)
            yield touched[0].start, touched[-1].end, lines
        elif last + 1 < len(literals):
            yield touched[0].start, literals[last + 1].start, ""
        else:
            yield (literals[first - 1].end if first else touched[0].start), touched[-1].end, ""


def _groups(starts: Sequence[int], edits: Sequence[Edit]) -> list[_Group]:
    """Edits that touch the same literals, or neighbours, together and in order."""
    groups: list[_Group] = []
    for edit in sorted(edits, key=lambda each: each[:2]):  # stable: insertions keep their order
        first = bisect_right(starts, edit.start) - 1
        last = max(bisect_right(starts, edit.end - 1) - 1, first)
        if groups and first <= groups[-1].last + 1:
            known = groups.pop()
            groups.append(_Group(known.first, max(known.last, last), [*known.edits, edit]))
        else:
            groups.append(_Group(first, last, [edit]))
    return groups


def _edited(
    document: str, literals: Sequence[Literal], start: int, edits: Sequence[Edit], style: _Style
) -> str:
    """What literals say after edits, spelled as it was where nothing changes."""
    spelled = [
        character
        for each in literals
        for character in _CHARACTER.findall(document, each.start + 1, each.end - 1)
    ]
    pieces, position = [], 0
    for edit in edits:
        pieces += spelled[position : edit.start - start]
        pieces.append(dumps(edit.replacement, ensure_ascii=style.escapes)[1:-1])
        position = edit.end - start
    return "".join([*pieces, *spelled[position:]])

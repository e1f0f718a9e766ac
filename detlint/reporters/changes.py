"""What the fix of a finding changes, as lines that go and lines that come."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.reporters import notebook

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.finding import Edit, Finding
    from detlint.sources.source import Source


class Change(NamedTuple):
    """Neighbouring lines. ``row`` is that of the first one; in a notebook, within its cell."""

    row: int
    before: list[str]
    after: list[str]
    cell: int | None = None


def changes(finding: Finding, source: Source) -> Iterator[Change]:
    """Those of a finding in a source, from top to bottom; none where it is no longer the same."""
    size = len(source.text)
    if any(edit.end > size for edit in finding.edits):
        return
    whole = notebook(finding, source)
    for first, last, edits in _grouped(finding.edits, source):
        start = source.line_starts[first - 1]
        end = source.line_starts[last] if last < len(source.line_starts) else size
        before = _lines(source.written[start:end])
        after = _lines(_edited(source.written, start, end, edits))
        row = first
        while before and after and before[0] == after[0]:
            before, after, row = before[1:], after[1:], row + 1
        while before and after and before[-1] == after[-1]:
            before, after = before[:-1], after[:-1]
        cell = None
        if whole is not None:
            cell, _, _ = whole.place(edits[0].start)
            row = whole.place(start)[1] + row - first
        yield Change(row, before, after, cell)


def _grouped(edits: Sequence[Edit], source: Source) -> Iterator[tuple[int, int, list[Edit]]]:
    """First row, last row and edits of what shares lines."""
    group: list[Edit] = []
    first = last = 0
    for edit in sorted(edits, key=lambda each: each[:2]):  # at one place, as they come
        begin, end = source.location(edit.start)[0], source.location(edit.end)[0]
        if group and begin > last:
            yield first, last, group
            group = []
        if not group:
            first, last = begin, end
        group.append(edit)
        last = max(last, end)
    if group:
        yield first, last, group


def _edited(text: str, start: int, end: int, edits: Sequence[Edit]) -> str:
    pieces, position = [], start
    for edit in edits:
        pieces += [text[position : edit.start], edit.replacement]
        position = edit.end
    return "".join([*pieces, text[position:end]])


def _lines(text: str) -> list[str]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines[:-1] if not lines[-1] else lines

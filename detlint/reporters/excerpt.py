"""The lines that a finding is on, with carets below the range, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.reporters.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.finding import Finding
    from detlint.sources.source import Source

    Paint = Callable[[str, str], str]

# A call of many lines is known by its first ones.
_ROWS = 5
# Characters shown of a line, and how many of them stand before the range: generated code
# has lines of megabytes.
_AROUND = 2  # lines above and below
_WIDTH = 120
_LEAD = 40


class Row(NamedTuple):
    """A line of source as it is shown, in three parts. ``number`` 0: lines are left out here."""

    number: int
    before: str = ""
    marked: str = ""
    after: str = ""
    is_marked: bool = False


def excerpt(finding: Finding, source: Source, paint: Paint) -> Iterator[str]:
    """Lines of output for the lines of source; none where the source has grown shorter."""
    shown = list(rows(finding, source))
    if not shown:
        return
    width = len(str(max(row.number for row in shown)))
    margin = paint(" " * width + " |", "blue")
    yield margin
    for row in shown:
        if not row.number:
            yield f"{margin} ..."
            continue
        text = row.before + row.marked + row.after
        yield f"{paint(f'{row.number:>{width}} |', 'blue')} {text}".rstrip()
        if row.is_marked:
            carets = "^" * max(1, cells(row.marked))
            yield f"{margin} {' ' * cells(row.before)}{paint(carets, 'bold red')}"
    yield margin


def rows(finding: Finding, source: Source) -> Iterator[Row]:
    """The lines of a finding, and those around; nothing in them steers a terminal."""
    last = _last_row(finding, source)
    if finding.row > last:
        return
    marked = range(finding.row, min(last, finding.row + _ROWS - 1) + 1)
    before, after = _around(source, marked[0], last if last == marked[-1] else None)
    for number in before:
        yield _beside(source, number)
    for number in marked:
        yield _cut(finding, source, number)
    if last > marked[-1]:
        yield Row(0)
    for number in after:
        yield _beside(source, number)


def _around(source: Source, first: int, last: int | None) -> tuple[range, range]:
    """The rows above and below that are shown: no blank ones at their outer ends. ``last`` is
    None where the marked ones are cut."""
    above = max(1, first - _AROUND)
    while above < first and not source.line(above).strip():
        above += 1
    if last is None:
        return range(above, first), range(0)
    below = min(len(source.line_starts), last + _AROUND)
    while below > last and not source.line(below).strip():
        below -= 1
    return range(above, first), range(last + 1, below + 1)


def _beside(source: Source, number: int) -> Row:
    text = source.line(number)
    return Row(number, visible(text[:_WIDTH]) + ("..." if len(text) > _WIDTH else ""))


def _last_row(finding: Finding, source: Source) -> int:
    # The end is exclusive: in the first column it leaves that row out.
    beyond = finding.end_row > finding.row and finding.end_column == 1
    return min(finding.end_row - beyond, len(source.line_starts))


def _cut(finding: Finding, source: Source, row: int) -> Row:
    text = source.line(row)
    indent = len(text) - len(text.lstrip())
    start = finding.column - 1 if row == finding.row else indent
    end = finding.end_column - 1 if row == finding.end_row else len(text)
    left = max(0, start - _LEAD) if len(text) > _WIDTH else 0
    right = left + _WIDTH
    end = min(max(start, end), right)
    return Row(
        row,
        ("..." if left else "") + visible(text[left:start]),
        visible(text[start:end]),
        visible(text[end:right]) + ("..." if len(text) > right else ""),
        is_marked=True,
    )


def cells(text: str) -> int:
    """Columns of a terminal that the text takes: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)

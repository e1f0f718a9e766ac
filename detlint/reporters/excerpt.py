"""The lines that a finding is on, with carets below the range, as a terminal shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.finding import Finding
    from detlint.source import Source

    Paint = Callable[[str, str], str]

# A call of many lines is known by its first ones.
_ROWS = 5
# Characters shown of a line, and how many of them stand before the range: generated code
# has lines of megabytes.
_AROUND = 2  # lines above and below
_WIDTH = 120
_LEAD = 40


class _Line(NamedTuple):
    before: str
    marked: str
    after: str


def excerpt(finding: Finding, source: Source, paint: Paint) -> Iterator[str]:
    """Lines of output for the lines of source; none where the source has grown shorter."""
    last = _last_row(finding, source)
    if finding.row > last:
        return
    marked = range(finding.row, min(last, finding.row + _ROWS - 1) + 1)
    before, after = _around(source, marked[0], last if last == marked[-1] else None)
    width = len(str(after[-1] if after else marked[-1]))
    margin = paint(" " * width + " |", "blue")
    yield margin
    for row in before:
        yield _beside(source, row, width, paint)
    for row in marked:
        line = _cut(finding, source, row)
        carets = "^" * max(1, cells(line.marked))
        yield f"{paint(f'{row:>{width}} |', 'blue')} {visible(''.join(line))}"
        yield f"{margin} {' ' * cells(line.before)}{paint(carets, 'bold red')}"
    if last > marked[-1]:
        yield f"{margin} ..."
    for row in after:
        yield _beside(source, row, width, paint)
    yield margin


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


def _beside(source: Source, row: int, width: int, paint: Paint) -> str:
    text = source.line(row)
    cut = visible(text[:_WIDTH]) + ("..." if len(text) > _WIDTH else "")
    return f"{paint(f'{row:>{width}} |', 'blue')} {cut}".rstrip()


def _last_row(finding: Finding, source: Source) -> int:
    # The end is exclusive: in the first column it leaves that row out.
    beyond = finding.end_row > finding.row and finding.end_column == 1
    return min(finding.end_row - beyond, len(source.line_starts))


def _cut(finding: Finding, source: Source, row: int) -> _Line:
    text = source.line(row)
    indent = len(text) - len(text.lstrip())
    start = finding.column - 1 if row == finding.row else indent
    end = finding.end_column - 1 if row == finding.end_row else len(text)
    left = max(0, start - _LEAD) if len(text) > _WIDTH else 0
    right = left + _WIDTH
    end = min(max(start, end), right)
    return _Line(
        ("..." if left else "") + visible(text[left:start]),
        visible(text[start:end]),
        visible(text[end:right]) + ("..." if len(text) > right else ""),
    )


def cells(text: str) -> int:
    """Columns of a terminal that the text takes: two for a wide character, none for an accent."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)

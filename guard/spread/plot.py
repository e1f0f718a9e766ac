"""A line for each run and one for the mean, on a common axis."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

WIDTH = 41  # an odd number has a middle


class Row(NamedTuple):
    """What a line shows: a value, and the ends of its interval, if it has one."""

    label: str
    value: float
    ends: tuple[float, float] | None = None


class Marks(NamedTuple):
    """The characters of a plot."""

    border: str = "│"
    run: str = "●"
    mean: str = "◆"
    left: str = "├"
    line: str = "─"
    right: str = "┤"


ASCII = Marks("|", "o", "#", "[", "-", "]")


def marks_for(encoding: str | None) -> Marks:
    """Those that a stream can show."""
    try:
        "".join(Marks()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return Marks()


def draw(rows: Sequence[Row], shown: Callable[[float], str], marks: Marks) -> list[str]:
    """The lines of a plot, with an axis below."""
    points = [each for row in rows for each in (row.value, *(row.ends or ()))]
    low, high = min(points), max(points)
    labels = max(len(row.label) for row in rows)
    numbers = max(len(shown(row.value)) for row in rows)
    lines = [
        f"  {row.label:<{labels}}  {shown(row.value):>{numbers}}  "
        f"{marks.border}{_strip(row, low, high, marks)}{marks.border}"
        for row in rows
    ]
    if low == high:
        return lines
    left, right = shown(low), shown(high)
    axis = left + right.rjust(WIDTH + 2 - len(left))
    return [*lines, " " * (labels + numbers + 6) + axis]


def _strip(row: Row, low: float, high: float, marks: Marks) -> str:
    cells = [" "] * WIDTH
    if row.ends is not None:
        first, last = (_column(end, low, high) for end in row.ends)
        cells[first : last + 1] = marks.line * (last + 1 - first)
        cells[first], cells[last] = marks.left, marks.right
    cells[_column(row.value, low, high)] = marks.run if row.ends is None else marks.mean
    return "".join(cells)


def _column(value: float, low: float, high: float) -> int:
    if low == high:
        return WIDTH // 2
    return round((value - low) / (high - low) * (WIDTH - 1))

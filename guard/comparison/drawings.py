"""The drawings of the page: the time line, and how the difference grew, as SVG."""

from __future__ import annotations

import html
import math
from itertools import groupby
from typing import TYPE_CHECKING

from guard.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.comparison.differences import Growth, Row, Timeline

HEIGHT, TOP = 16, 8  # of a row, and above the first; pixels
_LETTER = 7.3  # a letter's width, at 12 pixels
_LONGEST = 32  # letters of a name; the beginning of a longer one is left out
_WIDTH = 860  # of all columns together, where they are many
LEVELS = ((0, "the same"), (1, "up to a tenth differs"), (2, "up to half"), (3, "more"), (4, "all"))


def level(differing: int, all_of_them: int) -> int | None:
    """How much of a cell differs: one of LEVELS, None where nothing is there."""
    if not all_of_them:
        return None
    if not differing:
        return 0
    share = differing / all_of_them
    return 4 if share == 1 else 3 if share > 0.5 else 2 if share > 0.1 else 1


def runs(row: Row) -> Iterator[tuple[int, int, int]]:
    """A row's cells as lengths of equal ones, with what differs in each and what there is."""
    for part, cells in groupby(row.parts):
        yield len(list(cells)), *part


def sizes(timeline: Timeline) -> tuple[float, int, float, int]:
    """Width and height of a cell, and where the first one begins."""
    width = min(28.0, max(3.0, _WIDTH / max(1, len(timeline.columns))))
    longest = max((len(_short(row.name)) for row in timeline.rows), default=0)
    return width, HEIGHT, 8 + longest * _LETTER + 8, TOP


def draw_timeline(timeline: Timeline) -> str:
    """Rows of cells: one path for each level, so that the browser has little to do."""
    width, height, left, top = sizes(timeline)
    right = left + width * len(timeline.columns)
    bottom = top + height * len(timeline.rows)
    paths: dict[int, list[str]] = {number: [] for number, _ in LEVELS}
    names = []
    for at, row in enumerate(timeline.rows):
        y = top + at * height
        names.append(
            f'<text x="{left - 8:.1f}" y="{y + 12}" text-anchor="end">{_escape(_short(row.name))}'
            f"<title>{_escape(row.name)}</title></text>"
        )
        for begin, length, found in _stretches(row):
            if found is not None:
                x, wide = left + begin * width, length * width
                path = f"M{x:.1f} {y}h{wide:.1f}v{height - 2}h{-wide:.1f}z"
                paths[found].append(path)
    cells = [f'<path class="l{n}" d="{"".join(d)}"/>' for n, d in paths.items() if d]
    if timeline.entered is not None:
        column, at = timeline.entered
        x, y = left + column * width - 1, top + at * height - 1
        cells.append(
            f'<rect class="mark" x="{x:.1f}" y="{y}" width="{width + 2:.1f}" height="{height}">'
            "<title>the first difference entered here</title></rect>"
        )
    pointer = (
        f'<rect class="pointer" id="pointer" visibility="hidden" width="{width:.1f}" '
        f'height="{height - 2}"/>'
    )
    axis = _axis(timeline, (width, left, bottom))
    label = "Time line: a row for each module, steps from left to right. The table says the same."
    return (
        f'<svg role="img" aria-label="{label}" width="{right + 40:.0f}" height="{bottom + 22}">'
        f"{''.join(names)}{''.join(cells)}{pointer}{axis}</svg>"
    )


def _stretches(row: Row) -> Iterator[tuple[int, int, int | None]]:
    """Where cells of one level begin, how many they are, and the level."""
    begin = 0
    for found, cells in groupby(row.parts, lambda part: level(*part)):
        length = len(list(cells))
        yield begin, length, found
        begin += length


def _axis(timeline: Timeline, where: tuple[float, float, float]) -> str:
    width, left, bottom = where
    count = len(timeline.columns)
    stride = max(1, math.ceil(count * 60 / max(60.0, width * count)), math.ceil(count / 12))
    return "".join(
        f'<text class="axis" x="{left + at * width:.1f}" y="{bottom + 15}">{number}</text>'
        for at, number in enumerate(timeline.columns)
        if not at % stride
    )


def draw_growth(growth: Sequence[Growth]) -> str:
    """The largest difference by step, on a logarithmic scale: absolute, and in ulps."""
    shown = [("", "absolute", [(each.step, each.absolute) for each in growth])]
    ulps = [(each.step, each.ulps) for each in growth if each.ulps is not None]
    shown += [(" ulps", "units in the last place", ulps)] if ulps else []
    drawn = [_curve(kind, name, points) for kind, name, points in shown]
    return "".join(each for each in drawn if each)


def _curve(kind: str, name: str, points: Sequence[tuple[int, float]]) -> str:
    known = [(step, size) for step, size in points if 0 < size < math.inf]
    if not known:
        return ""
    width, height, left, top = 860, 150, 70, 14
    low = math.floor(min(math.log10(size) for _, size in known))
    high = max(low + 1, math.ceil(max(math.log10(size) for _, size in known)))
    first, last = points[0][0], max(points[-1][0], points[0][0] + 1)

    def place(step: int, size: float) -> tuple[float, float]:
        x = left + (step - first) / (last - first) * width
        return x, top + (high - math.log10(size)) / (high - low) * height

    stride = max(1, -(-(high - low) // 5))
    lines = "".join(
        f'<path class="grid" d="M{left} {place(first, 10.0**each)[1]:.1f}h{width}"/>'
        f'<text class="axis" x="{left - 8}" y="{place(first, 10.0**each)[1] + 4:.1f}" '
        f'text-anchor="end">1e{each}</text>'
        for each in range(low, high + 1, stride)
    )
    dots = [place(step, size) for step, size in known]
    curve = "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in dots)
    marks = "".join(f'<circle class="dot{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in dots)
    label = f"Largest difference by step, {name}: from {known[0][1]:.3g} to {known[-1][1]:.3g}"
    return (
        f'<svg role="img" aria-label="{label}" width="{left + width + 60}" height="{height + 44}">'
        f'<text x="{left}" y="10">{name}</text>{lines}'
        f'<path class="curve{kind}" d="{curve}"/>{marks}'
        f'<text class="axis" x="{left}" y="{top + height + 20}">step {first}</text>'
        f'<text class="axis" x="{left + width}" y="{top + height + 20}" text-anchor="end">'
        f"step {points[-1][0]}</text></svg>"
    )


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else "…" + name[1 - _LONGEST :]


def _escape(text: str) -> str:
    return html.escape(visible(text))

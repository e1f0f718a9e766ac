"""The report as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import html
import json
import math
from importlib.resources import files
from itertools import groupby
from typing import TYPE_CHECKING

from guard.diff import report
from guard.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.diff.differences import Comparison, Growth, Row, Timeline

# Nothing is fetched, whatever a name in a trace holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
HEIGHT, TOP = 16, 8  # of a row, and above the first; pixels
_LETTER = 7.3  # a letter's width, at 12 pixels
_LONGEST = 32  # letters of a name; the beginning of a longer one is left out
_WIDTH = 860  # of all columns together, where they are many
LEVELS = ((0, "the same"), (1, "up to a tenth differs"), (2, "up to half"), (3, "more"), (4, "all"))


def page(comparison: Comparison) -> str:
    """The page, whole; write it as UTF-8."""
    difference = comparison.difference
    title = f"{comparison.names[0]} and {comparison.names[1]}"
    kind = "same" if difference is None and comparison.steps else "parted"
    return "\n".join(
        [
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<link rel="icon" href="data:,">',
            f"<title>{_escape(report.verdict(comparison))}</title><style>{_beside('page.css')}</style></head>",
            f'<body><main><p class="soft">{_escape(title)}</p>',
            f'<h1 class="{kind}">{_escape(report.verdict(comparison))}</h1>',
            *_told(comparison),
            *_drawn(comparison),
            *_grown(comparison),
            "</main></body></html>\n",
        ]
    )


def _beside(name: str) -> str:
    return files("guard.diff").joinpath(name).read_text(encoding="utf-8")


def _told(comparison: Comparison) -> Iterator[str]:
    rows = ((name.capitalize(), told) for name, told in report.rows(comparison))
    told = "".join(f"<dt>{_escape(name)}</dt><dd>{_escape(told)}</dd>" for name, told in rows)
    yield f'<dl class="verdict">{told}</dl>'


def _drawn(comparison: Comparison) -> Iterator[str]:
    timeline = comparison.timeline
    if timeline is None or not timeline.columns:
        return
    heading = "Time line"
    if len(comparison.ranks) > 1:
        heading += f" of rank {timeline.rank}"
    width = f"A column is {timeline.width} steps. " if timeline.width > 1 else ""
    yield f"<h2>{heading}</h2>"
    yield f'<p class="soft">{width}Modules stand in the order in which they ran forward; a row'
    yield "holds a module's outputs, gradients, parameters and buffers."
    yield "Arrow keys go from cell to cell.</p>"
    yield f'<ul class="key">{"".join(_key(timeline))}</ul>'
    yield '<output id="told" aria-live="polite"></output>'
    yield '<div class="scroll" id="timeline" tabindex="0" role="group" aria-label="Time line">'
    yield f"{draw_timeline(timeline)}</div>"
    yield f'<script type="application/json" id="data">{_data(timeline)}</script>'
    yield from _table(timeline)
    yield f"<script>{_beside('page.js')}</script>"


def _key(timeline: Timeline) -> Iterator[str]:
    box = '<svg width="14" height="14" aria-hidden="true"><rect class="{}" {}/></svg>'
    whole = 'width="14" height="14"'
    for number, told in LEVELS:
        yield f"<li>{box.format(f'l{number}', whole)}{told}</li>"
    if timeline.entered is not None:
        ring = 'x="1" y="1" width="12" height="12"'
        yield f"<li>{box.format('mark', ring)}where the first difference entered</li>"


def _data(timeline: Timeline) -> str:
    """What the script reads; no "<", so that nothing in it ends the element."""
    data = {
        "columns": timeline.columns,
        "last": timeline.last,
        "entered": timeline.entered,
        "sizes": sizes(timeline),
        "rows": [[visible(row.name), list(runs(row))] for row in timeline.rows],
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _table(timeline: Timeline) -> Iterator[str]:
    differing = [row for row in timeline.rows if row.since is not None]
    if not differing:
        return
    differing.sort(key=lambda row: row.since or 0)
    rows = f"{len(differing)} of {len(timeline.rows)} rows differ"
    yield f"<details><summary>As a table: {rows}</summary>"
    yield "<table><thead><tr><th>what</th><th>first in step</th><th>differ</th><th>of</th></tr>"
    yield "</thead><tbody>"
    for row in differing:
        counts = [sum(part[at] for part in row.parts) for at in (0, 1)]
        cells = "".join(f'<td class="n">{each:,}</td>' for each in (row.since or 0, *counts))
        yield f"<tr><td>{_escape(row.name)}</td>{cells}</tr>"
    yield "</tbody></table></details>"


def _grown(comparison: Comparison) -> Iterator[str]:
    drawn = draw_growth(comparison.growth)
    if not drawn:
        return
    last = comparison.growth[-1]
    yield "<h2>How it grew</h2>"
    yield '<p class="soft">The largest difference of all recorded values, by step, on a logarithmic'
    yield f"scale. In step {last.step} it is {last.absolute:.3g}, in {_escape(last.name)}.</p>"
    yield f'<div class="scroll" tabindex="0" role="group" aria-label="How it grew">{drawn}</div>'


def _escape(text: str) -> str:
    return html.escape(visible(text))


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

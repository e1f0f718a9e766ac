"""The report as one HTML page that needs nothing from elsewhere."""

from __future__ import annotations

import html
import json
from typing import TYPE_CHECKING

from guard.comparison import phrases
from guard.comparison.drawings import LEVELS, draw_growth, draw_timeline, runs, sizes
from guard.comparison.page_parts import SCRIPT, STYLE
from guard.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from guard.comparison.differences import Comparison, Timeline

# Nothing is fetched, whatever a name in a trace holds.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


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
            f"<title>{_escape(phrases.verdict(comparison))}</title><style>{STYLE}</style></head>",
            f'<body><main><p class="soft">{_escape(title)}</p>',
            f'<h1 class="{kind}">{_escape(phrases.verdict(comparison))}</h1>',
            *_told(comparison),
            *_found(comparison),
            *_drawn(comparison),
            *_grown(comparison),
            *_around(comparison),
            "</main></body></html>\n",
        ]
    )


def _told(comparison: Comparison) -> Iterator[str]:
    difference = comparison.difference
    rows = []
    if difference is not None:
        rows = [
            ("Cause", difference.cause.value),
            ("Where", phrases.placed(difference.place)),
            ("Why", difference.why),
            ("Next", difference.advice),
            ("Only in one run", "; ".join(difference.parted)),
            ("Apart", phrases.sized(difference.size)),
            ("Agreed before", "; ".join(difference.agreed)),
            ("Then", phrases.aftermath(comparison)),
        ]
    rows.append(("Compared", phrases.extent(comparison)))
    yield f'<dl class="verdict">{_pairs(rows)}</dl>'


def _found(comparison: Comparison) -> Iterator[str]:
    if comparison.operators:
        yield f"<h2>Operator</h2><dl>{_pairs(map(phrases.operator, comparison.operators))}</dl>"
    if comparison.suspects:
        yield f"<h2>Suspects</h2><dl>{_pairs(map(phrases.suspect, comparison.suspects))}</dl>"


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
    yield f"<script>{SCRIPT}</script>"


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


def _around(comparison: Comparison) -> Iterator[str]:
    if comparison.changes:
        yield "<h2>Not the same around the runs</h2>"
        changed = [(each.name, f"{each.first} and {each.second}") for each in comparison.changes]
        yield f"<dl>{_pairs(changed)}</dl>"
    yield from _listed("Notes", comparison.notes)
    yield from _listed("Not compared, or in part", comparison.limits)


def _listed(heading: str, sentences: Sequence[str]) -> Iterator[str]:
    if sentences:
        yield f"<h2>{heading}</h2>"
        yield from (f"<p>{_escape(each)}</p>" for each in sentences)


def _pairs(rows: Iterable[tuple[str, str]]) -> str:
    return "".join(f"<dt>{_escape(n)}</dt><dd>{_escape(told)}</dd>" for n, told in rows if told)


def _escape(text: str) -> str:
    return html.escape(visible(text))

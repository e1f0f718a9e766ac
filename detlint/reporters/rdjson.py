"""Reviewdog's diagnostic format, which it posts to reviews of many hosts.

https://github.com/reviewdog/reviewdog/tree/master/proto/rdf
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from detlint.finding import Confidence
from detlint.reporters import documentation, file_rows, reader, whole_message
from detlint.reporters.places import below

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.sources.source import Source

_SEVERITIES = {
    Confidence.CERTAIN: "ERROR",
    Confidence.LIKELY: "WARNING",
    Confidence.POSSIBLE: "INFO",
}


def render(report: Report) -> Iterator[str]:
    """One object, with a diagnostic a finding."""
    read, root = reader(report), report.root()
    found = [_diagnostic(each, read(each), root) for each in report.findings]
    source = {"name": "detlint"}
    yield json.dumps({"source": source, "diagnostics": found}, indent=2) + "\n"


def _diagnostic(finding: Finding, source: Source | None, root: str) -> dict[str, object]:
    page = documentation(finding)
    diagnostic: dict[str, object] = {
        "message": whole_message(finding),
        "location": {"path": below(finding.path, root), "range": _range(finding, source)},
        "severity": _SEVERITIES[finding.confidence],
        "code": {"value": finding.code, **({"url": page} if page else {})},
    }
    # A suggestion is put in with one click, so only what is safe; it knows one range at a time.
    if finding.safe and len(finding.edits) == 1 and source is not None and finding.cell is None:
        (edit,) = finding.edits
        places = (source.location(edit.start), source.location(edit.end))
        diagnostic["suggestions"] = [{"range": _between(source, *places), "text": edit.replacement}]
    return diagnostic


def _range(finding: Finding, source: Source | None) -> dict[str, dict[str, int]]:
    if source is None or finding.cell is not None:
        begin, end = file_rows(finding, source)
        return {"start": {"line": begin}, "end": {"line": end}}
    places = (finding.row, finding.column), (finding.end_row, finding.end_column)
    return _between(source, *places)


def _between(
    source: Source, start: tuple[int, int], end: tuple[int, int]
) -> dict[str, dict[str, int]]:
    return {"start": _position(source, *start), "end": _position(source, *end)}


def _position(source: Source, row: int, column: int) -> dict[str, int]:
    """Columns of this format count bytes of UTF-8, from 1."""
    line = source.line(row) if row <= len(source.line_starts) else ""
    before = line[: column - 1].encode("utf-8", "surrogatepass")
    return {"line": row, "column": len(before) + 1}

"""JSON in the shape of ruff's, so that what reads ruff's output reads ours, and more of each."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from detlint.reporters import documentation, notebook, reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Edit, Finding
    from detlint.reporters import Report
    from detlint.sources.source import Source


def render(report: Report) -> Iterator[str]:
    """A list of objects, with a line of its own for each value."""
    read = reader(report)
    separator = "[\n  "
    for finding in report.findings:
        entry = json.dumps(_entry(finding, read(finding)), indent=2, sort_keys=True)
        # Newlines inside of strings are escaped, so these are all layout.
        yield separator + entry.replace("\n", "\n  ")
        separator = ",\n  "
    yield "\n]\n" if report.findings else "[]\n"


def _entry(finding: Finding, source: Source | None) -> dict[str, object]:
    return {
        "cell": finding.cell,
        "code": finding.code,
        "confidence": str(finding.confidence),
        "end_location": _location(finding.end_row, finding.end_column),
        "filename": finding.path if finding.path == "-" else os.path.abspath(finding.path),
        "fix": _fix(finding, source),
        "help": finding.advice or None,
        "location": _location(finding.row, finding.column),
        "message": finding.message,
        "name": finding.name,
        "noqa_row": finding.row,
        "severity": "error",
        "url": documentation(finding) or None,
    }


def _fix(finding: Finding, source: Source | None) -> dict[str, object] | None:
    if source is None or not finding.edits:
        return None
    return {
        "applicability": "safe" if finding.safe else "unsafe",
        "edits": [_edit(edit, finding, source) for edit in finding.edits],
        "message": finding.advice or None,
    }


def _edit(edit: Edit, finding: Finding, source: Source) -> dict[str, object]:
    whole = notebook(finding, source)
    if whole is None:
        return {
            "content": edit.replacement,
            "end_location": _location(*source.location(edit.end)),
            "location": _location(*source.location(edit.start)),
        }
    cell, *start = whole.place(edit.start)
    _, *end = whole.place(edit.end)
    return {
        "cell": cell,  # an import that a fix needs goes into another cell than the rest
        "content": edit.replacement,
        "end_location": _location(*end),
        "location": _location(*start),
    }


def _location(row: int, column: int) -> dict[str, int]:
    return {"column": column, "row": row}

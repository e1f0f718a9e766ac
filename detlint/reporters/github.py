"""Workflow commands, which GitHub Actions shows as annotations of the changed lines."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from detlint.finding import Confidence
from detlint.reporters import file_rows, reader, whole_message
from detlint.reporters.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.sources.source import Source

    _Read = Callable[[Finding], Source | None]

_DATA = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
# A colon ends the properties, a comma one of them.
_PROPERTY = {**_DATA, **str.maketrans({":": "%3A", ",": "%2C"})}


_COMMANDS = {
    Confidence.CERTAIN: "error",
    Confidence.LIKELY: "warning",
    Confidence.POSSIBLE: "notice",
}


def render(report: Report) -> Iterator[str]:
    """A command a finding."""
    read = reader(report)
    for finding in report.findings:
        properties = ",".join(
            f"{name}={visible(str(value).translate(_PROPERTY))}"
            for name, value in _properties(finding, read).items()
        )
        command = _COMMANDS[finding.confidence]
        yield f"::{command} {properties}::{visible(_message(finding).translate(_DATA))}\n"


def _properties(finding: Finding, read: _Read) -> dict[str, str | int]:
    return {
        "title": f"detlint ({finding.code})",
        # Absolute: a step may work in another folder than the checkout's.
        "file": finding.path if finding.path == "-" else os.path.abspath(finding.path),
        **_place(finding, read),
    }


def _place(finding: Finding, read: _Read) -> dict[str, str | int]:
    if finding.cell is not None:
        # Annotations count lines of the file, which holds JSON.
        return {"line": file_rows(finding, read(finding))[0]}
    if finding.row != finding.end_row:
        # GitHub drops columns from a range of several lines.
        return {"line": finding.row, "endLine": finding.end_row}
    return {
        "line": finding.row,
        "endLine": finding.end_row,
        "col": finding.column,
        "endColumn": finding.end_column,
    }


def _message(finding: Finding) -> str:
    where = "" if finding.cell is None else f" (cell {finding.cell}, line {finding.row})"
    return f"{finding.code}{where} {whole_message(finding)}"

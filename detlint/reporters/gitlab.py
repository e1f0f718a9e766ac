"""GitLab's code quality report, which merge requests show: an artifact ``codequality``.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING

from detlint.finding import Confidence
from detlint.reporters import excerpted, file_rows, reader, whole_message
from detlint.reporters.places import below, fingerprint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.reporters import Report

_SEVERITIES = {
    Confidence.CERTAIN: "major",
    Confidence.LIKELY: "minor",
    Confidence.POSSIBLE: "info",
}


def render(report: Report) -> Iterator[str]:
    """A list of objects; of a path outside of the project, GitLab shows nothing."""
    read, root = reader(report), report.root()
    seen: Counter[str] = Counter()
    found = []
    for finding in report.findings:
        source = read(finding)
        path = below(finding.path, root)
        begin, end = file_rows(finding, source)
        found.append(
            {
                "description": f"{finding.code} {whole_message(finding)}",
                "check_name": f"{finding.code} {finding.name}",
                "fingerprint": fingerprint(finding, path, excerpted(finding, source), seen),
                "severity": _SEVERITIES[finding.confidence],
                "location": {"path": path, "lines": {"begin": begin, "end": end}},
            }
        )
    yield json.dumps(found, indent=2) + "\n"

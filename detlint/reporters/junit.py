"""JUnit's XML, which most CI servers show as tests: a failure a finding, a suite a file."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

from detlint.reporters import documentation, file_rows, reader
from detlint.reporters.places import below
from detlint.reporters.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.sources.source import Source


def render(report: Report) -> Iterator[str]:
    """Where nothing was found, one test that passed: a file without tests is an error to some."""
    read, root = reader(report), report.root()
    count = len(report.findings)
    yield '<?xml version="1.0" encoding="utf-8"?>\n'
    yield f'<testsuites name="detlint" tests="{max(count, 1)}" failures="{count}" errors="0">\n'
    if not count:
        yield '  <testsuite name="detlint" tests="1" failures="0" errors="0">\n'
        yield '    <testcase classname="detlint" name="no findings"/>\n  </testsuite>\n'
    for path, group in groupby(report.findings, lambda each: each.path):
        findings = list(group)
        name = _attribute(below(path, root))
        total = len(findings)
        yield f'  <testsuite name={name} tests="{total}" failures="{total}" errors="0">\n'
        for each in findings:
            yield from _case(each, read(each), name)
        yield "  </testsuite>\n"
    yield "</testsuites>\n"


def _case(finding: Finding, source: Source | None, path: str) -> Iterator[str]:
    row, _ = file_rows(finding, source)
    title = _attribute(f"{finding.code} {finding.name} at line {row}")
    yield f'    <testcase classname={path} name={title} file={path} line="{row}">\n'
    message = _attribute(f"{finding.message} [{finding.confidence}]")
    text = "\n".join(filter(None, (finding.message, finding.advice, documentation(finding))))
    yield f"      <failure type={_attribute(finding.code)} message={message}>"
    yield f"{escape(_sayable(text))}</failure>\n    </testcase>\n"


def _attribute(text: str) -> str:
    return quoteattr(_sayable(text))


def _sayable(text: str) -> str:
    return "\n".join(map(visible, text.split("\n")))

"""Text for a person: a line a finding, the source below it when asked for, and a summary."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from detlint.finding import Confidence
from detlint.reporters import excerpted, reader
from detlint.reporters.excerpt import excerpt
from detlint.terminal import leading, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.source import Source

    Paint = Callable[[str, str], str]


def render(report: Report) -> Iterator[str]:
    """The findings, or the counts by rule, and then a line that sums up."""
    paint = _painter() if report.colour else _plain
    if report.statistics:
        yield from _statistics(report.findings, paint)
    else:
        yield from _listing(report, paint)
    yield summary(report) + "\n"


def _listing(report: Report, paint: Paint) -> Iterator[str]:
    read = reader(report)
    for finding in report.findings:
        yield _headline(finding, paint) + "\n"
        if report.show_source:
            source = excerpted(finding, read(finding))
            yield "".join(line + "\n" for line in _below(finding, source, paint)) + "\n"


def _headline(finding: Finding, paint: Paint) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    place = f"{paint(leading(finding.path), 'bold')}:{cell}{finding.row}:{finding.column}:"
    mark = f" {paint('[*]', 'cyan')}" if _safely_fixable(finding) else ""
    doubt = "" if finding.confidence == Confidence.CERTAIN else f" [{finding.confidence}]"
    said = f"{visible(finding.message)}{paint(doubt, 'dim')}"
    return f"{place} {paint(finding.code, 'bold red')}{mark} {said}"


def _below(finding: Finding, source: Source | None, paint: Paint) -> Iterator[str]:
    if source is not None:
        yield from excerpt(finding, source, paint)
        for step in finding.way:
            place = f"{leading(finding.path)}:{step.row}:{step.column}:"
            yield f"{paint('way:', 'bold cyan')} {place} {visible(step.text)}"
    if finding.advice:
        yield f"{paint('help:', 'bold cyan')} {visible(finding.advice)}"


def _statistics(findings: Sequence[Finding], paint: Paint) -> Iterator[str]:
    """``[*]`` where ``--fix`` mends all findings of a rule, ``[-]`` where it mends some."""
    counts = Counter((finding.code, finding.name) for finding in findings)
    mended = Counter(finding.code for finding in findings if _safely_fixable(finding))
    rows = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    width = len(str(max(counts.values(), default=0)))
    for (code, name), count in rows:
        mark = "[*]" if mended[code] == count else "[-]" if mended[code] else "[ ]"
        yield f"{count:>{width}}  {paint(code, 'bold red')}  {paint(mark, 'cyan')}  {name}\n"


def summary(report: Report) -> str:
    """What was mended, what remains, and what would mend it."""
    fixed = f"Fixed {_count(report.fixed, 'finding')}. " if report.fixed else ""
    checked = f"({_count(report.files, 'file')} checked)"
    known = f" {_count(report.known, 'known finding')} left out." if report.known else ""
    if not report.findings:
        passed = f"{fixed}All checks passed {checked}.{known}"
        return passed if report.files else "No files to check."
    files = len({finding.path for finding in report.findings})
    found = f"Found {_count(len(report.findings), 'finding')} in {_count(files, 'file')} {checked}."
    return f"{fixed}{found}{known}{_remedy(report.findings)}"


def _remedy(findings: Sequence[Finding]) -> str:
    safe = sum(_safely_fixable(finding) for finding in findings)
    unsafe = sum(finding.fixable for finding in findings) - safe
    if safe and unsafe:
        return f" {safe} fixable with --fix, {unsafe} more with --unsafe-fixes."
    if safe:
        return f" {safe} fixable with --fix."
    return f" {unsafe} fixable with --unsafe-fixes." if unsafe else ""


def _safely_fixable(finding: Finding) -> bool:
    return finding.fixable and finding.safe


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _plain(text: str, _style: str) -> str:
    return text


def _painter() -> Paint:
    # The style alone: rich's Console would cost 50 ms more, and wrap and mark up the text.
    from rich.color import ColorSystem
    from rich.style import Style

    def paint(text: str, style: str) -> str:
        return Style.parse(style).render(text, color_system=ColorSystem.STANDARD)

    return paint

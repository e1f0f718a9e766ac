"""Text for a person: a line a finding, the source below it when asked for, and a summary."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from detlint.finding import Confidence
from detlint.reporters import documentation, excerpted, reader
from detlint.reporters.excerpt import cells, excerpt
from detlint.reporters.terminal import leading, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.finding import Finding
    from detlint.reporters import Report
    from detlint.sources.source import Source

    Paint = Callable[[str, str], str]

_INDENT = "    "  # of what goes on below its line
_MARKED = "cyan"
_LINES = 12  # of a fix that are shown, and characters of each
_WIDTH = 120


def render(report: Report) -> Iterator[str]:
    """The findings, or the counts by rule, and then a line that sums up."""
    paint = _painter() if report.colour else _plain
    if report.statistics:
        yield from _statistics(report.findings, paint)
    else:
        yield from _listing(report, paint)
    if not report.quiet:
        yield summary(report) + "\n"


def _listing(report: Report, paint: Paint) -> Iterator[str]:
    read = reader(report)
    for finding in report.findings:
        yield _headline(finding, report, paint) + "\n"
        if report.show_source:
            lines = _below(finding, read(finding), report, paint)
            yield "".join(line + "\n" for line in lines) + "\n"


def _headline(finding: Finding, report: Report, paint: Paint) -> str:
    cell = "" if finding.cell is None else f"cell {finding.cell}:"
    path, place = leading(finding.path), f"{cell}{finding.row}:{finding.column}:"
    mark = "[*]" if _safely_fixable(finding) else ""
    plain = " ".join(filter(None, (f"{path}:{place}", finding.code, mark)))
    code = paint(finding.code, "bold red")
    if report.links:
        code = _linked(code, documentation(finding))
    head = f"{paint(path, 'bold')}:{place} {code}{f' {paint(mark, _MARKED)}' if mark else ''}"
    doubt = "" if finding.confidence == Confidence.CERTAIN else f"[{finding.confidence}]"
    said = _wrapped(f"{visible(finding.message)} {doubt}".rstrip(), report.width, cells(plain) + 1)
    if doubt:
        said = f"{said.removesuffix(doubt)}{paint(doubt, 'dim')}"
    return f"{head} {said}"


def _linked(text: str, address: str) -> str:
    """The text as a link: https://gist.github.com/egmontkob/eb114294efbcd5adb1944c9f3cb5feda."""
    return f"\x1b]8;;{address}\x1b\\{text}\x1b]8;;\x1b\\" if address else text


def _wrapped(text: str, width: int, taken: int) -> str:
    """The text broken between words, below a beginning that takes some columns of the first line;
    ``width`` 0: in one line."""
    if not width or taken + len(text) <= width:
        return text
    from textwrap import wrap

    first = " " * min(taken, width - 1)
    broken = wrap(
        text,
        width,
        initial_indent=first,
        subsequent_indent=_INDENT,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return "\n".join([broken[0].removeprefix(first), *broken[1:]])


def _below(finding: Finding, source: Source | None, report: Report, paint: Paint) -> Iterator[str]:
    shown = excerpted(finding, source)
    if shown is not None:
        yield from excerpt(finding, shown, paint)
        for step in finding.way:
            place = f"{leading(finding.file_of(step))}:{step.row}:{step.column}:"
            yield f"{paint('way:', 'bold cyan')} {place} {visible(step.text)}"
    if finding.advice:
        said = _wrapped(visible(finding.advice), report.width, len("help: "))
        yield f"{paint('help:', 'bold cyan')} {said}"
    if source is not None and finding.edits:
        lines = list(_change(finding, source, paint))
        if lines:
            yield paint("fix:" if finding.safe else "unsafe fix:", "bold cyan")
            yield from lines


def _change(finding: Finding, source: Source, paint: Paint) -> Iterator[str]:
    """What a fix changes, a line of output for each line."""
    from detlint.reporters.changes import changes

    found = list(changes(finding, source))
    width = max((len(str(each.row + len(each.before))) for each in found), default=0)
    left = _LINES
    for change in found:
        where = "" if change.cell in {None, finding.cell} else f"  (cell {change.cell})"
        for sign, lines, style in (("-", change.before, "red"), ("+", change.after, "green")):
            for row, line in enumerate(lines[:left], change.row):
                cut = visible(line[:_WIDTH]) + ("..." if len(line) > _WIDTH else "")
                yield paint(f"{row:>{width}} {sign} {cut}".rstrip(), style) + where
            left -= len(lines)
            if left < 0:
                yield f"{' ' * width} ..."
                return


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

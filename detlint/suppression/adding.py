"""``--add-ignore REASON``: comments that silence what is found, each where it belongs."""

from __future__ import annotations

import os
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from detlint.errors import UsageError
from detlint.finding import UNPARSED, Edit
from detlint.fixes.applying import diff, edited, write
from detlint.grouping import grouped
from detlint.sources.decoding import decode
from detlint.sources.kinds import NOTEBOOK, PYTHON
from detlint.sources.source import DecodeError
from detlint.suppression.comments import UNUSED, directives, logical_ends
from detlint.syntax.lexer import Span, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from detlint.finding import Finding
    from detlint.sources.source import Source

    Lint = Callable[[Source], list[Finding]]

# A comment at a place may be about another finding of its line, which then has its own.
_PASSES = 5
# How a comment begins in sources other than Python; JSON has none.
_MARKS = {"cuda": "//", "json": ""}


class Ignored(NamedTuple):
    """How many findings are silenced; ``left``: files with some that no comment can."""

    silenced: int
    patches: list[bytes]
    left: list[str]


def checked(reason: str) -> str:
    """A reason as a comment can hold it. Raises UsageError."""
    said = " ".join(reason.split())
    if not said or os.path.exists(reason):
        raise UsageError(
            "--add-ignore takes the reason, for whoever reads the comment: "
            '`detlint --add-ignore "a throughput test" benchmarks/`'
        )
    return said.replace("#", "no. ")


def ignore_files(findings: Sequence[Finding], lint: Lint, reason: str, *, dry_run: bool) -> Ignored:
    """Silence findings in their files. Raises OSError where one cannot be written."""
    count, patches, left = 0, [], []
    for path in dict.fromkeys(each.path for each in findings):
        try:
            with open(path, "rb") as file:
                source = decode(path, file.read())
        except DecodeError:
            left.append(path)
            continue
        changed, before, after = _silenced(source, lint, reason)
        if dry_run:
            patches.append(diff(path, source, changed))
        elif before != after:
            write(path, changed.encode())
        count += before - after
        if after:
            left.append(path)
    return Ignored(count, patches, left)


def _silenced(source: Source, lint: Lint, reason: str) -> tuple[Source, int, int]:
    """The source with comments, and how many findings it had and has."""
    findings = lint(source)
    before = len(findings)
    for _ in range(_PASSES):
        changed = edited(source, _edits(source, findings, reason))
        left = lint(changed) if changed is not None else findings
        if changed is None or len(left) >= len(findings):
            break
        source, findings = changed, left
    return source, before, len(findings)


def _edits(source: Source, findings: Sequence[Finding], reason: str) -> list[Edit]:
    """A comment for each line that has findings, or more codes for one that is there."""
    page = _Page(source)
    helped = (x for x in findings if x.code not in (UNPARSED, UNUSED))  # by a comment
    codes = grouped((page.row_of(each), each.code) for each in helped)
    found = (page.edit(row, sorted(set(named)), reason) for row, named in codes.items() if row)
    return sorted((each for each in found if each), key=lambda each: each.start)


def comment_for(source: Source, finding: Finding) -> Edit | None:
    """The comment, without a reason, that silences one finding; None where none can."""
    return next(iter(_edits(source, [finding], "")), None)


class _Page:
    """The lines of one source, and where a comment can stand in them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._python = source.kind in (PYTHON, NOTEBOOK)
        self._spans: Sequence[Span] = spans(source.text) if self._python else _comments(source)
        self._ends = logical_ends(source, self._spans) if self._python else []
        self._mark = "#" if self._python else _MARKS.get(source.kind, "#")
        self._ignores = {
            each.row: each
            for each in directives(source, self._spans)
            if each.kind == "ignore" and each.codes
        }

    def row_of(self, finding: Finding) -> int:
        """The row at whose end, or above which, a comment silences a finding; 0 for none."""
        if not self._mark:
            return 0
        if not self._python:
            return self._first_row(finding.row)
        rows = (finding.end_row, self._last_row(finding.end_row))
        return next((row for row in rows if self._takes_comment(row)), 0)

    def edit(self, row: int, codes: Sequence[str], reason: str) -> Edit | None:
        """The change at a row that silences some codes there."""
        there = self._ignores.get(row if self._python else row - 1)
        if there is not None:
            end = there.codes[-1].end
            missing = [each for each in codes if each not in {code.text for code in there.codes}]
            return Edit(end, end, "".join(f", {each}" for each in missing)) if missing else None
        comment = f"{self._mark} detlint: ignore[{', '.join(codes)}] {reason}".rstrip()
        start, line = self._source.line_starts[row - 1], self._source.line(row)
        if self._python:
            end = start + len(line.rstrip())
            return Edit(end, end, f"  {comment}")
        margin = line[: len(line) - len(line.lstrip())]
        return Edit(start, start, f"{margin}{comment}{self._source.newline}")

    def _last_row(self, row: int) -> int:
        at = bisect_left(self._ends, row)
        return self._ends[at] if at < len(self._ends) else row

    def _first_row(self, row: int) -> int:
        """The row at which a command begins that goes on over several."""
        while row > 1 and self._source.line(row - 1).rstrip().endswith("\\"):
            row -= 1
        return row

    def _takes_comment(self, row: int) -> bool:
        """Whether a comment can stand at the end of a row: not in a string, nor behind a
        backslash, nor behind a magic command, to which it would belong."""
        line, start = self._source.line(row), self._source.line_starts[row - 1]
        end = start + len(line)
        if self._source.text[start:end] != line or line.endswith("\\"):
            return False
        at = bisect_right(self._spans, (end, end, "")) - 1
        span = self._spans[at] if at >= 0 else None
        return span is None or span.kind == "comment" or not span.start < end < span.end


def _comments(source: Source) -> Sequence[Span]:
    from detlint.documents import Unreadable, read

    try:
        return read(source).comments
    except Unreadable:
        return ()

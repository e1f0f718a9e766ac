"""Comments that silence findings, and reports of those that silence nothing (DET001)."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from detlint.finding import UNPARSED, Edit, Finding
from detlint.grouping import grouped
from detlint.syntax.lexer import Span, spans

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from detlint.sources.source import Source

UNUSED = "DET001"

# "noqa" and "detlint:" in the cases that people write; lowering 53 MB takes twice as long.
_MARK = re.compile(r"(?:#|//|/\*)[ \t]*(?:(?i:(noqa))(?!\w)|(?i:detlint:))")
_MARKED = re.compile(rf"{_MARK.pattern}[^\r\n]*")
_OURS = "det"  # without findings, what others silence is no matter
# "see #12" is a part of the reason; "# type: ignore" is the next directive.
_NEXT_COMMENT = re.compile(r"#(?!\d)")
_CODE = r"(?:DET\d*|[A-Z]+\d+)\b"
_NOQA_CODES = re.compile(
    rf"[ \t]*:[ \t]*({_CODE}(?:(?:[ \t]*,[ \t]*|[ \t]+){_CODE})*)", re.IGNORECASE
)
_VERB = re.compile(r"[ \t]*([A-Za-z-]*)(?:[ \t]*(\[)([^\]]*)(\]?))?")
_WORD = re.compile(r"[\w-]+")
_STRUCTURE = re.compile(r"[()\[\]{}]|\r\n|\r|\n")

_VERBS = ("ignore", "off", "on", "skip-file")
_FORMS = (
    "the forms are `# detlint: ignore[DET301] reason`, `# detlint: off[DET4]`, "
    "`# detlint: on[DET4]`, and `# detlint: skip-file` on a line of its own"
)


class Code(NamedTuple):
    """A code, or a prefix of codes, as a directive names it."""

    start: int
    end: int
    text: str

    def names(self, code: str) -> bool:
        """Whether this covers ``code``. DET001 reports directives, so only its full name counts:
        else ``ignore[DET]`` would hide that it is not needed."""
        return self.text == code if code == UNUSED else code.startswith(self.text)


class Directive(NamedTuple):
    """One instruction in a comment; ``start`` is its ``#`` and ``end`` the next one's."""

    kind: str
    row: int
    comment: Span
    start: int
    end: int
    codes: tuple[Code, ...]

    def covers(self, code: str, used: set[Code]) -> bool:
        """Whether this silences ``code``; the names that do so are added to ``used``."""
        if not self.codes:
            return True
        naming = [each for each in self.codes if each.names(code)]
        used.update(naming)
        return bool(naming)


def apply(  # noqa: PLR0913 - what the comments of a source are judged by
    source: Source,
    findings: Sequence[Finding],
    *,
    enabled: Collection[str],
    known: Collection[str],
    comments: Sequence[Span] | None = None,
    possible: Callable[[], Sequence[Finding]] = tuple,
) -> list[Finding]:
    """The findings that no comment silences, and those about comments that silence nothing.

    ``comments`` says where a source that is not Python has them. ``possible`` gives all findings
    of the source, however unsure, and is asked only if a comment seems to silence nothing: whether
    it does must not depend on what the run reports.
    """
    text = source.text
    if not any(findings or _OURS in each[0].lower() for each in _MARKED.finditer(text)):
        return list(findings)
    where = spans(text) if comments is None else comments
    page = _Page(source, where, directives(source, where))
    if any(each.kind == "skip-file" for each in page.directives):
        return []
    kept = [each for each in findings if not page.silences(each)]
    doubted = page.doubted(known)
    if doubted:
        kept = [each._replace(edits=()) if doubted.silences(each) else each for each in kept]
    if UNUSED in enabled:
        parsed = all(each.code != UNPARSED for each in findings)
        judged = {*known, UNPARSED, UNUSED}, enabled if parsed else ()
        if parsed and page.seems_unused(*judged):
            for each in possible():
                page.silences(each)
        kept += page.report(*judged)
    return sorted(kept, key=lambda each: (each.row, each.column, each.code))


class _Page:
    """Directives of one source, and which of their codes were of use."""

    def __init__(self, source: Source, where: Sequence[Span], found: Iterable[Directive]) -> None:
        self.source = source
        self.spans = where
        self.directives = list(found)
        self.ranges = [each for each in self.directives if each.kind in ("off", "on")]
        self.used: set[Code] = set()
        self._ends: list[int] | None = None
        self._switches: dict[str, list[Directive]] = {}
        self._next_code: dict[int, int] = {}
        own = [each for each in reversed(self.directives) if each.kind in ("noqa", "ignore")]
        self.by_row = grouped((row, x) for x in own for row in (x.row, *self._rows_below(x)))

    def silences(self, finding: Finding) -> bool:
        """Whether a directive covers the finding; all that do count as used."""
        if finding.code == UNPARSED:
            return False
        silent = False
        if self.by_row:
            rows = {*range(finding.row, finding.end_row + 1), self._last_row(finding.end_row)}
            for row in rows:
                for directive in self.by_row.get(row, ()):
                    silent |= directive.covers(finding.code, self.used)
        return self._switched_off(finding) or silent

    def doubted(self, known: Collection[str]) -> _Page | None:
        """The directives with a mistake, which may be meant for any code; None if all are good."""
        known = (*known, UNPARSED, UNUSED)
        found = [
            each._replace(kind="ignore" if each.kind == "malformed" else each.kind, codes=())
            for each in self.directives
            if each.kind == "malformed" or any(_is_unknown(each, x, known) for x in each.codes)
        ]
        return _Page(self.source, self.spans, found) if found else None

    def seems_unused(self, known: Collection[str], enabled: Collection[str]) -> bool:
        """Whether some code silenced none of the findings so far."""
        return any(
            self._complaint(directive, code, known, enabled)
            for directive in self.directives
            for code in directive.codes
        )

    def report(self, known: Collection[str], enabled: Collection[str]) -> Iterator[Finding]:
        """Malformed directives, and codes that are unknown or that silenced nothing."""
        late: list[Finding] = []
        for directive in self.directives:
            if directive.kind == "malformed":
                end = directive.start + len(
                    self.source.text[directive.start : directive.end].rstrip()
                )
                late.append(self._finding(directive.start, end, f"malformed directive; {_FORMS}"))
            late += [
                self._unneeded(directive, code, message)
                for code in directive.codes
                if (message := self._complaint(directive, code, known, enabled))
                and code.text != UNUSED
            ]
        yield from (each for each in late if not self.silences(each))
        for directive in self.directives:
            for code in directive.codes:
                if code.text == UNUSED and self._complaint(directive, code, known, enabled):
                    yield self._unneeded(directive, code, f"unused suppression of {UNUSED}")

    def _complaint(
        self, directive: Directive, code: Code, known: Collection[str], enabled: Collection[str]
    ) -> str:
        if _is_unknown(directive, code, known):
            return f"{code.text} is not a detlint code"
        named = [each for each in known if each.startswith(code.text)]
        if not named or directive.kind == "on" or code in self.used or not enabled:
            return ""
        # A rule that did not run cannot say whether its suppression is needed.
        judged = all(each in enabled or each in (UNPARSED, UNUSED) for each in named)
        return f"unused suppression of {code.text}" if judged else ""

    def _unneeded(self, directive: Directive, code: Code, message: str) -> Finding:
        is_known = message.startswith("unused")  # one that is not may be a slip
        edits = (_without(self.source.text, directive, code),) if is_known else ()
        return self._finding(code.start, code.end, message, *edits)

    def _finding(self, start: int, end: int, message: str, *edits: Edit) -> Finding:
        place = (*self.source.location(start), *self.source.location(end))
        advice = "Remove it, or enable the rule that it names." if edits else ""
        name = "unused-suppression"
        return Finding(self.source.path, *place, UNUSED, name, message, advice, edits)

    def _switched_off(self, finding: Finding) -> bool:
        """Whether the last switch at or above the finding that names its code says off."""
        if not self.ranges:
            return False
        switches = self._switches.get(finding.code)
        if switches is None:
            # Of each code once: a search per finding through every switch is quadratic.
            switches = [each for each in self.ranges if each.covers(finding.code, set())]
            self._switches[finding.code] = switches
        at = bisect_right(switches, finding.row, key=lambda each: each.row)
        if not at or switches[at - 1].kind == "on":
            return False
        return switches[at - 1].covers(finding.code, self.used)

    def _rows_below(self, directive: Directive) -> range:
        """Rows of the code under an ``ignore`` that stands alone on its line."""
        if directive.kind != "ignore" or not _alone(self.source.text, directive.comment):
            return range(0)
        last = len(self.source.line_starts)
        first = directive.row + 1
        # Directives below this one have been here before; a block of them is walked once.
        while first <= last and _empty(self.source.line(first)):
            first = self._next_code.get(first, first + 1)
        self._next_code[directive.row] = first
        # Inside brackets it is about the next item, not about all that follow.
        nested = self._last_row(directive.row) != directive.row
        return range(first, first + 1 if nested else self._last_row(first) + 1)

    def _last_row(self, row: int) -> int:
        """The last row of the logical line that ``row`` is a part of."""
        if self._ends is None:
            self._ends = logical_ends(self.source, self.spans)
        at = bisect_left(self._ends, row)
        return self._ends[at] if at < len(self._ends) else row


def directives(source: Source, where: Sequence[Span]) -> Iterator[Directive]:
    """Every directive in a real comment, in order."""
    text = source.text
    for match in _MARK.finditer(text):
        span = where[bisect_right(where, (match.start() + 1,)) - 1] if where else None
        if span is None or span.kind != "comment" or not span.start <= match.start() < span.end:
            continue
        following = _NEXT_COMMENT.search(text, match.end(), span.end)
        end = following.start() if following else span.end
        read = _read_noqa if match[1] else _read_detlint
        kind, codes = read(text, match.end(), end)
        if kind == "skip-file" and not _alone(text, span):
            kind = "malformed"
        yield Directive(kind, source.location(span.start)[0], span, match.start(), end, codes)


def _read_noqa(text: str, start: int, end: int) -> tuple[str, tuple[Code, ...]]:
    match = _NOQA_CODES.match(text, start, end)
    return "noqa", _words(text, *match.span(1)) if match else ()


def _read_detlint(text: str, start: int, end: int) -> tuple[str, tuple[Code, ...]]:
    match = _VERB.match(text, start, end)
    verb = match[1].lower() if match else ""
    if match is None or verb not in _VERBS:
        return "malformed", ()
    if not match[2]:
        # Without brackets it would silence every rule, which "ignore DET301" does not mean.
        rest = text[match.end() : end].lstrip(" \t:=").upper()
        return ("malformed" if rest.startswith("DET") and rest[3:4].isdigit() else verb), ()
    codes = _words(text, *match.span(3))
    rest = _WORD.sub("", match[3]).replace(",", "").strip()
    if verb == "skip-file" or not match[4] or not codes or rest:
        return "malformed", ()
    return verb, codes


def _words(text: str, start: int, end: int) -> tuple[Code, ...]:
    words = _WORD.finditer(text, start, end)
    return tuple(Code(*word.span(), word[0].upper()) for word in words)


def _is_unknown(directive: Directive, code: Code, known: Collection[str]) -> bool:
    """Whether a code is none of ours, and of no other linter either."""
    foreign = directive.kind == "noqa" and not code.text.startswith("DET")
    return not foreign and not any(each.startswith(code.text) for each in known)


def _alone(text: str, comment: Span) -> bool:
    line = max(text.rfind("\n", 0, comment.start), text.rfind("\r", 0, comment.start)) + 1
    return not text[line : comment.start].strip()


def _empty(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith(("#", "//"))


def _without(text: str, directive: Directive, code: Code) -> Edit:
    """Remove the code; with the last code, the directive and its reason; with that, the line."""
    at = directive.codes.index(code)
    if at:
        return Edit(directive.codes[at - 1].end, code.end, "")
    if len(directive.codes) > 1:
        return Edit(code.start, directive.codes[1].start, "")
    if directive.end < directive.comment.end:
        return Edit(directive.start, directive.end, "")
    start = directive.start
    while start and text[start - 1] in " \t":
        start -= 1
    end = directive.end
    if directive.start == directive.comment.start and _alone(text, directive.comment):
        end += 2 if text.startswith("\r\n", end) else 1
    return Edit(start, min(end, len(text)), "")


def logical_ends(source: Source, where: Sequence[Span]) -> list[int]:
    """Rows that end a logical line: no bracket, string or backslash carries on to the next."""
    text = source.text
    ends: list[int] = []
    depth = gap = 0
    for span in (*where, Span(len(text), len(text), "end")):
        for match in _STRUCTURE.finditer(text, gap, span.start):
            mark = match[0]
            if mark in "([{":
                depth += 1
            elif mark in ")]}":
                depth = max(depth - 1, 0)
            elif not depth and text[match.start() - 1 : match.start()] != "\\":
                ends.append(source.location(match.start())[0])
        gap = span.end
    return [*ends, len(source.line_starts)]

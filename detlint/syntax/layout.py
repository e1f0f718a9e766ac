"""How a file is laid out, read from its lines: strings, comments, and top-level statements."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.syntax.lexer import Span, fields, in_field, spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Of a function or a class: its indentation, which of them it is, and its name.
HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
_BASES = re.compile(r"class[ \t]+\w+[ \t]*\(((?:[^()#]|\([^()#]*\))*)\)")
# The last line of "def f(…):" or "class C(…):", by which a docstring is told from a value.
_ENDS_HEAD = re.compile(
    r"[ \t]*(?:(?:async[ \t]+def|def|class)\b|\)).*:[ \t]*(?:#.*)?$", re.MULTILINE
)
_ENDS_LINE = re.compile(r"[ \t]*(?:#.*)?$", re.MULTILINE)
# What stands in no bracket, whatever a broken line above has left open.
_BEGINS = re.compile(
    r"[ \t]*(?:(?:async[ \t]+def|def|class|import|return|try|while|with)\b"
    r"|from[ \t]+[\w.]+[ \t]+import\b)"
)
# What ends the line before a statement: that is not indented further, no comment, no closing
# bracket. It begins with plain text, which sre finds four times as fast as the start of a line.
# A member of a class, whose body need not be indented as others are.
_MEMBER = re.compile(r"\n([ \t]+)(?:(?:async[ \t]+def|def|class)\b|@)")
_FIRST = "fFrRtT"  # letters of strings that may hold replacement fields
_STATEMENT = {"": re.compile(r"\n(?=[^\s#)\]}])")}


class Block(NamedTuple):
    """A statement ``start:end`` at one level of indentation; ``kind`` is "def", "class" or "".
    ``head``: where its own line begins, below its decorators."""

    start: int
    end: int
    indent: str
    kind: str
    name: str
    bases: str = ""
    head: int = 0


class Layout:
    """Tells offsets in strings and comments from code."""

    def __init__(self, text: str) -> None:
        self.text = text
        # Strings and comments: as tuples, those of all files of a project take four times as much.
        found = spans(text)
        self._starts = array("q", [span.start for span in found])
        self._ends = array("q", [span.end for span in found])
        self._kinds = [span.kind for span in found]
        self._meaningless: dict[int, tuple[int, int]] = {}  # by places in ``_starts``

    @cached_property
    def top(self) -> list[Block]:
        """The statements at the top of the file."""
        return list(self.blocks(0, len(self.text), ""))

    def at(self, offset: int) -> Span | None:
        """The string or comment around an offset, if the offset is inside one."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or offset >= self._ends[index]:
            return None
        return self._span(index)

    def _span(self, index: int) -> Span:
        return Span(self._starts[index], self._ends[index], self._kinds[index])

    def hides(self, offset: int) -> bool:
        """Whether the offset lies in a comment, or in a docstring."""
        span = self.at(offset)
        if span is None:
            return False
        line_start = self.text.rfind("\n", 0, span.start) + 1
        alone = not self.text[line_start : span.start].strip()
        return span.kind == "comment" or (span.kind == "triple" and alone)

    def says(self, offset: int) -> bool:
        """Whether the offset lies in a comment or in what a string says, and not in code."""
        span = self.at(offset)
        return span is not None and (
            span.kind == "comment" or not in_field(self.text, span, offset)
        )

    def inside(self, offset: int) -> bool:
        """Whether a string begins before the offset and ends after it."""
        span = self.at(offset)
        return span is not None and span.start < offset

    def code(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges of ``start:end``, between statements, without comments and docstrings."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        known = self._meaningless
        for index in range(first, last):
            found = known.get(index)
            if found is None:
                found = known[index] = self._without_meaning(self._span(index))
            left, right = found
            if left < right:
                if start < left:
                    yield start, left
                start = right
        if start < end:
            yield start, end

    def code_text(self, start: int, end: int) -> str:
        """What these hold."""
        return "".join(self.text[first:last] for first, last in self.code(start, end))

    def plain(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """The ranges of ``start:end``, between statements, outside of strings and comments, with
        the calls in replacement fields: ``f"{fit(net)}"``."""
        first, last = bisect_left(self._starts, start), bisect_left(self._starts, end)
        text = self.text
        for index in range(first, last):
            left, right = self._starts[index], self._ends[index]
            yield start, left
            start = right
            field = text.find("{", left, right) if text[left] in _FIRST else -1
            if field >= 0 and text.find("(", field, right) >= 0:
                yield from fields(text, self._span(index))
        yield start, end

    def _without_meaning(self, span: Span) -> tuple[int, int]:
        """A comment, with its line if it has one of its own, or what a docstring says."""
        text = self.text
        line = text.rfind("\n", 0, span.start) + 1
        alone = not text[line : span.start].strip(" \t")
        if span.kind == "comment":
            has_line = alone and text.startswith("\n", span.end)
            return (line, span.end + 1) if has_line else (span.start, span.end)
        above = text.rfind("\n", 0, max(line - 1, 0)) + 1
        docstring = span.kind == "triple" and alone and _ENDS_LINE.match(text, span.end)
        if docstring and _ENDS_HEAD.match(text, above):
            mark = text[span.end - 3 : span.end]
            return text.index(mark, span.start) + 3, span.end - 3
        return span.end, span.end

    def blocks(self, start: int, end: int, indent: str) -> Iterator[Block]:
        """Split ``start:end`` into the statements that begin at one indentation."""
        text = self.text
        pattern = _STATEMENT.get(indent)
        if pattern is None:
            pattern = _STATEMENT[indent] = re.compile(rf"\n{re.escape(indent)}(?=[^\s#)\]}}])")
        found = [match.start() + 1 for match in pattern.finditer(text, max(start - 1, 0), end)]
        if start == 0 and pattern.match(f"\n{text[: len(indent) + 1]}"):
            found.insert(0, 0)
        begins = list(self._outside_brackets([x for x in found if not self.inside(x)], end))
        first = begins[0] if begins else end
        if first > start:
            yield Block(start, first, indent, "", "")
        decorated = -1
        for begin, stop in zip(begins, [*begins[1:], end], strict=bool(begins)):
            if text.startswith("@", begin + len(indent)):
                decorated = begin if decorated < 0 else decorated
                continue
            yield self._block(begin, decorated if decorated >= 0 else begin, stop, indent)
            decorated = -1
        if decorated >= 0:
            yield Block(decorated, end, indent, "", "")

    def members(self, block: Block) -> list[Block]:
        """What a class holds, its own line first; nothing where none of it is a function, a class
        or decorated."""
        found = _MEMBER.finditer(self.text, block.start, block.end)
        indents = [match[1] for match in found if not self.inside(match.start() + 1)]
        if not indents:
            return []
        return list(self.blocks(block.start, block.end, min(indents, key=len)))

    def _outside_brackets(self, begins: list[int], end: int) -> Iterator[int]:
        """The lines that begin a statement, and do not go on with one that a bracket holds open."""
        text, depth, surely = self.text, 0, True
        for begin, stop in zip(begins, [*begins[1:], end], strict=bool(begins)):
            if depth <= 0 or surely:
                yield begin
                depth = 0
            surely = _BEGINS.match(text, stop) is not None
            if surely:
                continue  # whatever is open here
            if depth or not _may_balance(text[begin:stop]):
                parts = [text[x:y] for x, y in self.plain(begin, stop)]
                depth += sum(map(_opened, parts))

    def _block(self, head: int, start: int, end: int, indent: str) -> Block:
        match = HEAD.match(self.text, head)
        kind, name = (match[2], match[3]) if match else ("", "")
        inherits = _BASES.match(self.text, head + len(indent)) if kind == "class" else None
        return Block(start, end, indent, kind, name, inherits[1] if inherits else "", head)


def _may_balance(text: str) -> bool:
    """Whether as many brackets open as close, strings and comments included."""
    count = text.count
    return count("(") == count(")") and count("[") == count("]") and count("{") == count("}")


def _opened(code: str) -> int:
    """How many more brackets open than close."""
    return sum(map(code.count, "([{")) - sum(map(code.count, ")]}"))


# Rules look around in a file in several ways, each of which begins here.
@lru_cache(maxsize=2_000)
def layout_of(text: str) -> Layout:
    """How a text is laid out."""
    return Layout(text)


@lru_cache(maxsize=8)  # what a file is for is asked in several ways
def code_of(text: str) -> str:
    """A text without its comments and docstrings."""
    return layout_of(text).code_text(0, len(text))


def plain_of(text: str) -> str:
    """A text without its comments and strings."""
    return "".join(text[start:end] for start, end in layout_of(text).plain(0, len(text)))


def says_in_code(text: str, parts: Iterable[str]) -> bool:
    """Whether a text holds one of some parts outside of its comments and docstrings."""
    held = [each for each in parts if each in text]
    return bool(held) and any(map(code_of(text).__contains__, held))

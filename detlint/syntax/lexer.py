"""Where strings and comments lie in Python text, without tokenizing the rest.

Works on text that does not parse, too: an unterminated string ends at its line,
an unterminated triple-quoted one at the end of the text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

S = TypeVar("S", bound=tuple[Any, ...])

# A bounded count of escapes, because sre keeps a frame for each one: a 50 MB string of
# escapes would otherwise take gigabytes. _TAIL goes on where the count ran out.
_BODY = r"""[^{q}\\\r\n]*(?:\\(?:\r\n|[\s\S])[^{q}\\\r\n]*){{0,64}}{q}?"""
_DOUBLE = _BODY.format(q='"')
_SINGLE = _BODY.format(q="'")
# Each branch begins with a bare literal and none captures: only then does sre skip code by a
# character set, which is four times as fast. So a string's prefix is looked up backwards.
_TOKEN = re.compile(rf"""#[^\r\n]*|\"\"\"|\'\'\'|"{_DOUBLE}|'{_SINGLE}""")
_TAIL = {'"': re.compile(_DOUBLE), "'": re.compile(_SINGLE)}
_TRIPLE_END = {quote: re.compile(rf"\\[\s\S]|{quote}") for quote in ('"""', "'''")}

_PREFIX_LETTERS = frozenset("rRbBuUfFtT")
_PREFIXES = frozenset({"r", "b", "u", "f", "t", "rb", "br", "rf", "fr", "rt", "tr"})

# Inside an f-string: its literal text, a format spec, and the code of a replacement field.
_LITERAL = {
    quote: re.compile(rf"\\N\{{[^}}\"'\r\n]*\}}|\\(?:\r\n|[^{{}}])|\{{\{{|(\{{)|({quote}){newline}")
    for quote, newline in (('"""', ""), ("'''", ""), ('"', r"|([\r\n])"), ("'", r"|([\r\n])"))
}
_SPEC = re.compile(r"[{}\"'\r\n]")
_CODE = re.compile(r"#[^\r\n]*|((?<![A-Za-z])[A-Za-z]*)(\"{3}|'{3}|[\"'])|[(\[{)\]}:]")
_BRACKETS = ("(", "[", "{", ")", "]")


class Span(NamedTuple):
    """Characters ``start:end``; ``kind`` is "comment", "string" or "triple"."""

    start: int
    end: int
    kind: str


def spans(text: str) -> list[Span]:
    """Every string and comment, in order and disjoint. A string's prefix belongs to it.

    A comment in a replacement field of an f-string counts as a part of the string.
    """
    found: list[Span] = []
    position, nested = 0, True
    while position >= 0:
        position, nested = _scan(text, position, nested, found)
    return found


def masked(text: str) -> str:
    """The text with underscores for strings and spaces for comments, each as long as before."""
    pieces, position = [], 0
    for start, end, kind in spans(text):
        sign = " " if kind == "comment" else "_"
        pieces += [text[position:start], re.sub(r"[^\r\n]", sign, text[start:end])]
        position = end
    return "".join([*pieces, text[position:]])


def comments(text: str) -> list[tuple[int, int]]:
    """Offsets ``(start, end)`` of every comment, from its ``#`` to before the line's end."""
    return [(start, end) for start, end, kind in spans(text) if kind == "comment"]


def beginning(spans: Sequence[S], start: int, end: int) -> Iterator[S]:
    """Those of some spans, in order, that begin in a range."""
    for index in range(bisect_left(spans, start, key=itemgetter(0)), len(spans)):
        if spans[index][0] >= end:
            return
        yield spans[index]


def _scan(text: str, position: int, nested: bool, found: list[Span]) -> tuple[int, bool]:
    """Append spans until one ends elsewhere than sre thinks; where to go on, or -1."""
    for match in _TOKEN.finditer(text, position):
        start, end = match.span()
        mark = text[start]
        if mark == "#":
            found.append(Span(start, end, "comment"))
            continue
        first = _prefix_start(text, start) if text[start - 1 : start] in _PREFIX_LETTERS else start
        natural, kind, quote = end, "string", mark
        if end == start + 3 and text[start + 1] == mark == text[start + 2]:
            kind, quote = "triple", mark * 3
            end = _triple_end(text, end, quote)
        elif text[end : end + 1] == "\\":
            end = _string_end(text, end, quote)
        if nested and first < start and _open_field(text, first, start, end):
            inner = _fstring_end(text, start, quote)
            # Where one f-string is broken, so is the file: trying each one is quadratic.
            nested = inner >= 0
            end = max(inner, end)
        found.append(Span(first, end, kind))
        if end != natural:
            return end, nested
    return -1, nested


def _prefix_start(text: str, start: int) -> int:
    """Where the prefix of the string whose quote is at ``start`` begins, else ``start``."""
    for length in (2, 1):
        first = start - length
        if first >= 0 and text[first:start].lower() in _PREFIXES:
            before = text[first - 1 : first] if first else ""
            if not (before.isalnum() or before == "_"):
                return first
    return start


def _triple_end(text: str, position: int, quote: str) -> int:
    end = text.find(quote, position)
    if end < 0:
        return len(text)
    if text.find("\\", position, end) < 0:
        return end + 3
    for match in _TRIPLE_END[quote].finditer(text, position):
        if match[0] == quote:
            return match.end()
    return len(text)


def _string_end(text: str, position: int, quote: str) -> int:
    tail = _TAIL[quote]
    while True:
        match = tail.match(text, position)
        if match is None or match.end() == position:
            return position
        position = match.end()
        if text[position - 1] == quote or text[position : position + 1] != "\\":
            return position


def _open_field(text: str, first: int, quote: int, end: int) -> bool:
    """Whether an f-string ends inside a replacement field, because that holds its own quote.

    Braces within strings within a field can hide that: ``f"{'}' + d["k"]}"`` is mis-split.
    """
    prefix = text[first:quote].lower()
    if "f" not in prefix and "t" not in prefix:
        return False
    return text.count("{", quote, end) != text.count("}", quote, end)


def _fstring_end(text: str, start: int, quote: str) -> int:
    """Where an f-string with nested quotes (PEP 701) ends; -1 if it does not."""
    # Quotes of open f-strings, brackets of open fields, and ":" for a format spec.
    stack = [quote]
    position = start + len(quote)
    while stack and position >= 0:
        top = stack[-1]
        if top in _LITERAL:
            position = _step_literal(text, position, stack)
        elif top == ":":
            position = _step_spec(text, position, stack)
        else:
            position = _step_code(text, position, stack)
    return position


def in_field(text: str, span: Span, offset: int) -> bool:
    """Whether an offset in a string is code: it lies in a replacement field of an f-string."""
    return any(start <= offset < end for start, end in fields(text, span))


def fields(text: str, span: Span) -> Iterator[tuple[int, int]]:
    """The code in the replacement fields of an f-string, outside of the strings in that."""
    start = next(i for i in range(span.start, span.end) if text[i] in "\"'")
    prefix = text[span.start : start].lower()
    if "f" not in prefix and "t" not in prefix:
        return
    quote = text[start] * (3 if span.kind == "triple" else 1)
    stack, position = [quote], start + len(quote)
    while stack and 0 <= position < span.end:
        if stack[-1] in _LITERAL:
            position = _step_literal(text, position, stack)
        elif stack[-1] == ":":
            position = _step_spec(text, position, stack)
        else:
            token = _CODE.search(text, position)
            if token is None:
                return
            yield position, token.end() if token[0] in _BRACKETS else token.start()
            position = _step_code(text, position, stack)


def _step_literal(text: str, position: int, stack: list[str]) -> int:
    match = _LITERAL[stack[-1]].search(text, position)
    if match is None or match.lastindex == 3:
        return -1
    if match.lastindex == 1:
        stack.append("field")
    elif match.lastindex == 2:
        stack.pop()
    return match.end()


def _step_spec(text: str, position: int, stack: list[str]) -> int:
    match = _SPEC.search(text, position)
    if match is None:
        return -1
    if match[0] == "{":
        stack.append("field")
    elif match[0] == "}":
        stack.pop()
    else:
        quotes = next(item for item in reversed(stack) if item in _LITERAL)
        if text.startswith(quotes, match.start()) or (len(quotes) == 1 and match[0] in "\r\n"):
            return -1
    return match.end()


def _step_code(text: str, position: int, stack: list[str]) -> int:
    match = _CODE.search(text, position)
    if match is None:
        return -1
    token, quote = match[0], match[2]
    if quote:
        return _step_string(text, match, stack)
    if token in "([{":
        stack.append(token)
    elif token in ")]}":
        stack.pop()
    elif token == ":" and stack[-1] == "field":
        stack[-1] = ":"
    return match.end()


def _step_string(text: str, match: re.Match[str], stack: list[str]) -> int:
    """Skip a string in a field's code, or enter it if it is an f-string as well."""
    prefix, quote = match[1].lower(), match[2]
    if prefix in _PREFIXES and ("f" in prefix or "t" in prefix):
        stack.append(quote)
        return match.end()
    if len(quote) == 3:
        return _triple_end(text, match.end(), quote)
    return _string_end(text, match.end(), quote)

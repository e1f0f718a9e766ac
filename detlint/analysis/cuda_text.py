"""Atomic additions in CUDA source, as text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# Strings too, so that what looks like a comment in one is none. A raw string of C++ with a
# delimiter of its own (R"x(…)x") is not told apart.
_TOKEN = re.compile(
    r"//[^\n]*|/\*.*?(?:\*/|\Z)|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'", re.DOTALL
)
_CALL = re.compile(r"\b(?:(\w+)\s*=\s*)?atomicAdd(?:_block|_system)?\s*\(")
_INTEGER = re.compile(r"\(?\s*[-+]?\d+[uUlL]*\s*\)?|\(?\s*[-+]?\d+\.0*f?\s*\)?")
_CAST = re.compile(r"\(\s*(?:(?:unsigned|long|int|u?int(?:32|64)_t|size_t|ull)\b[\s*]*)+\)")
_BASE = re.compile(r"[\s&*(]*(\w+)")
_INTEGRAL = r"\b(?:(?:unsigned|long|int|u?int(?:8|32|64)_t|size_t)\s*)+\*?\s*(?:\w+\s*,\s*)*\*?\s*"


class Addition(NamedTuple):
    """An atomic addition: how it is written, and the variable that takes a place it hands out."""

    text: str
    slot: str
    start: int
    end: int


def additions(source: str) -> Iterator[Addition]:
    """Atomic additions whose order can show: of floats, and integers that hand out places."""
    source = _TOKEN.sub(_blank, source)  # offsets stay
    for match in _CALL.finditer(source):
        arguments, end = _arguments(source, match.end())
        if len(arguments) < 2:
            continue
        text = f"atomicAdd({', '.join(arguments)})"
        if match[1] and _is_place(source, match[1]):
            yield Addition(text, match[1], match.start(), end)
        elif not (match[1] or _is_integer(source, *arguments[:2])):
            yield Addition(text, "", match.start(), end)


def comments(source: str) -> Iterator[tuple[int, int]]:
    """Where comments start and end."""
    return (match.span() for match in _TOKEN.finditer(source) if match[0].startswith("/"))


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _arguments(source: str, start: int) -> tuple[list[str], int]:
    """The arguments of a call whose parenthesis opens before an offset, and where it ends."""
    depth, arguments, begin = 1, [], start
    for offset in range(start, len(source)):
        depth += (source[offset] in "([{") - (source[offset] in ")]}")
        if depth == 0 or (depth == 1 and source[offset] == ","):
            arguments.append(" ".join(source[begin:offset].split()))
            begin = offset + 1
        if depth == 0:
            return arguments, offset + 1
    return [], start


def _is_integer(source: str, place: str, value: str) -> bool:
    if _INTEGER.fullmatch(value) or _CAST.search(place):
        return True
    return _declared(source, place) or _declared(source, value)


def _declared(source: str, expression: str) -> bool:
    """Whether the first variable of an expression is declared as an integer, or a pointer to it."""
    base = _BASE.match(expression)
    return base is not None and bool(re.search(rf"{_INTEGRAL}{base[1]}\b", source))


def _is_place(source: str, name: str) -> bool:
    """``rows[slot] = …``."""
    return bool(re.search(rf"\[[^\]\n]*\b{name}\b[^\]\n]*\]\s*=(?!=)", source))

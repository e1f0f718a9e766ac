"""Where a text mentions a name: without a pattern, which costs more to build than to use."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WORD = re.compile(r"\w+")
_QUOTED = re.compile(r"(?=([\"'])(\w+)\1)")
_FARTHEST = 40  # blanks between ``def`` and a name


def mentions(text: str, name: str, start: int = 0, end: int | None = None) -> list[int]:
    """Where a name stands alone in a range of a text, strings and comments included."""
    end = len(text) if end is None else end
    size, found = len(name), []
    place = text.find(name, start, end) if name else -1  # nothing is found everywhere
    while place >= 0:
        after = place + size
        if not (_continues(text, place - 1) or _continues(text, after)):
            found.append(place)
        place = text.find(name, after, end)
    return found


@lru_cache(maxsize=256)  # of a file, for many rules and at each of its triggers
def holds(text: str, word: str) -> bool:
    """Whether a text holds a word, or a part of one."""
    return word in text


@lru_cache(maxsize=2)  # of a file, for each of many names
def places(text: str) -> dict[str, list[int]]:
    """Where each word of a text stands, for whoever asks about many of them."""
    found: dict[str, list[int]] = {}
    for match in _WORD.finditer(text):
        found.setdefault(match[0], []).append(match.start())
    return found


@lru_cache(maxsize=2)  # of a program, for many files
def words(text: str) -> frozenset[str]:
    """The words of a text, strings and comments included."""
    return frozenset(_WORD.findall(text))


@lru_cache(maxsize=2)
def quoted(text: str) -> frozenset[str]:
    """The words that stand alone between quotes, by which what has that name may be looked up."""
    return frozenset(match[2] for match in _QUOTED.finditer(text))


def calls(
    text: str, name: str, start: int = 0, end: int | None = None
) -> Iterator[tuple[int, int]]:
    """Where a name is called, or the head of its definition: its offset, and the bracket's."""
    for place in mentions(text, name, start, end):
        bracket = place + len(name)
        while text[bracket : bracket + 1] in (" ", "\t"):
            bracket += 1
        if text.startswith("(", bracket):
            yield place, bracket


def is_head(text: str, place: int) -> bool:
    """Whether a name at a place is that of a function that is defined there."""
    before = text[max(place - _FARTHEST, 0) : place]
    return before[-1:] in (" ", "\t") and before.split()[-1:] == ["def"]


def _continues(text: str, place: int) -> bool:
    return 0 <= place < len(text) and (text[place].isalnum() or text[place] == "_")

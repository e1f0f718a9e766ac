"""Where an expression stands, by the text to its left: its statement and the brackets around it.

Nothing is parsed. A statement may be taken to begin too early, never too late, unless a dict
has a line of its own for a value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.uses import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_FAR = 60  # lines of one statement
_HIDDEN = re.compile(
    r"""\"\"\"[\s\S]*?\"\"\" | '''[\s\S]*?''' | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
    | \#[^\n]*""",
    re.VERBOSE,
)
_PAIRS = re.compile(r"\([^()\[\]{}]*\)|\[[^()\[\]{}]*\]|\{[^()\[\]{}]*\}")
_CLOSED = {"\0": "()", "\1": "[]", "\2": "{}"}  # what stands for closed brackets
_OPENING = re.compile(r"[(\[{]")
_INDENT = re.compile(r"[ \t]*")
_WORD = re.compile(r"[\w.]+$")
_KEYWORDS = words(
    "and assert await elif else for from if in is lambda not or return while with yield"
)
_BLOCK = re.compile(
    r"\s*(?:[)\]}]|(?:async|case|class|def|elif|else|except|finally|for|if|match|try|while|with)\b)"
)
_DEFINITION = re.compile(r"^([ \t]*)(?:async[ \t]+def|def|class|@)", re.MULTILINE)


class Bracket(NamedTuple):
    """What stands before an expression in one pair of brackets, or in its statement.

    mark    the opening bracket; "" for the statement
    word    the dotted name before it, if that is called, subscripted or defined
    inside  the text from there to the expression; what is in closed brackets is left out
    """

    mark: str
    word: str
    inside: str

    @property
    def last(self) -> str:
        """The text after the last comma."""
        return self.inside.rpartition(",")[2]


def brackets(text: str, offset: int) -> Iterator[Bracket]:
    """What stands before an offset, from the innermost brackets outwards."""
    code = _HIDDEN.sub(_blank, text[statement_start(text, offset) : offset])
    before = ""
    while code != before:
        before, code = code, _PAIRS.sub(_closed, code)
    places = [match.start() for match in _OPENING.finditer(code)]
    end = len(code)
    for place in reversed(places):
        found = _WORD.search(code, 0, place)
        word = found[0] if found is not None else ""
        after = code[place - 1 : place] in tuple(_CLOSED)
        yield Bracket(
            code[place],
            "" if word in _KEYWORDS else word or ("." if after else ""),
            _shown(code[place + 1 : end]),
        )
        end = place
    yield Bracket("", "", _shown(code[:end]))


def _closed(match: re.Match[str]) -> str:
    return next(mark for mark, pair in _CLOSED.items() if pair[0] == match[0][0])


def _shown(code: str) -> str:
    for mark, pair in _CLOSED.items():
        code = code.replace(mark, pair)
    return code


def _blank(match: re.Match[str]) -> str:
    return "" if match[0].startswith("#") else '""'


# A set is asked about in several ways, each of which begins here.
@lru_cache(maxsize=32)
def statement_start(text: str, offset: int) -> int:
    """Where the line begins with which the statement around an offset does, as it is indented."""
    start = text.rfind("\n", 0, offset) + 1
    for _ in range(_FAR):
        above = _line_above(text, start)
        if above is None:
            return start
        start = above
    return start


def _line_above(text: str, start: int) -> int | None:
    """The line above that a line goes on, if it goes on one."""
    indent = _indent(text, start)
    closes = text[start + indent : start + indent + 1] in tuple(")]}")
    end, first = start - 1, True
    while end > 0:
        begin = text.rfind("\n", 0, end) + 1
        line = text[begin:end].rstrip()
        end = begin - 1
        own = len(line) - len(line.lstrip(" \t"))
        if not line or line[own] == "#":
            continue
        if first and line.endswith("\\"):
            return begin
        first = False
        if closes and own == indent and line[own] not in ")]}":
            return begin
        if own < indent:
            return None if _opens_block(line) else begin
    return None


def _opens_block(line: str) -> bool:
    """Whether a line is the last one of ``if x:`` and its kind."""
    code = _HIDDEN.sub(_blank, line).rstrip()
    return code.endswith(":") and _BLOCK.match(code) is not None


def _indent(text: str, start: int) -> int:
    match = _INDENT.match(text, start)
    return match.end() - start if match is not None else 0


def function_of(text: str, offset: int) -> tuple[int, int] | None:
    """The function around the statement around an offset."""
    return function_around(text, statement_start(text, offset))


@lru_cache(maxsize=32)
def function_around(text: str, start: int, *, own: bool = False) -> tuple[int, int] | None:
    """The function around the statement that begins at an offset; ``own`` if it is its head."""
    indent = _indent(text, start)
    if own:
        return start, _end(text, start, indent)
    end = start
    while end > 0 and indent:
        begin = text.rfind("\n", 0, end - 1) + 1
        line = text[begin:end]
        found = len(line) - len(line.lstrip(" \t"))
        if found < indent and line[found] not in "\n\r#)]}@":
            head = _DEFINITION.match(text, begin)
            if head is not None:
                whole = begin, _end(text, begin, found)
                return whole if head[0].endswith("def") else None
            indent = found
        end = begin
    return None


def _end(text: str, head: int, indent: int) -> int:
    """Where the next definition begins that is not inside the one that begins at an offset."""
    for match in _DEFINITION.finditer(text, text.find("\n", head) + 1 or len(text)):
        if len(match[1]) <= indent:
            return match.start()
    return len(text)

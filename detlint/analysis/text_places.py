"""Where an expression stands, by the text to its left: its statement and the brackets around it.

Nothing is parsed. A statement may be taken to begin too early, never too late, unless a dict
has a line of its own for a value.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.uses import words
from detlint.mentions import mentions

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
_HEAD = re.compile(r"[ \t]*(?:async[ \t]+)?def[ \t]+(\w+)")
_INDENT = re.compile(r"[ \t]*")
_MADE = re.compile(r"[ \t]*[:=]")
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
    if text[max(start - 4, 0) : start].rstrip().endswith("\\"):
        begin, line = _code_above(text, start, None)
        if line.endswith("\\"):
            return begin
    closes = text[start + indent : start + indent + 1] in tuple(")]}")
    begin = start
    while indent or closes:
        begin, line = _code_above(text, begin, indent if closes else indent - 1)
        if not line:
            return None
        own = len(line) - len(line.lstrip(" \t"))
        if own < indent:
            return None if _opens_block(line) else begin
        if line[own] not in ")]}":
            return begin
    return None


def _code_above(text: str, start: int, indent: int | None) -> tuple[int, str]:
    """The nearest line above one, neither blank nor a comment, and indented by so much at most;
    with where it begins."""
    above = _last_code(indent).match(text, 0, start)
    if above is not None:
        found = above.end()
        return found, text[found : text.find("\n", found)].rstrip()
    first = text[: text.find("\n", 0, start)] if start else ""
    return 0, "" if first.lstrip().startswith("#") else first.rstrip()


@lru_cache(maxsize=64)
def _last_code(indent: int | None) -> re.Pattern[str]:
    """Up to where the last such line begins. sre takes all that ``.*`` may, and goes back by
    plain text from there, which is fast."""
    if indent is None:
        return re.compile(r"(?s:.*)\n(?=[ \t]*(?![ \t#])[^\n]*\S)")
    return re.compile(
        rf"(?s:.*)\n(?!\n| {{{indent + 1}}})(?=[ \t]{{0,{indent}}}(?![ \t#])[^\n]*\S)"
    )


def _opens_block(line: str) -> bool:
    """Whether a line is the last one of ``if x:`` and its kind."""
    code = _HIDDEN.sub(_blank, line).rstrip()
    return code.endswith(":") and _BLOCK.match(code) is not None


def _indent(text: str, start: int) -> int:
    match = _INDENT.match(text, start)
    return match.end() - start if match is not None else 0


def name_of(text: str, function: tuple[int, int]) -> str | None:
    """The name of a function by where it stands; None where decorators come first."""
    head = _HEAD.match(text, function[0])
    return head[1] if head is not None else None


def function_of(text: str, offset: int) -> tuple[int, int] | None:
    """The function around the statement around an offset."""
    return function_around(text, statement_start(text, offset))


@lru_cache(maxsize=32)
def function_around(text: str, start: int, *, own: bool = False) -> tuple[int, int] | None:
    """The function around the statement that begins at an offset; ``own`` if it is its head."""
    indent = _indent(text, start)
    if own:
        return start, _end(text, start, indent)
    begin = start
    while indent:
        begin, line = _code_above(text, begin, indent - 1)
        if not line:
            return None
        found = len(line) - len(line.lstrip(" \t"))
        if found < indent and line[found] not in ")]}@":
            head = _DEFINITION.match(text, begin)
            if head is not None:
                whole = begin, _end(text, begin, found)
                return whole if head[0].endswith("def") else None
            indent = found
    return None


def _end(text: str, head: int, indent: int) -> int:
    """Where the next definition begins that is not inside the one that begins at an offset."""
    line = text.find("\n", head)
    found = _next_definition(indent).search(text, line) if line >= 0 else None
    return found.start() + 1 if found is not None else len(text)


@lru_cache(maxsize=64)
def _next_definition(indent: int) -> re.Pattern[str]:
    """What ends the line before a definition that is indented by so much at most."""
    words = r"(?:async[ \t]+def|def|class|@)"
    return re.compile(rf"\n(?!\n| {{{indent + 1}}})[ \t]{{0,{indent}}}{words}")


def fields(text: str, name: str) -> Iterator[int]:
    """Where ``name = x`` or ``name: x`` begins an indented line."""
    for place in mentions(text, name):
        line = text.rfind("\n", 0, place) + 1
        indented = line < place and not text[line:place].strip(" \t")
        if indented and _MADE.match(text, place + len(name)):
            yield place

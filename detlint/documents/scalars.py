"""Where in the source each character of a value stands that YAML wrote in another form."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from detlint.documents.tree import Leaf

_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n|$)")
_BLANKS = " \t\r\n"
_ESCAPE = re.compile(r"\\(?:x..|u.{4}|U.{8}|\r\n|.)", re.DOTALL)
_CONTINUED = re.compile(r"\\(?:\r\n|\r|\n)")


def places(text: str, leaf: Leaf) -> list[int] | None:
    """The offset of each character of a value's text, and of the end; None if they can't be told.

    A value in one line is as it is written. A literal block has an indentation in each line,
    and elsewhere lines are folded, quotes doubled and characters escaped.
    """
    if leaf.style == "|":
        return _block(text, leaf)
    shift = 1 if leaf.style in ("'", '"') else 0
    start = leaf.start + shift
    if text.startswith(leaf.text, start) and start + len(leaf.text) + shift == leaf.end:
        return list(range(start, start + len(leaf.text) + 1))
    return _folded(text, leaf)


def _block(text: str, leaf: Leaf) -> list[int] | None:
    """Each line of a literal block is its own, behind an indentation."""
    position = text.find("\n", leaf.start) + 1
    found: list[int] = []
    for line in re.findall(r"[^\n]*\n|[^\n]+", leaf.text):
        written = _LINE.match(text, position)
        body = line.rstrip("\n")
        if written is None or position <= 0:
            return None
        at = written[0].find(body) if body else len(written[0].rstrip("\r\n"))
        if at < 0 or written[0][:at].strip():
            return None
        found += range(position + at, position + at + len(line))
        position = written.end()
    return [*found, found[-1] + 1 if found else leaf.end]


def _folded(text: str, leaf: Leaf) -> list[int] | None:
    """Blanks may be others, or more; what is between them stands there in order."""
    position = text.find("\n", leaf.start) + 1 if leaf.style == ">" else leaf.start
    position += leaf.style in ("'", '"')
    found: list[int] = []
    for character in leaf.text:
        continued = leaf.style == '"' and _CONTINUED.match(text, position)
        if continued or character not in _BLANKS:
            position = _skip(text, position, leaf)
        if position >= leaf.end:
            return None
        found.append(position)
        step = _step(text, position, character, leaf.style)
        if not step and character not in _BLANKS:
            return None
        position += step
    return [*found, position]


def _skip(text: str, position: int, leaf: Leaf) -> int:
    while position < leaf.end:
        continued = _CONTINUED.match(text, position) if leaf.style == '"' else None
        if continued:
            position = continued.end()
        elif text[position] in _BLANKS:
            position += 1
        else:
            break
    return position


def _step(text: str, position: int, character: str, style: str) -> int:
    """How much of the source is this character; 0 if it is another."""
    if style == '"' and (escape := _ESCAPE.match(text, position)):
        return len(escape[0])
    if text[position] != character:
        return 0
    return 2 if style == character == "'" else 1

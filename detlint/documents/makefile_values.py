"""Variables of a Makefile, replaced in texts as make does: late, and values in values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.documents.shell_scope import EMPTY, Piece, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from detlint.documents.makefile_lines import Line

_REFERENCE = re.compile(r"\$(?:\(([^()$\s:,]+)\)|\{([^{}$\s:,]+)\}|(\$)|([\w@<^+?*%]))")
_DEEPEST = 30


class MakeValue(NamedTuple):
    """A variable's text as it is written, and the line that wrote it."""

    text: Piece
    exported: bool
    line: Line


class Variables:
    """Those that the recipe of a target sees."""

    def __init__(self, values: Mapping[str, MakeValue]) -> None:
        self._values = values
        self._expanded: dict[str, Piece] = {}

    def environment(self) -> dict[str, str | None]:
        """What the programs in it see."""
        exported = (name for name, each in self._values.items() if each.exported)
        return {name: self._value(name, frozenset()).known for name in exported}

    def expand(self, piece: Piece, around: frozenset[str] = frozenset()) -> Piece:
        """A text with the variables replaced; ``around`` are those that it is the value of."""
        found = EMPTY
        text, done = piece.text, 0
        while (place := text.find("$", done)) >= 0:
            found = found.plus(Piece(text[done:place], piece.places[done:place]))
            match = _REFERENCE.match(text, place)
            done = match.end() if match else _closing(text, place)
            name = (match[1] or match[2] or match[4]) if match else ""
            if match and match[3]:
                found = found.plus(Piece("$", (piece.places[place],)))
            elif name in self._values and name not in around and len(around) < _DEEPEST:
                found = found.plus(self._value(name, around))
            else:  # a function, or what nothing here sets
                found = found.plus(unknown(piece.places[place]))
        return found.plus(Piece(text[done:], piece.places[done:]))

    def _value(self, name: str, around: frozenset[str]) -> Piece:
        """The value of a variable, worked out once."""
        if name not in self._expanded:
            self._expanded[name] = self.expand(self._values[name].text, around | {name})
        return self._expanded[name]


def _closing(text: str, place: int) -> int:
    """The place behind ``$(…)``, whatever is in it."""
    opening = text[place + 1 : place + 2]
    closing = {"(": ")", "{": "}"}.get(opening)
    if closing is None:
        return min(place + 2, len(text))
    depth = 0
    for index in range(place + 1, len(text)):
        depth += (text[index] == opening) - (text[index] == closing)
        if depth == 0:
            return index + 1
    return len(text)

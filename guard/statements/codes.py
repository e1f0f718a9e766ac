"""The program's own functions, met while it runs: their statements by line, and their arguments."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NamedTuple

from guard.observe.places import is_installed, is_library
from guard.statements.syntax import Files

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import CodeType

    from guard.statements.stream import Stream
    from guard.statements.syntax import Statement

_INNER = ("<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>")
_PAUSING = 0x2A0  # flags of the code of generators and coroutines


class Code(NamedTuple):
    """A function of the program's: its number in the stream, statements by line, arguments.

    place   its file, name and first line: the same in each run, which the number is not
    shares  whether it has variables that other frames, and so other threads, write
    """

    number: int
    place: tuple[str, str, int]
    lines: dict[int, Statement]
    given: tuple[str, ...]
    is_lambda: bool
    pauses: bool
    shares: bool


class Codes:
    """Of one process. Those that are met are in ``known``; None is what is not followed."""

    def __init__(self, numbers: Iterator[int]) -> None:
        self.known: dict[CodeType, Code | None] = {}
        self._files = Files()
        self._numbers = numbers

    def learned(self, code: CodeType, stream: Stream) -> Code | None:
        """What is to be known of one that is met first; told to the stream."""
        found: Code | None = None
        filename, name = code.co_filename, code.co_name
        if name not in _INNER and not is_library(filename) and not is_installed(filename):
            lines = self._files.of(filename)
            if lines:
                found = self._declared(code, lines, stream)
        self.known[code] = found
        return found

    def _declared(self, code: CodeType, lines: dict[int, Statement], stream: Stream) -> Code:
        count = code.co_argcount + code.co_kwonlyargcount
        count += bool(code.co_flags & 0x04) + bool(code.co_flags & 0x08)  # *args, **kwargs
        names = code.co_varnames[:count]
        number = next(self._numbers)
        qualified = getattr(code, "co_qualname", code.co_name)
        stream.add(("k", number, code.co_filename, qualified, code.co_firstlineno, names))
        pauses = bool(code.co_flags & _PAUSING)
        place = (code.co_filename, qualified, code.co_firstlineno)
        shares = bool(code.co_cellvars or code.co_freevars) and sys.version_info < (3, 13)
        return Code(number, place, lines, names, code.co_name == "<lambda>", pauses, shares)

"""Two recordings of a program's statements, and where a difference between them entered."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from guard.statements.flows import Flows
from guard.statements.pairs import Pairing
from guard.statements.sinks import Found, find
from guard.statements.syntax import Statement, statements
from guard.statements.trees import threads

if TYPE_CHECKING:
    from guard.comparison import Difference


def compare(first: str, second: str) -> tuple[Flows, list[str]]:
    """What flows where, of the recordings in two folders; and what a person should know."""
    ones, notes = threads(first)
    others, more = threads(second)
    return Flows(Pairing(ones, others, Lookup().of)), list(dict.fromkeys(notes + more))


def origins(first: str, second: str, difference: Difference) -> Found:
    """Where a difference entered."""
    return find(compare(first, second)[0], difference)


class Lookup:
    """Statements by file and line."""

    def __init__(self) -> None:
        self._files: dict[str, dict[int, Statement]] = {}

    def of(self, file: str, line: int) -> Statement | None:
        """The statement that a line is of."""
        found = self._files.get(file)
        if found is None:
            try:
                found = statements("".join(linecache.getlines(file)))
            except (SyntaxError, ValueError):
                found = {}
            self._files[file] = found
        return found.get(line)

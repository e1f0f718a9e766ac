"""Two recordings of a program's statements, and where a difference between them entered."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from guard.statements.flows import Flows
from guard.statements.pairs import NEVER, Pairing
from guard.statements.syntax import Statement, statements
from guard.statements.trees import recording

if TYPE_CHECKING:
    from guard.statements.pairs import Node


def compare(first: str, second: str, step: int | None = None) -> tuple[Flows, list[str]]:
    """What flows where, of the recordings in two folders; and what a person should know.

    step  the last that counts: what came after it says nothing of it
    """
    ones, others = recording(first), recording(second)
    ends = tuple(each.ends.get(-1 if step is None else step) for each in (ones, others))
    left = dict.fromkeys(ones.left | others.left, (ones.again or NEVER, others.again or NEVER))
    pairing = Pairing(ones.threads, others.threads, Lookup().of, left)
    nodes = [each for each in pairing.nodes if _is_within(each, ends)]
    return Flows(nodes), list(dict.fromkeys(ones.notes + others.notes))


def _is_within(node: Node, ends: tuple[int | None, ...]) -> bool:
    """Whether a statement ended before the step did, in a run that has both."""
    for run, end in enumerate(ends):
        ran = node.ran_in(run)
        if ran is not None and end is not None and ran.began > end:
            return False
    return True


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

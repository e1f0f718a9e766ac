"""Two recordings of a program's statements, and where a difference between them entered."""

from __future__ import annotations

import linecache
from typing import TYPE_CHECKING

from guard.statements.flows import Flows
from guard.statements.matching import DEEPEST, Pairing
from guard.statements.syntax import Statement, statements
from guard.statements.traits import Traits
from guard.statements.trees import recording

if TYPE_CHECKING:
    from guard.statements.matching import Node

_DEEP = f"calls more than {DEEPEST} deep were not traced: the statement that makes them counts"


def compare(
    first: str, second: str, step: int | None = None, rank: int | None = None
) -> tuple[Flows, list[str]]:
    """What flows where, of the recordings in two folders; and what a person should know.

    step  the last that counts: what came after it says nothing of it
    rank  whose processes are compared, where a run has several; None for all
    """
    ones, others = recording(first, rank), recording(second, rank)
    ends = tuple(each.ends.get(-1 if step is None else step) for each in (ones, others))
    pairing = Pairing(ones, others, Lookup().of)
    nodes = [each for each in pairing.nodes if _is_within(each, ends)]
    notes = [*ones.notes, *others.notes, *([_DEEP] if pairing.is_cut else [])]
    traits = {
        key: ones.traits.get(key, Traits()).joined(others.traits.get(key, Traits()))
        for key in {**ones.traits, **others.traits}
    }
    return Flows(nodes, traits), list(dict.fromkeys(notes))


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

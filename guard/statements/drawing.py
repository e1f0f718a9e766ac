"""Which statements draw from the process's generators, where threads draw at the same time.

A statement sees that a state has moved while it ran; another thread may have moved it. One that
draws does so nearly each time that it runs, and one that only waits sees it now and then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.statements.pairs import Node

_NEARLY = 0.9


class Draws:
    """Of all statements of two runs."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._times: dict[tuple[str, int], int] = {}
        self._moves: dict[tuple[str, int, int], int] = {}
        roles = set()
        for node in nodes:
            roles.add(node.within.role)
            for run in (0, 1):
                if node.ran_in(run) is not None:
                    self._times[node.key] = self._times.get(node.key, 0) + 1
                    for at in _moved(node, run):
                        key = (*node.key, at)
                        self._moves[key] = self._moves.get(key, 0) + 1
        self._shared = {each.partition(":")[0] for each in roles if ":" in each}

    def may(self, node: Node, at: int) -> bool:
        """Whether a statement draws, by how often it has seen a state move."""
        if node.within.role.partition(":")[0] not in self._shared:
            return True
        return self._moves.get((*node.key, at), 0) >= _NEARLY * self._times[node.key]

    def moved(self, node: Node, run: int) -> Iterator[int]:
        """The states that a statement has moved in a run."""
        return (at for at in _moved(node, run) if self.may(node, at))


def _moved(node: Node, run: int) -> Iterator[int]:
    """Those that moved while it ran, and not within a statement that it calls."""
    ran = node.ran_in(run)
    if ran is None:
        return
    for at, (before, after) in enumerate(zip(ran.before, ran.after, strict=False)):
        if before != after and before and not _moved_below(node, run, at):
            yield at


def _moved_below(node: Node, run: int, at: int) -> bool:
    for each in node.below:
        call = each.second if run else each.first
        if call is not None and call.before[at] != call.after[at]:
            return True
    return False

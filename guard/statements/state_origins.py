"""Why a generator's state differs, or another state of the process: what has moved it.

A statement that draws from a generator has no path that leads to it. What it comes from are the
draws before it that only one run made, or that another thread made meanwhile.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.statements.drawing import Draws
from guard.statements.pairs import NEVER, NOTHING
from guard.statements.states import NAMES

if TYPE_CHECKING:
    from guard.statements.pairs import Node, Origins


class StateOrigins:
    """Of the statements of two runs, given in the order in which they ran.

    moves  statements after which a state differs, by its name
    """

    def __init__(self, nodes: list[Node]) -> None:
        self.moves: dict[str, list[Node]] = {}
        self._drawers: tuple[dict[int, list[Node]], dict[int, list[Node]]] = ({}, {})
        self._draws = Draws(nodes)

    def note(self, node: Node, run: int) -> None:
        """A statement ran, in one of the runs: what it has moved."""
        for at in self._draws.moved(node, run):
            self._drawers[run].setdefault(at, []).append(node)

    def is_moved(self, node: Node) -> bool:
        """Whether it has left a state differently than it found it."""
        first, second = node.first, node.second
        if first is None or second is None:
            return False
        moved = False
        for at, name in enumerate(NAMES):
            if not self._draws.may(node, at):
                continue
            differs = first.after[at] != second.after[at]
            agreed = first.before[at] == second.before[at]
            if differs and agreed and first.before[at]:
                self.moves.setdefault(name, []).append(node)
                moved = True
        return moved

    def of(self, node: Node) -> Origins:
        """The origins of a generator's state, if it draws from one whose states differ."""
        first, second = node.first, node.second
        if first is None or second is None:
            return NOTHING
        found: set[Node] = set()
        for at in range(len(NAMES)):
            is_still = first.before[at] == first.after[at] and second.before[at] == second.after[at]
            if is_still or not self._draws.may(node, at):
                continue
            if first.before[at] != second.before[at]:
                found |= self._of_state(node, at)
            elif node.within.role and first.after[at] != second.after[at]:
                found |= self._intruder(node, at)
        return frozenset(found)

    def _of_state(self, node: Node, at: int) -> Origins:
        """Why a generator's state differs before a statement that draws from it."""
        drawn = [self._drawn(run, at, node) for run in (0, 1)]
        ones, others = drawn
        known = set(others)
        same = [each for each in ones if each in known and _agrees_after(each, at)]
        starts = [drawn.index(same[-1]) + 1 if same else 0 for drawn in (ones, others)]
        one = ones[starts[0]] if starts[0] < len(ones) else None
        other = others[starts[1]] if starts[1] < len(others) else None
        if not same and (one is None or _differs_before(one, other, at)):
            return frozenset((node,))  # nobody has seeded it
        for each in (one, other, node):
            if each is not None and each.is_in_thread:
                return frozenset((each,))
        for each in (one, other):
            if each is not None and each.is_tainted and each.origins:
                return each.origins
        return NOTHING

    def _drawn(self, run: int, at: int, node: Node) -> list[Node]:
        ran = node.ran_in(run)
        if ran is None:
            return []
        found = []
        for each in self._drawers[run].get(at, []):
            held = each.ran_in(run)
            same = each.within.role.partition(":")[0] == node.within.role.partition(":")[0]
            if same and held is not None and held.ended and held.ended <= ran.began:
                found.append(each)
        return found

    def _intruder(self, node: Node, at: int) -> Origins:
        """A statement of a thread's that drew while this one did."""
        for run, ran in enumerate((node.first, node.second)):
            if ran is None:
                continue
            for each in self._drawers[run].get(at, []):
                held = each.ran_in(run)
                if each.within.role == node.within.role or held is None:
                    continue
                process = each.within.role.partition(":")[0]
                if process != node.within.role.partition(":")[0]:
                    continue
                if ran.began <= (held.ended or NEVER) and held.began <= (ran.ended or NEVER):
                    return frozenset((node if node.is_in_thread else each,))
        return NOTHING


def _agrees_after(node: Node, at: int) -> bool:
    """Whether a statement leaves a state that is the same in both runs."""
    first, second = node.first, node.second
    return first is not None and second is not None and first.after[at] == second.after[at]


def _differs_before(one: Node | None, other: Node | None, at: int) -> bool:
    """Whether a state differed before anything drew from it."""
    if one is None or other is None or one.first is None or other.second is None:
        return False
    return one.first.before[at] != other.second.before[at]

"""Why a generator's state differs, or another state of the process: what has moved it.

A statement that draws from a generator has no path that leads to it. What it comes from are the
draws before it that only one run made, or that another thread made meanwhile.

Draws are told from mere looks. A statement sees that a state has moved while it ran; another
thread may have moved it. One that draws does so nearly each time that it runs, and one that only
waits sees it now and then.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate
from typing import TYPE_CHECKING

from guard.diff.sources import seeds
from guard.diff.statements import NEVER, NOTHING, differ, family
from guard.digests.generators import NAMES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from guard.diff.statements import Node, Origins
    from guard.observe.statements import Path
    from guard.trace.statements import Ran

_NEARLY = 0.9


@dataclass(eq=False, slots=True)
class _Drawn:
    """What has moved a state in one process of a run, in the order in which it ended."""

    nodes: list[Node] = field(default_factory=list)
    ended: list[int] = field(default_factory=list)
    began: list[int] = field(default_factory=list)
    places: dict[Node, int] = field(default_factory=dict)
    seeding: list[int] = field(default_factory=list)  # the places of those that seed something
    # when the first of it and those after it began; empty until it is asked for
    earliest: list[int] = field(default_factory=list)

    def add(self, node: Node, ran: Ran) -> None:
        """A statement, which ended after all before."""
        if seeds(node.statement):
            self.seeding.append(len(self.nodes))
        self.places[node] = len(self.nodes)
        self.nodes.append(node)
        self.ended.append(ran.ended or NEVER)
        self.began.append(ran.began)

    def until(self, ran: Ran | None) -> int:
        """How many had ended when a statement began."""
        return 0 if ran is None else bisect_right(self.ended, ran.began)

    def seeded(self, start: int, end: int, state: str) -> int | None:
        """Which of some was the last to put it into a state; None where none did."""
        first, last = bisect_left(self.seeding, start), bisect_left(self.seeding, end)
        places = reversed(self.seeding[first:last])
        found = (place for place in places if seeds(self.nodes[place].statement, state))
        return next(found, None)

    def beside(self, ran: Ran) -> Iterator[Node]:
        """Those that ran at the same time as a statement."""
        if len(self.earliest) < len(self.began):
            self.earliest = list(accumulate(reversed(self.began), min))[::-1]
        until = ran.ended or NEVER
        for at in range(bisect_left(self.ended, ran.began), len(self.nodes)):
            if self.earliest[at] > until:
                return
            if self.began[at] <= until:
                yield self.nodes[at]


class StateOrigins:
    """Of the statements of two runs, given in the order in which they ran.

    drawing  the generators that a statement asks for something, by their paths
    """

    def __init__(
        self, nodes: list[Node], drawing: Callable[[Node], Collection[Path]] = lambda _: ()
    ) -> None:
        self._drawing = drawing
        # statements after which a state differs, by its name
        self.moves: dict[str, list[Node]] = {}
        self._drawers: tuple[dict[object, _Drawn], dict[object, _Drawn]] = ({}, {})
        self._agreed: dict[object, list[tuple[int, int]]] = {}
        self._times = Counter[tuple[str, int]]()
        self._seen = Counter[tuple[str, int, int]]()  # moving a state, by its number
        # those that processes beside the first drew from, of each run, by the number of a state or
        # the path of a generator, and the kind of process
        self._met = defaultdict[tuple[object, str], tuple[set[int], set[int]]](
            lambda: (set(), set())
        )
        self._common: dict[tuple[object, str], bool] = {}
        for node in nodes:
            for run in (0, 1):
                if node.ran_in(run) is not None:
                    self._times[node.key] += 1
                    self._seen.update((*node.key, at) for at in _moved(node, run))
                    process = node.process
                    for at, state in self._drawn_from(node, run) if process != "main" else ():
                        self._met[at, family(process)][run].add(state)
        threads = {each.within.role for each in nodes if ":" in each.within.role}
        self._shared = {each.partition(":")[0] for each in threads}

    def _may(self, node: Node, at: int) -> bool:
        """Whether a statement draws, by how often it has seen a state move."""
        if node.process not in self._shared:
            return True
        key = (*node.key, at)
        return self._seen[key] >= _NEARLY * self._times[node.key]

    def draws(self, node: Node) -> bool:
        """Whether a statement draws itself, and not what another thread runs meanwhile."""
        return any(self._moves(node, at) for at in range(len(NAMES)))

    def _moves(self, node: Node, at: int) -> bool:
        """The same, from one generator; not within a statement that it calls."""
        return self._may(node, at) and any(_draws(node, run, at) for run in (0, 1))

    def note(self, node: Node, run: int) -> bool:
        """A statement ran, in one of the runs: whether it has moved a state."""
        ran = node.ran_in(run)
        if ran is None:
            return False
        moved = [each for each in _moved(node, run) if self._may(node, each)]
        for at in moved:
            self._drawers[run].setdefault((at, node.process), _Drawn()).add(node, ran)
        return bool(moved)

    def is_moved(self, node: Node) -> bool:
        """Whether it has left a state differently than it found it."""
        first, second = node.first, node.second
        if first is None or second is None:
            return False
        moved = False
        for at, name in enumerate(NAMES):
            if not self._moves(node, at):
                continue
            differs = first.after[at] != second.after[at]
            was = node.ran.before[at]  # what puts it into a state does so whatever it was in
            is_seeded = seeds(node.statement, name) and was != node.ran.after[at]
            agreed = first.before[at] == second.before[at] or is_seeded
            if differs and agreed and first.before[at]:
                self.moves.setdefault(name, []).append(node)
                moved = True
        return moved

    def is_of_others(self, node: Node) -> bool:
        """Whether it draws beside others in a process of several, from states that are another one
        for it, and of which both runs have met some: not what these began with differs, but which
        process was given which task."""
        first, second = node.first, node.second
        if first is None or second is None or node.process == "main":
            return False
        kind = family(node.process)
        return any(self._is_common(at, kind) for at, _ in self._drawn_from(node, 0))

    def _drawn_from(self, node: Node, run: int) -> Iterator[tuple[object, int]]:
        """The states that it draws from, with their numbers, and those of generators, with their
        paths."""
        yield from _drawn_from(node, run)
        ran, drawing = node.ran_in(run), self._drawing(node)
        if ran is not None and drawing:
            pairs = zip(node.statement.reads, ran.reads, strict=False)
            yield from ((path, state) for path, state in pairs if path in drawing and state)

    def _is_common(self, at: object, kind: str) -> bool:
        """Whether both runs have met some state of that number or path in such processes."""
        if (at, kind) not in self._common:
            one, other = self._met[at, kind]
            self._common[at, kind] = not one.isdisjoint(other)
        return self._common[at, kind]

    def of_first(self, node: Node) -> Origins:
        """The same, if it draws before anything that it calls does."""
        is_first = any(_draws(node, 0, at, first=True) for at in range(len(NAMES)))
        return self.of(node) if is_first else NOTHING

    def of(self, node: Node) -> Origins:
        """The origins of a generator's state, if it draws from one whose states differ."""
        first, second = node.first, node.second
        if first is None or second is None or seeds(node.statement):
            return NOTHING
        found: set[Node] = set()
        for at in range(len(NAMES)):
            is_still = first.before[at] == first.after[at] and second.before[at] == second.after[at]
            if is_still or not self._moves(node, at):
                continue
            if differ(first.before[at], second.before[at]):  # 0: torch was not imported yet
                found |= self._of_state(node, at, node.process)
            elif node.within.role and first.after[at] != second.after[at]:
                found |= self._intruder(node, at)
        return frozenset(found)

    def _of_parent(self, node: Node, at: int) -> Origins:
        """Of what differs since a process began, what it began with: a loader seeds all generators
        of its workers with what it draws from torch's, and a fork has the states themselves."""
        if node.process == "main":
            return NOTHING
        states = (at, NAMES.index("torch.cpu"))
        found = (self._of_state(node, each, "main") - {node} for each in states)
        return next(filter(None, found), NOTHING)

    def _of_state(self, node: Node, at: int, process: str) -> Origins:
        """Why a generator's state of a process differs before a statement that draws from it."""
        key = (at, process)
        drawn = [self._drawers[run].get(key, _Drawn()) for run in (0, 1)]
        ends = [each.until(node.ran_in(run)) for run, each in enumerate(drawn)]
        same = self._same(key, at, ends)
        starts = [each + 1 for each in same] if same else [0, 0]
        seeded = [
            each.seeded(*span, NAMES[at])
            for each, span in zip(drawn, zip(starts, ends, strict=True), strict=True)
        ]
        if None not in seeded:
            starts = [each or 0 for each in seeded]
        one, other = (
            each.nodes[start] if start < end else None
            for each, start, end in zip(drawn, starts, ends, strict=True)
        )
        if not same and None in seeded and (one is None or _differs_before(one, other, at)):
            begun = self._of_parent(node, at) if process == node.process else NOTHING
            return begun or frozenset((node,))  # nobody has seeded it
        for each in (one, other, node):
            if each is not None and each.is_in_thread:
                return frozenset((each,))
        for each in (one, other):
            if each is not None and each.is_tainted and each.origins:
                return each.origins
        return self._intruder(node, at)  # it has not ended drawing yet

    def _same(self, key: tuple[int, str], at: int, ends: list[int]) -> tuple[int, int] | None:
        """The last draw before these that both runs made and that left the same: its places."""
        if key not in self._agreed:
            ones, others = (drawers.get(key, _Drawn()) for drawers in self._drawers)
            known = ((each, others.places.get(each)) for each in ones.nodes)
            self._agreed[key] = [
                (ones.places[each], place)
                for each, place in known
                if place is not None
                and each.first
                and each.second
                and each.first.after[at] == each.second.after[at]
            ]
        agreed = self._agreed[key]
        for number in range(bisect_left(agreed, (ends[0], -1)) - 1, -1, -1):
            if agreed[number][1] < ends[1]:
                return agreed[number]
        return None

    def _intruder(self, node: Node, at: int) -> Origins:
        """A statement of a thread's that drew while this one did."""
        key = (at, node.process)
        for run, ran in enumerate((node.first, node.second)):
            if ran is None or key not in self._drawers[run]:
                continue
            for each in self._drawers[run][key].beside(ran):
                if each.within.role != node.within.role:
                    return frozenset((node if node.is_in_thread else each,))
        return NOTHING


def _drawn_from(node: Node, run: int) -> Iterator[tuple[int, int]]:
    """The states that it draws from, with their numbers; but for torch's threads."""
    ran = node.ran_in(run)
    if ran is not None:
        moved = (at for at in _moved(node, run) if NAMES[at] != "threads")
        yield from ((at, ran.before[at]) for at in moved)


def _differs_before(one: Node | None, other: Node | None, at: int) -> bool:
    """Whether a state differed before anything drew from it."""
    if one is None or other is None or one.first is None or other.second is None:
        return False
    return one.first.before[at] != other.second.before[at]


def _moved(node: Node, run: int) -> Iterator[int]:
    """Those that moved while it ran, and not within a statement that it calls."""
    ran = node.ran_in(run)
    if ran is None:
        return
    for at, (before, after) in enumerate(zip(ran.before, ran.after, strict=False)):
        if before != after and before and _draws(node, run, at):
            yield at


def _draws(node: Node, run: int, at: int, *, first: bool = False) -> bool:
    """Whether a state moved in a run before, between or after what it calls; ``first``: before."""
    ran = node.ran_in(run)
    if ran is None:
        return False
    state = ran.before[at]
    calls = (each.second if run else each.first for each in node.below)
    for call in sorted(filter(None, calls), key=lambda each: each.began):
        if differ(state, call.before[at]):
            return True
        state = call.after[at]
        if first or not call.ended:
            return False
    return differ(state, ran.after[at]) and not first

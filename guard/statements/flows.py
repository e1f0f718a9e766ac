"""Where differing values come from: each statement that differs is traced back to its origins.

A statement whose inputs agree in both runs and whose result does not is an origin. One whose
inputs differ has the origins of these. Where a differing input was made by nothing that differs,
it was made at another time by another thread, or it came through what is not followed.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from guard.statements.drawing import Draws
from guard.statements.pairs import NEVER, Node, differ
from guard.statements.sources import is_clock
from guard.statements.states import NAMES
from guard.statements.values import OPAQUE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from guard.statements.pairs import Calling
    from guard.statements.syntax import Path

    Origins = frozenset[Node]

_NOTHING: Origins = frozenset()
_DEEP = 4  # iterators, one made from the other
_TAKING = ("For", "AsyncFor")
_OPENING = ("With", "AsyncWith", "Assign")
_MOST = 6  # origins of one statement that are kept, the first


class Written:
    """What was written where, in order: found again by the time before which it was."""

    def __init__(self) -> None:
        self._orders: dict[object, list[int]] = {}
        self._nodes: dict[object, list[Node]] = {}

    def add(self, key: object, order: int, node: Node) -> None:
        """A statement wrote there."""
        self._orders.setdefault(key, []).append(order)
        self._nodes.setdefault(key, []).append(node)

    def last(self, key: object, until: int) -> Node | None:
        """The last statement that wrote there by then."""
        orders = self._orders.get(key)
        at = bisect_right(orders, until) if orders else 0
        return self._nodes[key][at - 1] if at else None

    def all_of(self, key: object) -> list[Node]:
        """All of them, in order."""
        return self._nodes.get(key, [])


class Flows:
    """Origins of all that differs between two recordings."""

    def __init__(self, nodes: list[Node]) -> None:
        self.nodes = nodes
        self.origins: list[Node] = []  # in order
        self.tainted: list[Node] = []
        self.written = Written()  # what differs
        self._any = (Written(), Written())  # all, by run
        self.escapes: list[tuple[int, str, Origins]] = []  # results that went to a library
        self.moves: dict[str, list[Node]] = {}  # statements after which a state differs
        self._given: dict[Node, Origins] = {}
        self._drawers: tuple[dict[int, list[Node]], dict[int, list[Node]]] = ({}, {})
        self._draws = Draws(nodes)
        for run in (0, 1):
            self._note_run(run)
        for node in self.nodes:
            self._follow(node)

    # Forward

    def _follow(self, node: Node) -> None:
        first, second = node.first, node.second
        if first is None or second is None:
            self._follow_extra(node)
            return
        gives = self._changed(node)
        effects = bool(gives) or node.branches or self._is_moved(node)
        effects = effects or (node.is_last and node.within.differs)
        effects = effects or first.raised != second.raised
        if not effects:
            return
        node.is_tainted = True
        node.origins = self._origins(node)
        if node in node.origins:
            self.origins.append(node)
        self.tainted.append(node)
        for path, pair in gives:
            self._write(node, path, pair)
        self._escape(node)

    def _follow_extra(self, node: Node) -> None:
        """What only one run did has the origins of what decided it."""
        node.is_tainted = True
        cause = node.cause
        if cause is not None:
            node.origins = cause.origins or self._decided(cause)
        self.tainted.append(node)
        ran = node.ran
        for at, path in enumerate(node.statement.gives):
            touched = at - len(node.statement.writes)
            if touched < 0 or ran.gave[at] != ran.touched[touched]:
                self._write(node, path, None)
        self._escape(node)

    def _decided(self, cause: Node) -> Origins:
        """The origins of a statement that has not ended yet: it decides what is done within."""
        if cause.is_tainted:
            return cause.origins
        return self._origins(cause)

    def _escape(self, node: Node) -> None:
        root = node.within
        if node.origins and node.is_last and root.above is None and root.differs:
            self.escapes.append((node.order, root.role, node.origins))

    def _changed(self, node: Node) -> list[tuple[Path, tuple[int, int]]]:
        """Paths whose values differ after it, and which it has made so in one of the runs."""
        first, second, statement = node.first, node.second, node.statement
        if first is None or second is None:
            return []
        found = []
        bound = len(statement.writes)
        for at, (path, one, other) in enumerate(
            zip(statement.gives, first.gave, second.gave, strict=False)
        ):
            if not differ(one, other):
                continue
            if at >= bound:
                same = first.touched[at - bound] == one and second.touched[at - bound] == other
                if same:
                    continue
            found.append((path, (one, other)))
        return found

    def _write(self, node: Node, path: Path, pair: tuple[int, int] | None) -> None:
        order = node.order
        for key in _keys(node, path):
            self.written.add(key, order, node)
        if pair is not None and pair[0] & 1 and pair[1] & 1:
            self.written.add(pair, order, node)

    def _note_run(self, run: int) -> None:
        """What a run wrote that several threads may share, and what moved its generators."""
        ran_then = [(each.ran_in(run), each) for each in self.nodes]
        known = [(ran, node) for ran, node in ran_then if ran is not None]
        for ran, node in sorted(known, key=lambda each: each[0].ended or NEVER):
            bound = len(node.statement.writes)
            for at, path in enumerate(node.statement.gives[: len(ran.gave)]):
                if at < bound or ran.gave[at] != ran.touched[at - bound]:
                    for key in _shared_keys(node, path):
                        self._any[run].add(key, ran.ended or NEVER, node)
            for at in self._draws.moved(node, run):
                self._drawers[run].setdefault(at, []).append(node)

    # Backward

    def _origins(self, node: Node) -> Origins:
        """Those of a statement whose result differs."""
        if is_clock(node.statement) and not _is_stored(node):
            return frozenset((node,))
        below = [each for each in node.below if each.differs]
        found = self._of_results(below)
        if found:
            return found
        inputs = list(self._differing(node))
        found = self._of_inputs(node, inputs)
        states = self.of_states(node)
        if states:
            found = (found | states) if inputs else states
        if found or (inputs and not is_clock(node.statement)):
            return _first(found)
        found = self._of_those_below(node) or self._gone_through(node, _DEEP)
        found = found or self._of_opened(node)
        return found or self._from_elsewhere(node) or frozenset((node,))

    def _of_results(self, below: list[Calling]) -> Origins:
        found: set[Node] = set()
        for each in below:
            last = next((n for n in reversed(each.nodes) if n.is_tainted and n.origins), None)
            if last is not None:
                found |= last.origins
        return _first(found)

    def _of_those_below(self, node: Node) -> Origins:
        found: set[Node] = set()
        queue = list(node.below)
        while queue:
            each = queue.pop()
            for inner in each.nodes:
                if inner.is_tainted:
                    found |= inner.origins
                queue.extend(inner.below)
        return _first(found)

    def _from_elsewhere(self, node: Node) -> Origins:
        """What other processes and threads gave to a library, where a statement asks one."""
        if is_clock(node.statement):
            return _NOTHING
        role = node.within.role
        found: set[Node] = set()
        for order, other, origins in self.escapes:
            if order > node.order:
                break
            if other != role and _may_give(other, role):
                found |= origins
        return _first(found)

    def _differing(self, node: Node) -> Iterator[tuple[Path, tuple[int, int]]]:
        """Inputs that differ; an object that it only calls a method of counts by what it holds."""
        first, second = node.first, node.second
        if first is None or second is None:
            return
        for path, one, other in zip(node.statement.reads, first.reads, second.reads, strict=False):
            if differ(one, other):
                yield path, (one, other)

    def _of_inputs(self, node: Node, inputs: list[tuple[Path, tuple[int, int]]]) -> Origins:
        found: set[Node] = set()
        for path, pair in inputs:
            found |= self._source(node, path, pair)
        return frozenset(found)

    def given(self, node: Node) -> Origins:
        """The origins of all that differs of what a statement reads."""
        if node not in self._given:
            self._given[node] = _NOTHING  # for recursion
            self._given[node] = self._of_inputs(node, list(self._differing(node)))
        return self._given[node]

    def _source(self, node: Node, path: Path, pair: tuple[int, int]) -> Origins:
        """Where a differing value was written last, as far as it is known."""
        late, before = self._raced(node, path), node.ran.began
        if len(path) > 1 and any(each.is_in_thread for each in late):
            return late
        found = self._written_to(_local_keys(node, path), before)
        above = node.within.above
        if not found and path[0] in node.within.call.names and above is not None:
            same = [each for each, other in self._differing(above) if other == pair]
            found = self._source(above, same[0], pair) if same else _NOTHING
            if not found and len(path) == 1:
                found = self.given(above)
        if not found and pair[0] & pair[1] & 1:
            found = self._written_to((pair,), before)
        return found or self._written_to(_shared_keys(node, path), before) or late

    def _gone_through(self, node: Node, deep: int) -> Origins:
        """What differs of what an iterator was made of, where a statement takes from one: a loader
        is the same object in both runs, and what it was given is not."""
        statement, ran = node.statement, node.first
        is_taking = statement.kind in _TAKING or "next" in statement.calls or deep < _DEEP
        if ran is None or not is_taking or not deep:
            return _NOTHING
        for path, digest in zip(statement.reads, ran.reads, strict=False):
            if not digest & OPAQUE:
                continue
            above = node.within.above if path[0] in node.within.call.names else None
            made = [self._any[0].last(key, ran.began) for key in _shared_keys(node, path)]
            for each in (above, *made):
                if each is not None and each is not node:
                    found = each.origins or self.given(each) or self._gone_through(each, deep - 1)
                    if found:
                        return found
        return _NOTHING

    def _of_opened(self, node: Node) -> Origins:
        """What differs of what a thing was opened with, where a statement takes an item of it: an
        archive is told by its identity, and the name of its file differs."""
        ran = node.first
        if ran is None:
            return _NOTHING
        for path, digest in zip(node.statement.reads, ran.reads, strict=False):
            if digest & OPAQUE and len(path) > 1 and path[0] != "self":
                made = self._any[0].last(("name", node.file, path[0]), ran.began)
                if made is not None and made.statement.kind in _OPENING:
                    found = made.origins or self.given(made)
                    if found:
                        return found
        return _NOTHING

    def makers(self, node: Node) -> list[Node]:
        """What made the things that a statement uses, each the last before it."""
        run, ran = (0, node.first) if node.first is not None else (1, node.second)
        if ran is None:
            return []
        keys = (key for path in node.statement.reads for key in _shared_keys(node, path))
        found = (self._any[run].last(key, ran.began) for key in keys)
        return [each for each in found if each is not None]

    def _written_to(self, keys: Iterable[object], until: int) -> Origins:
        """The origins of what was written last under the first of these keys."""
        for key in keys:
            found = self.written.last(key, until)
            if found is not None and found.origins:
                return found.origins
        return _NOTHING

    def _raced(self, node: Node, path: Path) -> Origins:
        """A value that agrees whenever it is written, and differs when it is read: another
        thread wrote it earlier or later."""
        first, second = node.first, node.second
        if first is None or second is None:
            return _NOTHING
        for key in _shared_keys(node, path):
            found = [
                run.last(key, at.began) for run, at in zip(self._any, (first, second), strict=True)
            ]
            if found[0] is not found[1]:
                others = [each for each in found if each and each.within.role != node.within.role]
                others.sort(key=lambda each: not each.is_in_thread)
                return frozenset(others[:1] or (node,))
        return _NOTHING

    # Generators and other states of the process

    def _is_moved(self, node: Node) -> bool:
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

    def of_states(self, node: Node) -> Origins:
        """The origins of a generator's state, if it draws from one whose states differ."""
        first, second = node.first, node.second
        if first is None or second is None:
            return _NOTHING
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
        return self._intruder(node, at)  # it has not ended drawing yet

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
        return _NOTHING


def _agrees_after(node: Node, at: int) -> bool:
    """Whether a statement leaves a state that is the same in both runs."""
    first, second = node.first, node.second
    return first is not None and second is not None and first.after[at] == second.after[at]


def _differs_before(one: Node | None, other: Node | None, at: int) -> bool:
    """Whether a state differed before anything drew from it."""
    if one is None or other is None or one.first is None or other.second is None:
        return False
    return one.first.before[at] != other.second.before[at]


def _is_stored(node: Node) -> bool:
    """Whether a statement only keeps what the clock says, as the start of something."""
    statement = node.statement
    return (
        statement.kind in ("Assign", "AnnAssign")
        and len(statement.calls) == 1
        and not any(each in statement.text for each in "+-*/%<>")
    )


def _may_give(other: str, role: str) -> bool:
    """Whether what another thread or process made can come to this one by a library."""
    return other != role


def _first(origins: Iterable[Node]) -> Origins:
    """The first of each line, and the first few of these."""
    lines: dict[tuple[str, int], Node] = {}
    for each in sorted(origins, key=lambda each: each.order):
        lines.setdefault(each.key, each)
    return frozenset(list(lines.values())[:_MOST])


def _keys(node: Node, path: Path) -> Iterator[object]:
    """Under what a write is found again."""
    frame = node.within.call.frame, node.within.role
    yield (*frame, path)
    yield from _shared_keys(node, path)


def _local_keys(node: Node, path: Path) -> Iterator[object]:
    """A path in the same frame, then what holds it."""
    frame = node.within.call.frame, node.within.role
    for size in range(len(path), 0, -1):
        if size == 1 and len(path) > 1 and path[0] == "self":
            break
        yield (*frame, path[:size])


def _shared_keys(node: Node, path: Path) -> Iterator[object]:
    """An attribute or a key by its name; a name by its file."""
    last = path[-1]
    if len(path) > 1:
        yield ("attribute", last)
    elif path[0] != "self":
        yield ("name", node.file, last)

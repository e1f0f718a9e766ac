"""Two recordings of statements side by side: each with the same one of the other run.

Threads are paired by what they run and in which order they began. Which thread of a pool is given
which task is another in each run: the same task is looked for in all threads that run the same, and
in all processes of a pool.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from guard.diff.alignment import Each, aligned, either
from guard.diff.sources import waits
from guard.observe.statements import LOOPS
from guard.trace.statements import ON_A_SIGNAL

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from guard.observe.places import Place
    from guard.observe.statements import Statement
    from guard.trace.statements import Call, Ran, Recording, Thread

    Lookup = Callable[[Call, int], Statement | None]

_LOOPS = [each.__name__ for each in LOOPS]
_NUMBER = re.compile(r"-\d+")  # of a process among those of a pool


def family(role: str) -> str:
    """A role without the number of the process: of a pool, any may be given a task."""
    return _NUMBER.sub("", role)


def calls_of(
    ones: list[Thread], others: list[Thread]
) -> Iterator[tuple[Call | None, Call | None, str]]:
    """Pairs of calls that no statement of the program's made, with the name of their thread.

    Threads of the same role have a number in their names, but for the first.
    """
    families: dict[str, tuple[list[tuple[Call, str]], list[tuple[Call, str]]]] = {}
    for run, threads in enumerate((ones, others)):
        counts = Counter[str]()
        for each in threads:
            name = f"{each.role}#{counts[each.role]}" if counts[each.role] else each.role
            counts[each.role] += 1
            tasks = families.setdefault(family(each.role), ([], []))[run]
            tasks += [(call, name) for call in each.calls]
    for both in families.values():
        yield from _paired(*both)


def _paired(
    ones: list[tuple[Call, str]], others: list[tuple[Call, str]]
) -> Iterator[tuple[Call | None, Call | None, str]]:
    """Tasks that the same thread had, those of another, those that were given the same but started
    at another time, those that alone were given some argument; then what was given something else,
    in order, by role."""
    for start in range(3):
        by_task: dict[Hashable, list[tuple[Call, str]]] = {}
        for each in others:
            by_task.setdefault(_task(*each)[start:], []).append(each)
        rest: list[tuple[Call, str]] = []
        for call, name in ones:
            if found := by_task.get(_task(call, name)[start:]):
                yield call, found.pop(0)[0], name
            else:
                rest.append((call, name))
        ones, others = rest, [each for found in by_task.values() for each in found]
    paired: set[Call] = set()
    for one, other, name in _told_apart(ones, others):
        if paired.isdisjoint((one, other)):
            yield one, other, name
            paired |= {one, other}
    ones = [each for each in ones if each[0] not in paired]
    others = [each for each in others if each[0] not in paired]
    others.sort(key=lambda each: each[0].began)
    for role in dict.fromkeys(_role(each) for each in (*ones, *others)):
        left = [[each for each in some if _role(each) == role] for some in (ones, others)]
        for first, second in aligned(left[0], left[1], lambda each: each[0].key):
            yield (first and first[0]), (second and second[0]), either(first, second)[1]


def _task(call: Call, thread: str) -> tuple[Hashable, ...]:
    return thread, call.lane, call.key, call.given


def _told_apart(
    ones: list[tuple[Call, str]], others: list[tuple[Call, str]]
) -> Iterator[tuple[Call, Call, str]]:
    """Tasks of either run that alone were given some argument, by the argument first that tells
    most of them apart."""
    found, lone = _alone(ones), _alone(others)
    agree = [given for given in found if given in lone]
    places = Counter(at for _, at, _ in agree)
    for given in sorted(agree, key=lambda given: -places[given[1]]):
        yield found[given][0], lone[given][0], found[given][1]


def _alone(
    tasks: list[tuple[Call, str]],
) -> dict[tuple[Hashable, int, int], tuple[Call, str]]:
    """The tasks that alone were given something in a place of their arguments, by that."""
    found: dict[tuple[Hashable, int, int], list[tuple[Call, str]]] = {}
    for each in tasks:
        for at, given in enumerate(each[0].given):
            found.setdefault((each[0].key, at, given), []).append(each)
    return {given: some[0] for given, some in found.items() if len(some) == 1}


def _role(task: tuple[Call, str]) -> str:
    """Without the number of its thread."""
    return task[1].partition("#")[0]


NEVER = 1 << 62  # when what had not ended when the recording did, ends
DEEPEST = 100  # calls within each other that are followed: going back takes frames for each


@dataclass(eq=False)
class Calling:
    """A call that both runs made; or one of them, because of ``cause``."""

    first: Call | None
    second: Call | None
    role: str
    # the statement that made it, or None where a library did from another thread
    above: Node | None
    nodes: list[Node] = field(default_factory=list)

    @property
    def call(self) -> Call:
        """Of the first run that has it."""
        return either(self.first, self.second)

    @property
    def is_extra(self) -> bool:
        """Whether only one run made it."""
        return self.first is None or self.second is None

    @cached_property
    def waiting(self) -> list[Node]:
        """Its statements that wait for another thread or process, for a limited time only."""
        return [each for each in self.nodes if waits(each.statement)]

    @cached_property
    def bound(self) -> frozenset[str]:
        """The variables of its own: its arguments, and what its statements bind."""
        written = (path for each in self.nodes for path in each.statement.writes)
        return frozenset((*self.call.names, *(path[0] for path in written if len(path) == 1)))

    @property
    def differs(self) -> bool:
        """Whether it gave other results."""
        one, other = self.first, self.second
        return one is None or other is None or differ(one.result, other.result)


@dataclass(eq=False, slots=True)
class Node:
    """A statement that ran in both runs; or in one of them, because of ``cause``."""

    first: Ran | None
    second: Ran | None
    statement: Statement
    within: Calling
    order: int  # when, in the first run; what only the second did comes right after its cause
    cause: Node | None = None
    branches: bool = False  # whether another statement follows it in the two runs
    is_last: bool = False
    below: list[Calling] = field(default_factory=list)
    origins: frozenset[Node] = frozenset()
    is_tainted: bool = False
    parts: tuple[Node, ...] = ()  # those of its values that were looked at one by one

    @property
    def ran(self) -> Ran:
        """In the first run that has it."""
        return either(self.first, self.second)

    def ran_in(self, run: int) -> Ran | None:
        """In the first run or the second."""
        return self.second if run else self.first

    @property
    def goes_on(self) -> bool:
        """Whether it had not ended when the recording of one run did, and had in the other."""
        first, second = self.first, self.second
        return first is not None and second is not None and bool(first.ended) != bool(second.ended)

    @property
    def raised(self) -> set[str]:
        """What it has raised in one run alone, "" for nothing; none where both did alike."""
        found = {each.raised for each in (self.first, self.second) if each is not None}
        return found if len(found) > 1 else set()

    @property
    def file(self) -> str:
        """Its file."""
        return self.within.call.file

    @property
    def key(self) -> tuple[str, int]:
        """Where it stands."""
        return self.file, self.statement.line

    @property
    def process(self) -> str:
        """The role of its process: "main" for the program's own."""
        return self.within.role.partition(":")[0]

    @property
    def is_in_thread(self) -> bool:
        """Whether another thread than its process's first ran it, at a time of its own."""
        return ":" in self.within.role

    @property
    def is_beside_others(self) -> bool:
        """Whether a thread or a process ran it that the program has started."""
        return self.is_in_thread or self.process != "main"

    @property
    def is_on_a_signal(self) -> bool:
        """Whether it ran as a signal came, within whatever ran then."""
        return self.within.role.partition("#")[0].endswith(ON_A_SIGNAL)

    def stands_at(self, place: Place) -> bool:
        """Whether a line is one of it."""
        statement = self.statement
        if not statement.line <= place.line <= statement.last:
            return False
        return os.path.realpath(self.file) == os.path.realpath(place.filename)

    def made_by(self, value: Statement) -> Node:
        """What makes one of its values, by the expression that does: it reads nothing else."""
        first, second = (
            ran and replace(ran, reads=tuple(d * (p in value.reads) for p, d in pairs))
            for ran in (self.first, self.second)
            for pairs in [zip(self.statement.reads, ran.reads if ran else (), strict=False)]
        )
        statement = replace(self.statement, text=value.text, calls=value.calls, lines=value.lines)
        called = {name for each in value.calls for name in each.split(".")}
        below = [e for e in self.below if not called.isdisjoint(e.call.name.split("."))]
        found = replace(self, first=first, second=second, statement=statement, below=below)
        self.parts += (found,)
        return found

    def around(self) -> Iterator[Node]:
        """Itself, and the statements within whose calls it ran, from the innermost."""
        node: Node | None = self
        while node is not None:
            yield node
            node = node.within.above


def frame_of(node: Node) -> tuple[int, str]:
    """The frame that it ran in, of all threads' frames."""
    return node.within.call.frame, node.within.role


Origins = frozenset[Node]
NOTHING: Origins = frozenset()


def differ(one: int, other: int) -> bool:
    """Whether two digests tell that values differ."""
    return one != other and bool(one) and bool(other)


class Pairing:
    """Brings the threads of two runs side by side; ``nodes`` are in the order of the first run.

    is_cut  whether there are calls that are too deep to be followed
    """

    def __init__(self, ones: Recording, others: Recording, lookup: Lookup) -> None:
        self._left = (ones.left, others.left)
        self._lookup = lookup
        self._depth = 0
        self.is_cut = False
        self.nodes: list[Node] = []
        for one, other, role in calls_of(ones.threads, others.threads):
            self._pair(one, other, role, None, None)
        self.nodes.sort(key=lambda each: each.order)

    def _pair(
        self,
        one: Call | None,
        other: Call | None,
        role: str,
        above: Node | None,
        cause: Node | None,
    ) -> Calling:
        found = Calling(one, other, role, above)
        if above is not None:
            above.below.append(found)
        at = above.order if above is not None else 0
        last: Node | None = None
        lists = (one.statements if one else [], other.statements if other else [])
        ones, others = (list(self._in_rounds(found.call, each)) for each in lists)
        pairs = [
            (first and first[1], second and second[1])
            for first, second in aligned(ones, others, lambda each: each[0])
        ]
        for first, second in _without_rest(pairs, one, other):
            ran = first or second
            statement = None if ran is None else self._lookup(found.call, ran.line)
            if statement is None or self._is_left_out(found, first, second):
                continue
            is_extra = first is None or second is None
            if is_extra and not found.is_extra and last is not None:
                last.branches = True
            at = (first.ended or NEVER) if first is not None else at
            why = (last or cause) if is_extra else None
            node = Node(first, second, statement, found, at, cause=why if is_extra else None)
            found.nodes.append(node)
            self._below(node, role)
            self.nodes.append(node)
            if not is_extra:
                last = node
        both = [each for each in found.nodes if each.first and each.second]
        for nodes in filter(None, (found.nodes, both)):
            # One ends its call: what a ``with`` around it does then gives nothing.
            ends = (e for e in reversed(nodes) if e.statement.kind == "Return" and not e.ran.raised)
            next(ends, nodes[-1]).is_last = True
        return found

    def _in_rounds(self, call: Call, rans: list[Ran]) -> Iterator[tuple[Hashable, Ran]]:
        """Statements, each with its line and the rounds of loops in which it ran: what one run
        leaves out in a round does not make up for what the other does in the next."""
        begun: dict[tuple[int, ...], int] = {}
        for ran in rans:
            at: tuple[int, ...] = ()
            statement = self._lookup(call, ran.line)
            for loop in statement.loops if statement is not None else ():
                at = (*at, loop, begun.get((*at, loop), 0))
            at = (*at, ran.line)
            if statement is not None and statement.kind in _LOOPS:
                begun[at] = begun.get(at, 0) + 1
                at = (*at, begun[at])
            yield at, ran

    def _is_left_out(self, within: Calling, first: Ran | None, second: Ran | None) -> bool:
        """Whether the other run may have done it as well, when it was not looked at any more."""
        run, ran = (0, second) if first is None else (1, first)
        call = (within.first, within.second)[run]
        if ran is None or call is None or (first is not None and second is not None):
            return False
        since = self._left[run].get((within.call.file, ran.line))
        return since is not None and (call.ended or NEVER) >= since

    def _below(self, node: Node, role: str) -> None:
        calls = (node.first.calls if node.first else [], node.second.calls if node.second else [])
        if self._depth >= DEEPEST:
            self.is_cut = self.is_cut or any(calls)
            return
        self._depth += 1
        pairs = aligned(*calls, lambda each: each.key)
        for one, other in _without_rest(pairs, node.first, node.second):
            is_extra = one is None or other is None
            found = one or other
            if found is None or (is_extra and (not found.at or found.is_lambda)):
                continue  # a statement before called it that was not looked at; or a callback
            cause = (node.cause or node) if is_extra else None
            self._pair(one, other, role, node, cause)
        self._depth -= 1


def _without_rest(
    pairs: list[tuple[Each | None, Each | None]], one: Call | Ran | None, other: Call | Ran | None
) -> list[tuple[Each | None, Each | None]]:
    """Without what comes at the end in one run alone, where the other's recording had ended."""
    for at, holder in enumerate((one, other)):
        if holder is not None and not holder.ended and (one is not None and other is not None):
            while pairs and pairs[-1][at] is None:
                pairs.pop()
    return pairs

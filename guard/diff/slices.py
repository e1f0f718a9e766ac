"""From the first difference of two runs to the statements that it comes from.

A branch that only one run takes and that only sets a learning rate is no other control flow than
an assignment of another rate is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from guard.diff import Cause
from guard.diff.flows import Flows, round_that_called
from guard.diff.sources import is_begun, is_clock
from guard.diff.statements import DEEPEST, Pairing
from guard.digests.traits import Traits
from guard.observe.statements import Files
from guard.trace.statements import recording

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from guard.diff import Difference
    from guard.diff.statements import Node
    from guard.observe.statements import Path

_PARTED = (Cause.CONTROL_FLOW, Cause.LENGTH)
_MOST = 40  # statements
_LOOKED_AT = 400  # statements, at most, of which the way is looked for
_DEEP = f"calls more than {DEEPEST} deep were not traced: the statement that makes them counts"
_SETTING = ("Assign", "AugAssign", "AnnAssign")
_AROUND = ("For", "If", "Expr")


class Found(NamedTuple):
    """Where a difference entered."""

    # statements that were given the same and gave something else, the first first
    origins: tuple[Node, ...]
    entered: Node | None = None  # the statement that shows the difference, where it is another one


def find(flows: Flows, difference: Difference) -> Found:
    """The origins of a difference; none where nothing that flows to it was seen."""
    parted = _is_parted(difference)  # else its recording alone may have ended in one run
    for nodes in _sinks(flows, difference):
        for each in nodes:
            origins = each.origins or flows.behind(each)
            is_own = _is_going_on(each) and (parted or not flows.origins)
            if each.first is None or each.second is None:  # it had come to it in one run alone
                is_own = is_own or (each.is_in_thread and each.cause is None)
            origins = origins or frozenset([each] * is_own)
            if origins:
                return Found(tuple(sorted(origins, key=lambda found: found.order)), each)
    return Found(_last_resort(flows))


def _is_parted(difference: Difference) -> bool:
    """Whether the runs do other things, and not the same with other results."""
    return difference.cause in _PARTED or (difference.first is None and bool(difference.parted))


def _sinks(flows: Flows, difference: Difference) -> Iterator[Iterable[Node]]:
    """Statements that show the difference, the surest first."""
    events = [each for each in (difference.first, difference.second) if each is not None]
    found = [*(each.place for each in events), difference.place]
    places = list(dict.fromkeys(each for each in found if each is not None))
    lane = difference.lane
    ran, tainted = (
        [e for e in nodes if (e.within.call.lane == lane if lane else e.within.role == "main")]
        for nodes in (flows.nodes, flows.tainted)
    )
    parted = _is_parted(difference)
    if parted:
        only = (each for each in flows.tainted if each.cause is not None)
        yield [each for each in only if any(map(each.stands_at, places))]
        yield [each for each in tainted if each.branches]
    else:
        yield from _by_cause(flows, difference)
    for place in places:
        yield [each for each in tainted if each.stands_at(place)]
    if parted:  # what ended in one run and goes on in the other: a library decides that
        yield [each for each in ran if _is_going_on(each)]
    for place in places:  # within the calls of a line
        yield [each for each in tainted if any(n.stands_at(place) for n in each.around())]
    for place in places:  # what only reads or draws, and binds nothing that was looked at
        yield [each for each in ran if each.stands_at(place)]
    if lane:  # what else differs in it, such as a model that it has copied
        yield tainted


def _by_cause(flows: Flows, difference: Difference) -> Iterator[Iterable[Node]]:
    event, cause = difference.first or difference.second, difference.cause
    name = event.name if event is not None else ""
    last = name.rpartition(".")[2]
    if cause is Cause.ENVIRONMENT:
        yield reversed(flows.moves.get("threads", []))
    elif cause is Cause.HYPERPARAMETER:
        yield reversed(flows.written.all_of(("attribute", f"[{last}]")))
    elif cause is Cause.INITIALISATION:
        yield flows.written.all_of(("attribute", last))
    elif cause is Cause.GENERATOR:
        for state in (*difference.generators, name):
            yield reversed(flows.moves.get(state, []))


def _is_going_on(node: Node) -> bool:
    """Whether it ended in one run and goes on in the other, and nothing within it does."""
    return node.goes_on and not any(each.goes_on for call in node.below for each in call.nodes)


def _last_resort(flows: Flows) -> tuple[Node, ...]:
    """The origin that most of what differs comes from, and that came to a library; where a clock
    was begun, only if there is no other."""
    counted = _by_line(each for _, _, origins in flows.escapes for each in origins)
    if not counted:
        all_of_them = _by_line(each for node in flows.tainted for each in node.origins)
        counted = [each for each in all_of_them if len(each) > 1]
    if not counted:
        return ()
    asked = [each for each in counted if not is_begun(each[0].statement)]
    best = max(asked or counted, key=lambda each: (len(each), -each[0].order))
    return (best[0],)


def _by_line(origins: Iterable[Node]) -> list[list[Node]]:
    """Those of a line together, the first first."""
    found: dict[tuple[str, int], list[Node]] = {}
    for each in sorted(origins, key=lambda each: each.order):
        found.setdefault(each.key, []).append(each)
    return list(found.values())


class Way(NamedTuple):
    """Statements from an origin to a sink; and those of which it was not seen that the one before
    leads to them: some are left out between them, or that one wrote the file which the other reads,
    their texts alone say."""

    nodes: list[Node]
    gaps: frozenset[Node]


def slice_of(flows: Flows, origin: Node, sink: Node) -> Way:
    """The way from an origin to a sink, from there backwards; where one ends, another is tried."""
    way = {sink: False}  # back from there, and whether a text alone leads to each
    ahead = [_steps(flows, sink, origin)]
    seen, longest = {sink}, [sink]
    while ahead and origin not in way:
        left = (each for each in ahead[-1] if each[0] not in seen)
        step = next(left, None) if len(way) < _MOST and len(seen) < _LOOKED_AT else None
        if step is None:
            way.popitem()
            ahead.pop()
        else:
            seen.add(step[0])
            way.update((step,))
            ahead.append(_steps(flows, step[0], origin))
            longest = max(longest, [*way], key=len)
    if not way:
        return Way([origin, *reversed(longest)], frozenset(longest[-1:]))
    nodes = [*reversed(way)]
    return Way(nodes, frozenset(later for each, later in pairwise(nodes) if way[each]))


def _steps(flows: Flows, node: Node, origin: Node) -> Iterator[tuple[Node, bool]]:
    """What gave a statement its difference, and whether its text alone says so: of that which is
    the origin, or has it for one of its own."""
    for found, is_told in ((_before(flows, node), False), (flows.wrote(node), True)):
        yield from ((e, is_told) for e in found if e is origin or origin in e.origins)


def _before(flows: Flows, node: Node) -> Iterator[Node]:
    """What a statement was given its difference by: calls that it made, then what it read."""
    for calling in round_that_called(node).below:
        tainted = (each for each in reversed(calling.nodes) if each.is_tainted)
        yield from (part for each in tainted for part in (*each.parts, each))
    yield from flows.before(node)
    if node.cause is not None:
        yield node.cause
    if flows.of_states(node):
        moved = (each for nodes in flows.moves.values() for each in nodes)
        yield from sorted((n for n in moved if n.order < node.order), key=lambda n: -n.order)
    yield from flows.makers(node)
    if node.within.above is not None:
        yield node.within.above


def compare(
    first: str,
    second: str,
    at: tuple[str, int] | None = None,
    rank: int | None = None,
    files: Files | None = None,
) -> tuple[Flows, list[str]]:
    """What flows where, of the recordings in two folders; and what a person should know.

    at     the task and its last step that count: what came after it says nothing of it
    rank   whose processes are compared, where a run has several; None for all
    files  the statements of the program
    """
    ones, others = recording(first, rank), recording(second, rank)
    lane, step = at or ("", -1)
    ended = [each.ends.get(lane, {}) for each in (ones, others)]
    ends = tuple(each.get(step) for each in ended)
    pairing = Pairing(ones, others, (files or Files()).statement)
    nodes = [each for each in pairing.nodes if _is_within(each, ends)]
    notes = [*ones.notes, *others.notes, *([_DEEP] if pairing.is_cut else [])]
    traits = {
        key: ones.traits.get(key, Traits()).joined(others.traits.get(key, Traits()))
        for key in {**ones.traits, **others.traits}
    }
    flows = Flows(nodes, traits)
    flows.ends = ended[0]
    flows.is_of_ranks = rank is not None
    return flows, list(dict.fromkeys(notes))


def _is_within(node: Node, ends: tuple[int | None, ...]) -> bool:
    """Whether a statement began before the step ended. Of a thread's, or of what handles a signal,
    the run is left out in which it came later: that it did is what makes the difference."""
    late = [
        ran is not None and end is not None and ran.began > end
        for ran, end in zip((node.first, node.second), ends, strict=True)
    ]
    if any(late) and node.is_in_thread:
        node.first = None if late[0] else node.first
        node.second = None if late[1] else node.second
        return bool(node.first or node.second)
    return not any(late)


def done_in_one(flows: Flows, origin: Node) -> list[Node]:
    """What only one run did, as an origin has it."""
    return [each for each in flows.tainted if each.cause is not None and origin in each.origins]


def sets_only(extra: Collection[Node], flows: Flows, names: Collection[str]) -> Node | None:
    """What sets a hyperparameter, where nothing else that is read later is done in one run alone.

    names  of hyperparameters: "lr"
    """
    found: Node | None = None
    others: set[Path] = set()
    for node in extra:
        if not _is_setting(node):
            return None
        for path in node.statement.writes:
            if len(path) > 1 and path[-1].strip("[]") in names:
                found = found or node
            elif node.statement.kind != "For":
                others.add(path[-1:])
    return None if others & set(_read_later(flows, extra)) else found


def sets_values(extra: Collection[Node]) -> bool:
    """Whether nothing but values are set in one run alone, and nothing is called for it."""
    return all(each.statement.kind in _SETTING and not each.statement.calls for each in extra)


def _is_setting(node: Node) -> bool:
    """Whether it sets something, or is what is around that: a loop over groups, a call."""
    kind = node.statement.kind
    return kind in _SETTING or (kind in _AROUND and (kind != "Expr" or bool(node.below)))


def _read_later(flows: Flows, extra: Collection[Node]) -> Iterator[Path]:
    """Last names of what is read by statements that differ in both runs, but for a clock's."""
    causes = {each.cause for each in extra}
    for node in flows.tainted:
        if node.cause is None and node not in causes and not is_clock(node.statement):
            yield from (path[-1:] for path in node.statement.reads)

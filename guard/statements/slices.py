"""The slice: the statements on the way from the source of a difference to where it is seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.statements.flows import Flows
    from guard.statements.pairs import Node

_MOST = 40  # statements


def slice_of(flows: Flows, origin: Node, sink: Node) -> tuple[list[Node], bool]:
    """Statements from an origin to a sink, and whether each was seen to lead to the next."""
    found = [sink]
    seen = {sink}
    while found[-1] is not origin and len(found) < _MOST:
        possible = (each for each in _before(flows, found[-1]) if each not in seen)
        step = next((each for each in possible if _is(each, origin)), None)
        if step is None:
            return [origin, *reversed(found)], False
        found.append(step)
        seen.add(step)
    is_whole = found[-1] is origin
    return list(reversed(found)) if is_whole else [origin, *reversed(found)], is_whole


def _is(node: Node, origin: Node) -> bool:
    return node is origin or origin in node.origins


def _before(flows: Flows, node: Node) -> Iterator[Node]:
    """What a statement was given its difference by: calls that it made, then what it read."""
    for calling in node.below:
        yield from (each for each in reversed(calling.nodes) if each.is_tainted)
    yield from flows.before(node)
    if node.cause is not None:
        yield node.cause
    yield from flows.makers(node)
    if node.within.above is not None:
        yield node.within.above
    if node.draws:
        moved = (each for nodes in flows.moves.values() for each in nodes)
        yield from sorted((n for n in moved if n.order < node.order), key=lambda n: -n.order)

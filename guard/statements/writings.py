"""What was written where, and under which names it is found again.

A name and what it holds in the same frame; from other frames, an attribute by its name alone, and
a name by its file.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.statements.pairs import Node
    from guard.statements.syntax import Path


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


def keys(node: Node, path: Path) -> Iterator[object]:
    """Under what a write is found again."""
    frame = node.within.call.frame, node.within.role
    yield (*frame, path)
    yield from shared_keys(node, path)
    for size in range(1, len(path)):
        yield from part_keys(node, path[:size])


def part_keys(node: Node, path: Path) -> Iterator[object]:
    """Of a write to a part of what a path leads to: whoever reads the whole finds it."""
    frame = node.within.call.frame, node.within.role
    for key in ((*frame, path), *shared_keys(node, path)):
        yield ("part", key)


def local_keys(node: Node, path: Path) -> Iterator[object]:
    """A path in the same frame, then what holds it."""
    frame = node.within.call.frame, node.within.role
    for size in range(len(path), 0, -1):
        if size == 1 and len(path) > 1 and path[0] == "self":
            break
        yield (*frame, path[:size])


def shared_keys(node: Node, path: Path) -> Iterator[object]:
    """An attribute or a key by its name; a name by its file."""
    last = path[-1]
    if len(path) > 1:
        yield ("attribute", last)
    elif path[0] != "self":
        yield ("name", node.file, last)

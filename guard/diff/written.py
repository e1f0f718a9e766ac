"""What statements write where: found again by a name and what it holds in the same frame, and from
other frames by an attribute's name, or a name and its file; and who writes beside whom."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from guard.diff.statements import frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.diff.statements import Node
    from guard.observe.statements import Path


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
    yield (*frame_of(node), path)
    yield from shared_keys(node, path)
    for size in range(1, len(path)):
        yield from part_keys(node, path[:size])


def part_keys(node: Node, path: Path) -> Iterator[object]:
    """Of a write to a part of what a path leads to: whoever reads the whole finds it."""
    for key in ((*frame_of(node), path), *shared_keys(node, path)):
        yield ("part", key)


def local_keys(node: Node, path: Path) -> Iterator[object]:
    """A path in the same frame, then what holds it."""
    for size in range(len(path), 0, -1):
        if size == 1 and len(path) > 1 and path[0] == "self":
            break
        yield (*frame_of(node), path[:size])


def shared_keys(node: Node, path: Path) -> Iterator[object]:
    """An attribute or a key by its name; a name by its file; what a class binds by both."""
    last = path[-1]
    if len(path) == 1 and path[0] != "self":
        yield ("name", node.file, last)
    above = node.within.above
    is_of_a_class = above is not None and above.statement.kind == "ClassDef"
    if len(path) > 1 or (is_of_a_class and path in node.statement.writes):
        yield ("attribute", last)


def whole_keys(node: Node, path: Path) -> Iterator[object]:
    """Of a part, by the names of what holds it: ``state.update(rate=x)`` writes ``state["rate"]``.
    A variable of the function's own is no other function's."""
    for size in range(len(path) - 1, 0, -1):
        if size > 1 or path[0] not in node.within.bound:
            yield from shared_keys(node, path[:size])


class Writers:
    """Which threads write what, and when."""

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._spans: dict[str, tuple[int, int]] = {}  # from a thread's first statement to its last
        self._roles: dict[object, list[tuple[str, int]]] = {}
        # when each thread's tasks began in both runs
        self._tasks: dict[str, dict[int, int]] = {}
        for each in nodes:
            role = each.within.role
            began = each.first.began if each.first is not None else each.order
            first, last = self._spans.get(role, (began, each.order))
            self._spans[role] = min(first, began), max(last, each.order)
            task = each.within
            if task.above is None and task.first is not None and task.second is not None:
                self._tasks.setdefault(role, {})[task.first.began] = task.second.began
            for key in _wholes(each):
                self._roles.setdefault(key, []).append((role, each.order))

    def is_before(self, other: Node, node: Node) -> bool:
        """Whether a statement ran before the thread of another one began."""
        return other.order < self._spans[node.within.role][0]

    def is_alone(self, node: Node) -> bool:
        """Whether a thread writes what no other one writes, nor the main thread as long as it
        runs; what a statement hands on to others, or the main one takes, if there are no further
        threads. Not where a library gave it what it does in another order."""
        own = node.within.role
        later = [began for _, began in sorted(self._tasks.get(own, {}).items())]
        if later != sorted(later):
            return False
        if not node.is_in_thread or not node.statement.writes:
            return len(self._spans.keys() | {"main"}) == 2
        began, ended = self._spans[own]
        written = (each for key in _wholes(node) for each in self._roles[key])
        others = (each for each in written if each[0] != own)
        return all(role == "main" and not began <= order <= ended for role, order in others)


def _wholes(node: Node) -> set[object]:
    """Under what it is found again what a statement writes, or writes an item of."""
    paths: set[Path] = set()
    for path in node.statement.writes:
        whole = path
        paths.add(whole)
        while len(whole) > 1 and whole[-1][0] == "[":
            whole = whole[:-1]
            paths.add(whole)
    return {key for path in paths for key in shared_keys(node, path)}

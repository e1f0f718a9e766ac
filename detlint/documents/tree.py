"""What YAML, TOML and JSON have in common: mappings, lists and values, with their places."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from detlint.documents.document import Entry

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.documents.document import Scalar

# Text that a program fills in before, or while, it reads the rest.
_OPENINGS = ("${", "{{", "{%", "<%", "$(")
# Aliases of aliases of aliases grow without end; a configuration has a few hundred values.
_MOST_BY_ALIAS = 5_000
_DEEPEST = 64


class Leaf(NamedTuple):
    """A value: what it means, and the text that it was made of.

    ``style`` is that of a block of text in YAML, "|" or ">"; an alias has "*".
    """

    start: int
    end: int
    value: Scalar
    text: str
    known: bool = True
    style: str = ""


class Item(NamedTuple):
    """A key, or the index in a list, with what it leads to."""

    key: str
    key_start: int
    node: Tree


class Branch:
    """A mapping or a list. Where keys are given twice, ``items`` has the one that counts.

    ``parents`` are mappings merged into this one; their items count where it has none.
    """

    def __init__(self, start: int, end: int, *, is_list: bool = False) -> None:
        self.start = start
        self.end = end
        self.is_list = is_list
        self.own: dict[str, Item] = {}
        self.parents: list[Branch] = []

    def add(self, key: str, key_start: int, node: Tree) -> None:
        """Set a key."""
        self.own.pop(key, None)
        self.own[key] = Item(key, key_start, node)

    def append(self, node: Tree) -> None:
        """Add an item to a list."""
        self.add(str(len(self.own)), node.start, node)

    @property
    def items(self) -> dict[str, Item]:
        """The items, those of merged mappings included."""
        if not self.parents:
            return self.own
        found: dict[str, Item] = {}
        seen = {id(self)}
        stack = list(self.parents)
        while stack:
            parent = stack.pop(0)
            if id(parent) not in seen:
                seen.add(id(parent))
                for key, item in parent.own.items():
                    found.setdefault(key, item)
                stack[:0] = parent.parents
        return {**found, **self.own}

    def get(self, *keys: str) -> Tree | None:
        """What lies at a path, or None."""
        node: Tree = self
        for key in keys:
            item = node.items.get(key) if isinstance(node, Branch) else None
            if item is None:
                return None
            node = item.node
        return node

    def branch(self, *keys: str) -> Branch:
        """The mapping or list at a path; an empty one if there is none."""
        found = self.get(*keys)
        return found if isinstance(found, Branch) else Branch(self.start, self.start)

    def text(self, *keys: str) -> str:
        """The text of the value at a path, or ""."""
        found = self.get(*keys)
        return found.text if isinstance(found, Leaf) else ""

    def branches(self) -> Iterator[Branch]:
        """The mappings and lists directly below."""
        for item in self.items.values():
            if isinstance(item.node, Branch):
                yield item.node


Tree: TypeAlias = "Leaf | Branch"


def is_known(text: str) -> bool:
    """Whether a value is what it says: no interpolation, nor a mark of a template."""
    return not any(each in text for each in _OPENINGS)


def has_template_marks(text: str) -> bool:
    """Whether a text is filled in before it is read, so that it need not parse."""
    return any(each in text for each in ("{{", "{%", "<%"))


def entries(root: Branch) -> list[Entry]:
    """The values of a document. One that an alias or a merge repeats comes once for each path."""
    found: list[Entry] = []
    visited: set[int] = set()
    repeated = 0
    stack: list[tuple[tuple[str, ...], int, Tree]] = [((), root.start, root)]
    while stack:
        keys, key_start, node = stack.pop()
        if isinstance(node, Leaf):
            found.append(Entry(node.start, node.end, keys, node.value, key_start, node.known))
            continue
        if id(node) in visited:
            repeated += len(node.items)
            if repeated > _MOST_BY_ALIAS:
                continue
        visited.add(id(node))
        if len(keys) < _DEEPEST:
            stack += [
                ((*keys, each.key), each.key_start, each.node) for each in node.items.values()
            ]
    return found

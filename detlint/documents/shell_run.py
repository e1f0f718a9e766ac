"""A shell that reads a script without running it: where it is, and what holds there."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.shell_scope import HOLE, Piece, Scope, Value, capped, unknown
from detlint.documents.shell_tree import Tree
from detlint.documents.shell_values import Values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from typing import TypeAlias

    from tree_sitter import Node

    from detlint.documents.document import Word
    from detlint.documents.shell_found import Found

    Handler: TypeAlias = "Callable[[Shell, Node], None]"

_DEEPEST = 40
_MOST_CALLS = 4  # of one function
_ASSIGNED = re.compile(r"\b([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=")
_POSITIONS = ("@", "*", *map(str, range(1, 10)))


class Shell:
    """Walks statements in a scope, which they change. ``handlers`` say what those of a kind do,
    and ``front`` is what started this shell.

    ``redirected`` holds the redirections around statements that are walked, by these: to ask a
    node of tree-sitter for the one above has it go through all that stand beside it.
    """

    def __init__(  # noqa: PLR0913 - the last two for a shell within another
        self,
        tree: Tree,
        scope: Scope,
        found: Found,
        handlers: Mapping[str, Handler],
        *,
        front: tuple[Word, ...] = (),
        depth: int = 0,
    ) -> None:
        self.tree = tree
        self.scope = scope
        self.found = found
        self.front = front
        self.redirected: dict[int, Node] = {}
        self._handlers = handlers
        self._depth = depth
        self._functions: dict[str, tuple[Tree, Node]] = {}
        self._calls: dict[str, int] = {}

    def read(self) -> None:
        """Walk the whole text, and functions that nothing called last."""
        self.walk(self.tree.root)
        for name in [*self._functions]:
            if name not in self._calls:
                self.scope.ended = ""
                self.within(self.scope.copy(), lambda name=name: self.call(name))  # type: ignore[misc]

    def walk(self, node: Node) -> None:
        """Walk a statement, or nothing where the script has ended."""
        if self._depth > _DEEPEST or self.scope.ended:
            return
        if node.type == "ERROR":
            self.forget(node)
            return
        self._depth += 1
        handler = self._handlers.get(node.type)
        if handler is not None:
            handler(self, node)
        else:
            self.walk_all(node.children)
        self._depth -= 1

    def walk_all(self, nodes: Iterable[Node]) -> None:
        """Walk some statements, one after the other."""
        for each in nodes:
            if each.is_named or each.type == "ERROR":
                self.walk(each)

    def within(self, scope: Scope, walk: Callable[[], None]) -> Scope:
        """Walk something in another scope, which is given back."""
        outer, self.scope = self.scope, scope
        walk()
        self.scope = outer
        return scope

    def branch(self, nodes: Iterable[Node]) -> Scope:
        """The scope after some statements, which do not change this one."""
        return self.within(self.scope.copy(), lambda: self.walk_all(nodes))

    def forget(self, node: Node, *, new: bool = True) -> None:
        """Take what is assigned anywhere in a node for unknown."""
        self.scope.forget(_ASSIGNED.findall(self.tree.text(node)), new=new)

    def values(self) -> Values:
        """What evaluates words here."""
        return Values(self.tree, self.scope, lambda node: self.branch(node.children))

    # Texts that are scripts

    def inner(self, text: Piece, front: tuple[Word, ...], scope: Scope) -> None:
        """Read shell text within shell text, by a shell of its own."""
        if text.text and self._depth <= _DEEPEST:
            tree = Tree(text.text, places=[*text.places, text.places[-1] + 1])
            front, depth = self.front + front, self._depth + 8
            Shell(tree, scope, self.found, self._handlers, front=front, depth=depth).read()

    def evaluate(self, text: Piece) -> None:
        """Read shell text here, as ``eval`` does."""
        if not text.text or self._depth > _DEEPEST:
            return
        outer = self.tree
        self.tree = Tree(text.text, places=[*text.places, text.places[-1] + 1])
        self._depth += 8
        self.walk(self.tree.root)
        self._depth -= 8
        self.tree = outer

    def include(self, text: str, place: int) -> None:
        """Read the text of another script here, for what it sets; its words stand at a place."""
        if self._depth > _DEEPEST:
            return
        outer = self.tree, self.found, self.scope.ended
        self.tree, self.found = Tree(text, places=[place] * (len(text) + 1)), type(self.found)()
        self._depth += 8
        self.walk(self.tree.root)
        self._depth -= 8
        self.tree, self.found, self.scope.ended = outer

    # Functions

    def define(self, name: str, body: Node) -> None:
        """Remember a function."""
        self._functions[name] = self.tree, body

    def defines(self, name: str) -> bool:
        """Whether it has a function of a name."""
        return name in self._functions

    def call(self, name: str, arguments: tuple[Word, ...] | None = None) -> None:
        """Walk a function's body; what it sets lasts."""
        tree, body = self._functions[name]
        self._calls[name] = self._calls.get(name, 0) + 1
        outer, self.tree = self.tree, tree
        if self._calls[name] > _MOST_CALLS or self._depth > _DEEPEST // 2:
            self.forget(body)
        else:
            given = {each: self.scope.values.pop(each, None) for each in _POSITIONS}
            if arguments is not None:
                self.give(arguments)
            self.walk(body)
            if self.scope.ended == "return":
                self.scope.ended = ""
            self.scope.values.update({each: old for each, old in given.items() if old is not None})
        self.tree = outer

    def give(self, arguments: tuple[Word, ...]) -> None:
        """Set ``$@`` and ``$1``."""
        every = Value(unknown(0), capped(arguments))
        self.scope.values["@"] = self.scope.values["*"] = every
        for number, word in enumerate(arguments[:9], 1):
            text = HOLE if word.text is None else word.text
            self.scope.values[str(number)] = Value(Piece(text, (word.start,) * len(text)))

    def shift(self) -> None:
        """What they are is not known any more."""
        for each in _POSITIONS:
            self.scope.values.pop(each, None)

"""Trees of tree-sitter's grammars, with their places in characters instead of bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from detlint.documents import Unreadable
from detlint.documents.tree import has_template_marks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from detlint.sources.source import Source


class Syntax:
    """The tree of one text, or of a text as long that stands in for it."""

    def __init__(self, text: str, language: Any, parsed: str = "") -> None:  # noqa: ANN401  # a capsule
        from tree_sitter import Language, Parser

        data = (parsed or text).encode("utf-8", "surrogatepass")
        self.text = text
        # Kept, because its nodes do not keep it.
        self._tree = Parser(Language(language)).parse(data)
        self.root = self._tree.root_node
        self._places = None if len(data) == len(text) else _places(text)

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of a node in the text."""
        if self._places is None:
            return node.start_byte, node.end_byte
        return self._places[node.start_byte], self._places[node.end_byte]

    def text_of(self, node: Node) -> str:
        """The text of a node."""
        start, end = self.span(node)
        return self.text[start:end]

    def descendants(self) -> Iterator[Node]:
        """Every node, in order, without recursion."""
        stack = [self.root]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(reversed(node.children))

    def comments(self) -> list[tuple[int, int]]:
        """Where the comments lie."""
        return [self.span(node) for node in self.descendants() if node.type == "comment"]

    def is_whole(self, source: Source, kind: str) -> bool:
        """Whether the text parses. Raises Unreadable where it does not, unless it is a template,
        which need not.
        """
        if not self.root.has_error:
            return True
        for node in self.descendants():
            if node.is_missing or node.is_error:
                if has_template_marks(self.text):
                    return False
                place = source.location(self.span(node)[0])
                raise Unreadable(f"cannot be read as {kind}", *place)
        return True


def _places(text: str) -> list[int]:
    """The offset in characters of each offset in bytes."""
    places: list[int] = []
    for index, character in enumerate(text):
        code = ord(character)
        places.extend([index] * (1 + (code > 0x7F) + (code > 0x7FF) + (code > 0xFFFF)))
    return [*places, len(text)]

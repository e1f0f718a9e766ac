"""How the text of a source is changed at a node, whatever tree the node is of."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Generic, TypeVar

from detlint.finding import Edit
from detlint.lexer import comments

if TYPE_CHECKING:
    from detlint.source import Source


Node = TypeVar("Node")


class Editable(Generic[Node]):
    """A source whose nodes have places in its text."""

    source: Source

    def span(self, node: Node) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text."""
        raise NotImplementedError

    def replace(self, node: Node, text: str) -> Edit:
        """Replace a node (its parentheses stay)."""
        return Edit(*self.span(node), text)

    def insert_before(self, node: Node, text: str) -> Edit:
        """Insert text right before a node."""
        start, _ = self.span(node)
        return Edit(start, start, text)

    def insert_after(self, node: Node, text: str) -> Edit:
        """Insert text right after a node."""
        _, end = self.span(node)
        return Edit(end, end, text)

    def _after_last(self, call: Node, last: Node | None, argument: str) -> Edit:
        """Add an argument behind the last one of a call, laid out as that is."""
        start, end = self.span(call)
        if last is None:
            return Edit(end - 1, end - 1, argument)
        place, end = self.span(last)
        row, column = self.source.location(place)
        indent = self.source.line(row)[: column - 1]
        own_line = not indent.strip() and row > self.source.location(start)[0]
        separator = f",{self.source.newline}{indent}" if own_line else ", "
        return Edit(end, end, f"{separator}{argument}")

    def drops_comment(self, edit: Edit) -> bool:
        """Whether an edit's range holds a comment that its replacement does not."""
        return any(
            edit.start <= start < edit.end and self.source.text[start:end] not in edit.replacement
            for start, end in self._comments
        )

    @cached_property
    def _comments(self) -> list[tuple[int, int]]:
        return comments(self.source.text)

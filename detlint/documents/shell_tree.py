"""The syntax tree of shell text, with places in the source that the text stands in."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node, Parser


class Tree:
    """Shell text, parsed. Each character's offset in the source is ``places[index]``, and the
    end's ``places[len(text)]``; without places the text stands there from ``offset`` on."""

    def __init__(self, text: str, offset: int = 0, places: Sequence[int] | None = None) -> None:
        if places is None:
            places = range(offset, offset + len(text) + 1)
        if "\r" in text:
            kept = [index for index, each in enumerate(text) if each != "\r"]
            places = [*(places[index] for index in kept), places[len(text)]]
            text = text.replace("\r", "")
        self._text = text
        self._places = places
        data = text.encode("utf-8", "replace")
        self._index = None if len(data) == len(text) else _indices(text)
        self.root: Node = _parser().parse(data).root_node

    def text(self, node: Node) -> str:
        """The text of a node."""
        return self.slice(node.start_byte, node.end_byte)

    def slice(self, start: int, end: int) -> str:
        """The text between two bytes."""
        return self._text[self._character(start) : self._character(end)]

    def places(self, start: int, end: int) -> tuple[int, ...]:
        """The offsets of the characters between two bytes."""
        return tuple(self._places[self._character(start) : self._character(end)])

    def start(self, node: Node) -> int:
        """The offset at which a node begins."""
        return self._places[self._character(node.start_byte)]

    def end(self, node: Node) -> int:
        """The offset behind a node; where its text is put together from several places, behind
        a first piece at most."""
        last = self._character(node.end_byte)
        return max(self.start(node), self._places[last - 1] + 1 if last else 0)

    def _character(self, byte: int) -> int:
        return byte if self._index is None else self._index[byte]


def _indices(text: str) -> list[int]:
    """The index of the character that each byte belongs to."""
    found: list[int] = []
    for index, each in enumerate(text):
        found += [index] * len(each.encode("utf-8", "replace"))
    return [*found, len(text)]


@cache
def _parser() -> Parser:
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))

"""The syntax tree of shell text, with places in the source that the text stands in."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node, Parser


_LATER = re.compile(r"\$[A-Za-z_]")
_NAME = re.compile(r"[A-Za-z_]\w*")
_ROUNDS = 4
# What whoever copies the script is to fill in: `--data <path/to/data>`. To the shell, and so to
# the grammar, they are redirections.
_PLACEHOLDER = re.compile(r"(?<![<\w])<[A-Za-z_][\w./-]*(?: [\w./-]+)*>(?=[\s\"'/]|$)")


def preorder(node: Node) -> Iterator[Node]:
    """A node and all below it, in the order of the text."""
    pending = [node]
    while pending:
        each = pending.pop()
        yield each
        pending += reversed(each.children)


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
        # A variable that nothing sets, of the same length.
        text = _PLACEHOLDER.sub(lambda found: "$".ljust(len(found[0]), "_"), text)
        self._take(text, places)
        for _ in range(_ROUNDS if _has_several(text) else 0):
            if not self._mend():
                break

    def _take(self, text: str, places: Sequence[int]) -> None:
        self._text = text
        self._places = places
        data = text.encode("utf-8", "replace")
        self._index = None if len(data) == len(text) else _indices(text)
        self.root: Node = _parser().parse(data).root_node

    def _mend(self) -> bool:
        """Put braces around names that the grammar takes for a word of their own: B in
        ``$A/$B/``, of which it makes ``$A/$`` and ``B/``. Whether there are any."""
        found = []
        for node in preorder(self.root):
            if node.type == "$" and node.end_byte - node.start_byte == 1:
                name = _NAME.match(self._text, self._character(node.end_byte))
                if name and node.parent is not None and node.parent.type == "concatenation":
                    found.append(name.span())
        text, places, done = "", [], 0
        for start, end in found:
            text += f"{self._text[done:start]}{{{self._text[start:end]}}}"
            places += [*self._places[done:start], self._places[start]]
            places += [*self._places[start:end], self._places[end - 1]]
            done = end
        if found:
            self._take(text + self._text[done:], [*places, *self._places[done:]])
        return bool(found)

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


def _has_several(text: str) -> bool:
    """Whether a word has a name behind another expansion: ``$A/$B``."""
    return any(
        _LATER.search(word, word.find("$") + 1) is not None
        for word in text.split()
        if word.count("$") > 1
    )


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

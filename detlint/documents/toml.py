"""TOML, parsed by tree-sitter for its places: the standard library's parser has none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.configuration import parse
from detlint.documents import configuration
from detlint.documents.grammar import Syntax
from detlint.documents.tree import Branch, Leaf, Tree, is_known
from detlint.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from detlint.documents.document import Document
    from detlint.sources.source import Source

_TABLES = ("table", "table_array_element")
_KEYS = ("bare_key", "quoted_key", "dotted_key")


def read(source: Source) -> Document:
    """The settings of a file."""
    import tree_sitter_toml

    syntax = Syntax(source.text, tree_sitter_toml.language())
    if not syntax.is_whole(source, "TOML"):
        return configuration.document(source, (), ())
    return configuration.document(source, [_Reader(syntax).root], syntax.comments())


class _Reader:
    """Makes one tree of the tables of a file."""

    def __init__(self, syntax: Syntax) -> None:
        self._syntax = syntax
        self.root = Branch(*syntax.span(syntax.root))
        for node in syntax.root.named_children:
            if node.type == "pair":
                self._add(self.root, node)
            elif node.type in _TABLES:
                table = self._table(node)
                for child in node.named_children:
                    if child.type == "pair":
                        self._add(table, child)

    def _table(self, node: Node) -> Branch:
        head = next(child for child in node.named_children if child.type in _KEYS)
        names = list(self._names(head))
        table = _enter(self.root, names[:-1])
        name, place = names[-1]
        if node.type == "table":
            return _enter(table, [(name, place)])
        found = table.get(name)
        if not isinstance(found, Branch):
            found = Branch(place, place, is_list=True)
            table.add(name, place, found)
        element = Branch(*self._syntax.span(node))
        found.append(element)
        return element

    def _add(self, table: Branch, pair: Node) -> None:
        """Set what a line says; what is nested in its value waits on a stack."""
        stack = [(table, pair)]
        while stack:
            branch, node = stack.pop()
            key, value = self._parts(node)
            below = self._value(value)
            if key is None:
                branch.append(below)
            else:
                *above, (name, place) = self._names(key)
                _enter(branch, above).add(name, place, below)
            if isinstance(below, Branch):
                children = [child for child in value.named_children if child.type != "comment"]
                stack += [(below, child) for child in reversed(children)]

    def _parts(self, node: Node) -> tuple[Node | None, Node]:
        if node.type != "pair":
            return None, node
        key, *_, value = [child for child in node.named_children if child.type != "comment"]
        return key, value

    def _names(self, key: Node) -> Iterator[tuple[str, int]]:
        """The names of a dotted key, in order. The grammar nests them to the left."""
        names: list[tuple[str, int]] = []
        stack = [key]
        while stack:
            node = stack.pop()
            if node.type == "dotted_key":
                stack.extend(child for child in node.named_children if child.type in _KEYS)
                continue
            text = self._syntax.text_of(node)
            name = _string(text) if node.type == "quoted_key" else text
            names.append((name, self._syntax.span(node)[0]))
        return reversed(names)

    def _value(self, node: Node) -> Tree:
        start, end = self._syntax.span(node)
        if node.type in ("array", "inline_table"):
            return Branch(start, end, is_list=node.type == "array")
        return _leaf(start, end, self._syntax.text_of(node), node.type)


def _enter(branch: Branch, names: list[tuple[str, int]]) -> Branch:
    """The table at a path, made where there is none; of a list of tables, the last."""
    for name, place in names:
        found = branch.get(name)
        if not isinstance(found, Branch):
            found = Branch(place, place)
            branch.add(name, place, found)
        elif found.is_list and found.own:
            last = list(found.own.values())[-1].node
            found = last if isinstance(last, Branch) else Branch(place, place)
        branch = found
    return branch


def _leaf(start: int, end: int, written: str, kind: str) -> Leaf:
    if kind == "string":
        text = _string(written)
        return Leaf(start, end, text, text, is_known(text))
    if kind == "boolean":
        return Leaf(start, end, written == "true", written)
    try:
        if kind == "integer":
            value: int | float | str = int(written, 0)
        else:  # dates are text
            value = float(written) if kind == "float" else written
    except ValueError:  # more digits than Python reads
        return Leaf(start, end, None, written, known=False)
    return Leaf(start, end, value, written)


def _string(written: str) -> str:
    quotes = written[:3] if written[:3] in ('"""', "'''") else written[:1]
    text = written[len(quotes) : -len(quotes) or None]
    if len(quotes) == 3:
        text = text.removeprefix("\r\n") if text[:1] == "\r" else text.removeprefix("\n")
    if quotes[:1] != '"' or "\\" not in text:
        return text
    try:
        return str(parse(f"text = {written}".encode(), "").content["text"])
    except SettingsError:  # an escape of a newer TOML
        return text

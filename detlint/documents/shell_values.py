"""What words of a shell stand for: quotes, escapes and expansions carried out where known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.document import Word
from detlint.documents.shell_fields import Field, Part, fields, unescaped
from detlint.documents.shell_scope import EMPTY, HOLE, Piece, Scope, Value, capped, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from detlint.documents.shell_tree import Tree

_DEEPEST = 40
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_NAMES = frozenset({"variable_name", "special_variable_name", "subscript"})
_ASSIGNING = frozenset({":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})


class Values:
    """Evaluates words of a tree in a scope; ``inside`` is told of ``$( … )`` in them."""

    def __init__(self, tree: Tree, scope: Scope, inside: Callable[[Node], object]) -> None:
        self._tree = tree
        self._scope = scope
        self._inside = inside

    def words(self, node: Node) -> list[Field]:
        """The words that a word becomes; their texts hold HOLE for what is not known."""
        span = self._tree.start(node), self._tree.end(node)
        parts = list(self._parts(node, False, 0))
        if not any(part.split or part.words is not None for part in parts):
            piece = _together(parts)
            return [Field(Word(*span, piece.text), piece.places)]
        found = fields(parts, span)
        if len(found) == 1 and not (found[0].word.text or "").startswith("--"):
            word = found[0].word._replace(start=span[0], end=span[1])
            return [Field(word, found[0].places)]
        return found

    def text(self, node: Node) -> Piece:
        """The text that a word becomes where it is not split: in an assignment."""
        found = EMPTY
        for part in self._parts(node, True, 0):
            if part.words is None:
                found = found.plus(part.piece)
            else:
                found = found.plus(_spoken(part.words, self._tree.start(node)))
        return found

    def array(self, node: Node) -> tuple[Word, ...]:
        """The words of ``( … )``."""
        found: list[Word] = []
        for child in node.named_children:
            if child.type != "comment":
                found += [each.word for each in self.words(child)]
        return capped(tuple(found))

    def document(self, body: Node) -> Piece:
        """The text of a here-document, expansions carried out."""
        found = EMPTY
        for part in self._quoted(body, body.start_byte, body.end_byte, 0, "$`\\\n"):
            found = found.plus(part.piece)
        return found

    def _parts(self, node: Node, quoted: bool, depth: int) -> Iterator[Part]:
        kind = node.type
        if depth > _DEEPEST:
            yield Part(unknown(self._tree.start(node)))
        elif kind in (
            "word",
            "number",
            "test_operator",
            "extglob_pattern",
            "regex",
            "variable_name",
        ):
            yield Part(self._bare(node))
        elif kind == "raw_string":
            yield Part(self._literal(node.start_byte + 1, node.end_byte - 1))
        elif kind == "ansi_c_string":
            inner = self._literal(node.start_byte + 2, node.end_byte - 1)
            yield Part(unescaped(inner, None))
        elif kind == "string":
            yield from self._quoted(node, node.start_byte + 1, node.end_byte - 1, depth, '"$`\\\n')
        elif kind in ("concatenation", "command_name"):
            yield from self._joined(node, quoted, depth)
        elif kind == "simple_expansion":
            yield from self._simple(node, quoted)
        elif kind == "expansion":
            yield from self._expansion(node, quoted, depth)
        else:
            if kind in ("command_substitution", "process_substitution"):
                self._inside(node)
            yield Part(unknown(self._tree.start(node)))

    def _joined(self, node: Node, quoted: bool, depth: int) -> Iterator[Part]:
        raw = self._tree.text(node)
        if not quoted and "{" in raw and node.type == "concatenation" and _BRACES.search(raw):
            yield Part(unknown(self._tree.start(node)))
            return
        for child in node.children:
            if child.is_named:
                yield from self._parts(child, quoted, depth + 1)
            elif self._tree.text(child) == "$$":
                yield Part(unknown(self._tree.start(child)))
            else:
                yield Part(self._literal(child.start_byte, child.end_byte))

    def _literal(self, start: int, end: int) -> Piece:
        return Piece(self._tree.slice(start, end), self._tree.places(start, end))

    def _bare(self, node: Node) -> Piece:
        piece = self._literal(node.start_byte, node.end_byte)
        if "\\" not in piece.text:
            return piece if not _BRACES.search(piece.text) else unknown(self._tree.start(node))
        return unescaped(piece, "")

    def _quoted(self, node: Node, start: int, end: int, depth: int, escapes: str) -> Iterator[Part]:
        """What stands between the quotes: the parser leaves blanks out of its nodes."""
        yield Part(EMPTY)
        for child in node.named_children:
            if child.type in ("string_content", "heredoc_content"):
                continue
            # A `${` behind nothing but blanks has them in its node.
            text = self._tree.text(child)
            begin = child.start_byte + len(text) - len(text.lstrip(" \t\n\\"))
            if start < begin:
                yield self._plain(start, begin, escapes)
            yield from self._parts(child, True, depth + 1)
            start = child.end_byte
        if start < end:
            yield self._plain(start, end, escapes)

    def _plain(self, start: int, end: int, escapes: str) -> Part:
        """Text between quotes. ``$$`` in it is the number of the shell's process."""
        piece = self._literal(start, end)
        return Part(unknown(piece.places[0]) if "$$" in piece.text else unescaped(piece, escapes))

    def _simple(self, node: Node, quoted: bool) -> Iterator[Part]:
        name = self._tree.text(node)[1:]
        yield self._of(self._scope.values.get(name), name in ("@", "*"), quoted, node)

    def _of(self, value: Value | None, every: bool, quoted: bool, node: Node) -> Part:
        """The value of a variable, ``every`` element of it if it is an array."""
        place = self._tree.start(node)
        if value is None:
            return Part(unknown(place))
        if value.words is not None:
            if every:
                return Part(EMPTY, words=value.words)
            first = value.words[0].text if value.words else ""
            return Part(Piece(first or "", (place,) * len(first or "")), split=not quoted)
        return Part(value.text, split=not quoted)

    def _expansion(self, node: Node, quoted: bool, depth: int) -> Iterator[Part]:
        children = node.children[1:-1]
        names = [each for each in children if each.type in _NAMES]
        operator = next((self._tree.text(each) for each in children if not each.is_named), "")
        if not names or node.has_error or self._tree.text(children[0]) in ("!", "#"):
            yield Part(unknown(self._tree.start(node)))
            return
        name, every = self._named(names[0])
        value = self._scope.values.get(name)
        given = children[children.index(names[0]) + 2 :]
        if operator in _DEFAULTS or operator in _ALTERNATIVES:
            parts = list(self._chosen(node, value, operator, given, (every, quoted, depth)))
            if operator in _ASSIGNING and value is None and name:
                self._scope.set(name, Value(_together(parts), start=self._tree.start(node)))
            yield from parts
        elif name and operator in ("", ":?", "?"):
            yield self._of(value, every, quoted, node)
        else:
            yield Part(unknown(self._tree.start(node)))

    def _named(self, node: Node) -> tuple[str, bool]:
        """The variable, and whether all elements are asked for; "" if it is one element."""
        if node.type != "subscript":
            return self._tree.text(node), self._tree.text(node) in ("@", "*")
        name, _, index = self._tree.text(node).partition("[")
        return (name, True) if index.rstrip("]") in ("@", "*") else ("", False)

    def _chosen(
        self,
        node: Node,
        value: Value | None,
        operator: str,
        given: list[Node],
        how: tuple[bool, bool, int],
    ) -> Iterator[Part]:
        """``${A:-b}``, which is b unless something sets A, and ``${A:+b}``."""
        every, quoted, depth = how
        known = value is not None and (value.words is not None or value.text.known is not None)
        holds = value is not None and (bool(value.words) or value.text.text != "")
        unsure = (value is None and bool(self._scope.sourced)) or (value is not None and not known)
        if operator in _ALTERNATIVES:
            unsure = unsure or value is None
            instead = holds
        else:
            instead = not holds and (value is None or operator.startswith(":"))
        if unsure:
            yield Part(unknown(self._tree.start(node)))
        elif instead:
            yield Part(EMPTY)
            for each in given:
                split = not quoted and each.type not in ("string", "raw_string")
                for part in self._parts(each, quoted, depth + 1):
                    yield part._replace(split=part.split or split)
        elif operator not in _ALTERNATIVES:
            yield self._of(value, every, quoted, node)


def _together(parts: list[Part]) -> Piece:
    found = EMPTY
    for part in parts:
        found = found.plus(part.piece)
    return found


def _spoken(words: tuple[Word, ...], place: int) -> Piece:
    text = " ".join(each.text if each.text is not None else HOLE for each in words)
    return Piece(text, (place,) * len(text))

"""What words of a shell stand for: quotes, escapes and expansions carried out where known."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.documents.document import Word
from detlint.documents.shell_scope import EMPTY, HOLE, Piece, Scope, Value, capped, unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tree_sitter import Node

    from detlint.documents.shell_tree import Tree

_DEEPEST = 40
_ANSI = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v", "e": "\x1b"}
_BRACES = re.compile(r"\{[^{}\s]*(?:,|\.\.)[^{}\s]*\}")
_DEFAULTS = frozenset({":-", "-", ":=", "="})
_ALTERNATIVES = frozenset({":+", "+"})


class _Part:
    """A part of a word: a literal text, the value of a variable that is ``split`` at blanks,
    or the ``words`` of an array."""

    def __init__(
        self, piece: Piece, *, split: bool = False, words: tuple[Word, ...] | None = None
    ) -> None:
        self.piece = piece
        self.split = split
        self.words = words


class Values:
    """Evaluates words of a tree in a scope; ``inside`` is told of ``$( … )`` in them."""

    def __init__(self, tree: Tree, scope: Scope, inside: Callable[[Node], None]) -> None:
        self._tree = tree
        self._scope = scope
        self._inside = inside

    def words(self, node: Node) -> list[Word]:
        """The words that a word becomes; ``text`` holds HOLE for what is not known."""
        span = self._tree.start(node), self._tree.end(node)
        parts = list(self._parts(node, False, 0))
        if not any(part.split or part.words is not None for part in parts):
            return [Word(*span, "".join(part.piece.text for part in parts))]
        fields = list(_fields(parts, span))
        if len(fields) == 1 and not (fields[0].text or "").startswith("--"):
            return [fields[0]._replace(start=span[0], end=span[1])]
        return fields

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
                found += self.words(child)
        return capped(tuple(found))

    def body(self, node: Node, start: int, end: int) -> Piece:
        """The text of a here-document or a string between two bytes, expansions carried out."""
        found = EMPTY
        for part in self._quoted(node, start, end, 0, '$`\\\n'):
            found = found.plus(part.piece)
        return found

    def _parts(self, node: Node, quoted: bool, depth: int) -> Iterator[_Part]:
        kind = node.type
        if depth > _DEEPEST:
            yield _Part(unknown(self._tree.start(node)))
        elif kind in ("word", "number", "test_operator", "extglob_pattern", "regex", "variable_name"):
            yield _Part(self._bare(node))
        elif kind == "raw_string":
            yield _Part(self._literal(node.start_byte + 1, node.end_byte - 1))
        elif kind == "ansi_c_string":
            inner = self._literal(node.start_byte + 2, node.end_byte - 1)
            yield _Part(_unescaped(inner, None))
        elif kind == "string":
            yield from self._quoted(node, node.start_byte + 1, node.end_byte - 1, depth, '"$`\\\n')
        elif kind in ("concatenation", "command_name", "translated_string"):
            yield from self._joined(node, quoted, depth)
        elif kind == "simple_expansion":
            yield from self._simple(node, quoted)
        elif kind == "expansion":
            yield from self._expansion(node, quoted, depth)
        else:
            if kind in ("command_substitution", "process_substitution"):
                self._inside(node)
            yield _Part(unknown(self._tree.start(node)))

    def _joined(self, node: Node, quoted: bool, depth: int) -> Iterator[_Part]:
        raw = self._tree.text(node)
        if not quoted and "{" in raw and node.type == "concatenation" and _BRACES.search(raw):
            yield _Part(unknown(self._tree.start(node)))
            return
        for child in node.children:
            if child.is_named or child.type != "$":
                yield from self._parts(child, quoted, depth + 1)

    def _literal(self, start: int, end: int) -> Piece:
        return Piece(self._tree.slice(start, end), self._tree.places(start, end))

    def _bare(self, node: Node) -> Piece:
        piece = self._literal(node.start_byte, node.end_byte)
        if "\\" not in piece.text:
            return piece if not _BRACES.search(piece.text) else unknown(self._tree.start(node))
        return _unescaped(piece, "")

    def _quoted(
        self, node: Node, start: int, end: int, depth: int, escapes: str
    ) -> Iterator[_Part]:
        """What stands between the quotes: the parser leaves blanks out of its nodes."""
        yield _Part(EMPTY)
        for child in node.named_children:
            if child.type in ("string_content", "heredoc_content"):
                continue
            if start < child.start_byte:
                yield _Part(_unescaped(self._literal(start, child.start_byte), escapes))
            yield from self._parts(child, True, depth + 1)
            start = child.end_byte
        if start < end:
            yield _Part(_unescaped(self._literal(start, end), escapes))

    def _simple(self, node: Node, quoted: bool) -> Iterator[_Part]:
        name = self._tree.text(node)[1:]
        yield self._of(self._scope.values.get(name), name in ("@", "*"), quoted, node)

    def _of(self, value: Value | None, every: bool, quoted: bool, node: Node) -> _Part:
        """The value of a variable, ``every`` element of it if it is an array."""
        place = self._tree.start(node)
        if value is None:
            return _Part(unknown(place))
        if value.words is not None:
            if every:
                return _Part(EMPTY, words=value.words)
            first = value.words[0].text if value.words else ""
            return _Part(Piece(first or "", (place,) * len(first or "")), split=not quoted)
        return _Part(value.text, split=not quoted)

    def _expansion(self, node: Node, quoted: bool, depth: int) -> Iterator[_Part]:
        children = node.children[1:-1]
        names = [each for each in children if each.type in _NAMES]
        operator = next((self._tree.text(each) for each in children if not each.is_named), "")
        if not names or node.has_error or self._tree.text(children[0]) in ("!", "#"):
            yield _Part(unknown(self._tree.start(node)))
            return
        name, every = self._named(names[0])
        value = self._scope.values.get(name)
        given = children[children.index(names[0]) + 2 :]
        if operator in _DEFAULTS or operator in _ALTERNATIVES:
            yield from self._chosen(node, value, operator, given, (every, quoted, depth))
        elif name and operator in ("", ":?", "?"):
            yield self._of(value, every, quoted, node)
        else:
            yield _Part(unknown(self._tree.start(node)))

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
    ) -> Iterator[_Part]:
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
            yield _Part(unknown(self._tree.start(node)))
        elif instead:
            yield _Part(EMPTY)
            for each in given:
                for part in self._parts(each, quoted, depth + 1):
                    part.split = part.split or (not quoted and each.type in ("word", "regex"))
                    yield part
        elif operator not in _ALTERNATIVES:
            yield self._of(value, every, quoted, node)


_NAMES = frozenset({"variable_name", "special_variable_name", "subscript"})


def _spoken(words: tuple[Word, ...], place: int) -> Piece:
    text = " ".join(each.text if each.text is not None else HOLE for each in words)
    return Piece(text, (place,) * len(text))


def _fields(parts: list[_Part], span: tuple[int, int]) -> Iterator[Word]:
    """Words of parts: values are split at blanks, elements of arrays are words of their own."""
    current: Piece | None = None
    for part in parts:
        if part.words is not None:
            for index, word in enumerate(part.words):
                if index and current is not None:
                    yield _word(current, span)
                    current = None
                if current is None and len(parts) <= 2:
                    yield word if word.text is not None else word._replace(text=HOLE)
                else:
                    text = HOLE if word.text is None else word.text
                    current = (current or EMPTY).plus(Piece(text, (word.start,) * len(text)))
        elif not part.split:
            if part.piece.text or len(parts) == 1 or current is not None:
                current = (current or EMPTY).plus(part.piece)
        else:
            for match in re.finditer(r"\s+|\S+", part.piece.text):
                if match[0].isspace():
                    if current is not None:
                        yield _word(current, span)
                    current = None
                else:
                    places = part.piece.places[match.start() : match.end()]
                    current = (current or EMPTY).plus(Piece(match[0], places))
    if current is not None:
        yield _word(current, span)


def _word(piece: Piece, span: tuple[int, int]) -> Word:
    """A word where its text stands, if it stands there in one piece."""
    places = piece.places
    if places and places[-1] - places[0] == len(places) - 1:
        return Word(places[0], places[-1] + 1, piece.text)
    return Word(*span, piece.text)


def _unescaped(piece: Piece, escapes: str | None) -> Piece:
    r"""Without the backslashes in front of ``escapes``; of every character where that is empty,
    and as ``$'\n'`` has them where it is None."""
    if "\\" not in piece.text:
        return piece
    text, places = [], []
    index = 0
    while index < len(piece.text):
        each, place = piece.text[index], piece.places[index]
        following = piece.text[index + 1 : index + 2]
        if each == "\\" and following and (not escapes or following in escapes):
            index += 1
            each = _ANSI.get(following, following) if escapes is None else following
            if following == "\n" and escapes is not None:
                each = ""
        if each:
            text.append(each)
            places.append(place)
        index += 1
    return Piece("".join(text), tuple(places))

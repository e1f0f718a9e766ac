"""The part of a file that is worth parsing.

libcst parses about 0.6 MB a second, so only the functions and classes that hold
a trigger token are kept. Another definition is cut down to a stub that binds its
name, and that, an import or a constant is kept only if what is kept names it.
Comments and docstrings are left out: a tenth of libcst's work, and no rule's. If
the cut text does not parse (a layout that this reading of lines misjudges), the
caller parses the whole file, which is the reference that a test compares with.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from typing import TYPE_CHECKING, NamedTuple

from detlint.layout import Block, layout_of
from detlint.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.layout import Layout

# How much around a trigger a rule has to see, from least to most.
SCOPES = ("function", "class", "module")

_METHOD_INDENT = re.compile(r"\n([ \t]+)(?:async[ \t]+def|def|class|@)")
# "…token as alias" of an import, and "alias = a.b.token": uses of the alias are triggers too.
_IMPORTED_AS = re.compile(r"[\w.]*[ \t]+as[ \t]+(\w+)")
# "class Name(…token…):" likewise.
_DERIVED = re.compile(r"class[ \t]+(\w+)[ \t]*\([^()#]*$")
_ASSIGNED_TO = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]*$")
_END_OF_NAME = re.compile(r"[\w.]*[ \t]*(?:#.*)?$", re.MULTILINE)
# Statements without which a module still means the same to what does not name them.
_IMPORT = re.compile(r"(?:from[ \t]+[\w.]+[ \t]+)?import\b")
_CONSTANT = re.compile(r"(\w+)[ \t]*(?::[^=\n]+)?=(?!=)")
_WORD = re.compile(r"\w+")


class Region(NamedTuple):
    """Text to parse, with where its pieces come from: (start here, start in the source)."""

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def offset(self, position: int) -> int:
        """The offset in the source of a character of the region."""
        piece = bisect_right(self.starts, position) - 1
        return self.origins[piece] + position - self.starts[piece]

    @property
    def pieces(self) -> frozenset[tuple[int, str]]:
        """Each piece of text, with where it comes from."""
        ends = (*self.starts[1:], len(self.text))
        parts = map(slice, self.starts, ends)
        return frozenset(zip(self.origins, (self.text[part] for part in parts), strict=True))


# A range of the text to keep, or a definition of which only the name is kept.
_Piece = tuple[int, int] | Block


def whole(text: str) -> Region:
    """The whole text as one region."""
    return Region(text, (0,), (0,))


def narrow(text: str, hits: Iterable[tuple[int, str]]) -> Region | None:
    """The region to parse for trigger tokens at ``(offset, scope)``; None if none is in code."""
    layout = layout_of(text)
    live = alive(text, hits)
    if not live:
        return None
    if any(scope == "module" for _, scope in live):
        return whole(text)
    return _assemble(layout, _Narrowing(layout, live).pieces())


def alive(text: str, hits: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """The tokens that are code, and where names are used that an import or a definition gives
    them."""
    layout = layout_of(text)
    live = [(offset, scope) for offset, scope in hits if not layout.hides(offset)]
    return [*live, *_alias_uses(text, live)]


def _alias_uses(text: str, hits: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Where names are used that stand for a token: ``import torch.backends.cudnn as c``."""
    aliases = {(name, scope) for offset, scope in hits for name in _aliases(text, offset)}
    return [(place, scope) for name, scope in sorted(aliases) for place in mentions(text, name)]


def _aliases(text: str, offset: int) -> Iterator[str]:
    imported = _IMPORTED_AS.match(text, offset)
    if imported:
        yield imported[1]
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    derived = _DERIVED.match(line)
    if derived:
        yield derived[1]
    assigned = _ASSIGNED_TO.match(line)
    if assigned and _END_OF_NAME.match(text, offset):
        yield assigned[1]


class _Narrowing:
    """Decides which blocks of a file are kept whole, in part, as a stub, or not at all."""

    def __init__(self, layout: Layout, hits: list[tuple[int, str]]) -> None:
        self._layout = layout
        self._text = layout.text
        self._blocks = layout.top
        self._functions = sorted(offset for offset, scope in hits if scope == "function")
        classes = sorted(offset for offset, scope in hits if scope == "class")
        self._hits = sorted(offset for offset, _ in hits)
        self._known: dict[tuple[int, int], set[str]] = {}  # the words of pieces
        self._whole = self._with_bases(
            {block.name for block in self._blocks if _holds(classes, block)}
        )

    def _with_bases(self, names: set[str]) -> set[str]:
        """Classes of the file that the named ones inherit from, and the named ones."""
        known = {block.name: block for block in self._blocks if block.kind == "class"}
        pending, closed = list(names), set(names)
        while pending:
            name = pending.pop()
            for base in _WORD.findall(known[name].bases) if name in known else ():
                if base in known and base not in closed:
                    closed.add(base)
                    pending.append(base)
        return closed

    def pieces(self) -> list[_Piece]:
        """What to parse, in the order of the source."""
        kept: dict[int, list[_Piece]] = {}
        optional: list[tuple[Block, set[str]]] = []
        for block in self._blocks:
            names = self._names(block)
            if names is None:
                kept[block.start] = list(self._parts(block))
            else:
                optional.append((block, names))
        for block in self._named(optional, kept):
            kept[block.start] = [block if block.kind else _range(block)]
        return [piece for start in sorted(kept) for piece in kept[start]]

    def _names(self, block: Block) -> set[str] | None:
        """What a block binds, if it is of use only to what names that; else None."""
        if _holds(self._hits, block) or (block.kind and block.name in self._whole):
            return None
        if block.kind:
            return {block.name}
        imported = _IMPORT.match(self._text, block.start)
        if imported:
            return set(_WORD.findall(self._text, imported.end(), block.end))
        constant = _CONSTANT.match(self._text, block.start)
        return {constant[1]} if constant else None

    def _named(
        self, optional: list[tuple[Block, set[str]]], kept: dict[int, list[_Piece]]
    ) -> Iterator[Block]:
        """The optional blocks that kept ones name, or that use what kept statements bind."""
        words: set[str] = set()
        bound: set[str] = set()
        for block in self._blocks:
            for piece in kept.get(block.start, ()):
                words |= self._words(piece)
                if not block.kind and _holds(self._hits, block):
                    bound |= self._bound(piece)
        while True:
            chosen: list[Block] = []
            rest: list[tuple[Block, set[str]]] = []
            for block, names in optional:
                if names & words or (bound and bound & self._words(_range(block))):
                    chosen.append(block)
                else:
                    rest.append((block, names))
            if not chosen:
                return
            optional = rest
            for block in chosen:
                words |= self._words(block if block.kind else _range(block))
                yield block

    def _words(self, piece: _Piece) -> set[str]:
        """The words of what is kept of a piece."""
        if isinstance(piece, Block):
            return set(_WORD.findall(piece.stub))
        found = self._known.get(piece)
        if found is None:
            kept = (_WORD.findall(self._text, *each) for each in self._layout.code(*piece))
            found = self._known[piece] = set().union(*kept)
        return found

    def _bound(self, piece: _Piece) -> set[str]:
        """The words of a piece outside of strings: one of them is what it binds."""
        if isinstance(piece, Block):
            return set(_WORD.findall(piece.stub))
        kept = (_WORD.findall(self._text, *each) for each in self._layout.plain(*piece))
        return set().union(*kept)

    def _parts(self, block: Block) -> Iterator[_Piece]:
        """A kept block, without the methods that hold no trigger."""
        if block.kind != "class" or block.name in self._whole:
            yield _range(block)
            return
        indents = [
            match[1]
            for match in _METHOD_INDENT.finditer(self._text, block.start, block.end)
            if not self._layout.inside(match.start() + 1)
        ]
        if not indents:
            yield _range(block)
            return
        indent = min(indents, key=len)
        parts = list(self._layout.blocks(block.start, block.end, indent))
        held = [part for part in parts if not part.kind or _holds(self._functions, part)]
        yield from map(_range, held)
        if len(held) == 1:  # the head alone: a class needs a body
            yield next(part for part in parts if part.kind)


def _range(block: Block) -> tuple[int, int]:
    return block.start, block.end


def _holds(offsets: list[int], block: Block) -> bool:
    index = bisect_left(offsets, block.start)
    return index < len(offsets) and offsets[index] < block.end


def _assemble(layout: Layout, pieces: Iterable[_Piece]) -> Region:
    parts: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = 0
    for piece in pieces:
        kept = [(piece.start, piece.end)] if isinstance(piece, Block) else layout.code(*piece)
        for start, end in kept:
            part = piece.stub if isinstance(piece, Block) else layout.text[start:end]
            parts.append(part)
            starts.append(length)
            origins.append(start)
            length += len(part)
    return Region("".join(parts), tuple(starts), tuple(origins))

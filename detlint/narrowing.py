"""The part of a file that is worth parsing.

libcst parses about 0.6 MB a second, so only the functions and classes that hold
a trigger token are kept; each other definition is cut down to a stub that still
binds its name. Module-level code is kept, for imports and constants. If the cut
text does not parse (a layout that this reading of lines misjudges), the caller
parses the whole file, which is the reference that a test compares with.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from detlint.lexer import Span, spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# How much around a trigger a rule has to see, from least to most.
SCOPES = ("function", "class", "module")

_HEAD = re.compile(r"([ \t]*)(?:async[ \t]+)?(def|class)[ \t]+(\w+)")
# The first line of a statement: not indented further, not a comment, not a closing bracket.
_STATEMENT = {"": re.compile(r"^(?=[^\s#)\]}])", re.MULTILINE)}
_METHOD_INDENT = re.compile(r"^([ \t]+)(?:async[ \t]+def|def|class|@)", re.MULTILINE)
# "…token as alias" of an import, and "alias = a.b.token": uses of the alias are triggers too.
_IMPORTED_AS = re.compile(r"[\w.]*[ \t]+as[ \t]+(\w+)")
_ASSIGNED_TO = re.compile(r"^[ \t]*(\w+)[ \t]*=[ \t]*[\w.]*$")
_END_OF_NAME = re.compile(r"[\w.]*[ \t]*(?:#.*)?$", re.MULTILINE)
_BASES = re.compile(r"class[ \t]+\w+[ \t]*\(([^()#]*)\)")


class Region(NamedTuple):
    """Text to parse, with where its pieces come from: (start here, start in the source)."""

    text: str
    starts: tuple[int, ...]
    origins: tuple[int, ...]

    def offset(self, position: int) -> int:
        """The offset in the source of a character of the region."""
        piece = bisect_right(self.starts, position) - 1
        return self.origins[piece] + position - self.starts[piece]


class Block(NamedTuple):
    """A statement ``start:end`` at one level of indentation; ``kind`` is "def", "class" or ""."""

    start: int
    end: int
    indent: str
    kind: str
    name: str
    bases: str = ""

    @property
    def stub(self) -> str:
        """What is left of a definition that nothing has to read."""
        inherits = "()" if self.kind == "def" else self.bases
        return f"{self.indent}{self.kind} {self.name}{inherits}: ...\n"


def whole(text: str) -> Region:
    """The whole text as one region."""
    return Region(text, (0,), (0,))


def narrow(text: str, hits: Iterable[tuple[int, str]]) -> Region | None:
    """The region to parse for trigger tokens at ``(offset, scope)``; None if none is in code."""
    layout = spans(text)
    masks = _Masks(layout)
    live = [(offset, scope) for offset, scope in hits if not masks.hides(text, offset)]
    if not live:
        return None
    live.extend(_alias_uses(text, live))
    if any(scope == "module" for _, scope in live):
        return whole(text)
    blocks = list(_blocks(text, 0, len(text), "", masks))
    return _assemble(text, _Keeper(text, blocks, live, masks).pieces())


def _alias_uses(text: str, hits: list[tuple[int, str]]) -> list[tuple[int, str]]:
    """Where names are used that stand for a token: ``import torch.backends.cudnn as c``."""
    aliases = {(name, scope) for offset, scope in hits for name in _aliases(text, offset)}
    return [
        (match.start(), scope)
        for name, scope in sorted(aliases)
        for match in re.finditer(rf"\b{name}\b", text)
    ]


def _aliases(text: str, offset: int) -> Iterator[str]:
    imported = _IMPORTED_AS.match(text, offset)
    if imported:
        yield imported[1]
    line = text[text.rfind("\n", 0, offset) + 1 : offset]
    assigned = _ASSIGNED_TO.match(line)
    if assigned and _END_OF_NAME.match(text, offset):
        yield assigned[1]


class _Masks:
    """Tells offsets in strings and comments from code."""

    def __init__(self, layout: list[Span]) -> None:
        self._layout = layout
        self._starts = [span.start for span in layout]

    def at(self, offset: int) -> Span | None:
        """The string or comment around an offset, if the offset is inside one."""
        index = bisect_right(self._starts, offset) - 1
        if index < 0 or offset >= self._layout[index].end:
            return None
        return self._layout[index]

    def hides(self, text: str, offset: int) -> bool:
        """Whether the offset lies in a comment, or in a docstring."""
        span = self.at(offset)
        if span is None:
            return False
        line_start = text.rfind("\n", 0, span.start) + 1
        alone = not text[line_start : span.start].strip()
        return span.kind == "comment" or (span.kind == "triple" and alone)

    def inside(self, offset: int) -> bool:
        """Whether a string begins before the offset and ends after it."""
        span = self.at(offset)
        return span is not None and span.start < offset


def _blocks(text: str, start: int, end: int, indent: str, masks: _Masks) -> Iterator[Block]:
    """Split ``start:end`` into the statements that begin at one indentation."""
    pattern = _STATEMENT.get(indent)
    if pattern is None:
        pattern = re.compile(rf"^{re.escape(indent)}(?=[^\s#)\]}}])", re.MULTILINE)
        _STATEMENT[indent] = pattern
    begins = [m.start() for m in pattern.finditer(text, start, end) if not masks.inside(m.start())]
    first = begins[0] if begins else end
    if first > start:
        yield Block(start, first, indent, "", "")
    decorated = -1
    for begin, stop in zip(begins, [*begins[1:], end], strict=True):
        if text.startswith("@", begin + len(indent)):
            decorated = begin if decorated < 0 else decorated
            continue
        head = _HEAD.match(text, begin)
        kind, name = (head[2], head[3]) if head else ("", "")
        inherits = _BASES.match(text, begin + len(indent)) if kind == "class" else None
        bases = f"({inherits[1]})" if inherits else ""
        yield Block(begin if decorated < 0 else decorated, stop, indent, kind, name, bases)
        decorated = -1
    if decorated >= 0:
        yield Block(decorated, end, indent, "", "")


class _Keeper:
    """Decides which blocks are kept whole, cut to their triggered methods, or stubbed."""

    def __init__(
        self, text: str, blocks: list[Block], hits: list[tuple[int, str]], masks: _Masks
    ) -> None:
        self._text = text
        self._blocks = blocks
        self._masks = masks
        self._functions = sorted(offset for offset, scope in hits if scope == "function")
        classes = sorted(offset for offset, scope in hits if scope == "class")
        self._whole = self._with_bases({b.name for b in blocks if _holds(classes, b)})

    def _with_bases(self, names: set[str]) -> set[str]:
        """Classes of the file that the named ones inherit from, and the named ones."""
        known = {block.name: block for block in self._blocks if block.kind == "class"}
        pending, closed = list(names), set(names)
        while pending:
            block = known.get(pending.pop())
            match = _BASES.search(self._text, block.start, block.end) if block else None
            for base in re.findall(r"\w+", match[1]) if match else ():
                if base in known and base not in closed:
                    closed.add(base)
                    pending.append(base)
        return closed

    def pieces(self) -> Iterator[tuple[int, int] | Block]:
        """Kept ranges of the text, and blocks to stub."""
        for block in self._blocks:
            if not block.kind or block.name in self._whole:
                yield block.start, block.end
            elif not _holds(self._functions, block):
                yield block
            elif block.kind == "def":
                yield block.start, block.end
            else:
                yield from self._methods(block)

    def _methods(self, owner: Block) -> Iterator[tuple[int, int] | Block]:
        indents = [
            match[1]
            for match in _METHOD_INDENT.finditer(self._text, owner.start + 1, owner.end)
            if not self._masks.inside(match.start())
        ]
        if not indents:
            yield owner.start, owner.end
            return
        indent = min(indents, key=len)
        for block in _blocks(self._text, owner.start, owner.end, indent, self._masks):
            if not block.kind or _holds(self._functions, block):
                yield block.start, block.end
            else:
                yield block


def _holds(offsets: list[int], block: Block) -> bool:
    index = bisect_right(offsets, block.start - 1)
    return index < len(offsets) and offsets[index] < block.end


def _assemble(text: str, pieces: Iterable[tuple[int, int] | Block]) -> Region:
    parts: list[str] = []
    starts: list[int] = []
    origins: list[int] = []
    length = 0
    for piece in pieces:
        start = piece[0]
        part = piece.stub if isinstance(piece, Block) else text[start : piece[1]]
        parts.append(part)
        starts.append(length)
        origins.append(start)
        length += len(part)
    return Region("".join(parts), tuple(starts), tuple(origins))

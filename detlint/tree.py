"""A parsed region: its nodes in source order, their parents, and where they stand.

libcst's own visitor rebuilds every node that it passes, and its metadata
providers walk the tree again for each fact. Reading needs neither: one plain
walk over the fields that hold syntax is about ten times as fast as the parse,
and positions are worked out only for a region that has a finding.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.narrowing import Region

# Punctuation and layout: nodes of libcst, but nothing that a rule asks about.
_LAYOUT = frozenset(
    "lpar rpar lbracket rbracket lbrace rbrace comma semicolon equal dot operator colon "
    "leading_lines lines_after_decorators footer header asynchronous star_etc bar separator "
    "first_colon second_colon from_ trailing_whitespace".split()
)
# Fields in the order of the source, where the class declares them otherwise.
_ORDER = {
    "FunctionDef": ("decorators", "name", "type_parameters", "params", "returns", "body"),
    "ClassDef": ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
}
_FIELDS: dict[type, tuple[str, ...]] = {}


def _syntax_fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    ordered = _ORDER.get(kind.__name__)
    if ordered is None:
        ordered = tuple(
            field.name
            for field in fields(kind)
            if field.name not in _LAYOUT and not field.name.startswith("whitespace")
        )
    _FIELDS[kind] = ordered
    return ordered


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The syntax directly below a node, in source order, without punctuation and layout."""
    kind = type(node)
    for name in _FIELDS.get(kind) or _syntax_fields(kind):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, cst.CSTNode):
                    yield item


class Tree:
    """The syntax of one region. Raises ``libcst.ParserSyntaxError``."""

    def __init__(self, source: Source, region: Region) -> None:
        self.source = source
        self.region = region
        self.module = cst.parse_module(region.text)
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first."""
        parents = self.parents
        above = parents.get(node)
        while above is not None:
            yield above
            above = parents.get(above)

    def descendants(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The node and everything below it, in source order."""
        stack = [node]
        while stack:
            current = stack.pop()
            yield current
            stack.extend(reversed(list(children(current))))

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text, parentheses excluded."""
        place = self._positions[node]
        text, offset = self._region_source, self.region.offset
        start = text.line_starts[place.start.line - 1] + place.start.column
        end = text.line_starts[place.end.line - 1] + place.end.column
        # The end is exclusive: map the last character, in case a cut follows it.
        return offset(start), offset(max(end - 1, start)) + (end > start)

    def text(self, node: cst.CSTNode) -> str:
        """The node as it is written in the source."""
        start, end = self.span(node)
        return self.source.text[start:end]

    @cached_property
    def _region_source(self) -> Source:
        return Source(self.source.path, self.region.text)

    @cached_property
    def _positions(self):  # type: ignore[no-untyped-def]  # libcst's own type is not exported
        wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
        return wrapper.resolve(PositionProvider)

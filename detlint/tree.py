"""A parsed region: its nodes in source order, their parents, and where they stand.

libcst's own visitor rebuilds every node that it passes, and its metadata
providers walk the tree again for each fact. Reading needs neither, but one plain
walk over the fields that hold syntax. The nodes are made from Python's own tree
where that can be, five times as fast as libcst parses; where one stands is asked
of libcst only if Python does not say it.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import fields
from functools import cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import libcst as cst

from detlint.conversion import Converted, UnsupportedError
from detlint.spans import Spans
from detlint.syntax import TOO_DEEP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from detlint.narrowing import Region
    from detlint.source import Source

# Punctuation and layout: nodes of libcst, but nothing that a rule asks about.
_LAYOUT = frozenset(
    {
        "lpar",
        "rpar",
        "lbracket",
        "rbracket",
        "lbrace",
        "rbrace",
        "comma",
        "semicolon",
        "equal",
        "dot",
        "operator",
        "colon",
        "leading_lines",
        "lines_after_decorators",
        "footer",
        "header",
        "asynchronous",
        "star_etc",
        "bar",
        "separator",
        "first_colon",
        "second_colon",
        "from_",
        "trailing_whitespace",
    }
)
# Fields in the order of the source, where the class declares them otherwise.
_ORDER: dict[str, tuple[str, ...]] = {
    "Arg": ("keyword", "value"),
    "FunctionDef": ("decorators", "name", "type_parameters", "params", "returns", "body"),
    "ClassDef": ("decorators", "name", "type_parameters", "bases", "keywords", "body"),
    "ExceptHandler": ("type", "name", "body"),
    "ExceptStarHandler": ("type", "name", "body"),
    "IfExp": ("body", "test", "orelse"),
    "MatchCase": ("pattern", "guard", "body"),
    "Parameters": ("posonly_params", "params", "star_arg", "kwonly_params", "star_kwarg"),
}
# What gives the values of the fields of a class that hold syntax.
_VALUES: dict[type, Callable[[cst.CSTNode], tuple[Any, ...]]] = {}
_TEXT = (str, "str")
# isinstance takes five times as long, since libcst's nodes are abstract base classes.
_SYNTAX = frozenset(
    each for each in vars(cst).values() if isinstance(each, type) and issubclass(each, cst.CSTNode)
)


def _values_of(kind: type[cst.CSTNode]) -> Callable[[cst.CSTNode], tuple[Any, ...]]:
    names = _ORDER.get(kind.__name__) or tuple(
        field.name
        for field in fields(kind)
        if field.name not in _LAYOUT
        and not field.name.startswith(("whitespace", "leading_whitespace"))
        and field.type not in _TEXT
    )
    get = _VALUES[kind] = _getter(names)
    return get


def _getter(names: tuple[str, ...]) -> Callable[[cst.CSTNode], tuple[Any, ...]]:
    if not names:
        return lambda _: ()
    get: Callable[[cst.CSTNode], Any] = attrgetter(*names)
    return get if len(names) > 1 else lambda node: (get(node),)  # of one it gives no tuple


def children(node: cst.CSTNode) -> list[cst.CSTNode]:
    """The syntax directly below a node, in source order, without punctuation and layout."""
    kind = type(node)
    below: list[cst.CSTNode] = []
    for value in (_VALUES.get(kind) or _values_of(kind))(node):
        found = type(value)
        if found in _SYNTAX:
            below.append(value)
        elif found is list or found is tuple:
            below.extend(value)
    return below


def walk(module: cst.Module) -> Iterator[cst.CSTNode]:
    """Every node in source order, each before what is below it."""
    stack: list[cst.CSTNode] = [module]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(children(node)))


class Tree:
    """The syntax of one region. Raises ``libcst.ParserSyntaxError``.

    ``nodes`` holds every node in source order, each before what is below it; ``above``, for each,
    the place there of the one directly above.
    """

    def __init__(self, source: Source, region: Region) -> None:
        self.source = source
        self.region = region
        self._converted = _converted(region.text)
        self.module = (self._converted or self._reference).module
        self.nodes: list[cst.CSTNode] = []
        # By id, and then by place in ``nodes``: libcst hashes nodes in Python code.
        self._index: dict[int, int] = {}
        self.above: list[int] = []
        self._below: dict[int, list[cst.CSTNode]] = {}
        self._walk()

    def _walk(self) -> None:
        stack: list[cst.CSTNode] = [self.module]
        owners = [-1]
        nodes, index, above, below = self.nodes, self._index, self.above, self._below
        while stack:  # not recursive: a chain of 3,000 operators is as many nodes deep
            node = stack.pop()
            place = index[id(node)] = len(nodes)
            nodes.append(node)
            above.append(owners.pop())
            found = () if type(node) is cst.Name else children(node)  # half of all are names
            if found:
                below[place] = found
                stack.extend(found[::-1])
                owners.extend([place] * len(found))

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node directly above."""
        above = self.above[self._index[id(node)]] if id(node) in self._index else -1
        return self.nodes[above] if above >= 0 else None

    def children(self, node: cst.CSTNode) -> Sequence[cst.CSTNode]:
        """The syntax directly below a node, in source order."""
        return self._below.get(self._index.get(id(node), -1), ())

    def before(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """What stands directly before a node, below the same one."""
        above = self.parent(node)
        beside = self.children(above) if above is not None else ()
        index = bisect_left(beside, self.place(node), key=self.place)
        return beside[index - 1] if index else None

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first."""
        nodes, places = self.nodes, self.above
        above = places[self._index[id(node)]] if id(node) in self._index else -1
        while above >= 0:
            yield nodes[above]
            above = places[above]

    def descendants(self, node: cst.CSTNode) -> list[cst.CSTNode]:
        """The node and everything below it, in source order."""
        first = self._index[id(node)]
        return self.nodes[first : first + self._sizes[first]]

    def place(self, node: cst.CSTNode) -> int:
        """Where a node stands among ``nodes``."""
        return self._index[id(node)]

    @cached_property
    def _sizes(self) -> list[int]:
        """How many nodes each node is with those below it, which follow it."""
        sizes = [1] * len(self.nodes)
        for place in range(len(self.nodes) - 1, 0, -1):
            sizes[self.above[place]] += sizes[place]
        return sizes

    @cached_property
    def occurrences(self) -> dict[str, list[cst.Name]]:
        """Every name and attribute name, with where it is written."""
        found: dict[str, list[cst.Name]] = {}
        for node in self.nodes:
            if type(node) is cst.Name:  # isinstance asks an abstract base class
                found.setdefault(node.value, []).append(node)
        return found

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text, parentheses excluded."""
        start, end = self._within(node)
        offset = self.region.offset
        # The end is exclusive: map the last character, in case a cut follows it.
        return offset(start), offset(max(end - 1, start)) + (end > start)

    def text(self, node: cst.CSTNode) -> str:
        """The node as it is written, without comments, and parentheses around it."""
        start, end = self._within(node)
        return self.region.text[start:end]

    def _within(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, as offsets in the region's text."""
        known = self._converted.span(node) if self._converted else None
        return known or self._reference.span(self._index[id(node)])

    @cached_property
    def _reference(self) -> _Reference:
        return _Reference(self.region.text)


class _Reference:
    """The tree as libcst makes it, node by node the same. Raises ``libcst.ParserSyntaxError``."""

    def __init__(self, text: str) -> None:
        self.module = cst.parse_module(text)
        self._spans = Spans(self.module)

    def span(self, place: int) -> tuple[int, int]:
        """Start and end of a node, by its place among all of them."""
        return self._spans.find(self._nodes[place])

    @cached_property
    def _nodes(self) -> list[cst.CSTNode]:
        return list(walk(self.module))


def _converted(text: str) -> Converted | None:
    try:
        return Converted(text)
    except UnsupportedError:
        return None
    except RecursionError as error:
        # As deep as the text is, and libcst's own parser would take the process down.
        raise cst.ParserSyntaxError(TOO_DEEP, lines=(), raw_line=1, raw_column=0) from error

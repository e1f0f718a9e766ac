"""What a rule sees of a file: its syntax, what its names mean, and how to edit it."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from detlint.bindings import Bindings
from detlint.edits import Editable
from detlint.layout import layout_of
from detlint.names import Names
from detlint.narrowing import narrow, whole
from detlint.tree import Tree

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.finding import Edit
    from detlint.narrowing import Region
    from detlint.source import Source

_FUNCTIONS = (cst.FunctionDef, cst.Lambda)
_MANY = 20  # parsed regions of one file, with which another is compared


class Module(Editable[cst.CSTNode]):
    """One parsed region of a source. Raises ``libcst.ParserSyntaxError``.

    ``others`` holds what else of the source has been parsed.
    """

    def __init__(
        self, source: Source, region: Region, others: dict[Region, Module] | None = None
    ) -> None:
        self.source = source
        self.tree = Tree(source, region)
        self._others = {} if others is None else others
        self._asked: dict[tuple[int, ...], Module | None] = {}
        self.nodes = self.tree.nodes
        self.bindings = Bindings(self.tree)
        self.names = Names(self.bindings)
        self.qualified_name = self.names.qualified_name
        self.literal = self.names.literal
        self.instance_of = self.names.instance_of

    def around(self, places: list[int]) -> Module | None:
        """What of the source has to be read with the functions at some offsets, parsed.

        None if all of them stand in comments or docstrings. Narrowing may have cut them from
        this region, so whoever asks gets the same answer of a region and of the whole file.
        """
        key = tuple(places)
        if key not in self._asked:  # rules ask about the same names
            region = narrow(self.source.text, [(place, "function") for place in places])
            self._asked[key] = self._read(region) if region is not None else None
        return self._asked[key]

    def _read(self, region: Region) -> Module:
        self._others.setdefault(self.tree.region, self)
        known = self._others.get(region) or self._with(region)
        if known is None:
            known = self._others[region] = read(self.source, region, self._others)
        return known

    def _with(self, region: Region) -> Module | None:
        """What has been parsed already and holds all that a region does."""
        if len(self._others) > _MANY:
            return None
        pieces = region.pieces
        return next((each for has, each in self._others.items() if pieces <= has.pieces), None)

    def forget(self) -> None:
        """Let go of what was parsed, also where what asked it refers to itself: a tree that waits
        for the garbage collector makes its work longer, and takes memory until then."""
        for each in (self, *self._others.values()):
            vars(each).clear()

    # Syntax

    def parent(self, node: cst.CSTNode) -> cst.CSTNode | None:
        """The node directly above."""
        return self.tree.parent(node)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The nodes above, nearest first."""
        return self.tree.ancestors(node)

    def enclosing_function(self, node: cst.CSTNode) -> cst.FunctionDef | cst.Lambda | None:
        """The innermost function around a node."""
        for each in self.ancestors(node):
            if type(each) in _FUNCTIONS:  # isinstance asks an abstract base class
                return cast("cst.FunctionDef | cst.Lambda", each)
        return None

    def enclosing_class(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around a node."""
        return self.bindings.enclosing_class(node)

    # Calls

    def called(self, node: cst.CSTNode | None) -> str | None:
        """The qualified name of the function that a call calls; None for other nodes."""
        return self.qualified_name(node.func) if isinstance(node, cst.Call) else None

    @staticmethod
    def argument(
        call: cst.Call, keyword: str, position: int | None = None
    ) -> cst.BaseExpression | None:
        """The value passed for a parameter, by keyword or by its 0-based position."""
        for index, argument in enumerate(call.args):
            if argument.star == "*":
                position = None  # what follows cannot be counted
            elif argument.keyword is not None:
                if argument.keyword.value == keyword:
                    return argument.value
            elif not argument.star and index == position:
                return argument.value
        return None

    @staticmethod
    def has_unpacking(call: cst.Call) -> bool:
        """Whether the call passes ``*args`` or ``**kwargs``, which may hold any parameter."""
        return any(argument.star for argument in call.args)

    def span(self, node: cst.CSTNode) -> tuple[int, int]:
        """Start and end of a node, as offsets in the source's text."""
        return self.tree.span(node)

    def code(self, node: cst.CSTNode) -> str:
        """The text of a definition without comments and docstrings, which a region has not."""
        layout, (start, end) = layout_of(self.source.text), self.tree.span(node)
        return "".join(layout.text[first:last] for first, last in layout.code(start, end))

    # Edits

    def add_argument(self, call: cst.Call, argument: str) -> Edit:
        """Add ``keyword=value`` as the last argument, laid out as the others are."""
        return self._after_last(call, call.args[-1] if call.args else None, argument)


def read(source: Source, region: Region, others: dict[Region, Module] | None = None) -> Module:
    """Parse a region, or the whole file where lines were misjudged so that it does not parse."""
    try:
        return Module(source, region, others)
    except cst.ParserSyntaxError:
        return Module(source, whole(source.text), others)

"""Where the nodes of a module stand in its text."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from typing import TYPE_CHECKING, cast

import libcst as cst
from libcst._nodes.internal import CodegenState
from libcst.metadata.span_provider import ByteSpanPositionProvider, SpanProvidingCodegenState

from detlint.lexer import spans
from detlint.mentions import mentions

if TYPE_CHECKING:
    from collections.abc import Iterator

    from libcst.metadata import CodeSpan

    from detlint.tree import Tree

# What such an expression begins with.
_FIRST = {
    cst.Attribute: "value",
    cst.BinaryOperation: "left",
    cst.BooleanOperation: "left",
    cst.Call: "func",
    cst.Comparison: "left",
    cst.IfExp: "body",
    cst.Subscript: "value",
}


class Spans:
    """Offsets ``(start, end)`` of nodes in characters, without the whitespace around them.

    libcst's trees hold no positions, and working them out generates the code of all that stands
    before. Most nodes that are asked for begin with a name, which is found in the text: the
    third ``interpolate`` of the tree is the third of the text. For the others, code is generated
    one top-level statement at a time, as far as needed.
    """

    def __init__(self, tree: Tree) -> None:
        # Not the tree, which holds this: a cycle would keep both until garbage is collected.
        self._text = tree.region.text
        provider = ByteSpanPositionProvider()
        self._known = provider._computed  # noqa: SLF001
        self._rest = _generate(tree.module, provider)
        self._places: dict[str, list[int]] = {}

    def find(self, tree: Tree, node: cst.CSTNode) -> tuple[int, int]:
        """The span of a node of the tree."""
        return self._found(tree, node) or self._generated(node)

    def _generated(self, node: cst.CSTNode) -> tuple[int, int]:
        while node not in self._known:
            next(self._rest)
        span = cast("CodeSpan", self._known[node])
        return span.start, span.start + span.length

    def _found(self, tree: Tree, node: cst.CSTNode) -> tuple[int, int] | None:
        """The span of an expression that begins with a name, if the text has it there."""
        first = node
        while type(first) in _FIRST and not _in_parentheses(first):
            first = getattr(first, _FIRST[type(first)])
        if not isinstance(first, cst.Name) or _in_parentheses(first):
            return None
        alike = tree.occurrences[first.value]
        places = self._of(first.value)
        if len(places) != len(alike):  # one stands in an f-string, say
            return None
        start = places[next(index for index, each in enumerate(alike) if each is first)]
        code = _code(tree, node)
        return (start, start + len(code)) if self._text.startswith(code, start) else None

    def _of(self, name: str) -> list[int]:
        """Where a word stands in code."""
        if name not in self._places:
            places = mentions(self._text, name)
            self._places[name] = [each for each in places if not self._is_hidden(each)]
        return self._places[name]

    def _is_hidden(self, place: int) -> bool:
        starts, ends = self._hidden
        index = bisect_right(starts, place) - 1
        return index >= 0 and place < ends[index]

    @cached_property
    def _hidden(self) -> tuple[list[int], list[int]]:
        """Where strings and comments start and end."""
        found = spans(self._text)
        return [each.start for each in found], [each.end for each in found]


def _in_parentheses(node: cst.CSTNode) -> bool:
    return bool(getattr(node, "lpar", ()))


def _code(tree: Tree, node: cst.CSTNode) -> str:
    module = tree.module
    state = CodegenState(module.default_indent, module.default_newline)
    blocks = [each for each in tree.ancestors(node) if isinstance(each, cst.IndentedBlock)]
    for block in reversed(blocks):
        state.increase_indent(module.default_indent if block.indent is None else block.indent)
    node._codegen(state)  # noqa: SLF001
    return "".join(state.tokens)


def _generate(module: cst.Module, provider: ByteSpanPositionProvider) -> Iterator[None]:
    """Generate code, and by it the spans, up to the next top-level statement each time."""
    state = SpanProvidingCodegenState(
        module.default_indent, module.default_newline, provider=provider, get_length=len
    )
    state.before_codegen(module)
    for node in (*module.header, *module.body, *module.footer):
        node._codegen(state)  # noqa: SLF001
        yield
    state.after_codegen(module)
    yield

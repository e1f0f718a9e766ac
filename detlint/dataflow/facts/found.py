"""What a fact is told from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.ir import Op

if TYPE_CHECKING:
    import ast

    from detlint.dataflow.ir import Function


NAMING = frozenset(("attr", "free", "global", "import"))  # codes of what names something


class Found(NamedTuple):
    """An operation that does something; ``text``: how the source says it, if not by the node;
    ``need``: what it needs besides."""

    op: Op
    what: str
    text: str | None = None
    node: ast.AST | None = None
    need: str = ""


def whole(function: Function) -> Op:
    """A function or class, as an operation."""
    return Op("class", [], "", _node(function), function.region, 0)


def _node(function: Function) -> ast.AST:
    assert function.node is not None  # noqa: S101 - only the module's has none
    return function.node

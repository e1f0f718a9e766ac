"""What a fact is told from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.ir import Op

if TYPE_CHECKING:
    import ast

    from detlint.dataflow.ir import Function
    from detlint.dataflow.learning.training import Training
    from detlint.dataflow.unit import Unit


NAMING = frozenset(("attr", "free", "global", "import"))  # codes of what names something


class FileFacts:
    """Answers for the functions of one file."""

    def __init__(self, unit: Unit, training: Training) -> None:
        self._unit = unit
        self._values = unit.values
        self._training = training


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

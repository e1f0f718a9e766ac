"""How messages write a name."""

from __future__ import annotations

from detlint.rule import cst


def code(node: cst.BaseExpression) -> str:
    """A name or attribute as one line of text."""
    return " ".join(cst.Module([]).code_for_node(node).split())

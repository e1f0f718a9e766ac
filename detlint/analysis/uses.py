"""Words of code that rules look for."""

from __future__ import annotations

from detlint.rule import cst


def words(text: str) -> frozenset[str]:
    """A set of names, written one after the other."""
    return frozenset(text.split())


def last_name(node: cst.CSTNode) -> str:
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""

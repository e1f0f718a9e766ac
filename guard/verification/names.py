"""What names in a program's text stand for, by its imports: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def imported(tree: ast.AST) -> dict[str, str]:
    """Dotted names of what a file imports, by the names it has there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return {"np": "numpy", **found}


def named(tree: ast.AST, aliases: Mapping[str, str]) -> Iterator[tuple[ast.Call, str]]:
    """Calls, by the dotted names of what is called."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            start, dot, rest = ast.unparse(node.func).partition(".")
            yield node, f"{aliases.get(start, start)}{dot}{rest}"


def last_name(node: ast.AST) -> str:
    """The last word of a dotted name: ``save`` of ``torch.save``; "" for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""

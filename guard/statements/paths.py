"""How a value is named: ``("self", "norms")``, ``("group", "[lr]")``."""

from __future__ import annotations

import ast

Path = tuple[str, ...]

_LONGEST = 4  # parts of a path: what follows is seen by what the path leads to


def path_of(node: ast.AST | None) -> Path | None:
    """The path that an expression is, or None."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            parts.append(f"[{node.slice.value!s}]")
            node = node.value
        elif isinstance(node, ast.Name):
            found = (node.id, *reversed(parts))
            return found[:_LONGEST]
        else:
            return None


def inner_path(node: ast.AST) -> Path | None:
    """The path of what a subscript is taken of, through further subscripts."""
    while isinstance(node, ast.Subscript) and path_of(node) is None:
        node = node.value
    return path_of(node)

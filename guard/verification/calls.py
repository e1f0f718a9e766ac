"""What a program's text calls and stores into, by name: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Calls by name, as the text has it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            yield node, ast.unparse(node.func)


def imported(tree: ast.AST) -> dict[str, str]:
    """Dotted names of what a file imports, by the names it has there."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {each.asname: each.name for each in node.names if each.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {each.asname or each.name: f"{node.module}.{each.name}" for each in node.names}
    return {"np": "numpy", **found}


def dotted(call: ast.Call, names: dict[str, str]) -> str:
    """What is called, with what is imported in the place of the first name; "" of no name."""
    if not isinstance(call.func, (ast.Name, ast.Attribute)):
        return ""
    start, dot, rest = ast.unparse(call.func).partition(".")
    return f"{names.get(start, start)}{dot}{rest}"


def last_name(node: ast.AST) -> str:
    """The last word of a dotted name: ``save`` of ``torch.save``; "" for another expression."""
    if isinstance(node, ast.Name):
        return node.id
    return node.attr if isinstance(node, ast.Attribute) else ""


def stored(node: ast.AST) -> list[ast.expr]:
    """What an assignment stores into, one by one."""
    if isinstance(node, ast.Assign):
        tuples = [t.elts if isinstance(t, (ast.Tuple, ast.List)) else [t] for t in node.targets]
        return [each for group in tuples for each in group]
    if isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)):
        return [node.target]
    return []

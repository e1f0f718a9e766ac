"""Lines of a program's text that depend on the hashes of strings: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.passages import calls
from guard.verification.texts import is_set

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.verification.passages import Line

_ORDERED = {"list", "tuple", "enumerate", "iter", "zip", "map", "dict", "fromkeys"}


def hash_orders(tree: ast.AST) -> Iterator[Line]:
    """What is gone through in the order of a set, what ``hash()`` gives, then all sets."""
    for node in ast.walk(tree):
        for each in _iterated(node):
            if is_set(each):
                yield 0, each.lineno, f"{_short(each)} is gone through in no fixed order"
    for call, name in calls(tree):
        if name == "hash":
            yield 1, call.lineno, "hash() gives another value in each process for strings"
    for node in ast.walk(tree):
        if isinstance(node, ast.expr) and is_set(node):
            yield 2, node.lineno, f"{_short(node)} has no fixed order"


def _iterated(node: ast.AST) -> tuple[ast.expr, ...]:
    """What is taken in its order."""
    if isinstance(node, (ast.For, ast.comprehension)):
        inner = node.iter
        if isinstance(inner, ast.Call) and isinstance(inner.func, ast.Name):
            return (inner, *(inner.args if inner.func.id in _ORDERED else ()))
        return (inner,)
    if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
        name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
        return tuple(node.args) if name in _ORDERED else ()
    return ()


def _short(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 40 else f"{text[:37]}..."

"""What a loop assigns to or changes, by its syntax alone: what rounds may not have in common."""

from __future__ import annotations

import ast
from functools import cache

from detlint.models.containers import CHANGING

LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_CHANGING = frozenset((ast.Attribute, ast.Call, ast.Name, ast.Subscript))
# Fields of nodes that hold texts, numbers, operators and what is imported, and no other node.
_PLAIN = frozenset(
    (
        *("arg", "asname", "attr", "conversion", "ctx", "id", "is_async", "kind", "level"),
        *("module", "name", "names", "op", "ops", "rest", "simple", "type_comment"),
    )
)
_HOLDING_NONE = frozenset((ast.Break, ast.Constant, ast.Continue, ast.Pass, type(None), str))
_LONGEST_PATH = 20  # attributes of a chain whose value is followed by its written path


def path_of(node: ast.expr) -> str:
    """``self.x.y`` for a short chain of attributes of a name, else ""."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        if len(parts) == _LONGEST_PATH:
            return ""  # each part of a long chain asks again
        parts.append(node.attr)
        node = node.value
    if not parts or not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id, *reversed(parts)])


def changed_in(loop: ast.stmt, known: dict[ast.stmt, set[str]]) -> set[str]:
    """The names and attribute paths that a loop assigns to or changes; ``known`` has them of
    loops, and gets those of the ones within."""
    if loop in known:
        return known[loop]
    found = known[loop] = set()
    pending: list[ast.AST] = [loop]
    while pending:
        each = pending.pop()
        kind = type(each)
        if kind in LOOPS and each is not loop:
            found |= changed_in(each, known)  # type: ignore[arg-type]
            continue
        if kind in _CHANGING:
            place = _changed_by(each)
            path = place.id if isinstance(place, ast.Name) else place and path_of(place)
            if path:
                found.add(path)
        elif kind in _FUNCTIONS:
            found.add(each.name)  # type: ignore[attr-defined]
        pending += _children(each)
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    """The nodes within a node that may assign to something, or hold others that do."""
    found: list[ast.AST] = []
    for name in _holding(type(node)):  # type: ignore[arg-type] # a type is hashable
        value = getattr(node, name)
        for each in value if type(value) is list else (value,):
            kind = type(each)
            if kind is ast.Name:
                if type(each.ctx) is not ast.Load:
                    found.append(each)
            elif kind not in _HOLDING_NONE:
                found.append(each)
    return found


@cache
def _holding(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that hold others."""
    return tuple(each for each in kind._fields if each not in _PLAIN)


def _changed_by(node: ast.AST) -> ast.expr | None:
    """What an expression assigns to or changes."""
    if isinstance(node, ast.Call):
        return node.func.value if isinstance(node.func, ast.Attribute) and change_by(node) else None
    assert isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))  # noqa: S101 - the others
    if type(node.ctx) is ast.Load:
        return None
    return node.value if isinstance(node, ast.Subscript) else node


def change_by(call: ast.Call) -> str:
    """How a method changes its object: "append"; "" of one that does not."""
    word = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if word in ("sort_values", "sort_index"):  # of pandas
        within = any(
            each.arg == "inplace" and getattr(each.value, "value", None) is True
            for each in call.keywords
        )
        return "sort" if within else ""
    return word if word in CHANGING else ""

"""What a loop assigns to or changes, by its syntax alone: what rounds may not have in common."""

from __future__ import annotations

import ast

from detlint.models.containers import CHANGING

LOOPS = (ast.For, ast.AsyncFor, ast.While)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
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
        if kind is ast.Constant or (kind is ast.Name and type(each.ctx) is ast.Load):  # type: ignore[attr-defined]
            continue  # half of all nodes
        if kind in LOOPS and each is not loop:
            found |= changed_in(each, known)  # type: ignore[arg-type]
            continue
        if isinstance(each, _FUNCTIONS):
            found.add(each.name)
        else:
            place = _changed_by(each)
            path = place.id if isinstance(place, ast.Name) else place and path_of(place)
            if path:
                found.add(path)
        pending += _children(each)
    return found


def _children(node: ast.AST) -> list[ast.AST]:
    """``ast.iter_child_nodes``, in half of its time."""
    found: list[ast.AST] = []
    for value in vars(node).values():
        if isinstance(value, ast.AST):
            if value._fields:  # more than `Load()`
                found.append(value)
        elif type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
    return found


def _changed_by(node: ast.AST) -> ast.expr | None:
    """What an expression assigns to or changes."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)):
        if isinstance(node.ctx, ast.Load):
            return None
        return node.value if isinstance(node, ast.Subscript) else node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.value if change_by(node) else None
    return None


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

"""Other names of parts: ``for part in self.parts: part += x`` changes ``self.parts``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.statements.paths import inner_path, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.statements.paths import Path

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_SAME_ITEMS = {"list", "tuple", "reversed", "sorted", "iter"}
_CHANGING = {
    *("append", "appendleft", "extend", "insert", "add", "update", "setdefault", "put"),
    *("pop", "popleft", "popitem", "clear", "remove", "discard", "sort", "reverse"),
}


def changed(tree: ast.Module) -> dict[ast.AST, tuple[Path, ...]]:
    """By statement, the paths of which it changes a part under another name of that part.

    Only what surely changes something in place counts: to look at a path each time that a part of
    it is read would cost more than it tells.
    """
    found: dict[ast.AST, tuple[Path, ...]] = {}
    for scope in ast.walk(tree):
        if not isinstance(scope, (ast.Module, *_FUNCTIONS)):
            continue
        own = list(_own(scope))
        held: dict[str, dict[Path, None]] = {}
        for node in own:
            for name, path in _named(node):
                held.setdefault(name, {})[path] = None
        for node in own if held else ():
            paths = [path for name in _changes(node) for path in held.get(name, ())]
            if paths:
                found[node] = tuple(dict.fromkeys(paths))
    return found


def _own(scope: ast.AST) -> Iterator[ast.AST]:
    """The statements of a function, without those of functions within it."""
    for node in ast.iter_child_nodes(scope):
        if isinstance(node, ast.stmt):
            yield node
        if not isinstance(node, (*_FUNCTIONS, ast.ClassDef, ast.expr)):
            yield from _own(node)


def _named(node: ast.AST) -> Iterator[tuple[str, Path]]:
    """Names that a statement gives to parts, and the paths of what these are parts of."""
    if isinstance(node, (ast.For, ast.AsyncFor)):
        yield from _items(node.target, node.iter)
    elif isinstance(node, ast.Assign) and isinstance(node.value, (ast.Attribute, ast.Subscript)):
        path = inner_path(node.value)
        for target in node.targets:
            if isinstance(target, ast.Name) and path is not None:
                yield target.id, path


def _items(target: ast.expr, source: ast.expr) -> Iterator[tuple[str, Path]]:
    """Names of the items that a loop takes."""
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    if isinstance(source, ast.Call):
        called = source.func
        name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
        if name == "zip":
            for part, each in zip(parts, source.args, strict=False):
                yield from _items(part, each)
        elif name == "enumerate" and len(parts) > 1 and source.args:
            yield from _items(parts[1], source.args[0])
        elif name in _SAME_ITEMS and source.args:
            yield from _items(target, source.args[0])
        elif isinstance(called, ast.Attribute) and name == "values":
            yield from _items(target, called.value)
        elif isinstance(called, ast.Attribute) and name == "items" and len(parts) > 1:
            yield from _items(parts[1], called.value)
        return
    path = path_of(source)
    for each in (target, *parts) if path is not None else ():
        if isinstance(each, ast.Name) and path is not None:
            yield each.id, path


def _changes(node: ast.AST) -> Iterator[str]:
    """Names of what a statement surely changes in place."""
    if isinstance(node, (ast.Assign, ast.AugAssign)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for each in targets:
            is_part = isinstance(each, (ast.Attribute, ast.Subscript))
            if isinstance(node, ast.AugAssign) or is_part:
                yield from _start(each)
    elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        called = node.value.func
        if isinstance(called, ast.Attribute) and _is_changing(called.attr):
            yield from _start(called.value)


def _is_changing(method: str) -> bool:
    return method in _CHANGING or (method.endswith("_") and not method.endswith("__"))


def _start(node: ast.expr) -> Iterator[str]:
    path = inner_path(node)
    if path is not None:
        yield path[0]

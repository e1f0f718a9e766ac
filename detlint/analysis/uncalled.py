"""Functions that nothing calls, where all who could call them are in sight."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.layout import layout_of
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_PLAIN = ("staticmethod", "classmethod")


def is_never_called(module: Module, node: cst.CSTNode) -> bool:
    """Whether a function around a node is one of a function's own, or ``__private`` to a class,
    and is not mentioned there."""
    around = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return any(_is_unmentioned(module, each) for each in around)


def _is_unmentioned(module: Module, function: cst.FunctionDef) -> bool:
    if not all(getattr(x.decorator, "value", "") in _PLAIN for x in function.decorators):
        return False
    outer, owner = module.enclosing_function(function), module.enclosing_class(function)
    if owner is None or (outer is not None and owner in module.ancestors(outer)):
        return isinstance(outer, cst.FunctionDef) and not _is_read(module, function, outer)
    name = function.name.value
    mangled = name.startswith("__") and not name.endswith("__")
    return mangled and not _is_mentioned(module, function)


def _is_read(module: Module, function: cst.FunctionDef, outer: cst.FunctionDef) -> bool:
    """Whether the function around another mentions it, or may by a text."""
    name = function.name.value
    for each in module.tree.descendants(outer):
        named = isinstance(each, cst.Name) and each.value == name
        looks = isinstance(each, cst.Name) and each.value in ("locals", "eval", "exec")
        outside = each is not function.name and function not in module.ancestors(each)
        if (named or looks) and outside:
            return True
    return False


def _is_mentioned(module: Module, function: cst.FunctionDef) -> bool:
    """Whether the code of a file names a method, outside of its own body."""
    text, layout = module.source.text, layout_of(module.source.text)
    start, end = module.tree.span(function)
    places = (each.start() for each in re.finditer(rf"{function.name.value}\b", text))
    return any(not (start <= place < end or layout.hides(place)) for place in places)

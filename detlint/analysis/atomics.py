"""What an atomic addition in a kernel written in Python adds, and what becomes of what it gives."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_COUNTER = re.compile(
    r"(?:^|_)(?:n|num|counts?|cnts?|counters?|hist|histogram|locks?|sema|semaphores?|tickets?|flags?"
    r"|barriers?|arrived|progress|done|sync|signals?|length|lens?|nnz|tokens_per_\w+|cursors?|sizes?"
    r"|offsets?|idx|index|indices|int32|int64)(?:_|$)",
    re.IGNORECASE,
)
_INTEGER_TYPES = re.compile(r"\b(?:u?int(?:8|16|32|64)|int1|bool)\b")
_INTEGER_FUNCTIONS = words("program_id num_programs arange histogram cdiv argmax argmin xor_sum")
_BITS = re.compile("popc|popcount|bincount")
_CONSTANT = re.compile(r"[A-Z][A-Z0-9_]*")
_CHOICE = re.compile("determinis", re.IGNORECASE)


def adds_integers(module: Module, place: cst.CSTNode | None, value: cst.CSTNode | None) -> bool:
    """Whether a counter is added to, or whole numbers, which add up the same in any order."""
    if place is not None and any(map(_COUNTER.search, _names(module, place))):
        return True
    return value is not None and _is_integer(module, value)


def _is_integer(module: Module, value: cst.CSTNode) -> bool:
    number = module.literal(value)
    if isinstance(number, (int, float)):
        return float(number).is_integer()
    node = module.names.value_of(value)
    if isinstance(node, cst.Name):
        return bool(_CONSTANT.fullmatch(node.value) or _COUNTER.search(node.value))
    if isinstance(node, cst.BinaryOperation):
        return _is_integer(module, node.left) and _is_integer(module, node.right)
    return isinstance(node, cst.Comparison) or (
        isinstance(node, cst.Call) and _gives_integers(module, node)
    )


def _gives_integers(module: Module, call: cst.Call) -> bool:
    last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    name = last.value if isinstance(last, cst.Name) else ""
    if (
        name in _INTEGER_FUNCTIONS
        or _BITS.search(name)
        or _INTEGER_TYPES.search(_types(module, call))
    ):
        return True
    values = [each.value for each in call.args if each.keyword is None]
    if name == "where":
        return len(values) == 3 and all(_is_integer(module, each) for each in values[1:])
    return name in ("sum", "cast") and bool(values) and _is_integer(module, values[0])


def _types(module: Module, call: cst.Call) -> str:
    """The types that a call names: ``x.to(tl.int32)``, ``tl.full(s, 1, dtype=tl.int32)``."""
    given = [
        each.value
        for each in call.args
        if isinstance(each.value, (cst.Attribute, cst.SimpleString))
    ]
    return " ".join(module.tree.text(each) for each in given)


def _names(module: Module, node: cst.CSTNode) -> list[str]:
    """The first name of a place: a pointer plus offsets, or an array and its index."""
    found = [each.value for each in module.tree.descendants(node) if isinstance(each, cst.Name)]
    return found[:1]


def slot(module: Module, call: cst.Call) -> str:
    """The variable that takes the old value, if rows are then stored at places computed from it.

    Or if it is stored itself. Not where what is stored there was loaded from there, too: then it
    hands out work, not places.
    """
    above, function = module.parent(call), module.enclosing_function(call)
    while isinstance(above, cst.BinaryOperation):  # ``start + tl.atomic_add(…)``
        above = module.parent(above)
    if not isinstance(above, cst.Assign) or not isinstance(function, cst.FunctionDef):
        return ""
    target = above.targets[0].target
    if not isinstance(target, cst.Name):
        return ""
    tainted = _computed_from(module, function, target.value)
    for node in module.tree.descendants(function):
        place, value = _stored(module, node)
        if place is not None and value is not None:
            there = not tainted.isdisjoint(_all_names(module, place))
            if there is tainted.isdisjoint(_all_names(module, value)):
                return target.value
    return ""


def _stored(module: Module, node: cst.CSTNode) -> tuple[cst.CSTNode | None, cst.CSTNode | None]:
    if isinstance(node, cst.Call) and module.called(node) == "triton.language.store":
        return module.argument(node, "pointer", 0), module.argument(node, "value", 1)
    if isinstance(node, cst.Assign) and isinstance(node.targets[0].target, cst.Subscript):
        place = node.targets[0].target
        return (place.slice[0] if place.slice else None), node.value
    return None, None


def _computed_from(module: Module, function: cst.FunctionDef, name: str) -> set[str]:
    """Names whose values depend on a name, by assignments in the order of the source."""
    tainted = {name}
    for node in module.tree.descendants(function):
        if isinstance(node, cst.Assign) and _all_names(module, node.value) & tainted:
            for each in node.targets:
                if not isinstance(each.target, cst.Subscript):
                    tainted |= _all_names(module, each.target)
        elif isinstance(node, cst.AugAssign) and _all_names(module, node.value) & tainted:
            tainted |= _all_names(module, node.target)
    return tainted


def _all_names(module: Module, node: cst.CSTNode) -> set[str]:
    return {each.value for each in module.tree.descendants(node) if isinstance(each, cst.Name)}


def is_chosen(module: Module, node: cst.CSTNode) -> bool:
    """Whether a flag for determinism decides about some code: ``if not DETERMINISTIC:``."""
    return any(
        isinstance(above, cst.If) and _CHOICE.search(module.tree.text(above.test))
        for above in module.ancestors(node)
    )

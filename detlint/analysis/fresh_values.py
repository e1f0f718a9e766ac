"""Functions that are there to give a number that differs in each run: a fresh seed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.seeding import uses
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# What generators of Python and NumPy have for drawing a number of bits.
_NUMBERS = frozenset(
    [
        *("integers", "randint", "random_integers", "random_raw", "generate_state", "bytes"),
        *("getrandbits", "randrange", "randbytes"),
    ]
)
_CONVERSIONS = frozenset(
    [f"builtins.{name}" for name in ("int", "abs", "hash", "round", "int.from_bytes")]
)


def gives_fresh(module: Module, call: cst.CSTNode, *, draws: bool = False) -> bool:
    """Whether all that the function around a call does is to give a number made of it, so that a
    constant in its place would defeat the function.

    ``draws`` says that the call makes a generator, of which the function has to draw the number.
    """
    function = module.enclosing_function(call)
    if not isinstance(function, cst.FunctionDef):
        return False
    returned = [
        each.value
        for each in module.tree.descendants(function)
        if isinstance(each, cst.Return) and module.enclosing_function(each) is function
    ]
    return bool(returned) and all(
        _ends(module, function, value, call, draws=draws) for value in returned
    )


def _ends(
    module: Module,
    function: cst.FunctionDef,
    value: cst.BaseExpression | None,
    call: cst.CSTNode,
    *,
    draws: bool,
) -> bool:
    """Whether a value is the call's, converted; locals on the way have no other use."""
    node: cst.CSTNode | None = value
    drawn = not draws
    while node is not None and node is not call:
        if isinstance(node, cst.Name):
            held = module.names.value_of(node)
            if held is node or len(uses(module, function, node.value)) > 1:
                return False
            node = held
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            converts = module.called(node) in _CONVERSIONS and bool(node.args)
            drawn = drawn or (not converts and node.func.attr.value in _NUMBERS)
            node = node.args[0].value if converts else node.func.value
        else:
            node = _converted(module, node)
    return node is call and drawn


def _converted(module: Module, node: cst.CSTNode) -> cst.CSTNode | None:
    """What arithmetic, a conversion or an element is taken of."""
    if isinstance(node, cst.Call):
        return node.args[0].value if module.called(node) in _CONVERSIONS and node.args else None
    if isinstance(node, cst.BinaryOperation):
        return node.left
    if isinstance(node, cst.UnaryOperation):
        return node.expression
    return node.value if isinstance(node, (cst.Attribute, cst.Subscript)) else None

"""Calls of NumPy and CuPy that allocate memory without filling it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.allocations import is_small, is_written_plainly
from detlint.analysis.uses import last_name, words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

TOKENS = ("empty(", "empty_like(", "ndarray(")
ZEROED = {"empty": "zeros", "empty_like": "zeros_like"}
_FUNCTIONS = words(
    "numpy.empty numpy.empty_like numpy.ndarray cupy.empty cupy.empty_like cupy.ndarray"
)
# NumPy fills arrays of objects with None, and variable-length strings with "".
_FILLED = re.compile(r"[\"']?\|?(?:O\d*|T|object)[\"']?|.*\b(?:object_?|StringDType)(?:\(.*)?")
_ARITHMETIC = ("Add", "Subtract", "Multiply", "Divide")
_UNITS = ("astropy.units.", "unyt.")
_NOT_A_NUMBER = words("numpy.nan numpy.NaN numpy.NAN math.nan cupy.nan")


def is_allocation(module: Module, call: cst.Call) -> bool:
    """Whether a call returns memory that certainly holds what was left there.

    An array of one element stands in for something else.
    """
    function = module.called(call)
    if function not in _FUNCTIONS or not is_written_plainly(call, TOKENS):
        return False
    if module.has_unpacking(call) or _is_filled(module, call):
        return False
    word = function.rpartition(".")[2]
    if word == "ndarray" and (module.argument(call, "buffer", 2) or len(call.args) > 2):
        return False
    shape = module.argument(call, "shape", None if word == "empty_like" else 0)
    return not is_small(module, [shape] if shape is not None else [], 2) or word == "empty_like"


def _is_filled(module: Module, call: cst.Call) -> bool:
    kind = module.argument(call, "dtype", 1)
    if kind is None:
        return False
    text = module.tree.text(module.names.value_of(kind))
    return _FILLED.fullmatch(text) is not None


def is_independent(module: Module, node: cst.CSTNode) -> bool:
    """Whether arithmetic gives the same whatever an array held, or only gives it a unit.

    ``np.nan * np.empty(3)`` is all NaN; ``np.empty(3) * u.m`` and ``+ 0j`` are memory as before.
    """
    if isinstance(node, cst.AugAssign):
        operator, operands = type(node.operator).__name__.removesuffix("Assign"), [node.value]
    elif isinstance(node, cst.BinaryOperation):
        operator, operands = type(node.operator).__name__, [node.left, node.right]
    else:
        return False
    if operator not in _ARITHMETIC:
        return False
    return any(_is_nan(module, each) or _is_unit(module, each) for each in operands)


def _is_unit(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Imaginary):  # makes a buffer of complex numbers
        return True
    return (module.qualified_name(node) or "").startswith(_UNITS)


def _is_nan(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, cst.Call) and last_name(node.func) == "float":
        return bool(node.args) and module.literal(node.args[0].value) in ("nan", "NaN")
    return module.qualified_name(node) in _NOT_A_NUMBER

"""libcst's operators, by those of Python's tree.

Nothing asks where an operator stands, so that all nodes may share one.
"""

from __future__ import annotations

import ast

import libcst as cst

ASYNCHRONOUS = cst.Asynchronous()
_NO_BLANK = cst.SimpleWhitespace("")
# As the arguments of a call are written: libcst's own default is with blanks.
EQUAL = cst.AssignEqual(whitespace_before=_NO_BLANK, whitespace_after=_NO_BLANK)
BINARY: dict[type[ast.operator], cst.BaseBinaryOp] = {
    ast.Add: cst.Add(),
    ast.BitAnd: cst.BitAnd(),
    ast.BitOr: cst.BitOr(),
    ast.BitXor: cst.BitXor(),
    ast.Div: cst.Divide(),
    ast.FloorDiv: cst.FloorDivide(),
    ast.LShift: cst.LeftShift(),
    ast.MatMult: cst.MatrixMultiply(),
    ast.Mod: cst.Modulo(),
    ast.Mult: cst.Multiply(),
    ast.Pow: cst.Power(),
    ast.RShift: cst.RightShift(),
    ast.Sub: cst.Subtract(),
}
BOOLEAN: dict[type[ast.boolop], cst.BaseBooleanOp] = {
    ast.And: cst.And(),
    ast.Or: cst.Or(),
}
UNARY: dict[type[ast.unaryop], cst.BaseUnaryOp] = {
    ast.Invert: cst.BitInvert(),
    ast.Not: cst.Not(),
    ast.UAdd: cst.Plus(),
    ast.USub: cst.Minus(),
}
COMPARING: dict[type[ast.cmpop], cst.BaseCompOp] = {
    ast.Eq: cst.Equal(),
    ast.Gt: cst.GreaterThan(),
    ast.GtE: cst.GreaterThanEqual(),
    ast.In: cst.In(),
    ast.Is: cst.Is(),
    ast.IsNot: cst.IsNot(),
    ast.Lt: cst.LessThan(),
    ast.LtE: cst.LessThanEqual(),
    ast.NotEq: cst.NotEqual(),
    ast.NotIn: cst.NotIn(),
}
_ASYNCHRONOUS = cst.Asynchronous()
_NO_BLANK = cst.SimpleWhitespace("")
# As the arguments of a call are written: libcst's own default is with blanks.
EQUAL = cst.AssignEqual(whitespace_before=_NO_BLANK, whitespace_after=_NO_BLANK)
# ``AddAssign`` for ``Add``, and so on.
ASSIGNED: dict[type[ast.operator], cst.BaseAugOp] = {
    kind: getattr(cst, f"{type(each).__name__}Assign")() for kind, each in BINARY.items()
}

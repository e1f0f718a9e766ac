"""Functions that make libcst's nodes from their fields, a few times as fast as their classes.

A frozen dataclass sets each field through ``object.__setattr__``, where the setter of the slot
does, and then checks itself, which tells nothing of text that has been parsed.
"""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, cast

import libcst as cst

if TYPE_CHECKING:
    from collections.abc import Callable

Node = TypeVar("Node", bound=cst.CSTNode)
Fields = ParamSpec("Fields")


def _maker(kind: Callable[Fields, Node]) -> Callable[Fields, Node]:
    """A function that makes nodes of a kind from keywords, with the defaults of the class."""
    known: dict[str, Any] = {"new": object.__new__, "kind": kind}
    parameters, body = [], ["self = new(kind)"]
    for field in fields(cast("Any", kind)):
        name = field.name
        known[f"set_{name}"] = getattr(kind, name).__set__
        if field.default_factory is not MISSING:
            # Blanks: nothing changes them, so that all nodes may share one.
            known[f"of_{name}"] = field.default_factory()
        elif field.default is not MISSING:
            known[f"of_{name}"] = field.default
        parameters.append(f"{name}=of_{name}" if f"of_{name}" in known else name)
        body.append(f"set_{name}(self, {name})")
    lines = "\n    ".join((*body, "return self"))
    exec(f"def make({', '.join(parameters)}):\n    {lines}", known)  # noqa: S102 - of names of fields
    make: Callable[Fields, Node] = known["make"]
    return make


AnnAssign = _maker(cst.AnnAssign)
Annotation = _maker(cst.Annotation)
Arg = _maker(cst.Arg)
AsName = _maker(cst.AsName)
Assert = _maker(cst.Assert)
Assign = _maker(cst.Assign)
AssignTarget = _maker(cst.AssignTarget)
Attribute = _maker(cst.Attribute)
AugAssign = _maker(cst.AugAssign)
Await = _maker(cst.Await)
BinaryOperation = _maker(cst.BinaryOperation)
BooleanOperation = _maker(cst.BooleanOperation)
Break = _maker(cst.Break)
Call = _maker(cst.Call)
ClassDef = _maker(cst.ClassDef)
CompFor = _maker(cst.CompFor)
CompIf = _maker(cst.CompIf)
Comparison = _maker(cst.Comparison)
ComparisonTarget = _maker(cst.ComparisonTarget)
Continue = _maker(cst.Continue)
Decorator = _maker(cst.Decorator)
Del = _maker(cst.Del)
Dict = _maker(cst.Dict)
DictComp = _maker(cst.DictComp)
DictElement = _maker(cst.DictElement)
Dot = _maker(cst.Dot)
Element = _maker(cst.Element)
Ellipsis = _maker(cst.Ellipsis)  # noqa: A001 - as libcst names it
Else = _maker(cst.Else)
ExceptHandler = _maker(cst.ExceptHandler)
Expr = _maker(cst.Expr)
Finally = _maker(cst.Finally)
Float = _maker(cst.Float)
For = _maker(cst.For)
From = _maker(cst.From)
FunctionDef = _maker(cst.FunctionDef)
GeneratorExp = _maker(cst.GeneratorExp)
Global = _maker(cst.Global)
If = _maker(cst.If)
IfExp = _maker(cst.IfExp)
Imaginary = _maker(cst.Imaginary)
Import = _maker(cst.Import)
ImportAlias = _maker(cst.ImportAlias)
ImportFrom = _maker(cst.ImportFrom)
ImportStar = _maker(cst.ImportStar)
IndentedBlock = _maker(cst.IndentedBlock)
Index = _maker(cst.Index)
Integer = _maker(cst.Integer)
Lambda = _maker(cst.Lambda)
List = _maker(cst.List)
ListComp = _maker(cst.ListComp)
Name = _maker(cst.Name)
NameItem = _maker(cst.NameItem)
NamedExpr = _maker(cst.NamedExpr)
Nonlocal = _maker(cst.Nonlocal)
Param = _maker(cst.Param)
ParamStar = _maker(cst.ParamStar)
Parameters = _maker(cst.Parameters)
Pass = _maker(cst.Pass)
Raise = _maker(cst.Raise)
Return = _maker(cst.Return)
Set = _maker(cst.Set)
SetComp = _maker(cst.SetComp)
SimpleStatementLine = _maker(cst.SimpleStatementLine)
SimpleStatementSuite = _maker(cst.SimpleStatementSuite)
SimpleString = _maker(cst.SimpleString)
Slice = _maker(cst.Slice)
StarredDictElement = _maker(cst.StarredDictElement)
StarredElement = _maker(cst.StarredElement)
Subscript = _maker(cst.Subscript)
SubscriptElement = _maker(cst.SubscriptElement)
Try = _maker(cst.Try)
Tuple = _maker(cst.Tuple)
UnaryOperation = _maker(cst.UnaryOperation)
While = _maker(cst.While)
With = _maker(cst.With)
WithItem = _maker(cst.WithItem)
Yield = _maker(cst.Yield)

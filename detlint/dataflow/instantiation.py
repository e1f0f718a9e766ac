"""The types that a model's row gives: its type expression, with the types of what a call is given
in the place of its variables."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.lattice import (
    ANY,
    NOTHING,
    TEXT,
    Type,
    Types,
    container,
    elements,
    joined,
    plain,
)
from detlint.models import tables

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values
    from detlint.models.model import Model


def instantiated(row: Model, op: Op, values: Values) -> Types:
    """The types of a call, or of an attribute, that a row is for."""
    if not row.returns:
        return ANY
    return _Instantiation(op, values).of(tables.type_expression(row.returns))


class _Instantiation:
    """Of one call, or of one attribute."""

    def __init__(self, op: Op, values: Values) -> None:
        self._op = op
        self._values = values

    def of(self, node: ast.expr) -> Types:
        """The types of an expression that a row has."""
        if isinstance(node, ast.BinOp):
            return joined(self.of(node.left), self.of(node.right))
        if not isinstance(node, ast.Subscript):
            return self._variable(node.id)  # type: ignore[attr-defined]
        name = node.value.id  # type: ignore[attr-defined]
        if name == "sum":
            added = self.of(node.slice)
            return added if added and lattice.is_known(added) else lattice.NUMBER
        if name == "instance":
            return frozenset((Type("instance", (), ast.unparse(node.slice)),))
        inner = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        given = [self.of(each) for each in inner]
        if name == "common":
            return lattice.common(*given)
        if name not in ("tuple", "dict"):
            given = [joined(*given)]
        return container(name, *given)

    def _variable(self, name: str) -> Types:
        if name == "UNKNOWN":
            return ANY
        if name == "NOTHING":
            return NOTHING
        if name == "number":
            return lattice.NUMBER
        if name in ("S", "E", "V"):
            return self._of_object(name)
        if name[:-1] in ("A", "E", "EE", "R") and name[-1].isdigit():
            return self._argument(name[:-1], int(name[-1]))
        return plain(name)

    def _of_object(self, what: str) -> Types:
        """The types of the object whose method is called, or of what it holds."""
        op = self._op
        own = op.args[0].args[0] if op.code == "call" and op.args[0].code == "attr" else None
        types = self._values.taken(own, op) if own is not None else ANY
        return types if what == "S" else elements(types) if what == "E" else lattice.values(types)

    def _argument(self, what: str, place: int) -> Types:
        values = self._values
        given = list(self._op.arguments()) if self._op.code == "call" else []
        unpacked = [value for name, value in given if name == "*"]
        plain_ones = [value for name, value in given if name is None]
        if place >= len(plain_ones):
            if unpacked and what == "E":
                return joined(*(elements(values.elements(each)) for each in unpacked))
            return ANY if unpacked else NOTHING
        value = plain_ones[place]
        if what == "A":
            return values.types(value)
        if what == "E":
            return values.elements(value)
        return elements(values.elements(value)) if what == "EE" else self._applied(value)

    def _applied(self, function: Op) -> Types:
        """What a function gives that is handed on: ``map(str.lower, x)``."""
        values = self._values
        if function.code == "function":
            return values.returned(function.name)
        for name in values.qualified(function):
            row = tables.FUNCTIONS.get(name)
            if row is not None and row.returns:
                node = tables.type_expression(row.returns)
                if isinstance(node, ast.Name) and not node.id[-1].isdigit():
                    return _Instantiation(function, values).of(node)
                if isinstance(node, ast.Subscript):
                    return container(node.value.id, NOTHING)  # type: ignore[attr-defined]
            if name.startswith("builtins.str."):
                return TEXT
            own = values.unit.defined(name.removeprefix("."))
            if own is not None:
                return values.returned(own)
        return ANY

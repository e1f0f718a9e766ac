"""Constants and texts that are written out in parts: constant folding."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values

# Stands for the parts of a text that are not known; no word of a flag.
HOLE = "\0"
_DEEPEST = 60  # parts in parts; a generated sum of strings may have thousands
_UNKNOWN = ...
_FOLDED = frozenset(("binary", "declared", "list", "not", "tuple", "unary"))


def folded(op: Op, depth: int = 0) -> object:
    """The value of an operation on literals; ``...`` for anything else. Lists are tuples."""
    if op.code == "const":
        return op.name
    if op.code not in _FOLDED or depth > _DEEPEST:
        return _UNKNOWN
    parts = tuple(folded(each, depth + 1) for each in op.args)
    return _UNKNOWN if _UNKNOWN in parts else _combined(op, parts)


def _combined(op: Op, parts: tuple[object, ...]) -> object:
    first = parts[0] if parts else _UNKNOWN
    if op.code == "declared":
        return first
    if op.code == "not":
        return not first
    if op.code == "unary":
        number = isinstance(first, (int, float)) and op.name == "USub"
        return -first if number else _UNKNOWN  # type: ignore[operator]
    if op.code == "binary":
        texts = op.name == "Add" and all(isinstance(each, str) for each in parts)
        return "".join(parts) if texts else _UNKNOWN  # type: ignore[arg-type]
    return parts


def text(values: Values, op: Op, depth: int = 0) -> str:
    """A string, with ``HOLE`` for each part that is not known."""
    value = values.constant(op)
    if isinstance(value, str):
        return value
    if depth > _DEEPEST:
        return HOLE

    def inner(part: Op) -> str:
        return text(values, part, depth + 1)

    return _of_parts(values, values.bound_to(op), inner)


def _of_parts(values: Values, op: Op, inner: Callable[[Op], str]) -> str:
    if op.code == "text" or (op.code == "binary" and op.name == "Add"):
        return "".join(map(inner, op.args))
    if op.code == "declared" and op.args:
        return inner(op.args[0])
    if op.code == "binary" and op.name == "Mod":
        return _interpolated(inner(op.args[0]))
    return _of_method(values, op, inner)


def _interpolated(pattern: str) -> str:
    """``"a=%s,b=%d" % …``."""
    parts = pattern.split("%")
    return parts[0] + "".join(HOLE + each.lstrip("0123456789.")[1:] for each in parts[1:])


def _of_method(values: Values, op: Op, inner: Callable[[Op], str]) -> str:
    """``"…{}…".format(x)``, ``",".join([…])``."""
    method = op.args[0] if op.code == "call" else op
    if method.code != "attr":
        return HOLE
    if method.name == "format":
        return _formatted(inner(method.args[0]))
    if method.name != "join" or len(op.args) != 2:
        return HOLE
    parts = values.bound_to(op.args[1])
    if parts.code not in ("list", "tuple"):
        return HOLE
    return inner(method.args[0]).join(map(inner, parts.args))


def _formatted(pattern: str) -> str:
    try:
        parts = list(string.Formatter().parse(pattern))
    except ValueError:
        return HOLE
    return "".join(literal + (HOLE if field is not None else "") for literal, field, *_ in parts)

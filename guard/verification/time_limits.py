"""Limits in seconds that a program gives to what ends its training: read, never executed."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from guard.verification.names import last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.verification.passages import Line

_LIMIT = "max_time"  # of Lightning's Trainer, and of generate() of transformers
_SECONDS = {"weeks": 604_800.0, "days": 86_400.0, "hours": 3600.0, "minutes": 60.0, "seconds": 1.0}
_WHAT = "is a limit in seconds of the clock: it ends in another step in each run"


def time_limits(tree: ast.AST) -> Iterator[Line]:
    """As an argument or a key, the shorter first: a long one is seldom come to."""
    found: list[tuple[float, int]] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg == _LIMIT:
            found += _given(node.value)
        elif isinstance(node, ast.Dict):
            for key, value in zip(node.keys, node.values, strict=True):
                if isinstance(key, ast.Constant) and key.value == _LIMIT:
                    found += _given(value)
        elif isinstance(node, ast.Call) and last_name(node.func) == "Timer":
            for each in node.keywords:
                found += _given(each.value) if each.arg == "duration" else []
    for rank, (_, line) in enumerate(sorted(found)):
        yield rank, line, f"{_LIMIT} {_WHAT}"


def _given(value: ast.expr) -> list[tuple[float, int]]:
    """Its seconds and its line; nothing where it is None."""
    if isinstance(value, ast.Constant) and value.value is None:
        return []
    return [(_seconds(value), value.lineno)]


def _seconds(value: ast.expr) -> float:
    """As far as they stand in the text; 0 of what does not."""
    if isinstance(value, (ast.Call, ast.Dict)):
        return sum(_SECONDS.get(name, 0.0) * _number(each) for name, each in _parts(value))
    if isinstance(value, ast.Constant) and isinstance(value.value, str):
        units = ("days", "hours", "minutes", "seconds")
        numbers = value.value.split(":")
        pairs = zip(reversed(units), reversed(numbers), strict=False)
        return sum(_SECONDS[unit] * int(each) for unit, each in pairs if each.isdecimal())
    return _number(value)


def _parts(value: ast.Call | ast.Dict) -> Iterator[tuple[str, ast.expr]]:
    """Of timedelta(minutes=3) or {"minutes": 3}."""
    if isinstance(value, ast.Call):
        yield from ((each.arg or "", each.value) for each in value.keywords)
        return
    for key, each in zip(value.keys, value.values, strict=True):
        if isinstance(key, ast.Constant):
            yield str(key.value), each


def _number(value: ast.expr) -> float:
    if isinstance(value, ast.Constant) and isinstance(value.value, (int, float)):
        return float(value.value)
    return 0.0

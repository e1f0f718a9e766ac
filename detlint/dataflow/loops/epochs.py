"""Loops over epochs, and what runs inside them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.models.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.callers import Callers
    from detlint.dataflow.ir import Function, Op, Region

_EPOCH = frozenset(("ep", "epoch", "epochs"))


class Epochs:
    """Answers for one file."""

    def __init__(self, callers: Callers) -> None:
        self._callers = callers
        self._around: dict[Function, Region | None] = {}

    def around(self, op: Op) -> Region | None:
        """The loop over epochs in which an operation runs, itself or through calls in the file."""
        for region in op.region.around():
            if region.loops and is_loop(region):
                return region
        return self._around_calls(op.function)

    def _around_calls(self, function: Function) -> Region | None:
        if function not in self._around:
            self._around[function] = None
            found = map(self.around, self._callers.entering(function))
            self._around[function] = next(filter(None, found), None)
        return self._around[function]

    def hands_out_self(self, loop: Region) -> bool:
        """Whether a loop gives the object itself to other code: ``callback.on_epoch(self)``."""
        return any(
            op.code == "call"
            and any(each.is_self for _, each in op.arguments())
            and self._callers.callee(op) is None
            for op in loop.ops()
        )


def is_loop(region: Region) -> bool:
    """Whether a loop goes over epochs, by the names that it counts with."""
    node = region.node
    if isinstance(node, ast.While):
        return any(map(_is_epoch, names_in(node.test)))
    counts = isinstance(node, (ast.For, ast.AsyncFor)) and any(
        map(_is_epoch, names_in(node.target))
    )
    return counts and not _runs_once(region)


def _runs_once(region: Region) -> bool:
    """``for epoch in range(1):``."""
    over = region.head.args[0] if region.head is not None else None
    if over is None or over.code != "call" or len(over.args) != 2:
        return False
    values = over.values
    return "builtins.range" in values.called(over) and values.constant(over.args[1]) in (0, 1)


def _is_epoch(name: str) -> bool:
    return name == "e" or not _EPOCH.isdisjoint(words_of(name))


def names_in(node: ast.AST) -> Iterator[str]:
    """The names that an expression mentions, and keys: ``state["epoch"]``."""
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            yield each.id
        elif isinstance(each, ast.Attribute):
            yield each.attr
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value

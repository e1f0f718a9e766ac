"""Loops over epochs, and what runs inside them."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.models.names import words_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.unit import Unit

_EPOCH = frozenset(("ep", "epoch", "epochs"))


class OwnCalls:
    """What the calls of one file call, and who calls what."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._calls: dict[Function, list[Op]] = {}

    def callee(self, call: Op) -> Function | None:
        """The function, method or ``__init__`` of the file that a call runs; a method also by its
        name, if only one class has it."""
        found = self._unit.values.callee(call)
        if found is not None:
            return found
        for name in self._unit.values.called(call):
            return self._unit.method(name[1:], "__init__") if name.startswith(".") else None
        function = call.args[0]
        return self._only_method(str(function.name)) if function.code == "attr" else None

    def _only_method(self, name: str) -> Function | None:
        owners = [each for each in self._unit.classes if self._unit.defined(name, each)]
        return self._unit.defined(name, owners[0]) if len(owners) == 1 else None

    def calls_of(self, function: Function) -> list[Op]:
        """The calls of a function or method in the file."""
        if function not in self._calls:
            self._calls[function] = list(self._find(function))
        return self._calls[function]

    def _find(self, function: Function) -> Iterator[Op]:
        owner, _, name = function.name.rpartition(".")
        calls = self._unit.ops_naming(owner if name == "__init__" else name)
        return (call for call in calls if self.callee(call) is function)


class Epochs:
    """Answers for one file."""

    def __init__(self, own: OwnCalls) -> None:
        self._own = own
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
            found = map(self.around, self._own.calls_of(function))
            self._around[function] = next(filter(None, found), None)
        return self._around[function]

    def hands_out_self(self, loop: Region) -> bool:
        """Whether a loop gives the object itself to other code: ``callback.on_epoch(self)``."""
        return any(
            op.code == "call"
            and any(each.is_self for _, each in op.arguments())
            and self._own.callee(op) is None
            for op in loop.ops()
        )


def is_loop(region: Region) -> bool:
    """Whether a loop goes over epochs, by the names that it counts with."""
    node = region.node
    if isinstance(node, ast.While):
        return any(map(_is_epoch, names_in(node.test)))
    if not isinstance(node, (ast.For, ast.AsyncFor)):
        return False
    return any(map(_is_epoch, names_in(node.target))) and not _runs_once(region)


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

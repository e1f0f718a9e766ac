"""What a function sets and reads of ``os.environ``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op

_NAMES = frozenset(("os.environ", "os.environb"))
_STATES = frozenset(("augment", "change", "delete", "phi", "store_item"))
_SETTING = frozenset(("__setitem__", "setdefault"))
_READING = frozenset(("get", "pop", "setdefault"))


class Environment:
    """The operations of one function on the process's variables."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._values = function.unit.values
        self._states: set[Op] = set()  # what stands for os.environ, after each change of it
        for op in function.ops:
            if op.code in _STATES and op.args and self._is(op.args[0]):
                self._states.add(op)

    def _is(self, op: Op) -> bool:
        return op in self._states or not _NAMES.isdisjoint(self._values.qualified(op))

    def assignments(self, name: str) -> Iterator[tuple[Op, Op]]:
        """What sets a variable, each with the value that it gets."""
        for op in self._function.ops:
            value = self._given(op, name)
            if value is not None:
                yield op, value

    def _given(self, op: Op, name: str) -> Op | None:
        if op.code == "store_item" and self._is(op.args[0]):
            return op.args[2] if self._names(op.args[1], name) else None
        if op.code == "augment" and self._is(op.args[0]):
            return self._held(op.args[1], name)
        return self._given_to_call(op, name) if op.code == "call" else None

    def _given_to_call(self, op: Op, name: str) -> Op | None:
        method, given = self._method(op), [each for _, each in op.arguments()]
        if method == "update":
            return self._update(op, name)
        sets = method in _SETTING or "os.putenv" in self._values.called(op)
        return given[-1] if sets and given and self._names(given[0], name) else None

    def _update(self, op: Op, name: str) -> Op | None:
        held = (
            value if keyword == name else self._held(value, name)
            for keyword, value in op.arguments()
        )
        return next(filter(None, held), None)

    def _held(self, op: Op, name: str) -> Op | None:
        """What a dict that is written out holds under a name."""
        if op.code == "dict":
            entries = (each.args for each in op.args if each.code == "entry")
            return next((value for key, value in entries if self._names(key, name)), None)
        made = op.code == "call" and "builtins.dict" in self._values.called(op)
        return op.given(name) if made else None

    def _names(self, key: Op, name: str) -> bool:
        return self._values.constant(key) in (name, name.encode())

    def _method(self, op: Op) -> str:
        """The method of ``os.environ`` that a call calls."""
        function = op.args[0]
        return str(function.name) if function.code == "attr" and self._is(function.args[0]) else ""

    def is_read(self, op: Op) -> bool:
        """Whether a value was read from the environment."""
        if op.code == "item":
            return self._is(op.args[0])
        if op.code != "call":
            return False
        return self._method(op) in _READING or "os.getenv" in self._values.called(op)

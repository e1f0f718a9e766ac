"""What stands for ``os.environ`` in a function, and whether a file changes it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.models.containers import PICKING

if TYPE_CHECKING:
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_NAMES = frozenset(("os.environ", "os.environb"))
_STATES = frozenset(("augment", "change", "delete", "phi", "store_item"))
_WRITING = ("putenv", "unsetenv", "load_dotenv")


def changes_environment(unit: Unit) -> bool:
    """Whether some code of a file changes the environment of the process."""
    named = (name for name, means in unit.imported.items() if not _NAMES.isdisjoint(means))
    holding = unit.functions_holding("environ", *_WRITING, *named)
    functions = (each for outer in holding for each in outer.everything())
    return any(Environment(each).is_changed for each in functions)


class Environment:
    """Answers about one function."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._values = function.unit.values
        self._states: set[Op] = set()  # what stands for os.environ, after each change of it
        for op in function.ops:
            if op.code in _STATES and op.args and self.holds(op.args[0]):
                self._states.add(op)

    @property
    def is_changed(self) -> bool:
        """Whether the function changes it."""
        calls = self._function.coded("call")
        return bool(self._states) or any(word_of(each) in _WRITING for each in calls)

    def holds(self, op: Op) -> bool:
        """Whether a value is ``os.environ``."""
        return op in self._states or not _NAMES.isdisjoint(self._values.qualified(op))

    def takes(self, op: Op) -> bool:
        """Whether an operation adds a dict to ``os.environ``: ``update(…)``, ``|=``."""
        if op.code == "augment":
            return op in self._states
        return op.code == "call" and self._method(op) == "update"

    def _method(self, op: Op) -> str:
        """The method of ``os.environ`` that a call calls."""
        function = op.args[0]
        return (
            str(function.name) if function.code == "attr" and self.holds(function.args[0]) else ""
        )

    def is_read(self, op: Op) -> bool:
        """Whether a value was read from the environment."""
        if op.code == "item":
            return self.holds(op.args[0])
        if op.code != "call":
            return False
        return self._method(op) in PICKING or "os.getenv" in self._values.called(op)

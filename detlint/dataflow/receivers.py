"""The objects whose methods a file calls, by their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import path_of
from detlint.dataflow.origins import Origins
from detlint.index.facts import Receiver

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_TAKEN_OUT = frozenset(("item", "iter", "slice", "unpack"))  # of what others may fill
_CONTAINERS = frozenset(("counter", "deque", "dict", "list", "set", "str", "tuple"))
_BUILT_IN = "builtins."


def receivers(unit: Unit, method: str) -> Iterator[Receiver]:
    """What a file looks a method up in."""

    def calls(function: Function) -> list[Op]:
        known = function.known_calls
        return list(known.calls) if known.all else []

    origins = Origins(calls=calls)
    for read in unit.reads("attr", method):
        yield Receiver(read.row, *_told(read.args[0], origins))


def _told(value: Op, origins: Origins) -> tuple[list[str], str]:
    if value.code in _TAKEN_OUT:
        return [], ""
    found = origins.of(value)
    types = {each.name for each in value.values.types(value)}
    if types and types <= _CONTAINERS:
        return [f"{_BUILT_IN}{each}" for each in sorted(types)], ""
    if found == [None]:
        return _by_star(value.values.bound_to(value)), ""
    names = [each.names[0] for each in found if each is not None and each.names]
    if any(each.startswith(_BUILT_IN) for each in names):  # `super()`, `next(agents)`
        return [], ""
    own = value.code == "attr" and value.args[0].code == "param"
    keeper = value.function.class_name if own and value.args[0].name[1] == "self" else ""
    return (names, keeper) if len(names) == len(found) else ([], "")


def _by_star(made: Op) -> list[str]:
    """What is called of what comes with ``from net import *``: ``Net(…)``, ``nets.Net(…)``."""
    first, dot, rest = path_of(made.args[0]).partition(".") if made.code == "call" else ("", "", "")
    names = made.function.unit.by_star(first) if first else []
    return [f"{each}{dot}{rest}" for each in names] if len(names) == 1 else []

"""The objects whose methods a file calls, by their classes."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from detlint.dataflow.callers import Callers
from detlint.dataflow.origins import Origins
from detlint.dataflow.unit import UnparsedError, opened
from detlint.index.facts import Receiver
from detlint.sources.kinds import NOTEBOOK
from detlint.syntax.parsing import REFUSALS
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.notebooks.notebook import Notebook
    from detlint.sources.source import Source

_TAKEN_OUT = frozenset(("item", "iter", "slice", "unpack"))  # of what others may fill
_CONTAINERS = frozenset(("counter", "deque", "dict", "list", "set", "str", "tuple"))
_BUILT_IN = "builtins."


def read_receivers(source: Source, method: str) -> list[Receiver]:
    """What a file looks a method up in; nothing of one that does not parse."""
    if source.kind == NOTEBOOK:
        source = cast("Notebook", source).readable[0]
    try:
        return in_deep_stack(lambda: list(_receivers(opened(source), method)))
    except (UnparsedError, *REFUSALS):
        return []


def _receivers(unit: Unit, method: str) -> Iterator[Receiver]:
    callers = Callers(unit)

    def calls(function: Function) -> list[Op]:
        known = callers.of(function)
        return list(known.calls) if known.all else []

    origins = Origins(calls=calls)
    for read in unit.reads("attr", method):
        yield Receiver(getattr(read.node, "lineno", 0), *_told(read.args[0], origins))


def _told(value: Op, origins: Origins) -> tuple[list[str], str]:
    if value.code in _TAKEN_OUT:
        return [], ""
    found = origins.of(value)
    types = {each.name for each in value.values.types(value)}
    if types and types <= _CONTAINERS:
        return [f"{_BUILT_IN}{each}" for each in sorted(types)], ""
    names = [each.names[0] for each in found if each is not None and each.names]
    if any(each.startswith(_BUILT_IN) for each in names):  # `super()`, `next(agents)`
        return [], ""
    own = value.code == "attr" and value.args[0].code == "param"
    keeper = value.function.class_name if own and value.args[0].name[1] == "self" else ""
    return (names, keeper) if len(names) == len(found) else ([], "")

"""Where a file sets what holds for its whole process: threads, types, flags, variables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import Named, word_of
from detlint.models.process import setters_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

_OF_VARIABLES = ("setdefault", "putenv")


class Setting(NamedTuple):
    """Where something is set; ``is_fixed``: to what is written there."""

    found: Named
    is_fixed: bool


def settings(unit: Unit, items: Iterable[str]) -> Iterator[Setting]:
    """Those of some items of the environment."""
    words = sorted({each for item in items for each in setters_of(item)})
    for function in unit.functions_holding(*words) if words else ():
        for op in (x for each in function.everything() for x in each.ops):
            name, values = _set(op)
            if name in words:
                yield Setting(Named(op, name), all(each.code == "const" for each in values))


def _set(op: Op) -> tuple[str, Sequence[Op]]:
    """What an operation sets, and to what."""
    if op.code == "store_attr":
        return str(op.name), op.args[1:]
    if op.code == "store_item":
        return _key(op.args[1]), op.args[2:]
    word = word_of(op)
    if word in _OF_VARIABLES and len(op.args) > 1:
        return _key(op.args[1]), op.args[2:]
    return word, op.args[1:]


def _key(op: Op) -> str:
    return str(op.name) if op.code == "const" else ""

"""Where a file sets what holds for its whole process, as threads, types, flags and variables, and
saves states and puts them back, also in checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import Named, spoken, word_of
from detlint.models.process import CHECKPOINTS, HOLDERS, OF_GENERATORS, setters_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

_OF_VARIABLES = ("setdefault", "putenv")
_HOLDING = ("state", "torch.", "pickle.")


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


def saved_states(unit: Unit, kinds: Collection[str]) -> Iterator[tuple[str, Named]]:
    """Calls that deal with states of some kinds, and with checkpoints, with what each does:
    "saves", "replaces" (saves it with something in the place of a part), "restores", "writes",
    "reads"."""
    words = tuple(word for kind in kinds for word in HOLDERS.get(kind, ()))
    for function in unit.functions_holding(*_HOLDING):
        for call in function.all_coded("call"):
            does = _does(call, words, generators="generator" in kinds)
            if does:
                yield does, Named(call, spoken(call.args[0]))


def _does(call: Op, words: tuple[str, ...], *, generators: bool) -> str:
    method, owner, _ = word_of(call), *spoken(call.args[0]).lower().rpartition(".")[:2]
    of_generator = generators and method.startswith(OF_GENERATORS)
    if not (of_generator or any(word in owner for word in words)):
        return next((CHECKPOINTS[each] for each in call.called if each in CHECKPOINTS), "")
    if method == "state_dict" or (of_generator and "get" in method):
        is_part = any(use.code == "star" and use.name == "**" for use in call.uses)
        return "replaces" if is_part else "saves"
    return "restores" if method == "load_state_dict" or of_generator else ""

"""Where a file saves states and puts them back, and writes and reads checkpoints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.calls import Named, spoken, word_of
from detlint.models.process import CHECKPOINTS, HOLDERS, OF_GENERATORS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

_HOLDING = ("state", "torch.", "pickle.")


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

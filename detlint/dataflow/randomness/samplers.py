"""Where a sampler, and the loader that is given it, go in one file.

Follows both through names, attributes, calls of the file's own functions and what these return,
to the loops over the loader. What gets out of sight is noted, not guessed at.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of, word_of
from detlint.dataflow.forwards import Forwards
from detlint.dataflow.slices import SAME
from detlint.models import loading
from detlint.models.model import Names
from detlint.models.names import evaluates, is_bar

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

# They hand on what they get, or its elements.
_CARRYING = frozenset(f"builtins.{name}" for name in ("enumerate", "iter", "zip", "reversed"))
_looks = Names("builtins.{bool,hasattr,isinstance,len,list,next,print,repr,str,type} logging.*")
_SAMPLERS = ("sampler", "batch_sampler")
# Places in the signature of a sampler that has to be told the epoch.
_SHUFFLE, SEED = 3, 4
_HARMLESS_BASES = ("abc.ABC", "builtins.object", "object", "torch.nn.Module", "typing.Generic")
_PLACES = tuple(loading.PLACES[each] for each in _SAMPLERS)


class Travel(Forwards):
    """Where a sampler goes.

    loops    the loops over a loader that has it, and ``batches = iter(loader)``
    names    the variables, attributes and parameters that hold it on its way
    """

    ends = frozenset(("compare", "drop", "format", "not", "raise", "test", "unary"))
    same = SAME - {"choice"}

    def __init__(self, unit: Unit) -> None:
        super().__init__(unit)
        self.loops: list[Op] = []
        self.names: set[str] = set()

    def after(self, value: Op) -> Iterator[Op]:
        stores = (use for use in value.uses if use.code in ("store_attr", "store_global"))
        kept = (str(use.name) for use in stores if use.args[-1] is value)
        self.names.update(value.function.names_of(value), kept)
        return super().after(value)

    def _to_attr(self, use: Op, _: Op) -> Iterable[Op]:
        return [use] if use.name in _SAMPLERS else ()

    def _to_choice(self, use: Op, value: Op) -> Iterable[Op]:
        return [use] if use.args[0] is not value else ()

    def _to_iter(self, use: Op, _: Op) -> Iterable[Op]:
        self.loops.append(use)
        return ()

    def _to_return(self, use: Op, _: Op) -> Iterable[Op]:
        return self.unit.callers.entering(use.function) or self.escape()

    def _to_tuple(self, use: Op, value: Op) -> Iterator[Op]:
        """``return x, y``."""
        place = use.args.index(value)
        for each in use.uses:
            for call in self._to_return(each, use) if each.code == "return" else self.escape():
                for part in call.uses:
                    if part.code == "unpack" and part.name[2]:
                        yield from [part] if part.name[0] == place else []
                    else:
                        self.escapes |= part.code != "drop"

    _to_list = _to_tuple

    def _to_call(self, call: Op, value: Op) -> Iterable[Op]:
        called = call.called
        if value is call.args[0] or any(map(_looks, called)):
            return ()
        if any(map(loading.hands_on, called)):
            pairs = enumerate(call.arguments())
            takes = any(
                each is value and (name in _SAMPLERS or (name is None and place in _PLACES))
                for place, (name, each) in pairs
            )
            return [call] if takes else ()
        if _carries(call, called):
            if "builtins.iter" in called and call.function.names_of(call):
                self.loops.append(call)
            return [call]
        taken = parameter_of(self.unit.callers.callee(call), call, value)
        return self.escape() if taken is None else [taken]


def _carries(call: Op, called: list[str]) -> bool:
    known = not _CARRYING.isdisjoint(called) or not loading.BATCHES.isdisjoint(called)
    return known or is_bar(word_of(call))


def shuffling(call: Op) -> str:
    """The class of a sampler that shuffles for training, as far as the call tells; else ""."""
    values = call.values
    name = next(filter(loading.EPOCH_SAMPLERS.__contains__, values.called(call)), "")
    if not name or call.unpacks:
        return ""
    shuffle, data = call.given("shuffle", _SHUFFLE), call.written("dataset", 0)
    if shuffle is not None and values.constant(shuffle) is not True:
        return ""
    named = (each.id for each in ast.walk(data) if isinstance(each, ast.Name)) if data else ()
    return "" if any(map(evaluates, named)) else name.rpartition(".")[2]


def is_apart(call: Op) -> bool:
    """Whether a sampler may be another's business: it has a seed that may change, is evaluated
    with, or stands in a hook that code out of sight calls."""
    seed, unit = call.given("seed", SEED), call.function.unit
    if seed is not None and not isinstance(unit.values.constant(seed), int):
        return True
    if is_inherited(unit, call.function.class_name):
        return True
    around = (name for each in call.function.around() for name in each.name.split("."))
    return any(map(evaluates, (*call.function.names_of(call), *around)))


def is_inherited(unit: Unit, owner: str) -> bool:
    """Whether a class of a file has a base out of sight, which may do anything with what it
    holds."""
    if owner not in unit.classes:
        return False
    origins = unit.origins
    made = origins.object_of(unit, owner)
    known = origins.lineage(made)
    named = sum(len(unit.bases(each.name)) for each in known)
    harmless = [each for each in origins.foreign(made) if each in _HARMLESS_BASES]
    return named > len(known) - 1 + len(harmless)

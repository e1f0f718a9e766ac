"""Where a sampler, and the loader that is given it, go in one file.

Follows both through names, attributes, calls of the file's own functions and what these return,
to the loops over the loader. What gets out of sight is noted, not guessed at.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of, word_of
from detlint.dataflow.slices import closure
from detlint.models import loading
from detlint.models.model import Names
from detlint.models.names import evaluates, is_bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_SAME = frozenset(("boolean", "declared", "free", "phi"))
_HARMLESS = frozenset(("compare", "drop", "format", "not", "raise", "test", "unary"))
# They hand on what they get, or its elements.
_CARRYING = frozenset(f"builtins.{name}" for name in ("enumerate", "iter", "zip", "reversed"))
_looks = Names("builtins.{bool,hasattr,isinstance,len,list,next,print,repr,str,type} logging.*")
_BATCHES = frozenset(("torch.utils.data.BatchSampler", "torch.utils.data.sampler.BatchSampler"))
_SAMPLERS = ("sampler", "batch_sampler")
# Places in the signature of a sampler that has to be told the epoch.
_SHUFFLE, SEED = 3, 4
_HARMLESS_BASES = ("abc.ABC", "builtins.object", "object", "torch.nn.Module", "typing.Generic")
_PLACES = tuple(loading.PLACES[each] for each in _SAMPLERS)


class Travel:
    """Where one value goes.

    escapes  whether code that is out of sight gets it
    loops    the loops over a loader that has it, and ``batches = iter(loader)``
    names    the variables, attributes and parameters that hold it on its way
    """

    def __init__(self, unit: Unit, starts: list[Op], kept: dict[tuple[str, str], Travel]) -> None:
        self._unit = unit
        self._by_name = kept  # of what is read under a name, for all that is kept there
        self.escapes = False
        self.loops: list[Op] = []
        self.names: set[str] = set()
        self.follow(starts)

    def follow(self, starts: list[Op]) -> None:
        """Add what becomes of some values."""
        for value in closure(starts, self._steps):
            self.names.update(value.function.names_of(value))

    def _steps(self, value: Op) -> Iterator[Op]:
        for use in value.uses:
            yield from () if self.escapes else self._step(use, value)

    def _step(self, use: Op, value: Op) -> Iterator[Op]:
        if use.code in _SAME or (use.code == "attr" and use.name in _SAMPLERS):
            yield use
        elif use.code == "choice":
            yield from [use] if use.args[0] is not value else []
        elif use.code == "iter":
            self.loops.append(use)
        elif use.code in ("store_attr", "store_global"):
            self._kept(use, value)
        elif use.code == "return":
            yield from self._returned(use.function)
        elif use.code in ("list", "tuple"):
            yield from self._among(use, value)
        elif use.code == "call":
            yield from self._given(use, value)
        elif use.code != "attr" and use.code not in _HARMLESS:
            self.escapes = True

    def _kept(self, use: Op, value: Op) -> None:
        """What becomes of the attribute, or the variable of the module, that holds it."""
        if use.args[-1] is not value:
            return
        key = "attr" if use.code == "store_attr" else "global", str(use.name)
        self.names.add(key[1])
        if key not in self._by_name:
            self._by_name[key] = Travel(self._unit, [], self._by_name)
            self._by_name[key].follow(list(self._unit.reads(*key)))
        other = self._by_name[key]
        self.escapes |= other.escapes
        self.loops += other.loops
        self.names |= other.names

    def _returned(self, function: Function) -> Iterator[Op]:
        calls = self._unit.callers.entering(function)
        self.escapes |= not calls
        yield from calls

    def _among(self, use: Op, value: Op) -> Iterator[Op]:
        """``return x, y``."""
        place = use.args.index(value)
        for each in use.uses:
            if each.code != "return":
                self.escapes = True
                continue
            for call in self._returned(each.function):
                for part in call.uses:
                    if part.code == "unpack" and part.name[2]:
                        yield from [part] if part.name[0] == place else []
                    else:
                        self.escapes |= part.code != "drop"

    def _given(self, call: Op, value: Op) -> Iterator[Op]:
        """``DataLoader(dataset, sampler=x)``, ``train(model, x)``."""
        called = self._unit.values.called(call)
        if value is call.args[0]:
            return
        if any(map(loading.hands_on, called)):
            pairs = enumerate(call.arguments())
            if any(
                each is value and (name in _SAMPLERS or (name is None and place in _PLACES))
                for place, (name, each) in pairs
            ):
                yield call
        elif _carries(call, called):
            if "builtins.iter" in called and call.function.names_of(call):
                self.loops.append(call)
            yield call
        elif not any(map(_looks, called)):
            taken = parameter_of(self._unit.callers.callee(call), call, value)
            self.escapes |= taken is None
            yield from [taken] if taken is not None else []


def _carries(call: Op, called: list[str]) -> bool:
    known = not _CARRYING.isdisjoint(called) or not _BATCHES.isdisjoint(called)
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

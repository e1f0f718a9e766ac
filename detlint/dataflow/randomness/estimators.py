"""Estimators of scikit-learn: whether a call makes one that draws, and whether anything seeds it
afterwards."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.slices import before, closure
from detlint.models import estimators, loading
from detlint.models.names import is_generator

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit
    from detlint.models.estimators import Drawing

_HOLDING = frozenset(("boolean", "choice", "declared", "dict", "entry", "free", "list", "phi"))
_HOLDING |= frozenset(("return", "star", "store_item", "tuple"))
_ASKED = frozenset(("__class__", "get_params"))
_STILL = _ASKED | {"set_params"}
_STATE = "random_state"
_MANY = 400  # operations behind the transforms of a pipeline


def draws(call: Op, row: Drawing) -> bool:
    """Whether a call makes what certainly draws, as far as its arguments tell."""
    if call.unpacks:
        return False
    needed = [_matches(call, key, values) for key, values in row.needs.items()]
    if needed and not any(needed):
        return False
    return all(_matches(call, key, values) is not False for key, values in row.keeps.items())


def _matches(call: Op, key: str, values: frozenset[str]) -> bool | None:
    """Whether an argument has one of the values; None if it is not given."""
    name, _, place = key.partition("@")
    given = call.given(name, int(place) if place else None)
    if given is None:
        return None
    if "drawing" in values and _is_drawing(given):
        return True
    if "transform" in values:
        return any(map(_transforms_at_random, closure([given], _held, _MANY)))
    value = call.values.constant(given)
    if "several" in values:
        return value not in (None, 0, 1)
    if not isinstance(value, (bool, int, float, str, type(None))):
        return given.code == "attr" and str(given.name) in values  # OrderOption.RANDOM
    return str(value) in values or ("some" in values and bool(value))


def _is_drawing(given: Op) -> bool:
    """Whether an estimator that is handed over draws, if it is seeded anew."""
    made = given.values.bound_to(given)
    names = given.values.called(made) if made.code == "call" else ()
    row = next(filter(None, map(estimators.drawing, names)), None)
    return row is not None and draws(made, row)


def drawn_by(call: Op) -> list[Op]:
    """The calls that draw: of a function its own, of an object those of its methods."""
    if not word_of(call)[:1].isupper():
        return [call]
    taken = [use for use in call.uses if use.code == "attr" and use.name not in _STILL]
    return [each for use in taken for each in use.uses if each.code == "call"]


def _held(op: Op) -> Iterator[Op]:
    yield from (*op.args, *before(op))


def _transforms_at_random(op: Op) -> bool:
    """Whether a library's transform is made that draws when something is given to it."""
    name = next(filter(loading.keeps_generator, op.called), "") if op.code == "call" else ""
    share = op.values.constant(given) if name and (given := op.given("p")) is not None else None
    return bool(name) and share != 0 and not (share == 1 and loading.is_fixed_if_applied(name))


class Estimators:
    """Follows estimators of one file to what may seed them."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._known: dict[str, bool] = {}  # by the names of variables and attributes

    def seeds(self, made: Op) -> bool:
        """Whether an estimator gets its ``random_state`` after it was made, is left to
        subclasses, or is made only to be asked for its parameters."""
        if isinstance(made.function.node, ast.ClassDef):
            return True
        if made.uses and all(each.code == "attr" and each.name in _ASKED for each in made.uses):
            return True
        return self._is_seeded(made)

    def _is_seeded(self, start: Op) -> bool:
        return any(
            self._seeds(use, value)
            for value in closure([start], lambda op: filter(self._holds, op.uses))
            for use in value.uses
        )

    def _seeds(self, use: Op, value: Op) -> bool:
        """Whether something done with an estimator, or with what holds it, seeds it."""
        if use.code == "attr":
            told = use.name == "set_params" and any(map(_names_state, use.uses))
            return told or use.name == estimators.SEEDS_TRANSFORMS
        if use.code == "store_attr":
            if use.args[0] is value:
                return str(use.name) == _STATE
            return self._by_name(str(use.name))
        if use.code == "store_global":
            return self._by_name(str(use.name))
        return use.code == "call" and value in use.args[1:] and self._takes_seed(use, value)

    def _takes_seed(self, call: Op, value: Op) -> bool:
        """``clone(estimator, random_state)``; of scikit-learn, few set it, also without a seed."""
        called = self._unit.values.called(call)
        if any(map(estimators.seeds_arguments, called)):
            return True
        if "builtins.setattr" in called:
            key = call.given("name", 1)
            return key is not None and _ends_in_state(key)
        if any(map(_ends_in_state, _within(call))):
            return True
        if any(map(estimators.is_known, called)):
            return False
        return any(
            each is not value and (is_generator(name or "") or is_generator(each.word))
            for name, each in call.arguments()
        )

    def _holds(self, use: Op) -> bool:
        if use.code == "call":
            return any(map(estimators.is_known, self._unit.values.called(use)))
        return use.code in _HOLDING

    def _by_name(self, name: str) -> bool:
        """Whether what is kept under a name is seeded where it is read."""
        if name not in self._known:
            self._known[name] = False
            self._known[name] = any(map(self._is_seeded, self._reads(name)))
        return self._known[name]

    def _reads(self, name: str) -> Iterator[Op]:
        yield from self._unit.reads("attr", name)
        yield from self._unit.reads("global", name)


def _names_state(call: Op) -> bool:
    return call.code == "call" and any(
        (keyword or "").endswith(_STATE) for keyword, _ in call.arguments()
    )


def _within(call: Op) -> Iterator[Op]:
    """What a call is given, and the keys of dicts among that."""
    for _, each in call.arguments():
        yield each
        yield from (key for key, _ in each.entries)


def _ends_in_state(op: Op) -> bool:
    return op.text.endswith(_STATE)

"""The objects whose methods a file calls, by their classes; and where it calls those that it makes
of a class itself, or hands them to what may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.passed_arguments import named
from detlint.dataflow.calls import path_of
from detlint.dataflow.forwards import Forwards
from detlint.dataflow.origins import Origins
from detlint.index.facts import Receiver
from detlint.index.scan import CALLED
from detlint.models.attention import MOVES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_TAKEN_OUT = frozenset(("item", "iter", "slice", "unpack"))  # of what others may fill
_CONTAINERS = frozenset(("counter", "deque", "dict", "list", "set", "str", "tuple"))
_BUILT_IN = "builtins."
_SHOWING = frozenset(f"builtins.{each}" for each in ("isinstance", "print", "repr", "str", "type"))
_MOST = 200  # operations on the objects that one call makes


def receivers(unit: Unit, method: str) -> Iterator[Receiver]:
    """What a file looks a method up in."""

    def calls(function: Function) -> list[Op]:
        known = function.known_calls
        return list(known.calls) if known.all else []

    origins = Origins(calls=calls)
    for read in unit.reads("attr", method):
        yield Receiver(read.row, *_told(read.args[0], origins))


def _told(value: Op, origins: Origins) -> tuple[list[str], str]:
    while value.code == "change":  # as a method before has left it
        value = value.args[0]
    if value.code in _TAKEN_OUT:
        return [], ""
    found = origins.of(value)
    types = {each.name for each in value.values.types(value)}
    if types and types <= _CONTAINERS:
        return [f"{_BUILT_IN}{each}" for each in sorted(types)], ""
    names = [each.names[0] for each in found if each is not None and each.names]
    keeper = value.function.class_name if value.code == "attr" and value.args[0].is_self else ""
    if found == [None]:
        return _by_star(value.values.bound_to(value)), keeper
    built_in = any(each.startswith(_BUILT_IN) for each in names)  # `super()`, `next(agents)`
    return names if len(names) == len(found) and not built_in else [], keeper


def _by_star(made: Op) -> list[str]:
    """What is called of what comes with ``from net import *``: ``Net(…)``, ``nets.Net(…)``."""
    first, dot, rest = path_of(made.args[0]).partition(".") if made.code == "call" else ("", "", "")
    names = made.function.unit.by_star(first) if first else []
    return [f"{each}{dot}{rest}" for each in names] if len(names) == 1 else []


def may_call(unit: Unit, name: str, methods: Collection[str]) -> bool:
    """Whether objects of a class, or one of its methods, may be called in a file."""
    for op in named(unit, name):
        made = [use for use in op.uses if use.code == "call" and use.args[0] is op]
        if len(made) < len(op.uses) or not all(_Follower(unit, methods).stays(x) for x in made):
            return True
    return False


def object_calls(unit: Unit, name: str, place: int | str) -> Iterator[tuple[int, str, int | str]]:
    """The rows in which a file calls objects that it makes of a class, or gives them to what lies
    elsewhere: with the qualified name of that, and as which argument. With a ``place``, the same of
    what a function or class of the file gets as that argument. What calls them later, such as an
    inner function, is not told: that may be for workers."""
    starts = [made for op in named(unit, name) for made in op.calls]
    if place != "":
        taking = unit.defined(name) or unit.method(name, "__init__")
        params = [] if taking is None else [*taking.params.values()]
        first = -1 if unit.defined(name) is None else 0  # the object itself
        starts = [x for n, x in enumerate(params, first) if place in (n, x.name[1])]
    for value in _Follower(unit, ()).followed(*starts):
        for call in value.uses if value.function.outer is None else ():
            if call.code == "call" and call.args[0] is value:
                yield call.row, "", ""
            elif call.code == "call":
                pairs = enumerate(call.arguments())
                at = next(n if word is None else word for n, (word, x) in pairs if x is value)
                yield from ((call.row, each, at) for each in call.called)


class _Follower(Forwards):
    """Follows objects of one class through a file, of which some methods call them."""

    ends = frozenset(("compare", "drop", "not", "test"))
    most = _MOST

    def __init__(self, unit: Unit, methods: Collection[str]) -> None:
        super().__init__(unit)
        self._methods = methods

    def _to_store_global(self, use: Op, value: Op) -> Iterable[Op]:
        reads = super()._to_store_global(use, value)
        return [each for each in reads if each.function is not self.unit.module]

    def _to_attr(self, use: Op, _: Op) -> Iterable[Op]:
        name = str(use.name)
        self.escapes |= CALLED.fullmatch(name) is not None or name in self._methods
        return use.calls if name in MOVES else []

    def _to_store_attr(self, use: Op, value: Op) -> Iterable[Op]:
        self.escapes |= value is use.args[-1] and not use.args[0].is_self
        return super()._to_store_attr(use, value)

    def _given(self, call: Op, value: Op) -> Iterable[Op]:
        shown = call.args[0] is not value and not _SHOWING.isdisjoint(call.called)
        return () if shown else self.escape()

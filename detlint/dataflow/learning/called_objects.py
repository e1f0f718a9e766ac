"""Where a file calls the objects that it makes of a class, or hands them to what may."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.passed_arguments import named
from detlint.dataflow.calls import parameter_of
from detlint.dataflow.slices import closure
from detlint.index.scan import CALLED
from detlint.models.attention import MOVES

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

_SAME = frozenset(("await", "choice", "declared", "free", "phi"))
_NOTHING = frozenset(("compare", "drop", "not", "test"))  # what these do with an object
_SHOWING = frozenset(f"builtins.{each}" for each in ("isinstance", "print", "repr", "str", "type"))
_MOST = 200  # operations on the objects that one call makes


def may_call(unit: Unit, name: str, methods: Collection[str]) -> bool:
    """Whether objects of a class, or one of its methods, may be called in a file."""
    follower = _Follower(unit, methods)
    for op in named(unit, name):
        made = [use for use in op.uses if use.code == "call" and use.args[0] is op]
        if len(made) < len(op.uses) or any(map(follower.calls, made)):
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
    for value in closure(starts, _Follower(unit, ()).after, _MOST):
        for call in value.uses if value.function.outer is None else ():
            if call.code == "call" and call.args[0] is value:
                yield call.row, "", ""
            elif call.code == "call":
                pairs = enumerate(call.arguments())
                at = next(n if word is None else word for n, (word, x) in pairs if x is value)
                yield from ((call.row, each, at) for each in call.called)


class _Follower:
    """Follows objects of one class through a file."""

    def __init__(self, unit: Unit, methods: Collection[str]) -> None:
        self._unit = unit
        self._methods = methods
        self._gets_away = False

    def calls(self, made: Op) -> bool:
        """Whether what a call makes may be called itself, as far as the file shows."""
        self._gets_away = False
        count = sum(1 for _ in closure([made], self.after, _MOST))
        return self._gets_away or count >= _MOST

    def after(self, value: Op) -> Iterable[Op]:
        """The same object after each use of a value."""
        return [each for use in value.uses for each in self._after(value, use)]

    def _after(self, value: Op, use: Op) -> Iterable[Op]:
        """What is the same object after a use of it."""
        if use.code in _SAME:
            return [use]
        if use.code in ("attr", "store_attr", "store_global"):
            return self._by_name(value, use)
        if use.code == "return":
            return self._returned(value)
        if use.code == "call" and use.args[0] is not value:
            return self._given(value, use)
        self._gets_away |= use.code not in _NOTHING
        return []

    def _by_name(self, value: Op, use: Op) -> Iterable[Op]:
        name = str(use.name)
        if use.code == "store_global":
            reads = self._unit.reads("global", name)
            return [each for each in reads if each.function is not self._unit.module]
        if use.code == "attr":
            self._gets_away |= CALLED.fullmatch(name) is not None or name in self._methods
            return use.calls if name in MOVES else []
        if value is use.args[0]:  # of which an attribute is set
            return []
        self._gets_away |= not use.args[0].is_self
        return list(self._unit.reads("attr", name))

    def _returned(self, value: Op) -> Iterable[Op]:
        known = value.function.known_calls
        self._gets_away |= not known.all
        return known.calls

    def _given(self, value: Op, call: Op) -> Iterable[Op]:
        """The parameter that an object is given to."""
        if not _SHOWING.isdisjoint(call.called):
            return []
        taken = parameter_of(self._unit.values.callee(call), call, value)
        self._gets_away |= taken is None
        return [] if taken is None else [taken]

"""What becomes of a generator of random numbers: who seeds it, what is drawn, where it goes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import parameter_of, word_of
from detlint.dataflow.ends import End, ends_of
from detlint.dataflow.randomness.seeding import has_seed
from detlint.dataflow.slices import ahead, closure
from detlint.models import randomness
from detlint.models.names import identifies, means_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

# Methods after which a generator does not start from the operating system, or torch's default.
_RESTORING = frozenset(("__setstate__", "set_state", "setstate"))
_MOST = 60  # what is made of one number
_SAME = frozenset(("boolean", "choice", "declared", "free", "phi"))
_LOOKING = frozenset(("compare", "drop", "format", "not", "param", "test"))
_BITS = frozenset(("getrandbits", "randbytes"))
STATE = frozenset(("getstate", "seed", "setstate"))
_BY_LOOKING = frozenset(
    f"builtins.{name}" for name in ("bool", "hasattr", "id", "isinstance", "print", "repr", "type")
)
_KEEPING = frozenset(("add", "discard", "remove"))
_FORMATTING = frozenset(("builtins.format", "builtins.hex", "builtins.str"))
_FORMATTING_METHODS = frozenset(("format", "hex"))
_CONVERTING = frozenset(("attr", "binary", "call", "comprehension", "item", "phi", "unary"))
# Clocks that nobody asks for the time of day.
_CLOCKS = frozenset(
    ("time.perf_counter", "time.perf_counter_ns", "time.process_time", "timeit.default_timer")
)
_TIMERS = ("timeit.", "timerit")  # what runs code again and again for its time
_DEEPEST = 3  # functions that call each other, between a timer and a draw


class Fate:
    """What happens to one generator, as far as its file shows.

    methods   the attributes that are read of it, each with what reads it
    restored  a state is assigned to it
    given     the calls that get it, each with the keyword
    escapes   it goes where the file does not show what happens to it
    names     attributes, variables of the module and of a class that keep it
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.methods: list[tuple[str, Op]] = []
        self.restored = False
        self.given: list[tuple[Op, str]] = []
        self.escapes = False

    def add(self, other: Fate) -> None:
        """What also happens to it."""
        self.methods += other.methods
        self.restored |= other.restored
        self.given += other.given
        self.escapes |= other.escapes

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens to it in its file."""
        return not (self.methods or self.restored or self.given or self.escapes)


class Generators:
    """Follows the generators of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._kept: dict[tuple[str, str], Fate] = {}  # by what keeps them, and its name

    def fate(self, made: Op) -> Fate:
        """What happens to a generator."""
        return self._followed([made])

    def _keep(self, code: str, name: str, fate: Fate) -> None:
        fate.names.append(name)
        fate.add(self._named(code, name))

    def _followed(self, starts: list[Op]) -> Fate:
        fate = Fate()
        followed = closure(
            starts, lambda op: (x for use in op.uses for x in self._step(use, op, fate))
        )
        for value in followed:
            if isinstance(value.function.node, ast.ClassDef):
                for name in value.function.names_of(value):
                    self._keep("attr", name, fate)
        return fate

    def _step(self, use: Op, value: Op, fate: Fate) -> Iterator[Op]:
        if use.code == "attr":
            fate.methods.append((str(use.name), use))
            if use.name == "bit_generator":
                yield use
        elif use.code in _SAME:
            yield use
        elif use.code == "store_attr":
            self._stored(use, value, fate)
        elif use.code == "store_global":
            self._keep("global", str(use.name), fate)
        elif use.code == "call":
            yield from self._given(use, value, fate)
        elif use.code == "param":
            yield use
        else:
            fate.escapes |= use.code not in _LOOKING

    def _stored(self, use: Op, value: Op, fate: Fate) -> None:
        if use.args[0] is value:
            fate.restored |= use.name in ("state", "bit_generator")
        else:
            self._keep("attr", str(use.name), fate)

    def _named(self, code: str, name: str) -> Fate:
        """What happens to all that is kept in an attribute or a global variable of a name."""
        key = code, name
        if key not in self._kept:
            self._kept[key] = Fate()
            self._kept[key] = self._followed(list(self._unit.reads(code, name)))
        return self._kept[key]

    def is_only_timed(self, fate: Fate, *, clocks: bool) -> bool:
        """Whether all that draws is run for the time that it takes, and nothing keeps a number;
        ``clocks``: what lies between two looks at a clock is, too."""
        timed = _lies_between_clocks if clocks else _is_repeated
        draws = [each for name, each in fate.methods if name not in STATE]
        draws += [call for call, _ in fate.given]
        told = {self._is_timed(each, timed, _DEEPEST) for each in draws}
        return not fate.escapes and True in told and False not in told

    @staticmethod
    def is_only_drawn(fate: Fate) -> bool:
        """Whether all that it gives goes into figures that people look at."""
        draws = [each.calls for name, each in fate.methods if name not in STATE]
        ends = [ends_of(call, picks=False) for calls in draws for call in calls]
        alone = bool(ends) and all(draws) and not (fate.given or fate.escapes)
        return alone and all(End.FIGURE in each for each in ends)

    def _is_timed(self, draw: Op, timed: Callable[[Op], bool], deepest: int) -> bool | None:
        """None where nothing calls the function around it."""
        calls = [draw] if draw.code == "call" else draw.calls
        if all(each.is_dropped for each in calls) and timed(draw):
            return True
        if draw.function is self._unit.module or not deepest:
            return False
        around = self._unit.callers.entering(draw.function)
        told = {self._is_timed(each, timed, deepest - 1) for each in around}
        return None if told <= {None} else False not in told

    def _given(self, call: Op, value: Op, fate: Fate) -> Iterator[Op]:
        called = self._unit.values.called(call)
        if not randomness.WRAPPING.isdisjoint(called):
            yield call
            return
        if "builtins.getattr" in called:
            yield call  # the default
            return
        if called and all(each in _BY_LOOKING for each in called):
            return
        taken = parameter_of(self._unit.values.callee(call), call, value)
        if taken is not None:
            yield taken
        else:
            fate.given += [(call, name or "") for name, each in call.arguments() if each is value]


def is_seeded(fate: Fate) -> bool:
    """Whether a generator of Python or NumPy gets a seed or a state."""
    return fate.restored or any(True for _ in seeding(fate))


def seeding(fate: Fate) -> Iterator[Op]:
    """The methods by which such a generator gets a seed or a state."""
    for name, method in fate.methods:
        seeds = name == "seed" and any(x.code == "call" and has_seed(x) for x in method.uses)
        if seeds or name in _RESTORING:
            yield method


def is_shared(fate: Fate) -> bool:
    """Whether a generator goes into a variable of a graph, which a caller seeds."""
    return any(not randomness.SHARED.isdisjoint(call.called) for call, _ in fate.given)


def _names_of(op: Op) -> list[str]:
    return [*op.called, *op.values.qualified(op)]


def _is_repeated(op: Op) -> bool:
    """``for _ in timerit: …``"""
    for region in op.region.around():
        over = region.head.args[:1] if region.kind == "for" and region.head else ()
        if any(name.startswith(_TIMERS) for x in over for name in _names_of(x)):
            return True
    return False


def _lies_between_clocks(op: Op) -> bool:
    """``start = perf_counter(); …; perf_counter() - start``"""
    asked = [x.place for x in op.function.ops if not _CLOCKS.isdisjoint(x.called)]
    return _is_repeated(op) or (bool(asked) and asked[0] < op.place < asked[-1])


# Draws


def only_names(made: Op, fate: Fate) -> bool:
    """Whether all that is drawn only names or identifies something: a run, a file, a port."""
    draws = [(name, each) for name, each in fate.methods if name not in STATE]
    if fate.escapes or not draws:
        return False
    at_once = len(draws) == 1 and made.uses == [draws[0][1]] and not made.function.names_of(made)
    if at_once and _is_label(draws[0][1]):
        return True
    kept = all(word_of(call) in _KEEPING for call, _ in fate.given)
    return kept and all(name in _BITS and _identifies(each) for name, each in draws)


def _is_label(draw: Op) -> bool:
    """Whether what a method gives is called by the name of a label, and by no other."""
    found = nearest_names(draw)
    return bool(found) and all(map(means_label, found))


def nearest_names(value: Op) -> list[str]:
    """What a value is called, or else the first that is made of it and has a name."""
    return next((names for each in _converted(value) if (names := names_given(each))), [])


def _converted(value: Op) -> Iterator[Op]:
    """A value and what arithmetic, conversions and methods make of it, nearest first."""
    return ahead([value], _CONVERTING, _MOST)


def names_given(value: Op) -> list[str]:
    """What a value is called: by a variable, a key, a keyword, or what goes through it."""
    names = list(value.function.names_of(value))
    for use in value.uses:
        if use.code == "iter":
            names += use.function.names_of(use)
        elif use.code in ("store_attr", "store_global"):
            names.append(str(use.name))
        elif use.code == "entry":
            names.append(str(use.args[0].name))
        elif use.code == "call":
            names += [name for name, each in use.arguments() if name and each is value]
    return names


def _identifies(draw: Op) -> bool:
    """Whether what is drawn goes into a text, or stands where a name says what it makes."""
    function = draw.function
    around = [function.class_name, function.word]
    made = list(_converted(draw))
    if any(map(identifies, [*around, *(name for each in made for name in names_given(each))])):
        return True
    return any(_is_formatted(use) for each in made for use in each.uses)


def _is_formatted(use: Op) -> bool:
    if use.code == "call":
        called = use.called
        return not _FORMATTING.isdisjoint(called) or word_of(use) in _FORMATTING_METHODS
    if use.code == "binary":
        return isinstance(use.args[0].literal, str)
    return use.code == "format"

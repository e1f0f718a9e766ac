"""What becomes of a generator of random numbers: who seeds it, what is drawn, where it goes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.ends import End, ends_of
from detlint.dataflow.forwards import Forwards
from detlint.dataflow.randomness.seeding import has_seed
from detlint.dataflow.slices import SAME, ahead
from detlint.models import randomness
from detlint.models.names import identifies, means_label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.dataflow.ir import Op

# Methods after which a generator does not start from the operating system, or torch's default.
_RESTORING = frozenset(("__setstate__", "set_state", "setstate"))
_MOST = 60  # what is made of one number
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


class Fate(Forwards):
    """What happens to a generator, as far as its file shows.

    methods   the attributes that are read of it, each with what reads it
    restored  a state is assigned to it
    given     the calls that get it, each with the keyword
    names     attributes, variables of the module and of a class that keep it
    """

    ends = frozenset(("compare", "drop", "format", "not", "test"))
    same = SAME | {"param"}

    def __init__(self, made: Op) -> None:
        super().__init__(made.function.unit)
        self.names: list[str] = []
        self.methods: list[tuple[str, Op]] = []
        self.restored = False
        self.given: list[tuple[Op, str]] = []
        for _ in self.followed(made):
            pass

    @property
    def is_idle(self) -> bool:
        """Whether nothing happens to it in its file."""
        return not (self.methods or self.restored or self.given or self.escapes)

    @property
    def draws(self) -> list[Op]:
        """The methods by which it draws."""
        return [each for name, each in self.methods if name not in STATE]

    def after(self, value: Op) -> Iterator[Op]:
        yield from super().after(value)
        if isinstance(value.function.node, ast.ClassDef):
            for name in value.function.names_of(value):
                self.names.append(name)
                yield from self.unit.reads("attr", name)

    def _to_attr(self, use: Op, _: Op) -> Iterable[Op]:
        self.methods.append((str(use.name), use))
        return [use] if use.name == "bit_generator" else ()

    def _to_store_attr(self, use: Op, value: Op) -> Iterable[Op]:
        if use.args[0] is value:
            self.restored |= use.name in ("state", "bit_generator")
            return ()
        self.names.append(str(use.name))
        return super()._to_store_attr(use, value)

    def _to_store_global(self, use: Op, value: Op) -> Iterable[Op]:
        self.names.append(str(use.name))
        return super()._to_store_global(use, value)

    _to_return = Forwards.escape

    def _given(self, call: Op, value: Op) -> Iterable[Op]:
        called = call.called
        if not randomness.WRAPPING.isdisjoint(called) or "builtins.getattr" in called:
            return [call]  # of ``getattr``, the default
        if not (called and all(each in _BY_LOOKING for each in called)):
            arguments = call.arguments()
            self.given += [(call, name or "") for name, each in arguments if each is value]
        return ()

    def is_only_timed(self, *, clocks: bool) -> bool:
        """Whether all that draws is run for the time that it takes, and nothing keeps a number;
        ``clocks``: what lies between two looks at a clock is, too."""
        timed = _lies_between_clocks if clocks else _is_repeated
        draws = [*self.draws, *(call for call, _ in self.given)]
        told = {_is_timed(each, timed, _DEEPEST) for each in draws}
        return not self.escapes and True in told and False not in told

    def is_only_drawn(self) -> bool:
        """Whether all that it gives goes into figures that people look at."""
        draws = [each.calls for each in self.draws]
        ends = [ends_of(call, picks=False) for calls in draws for call in calls]
        alone = bool(ends) and all(draws) and not (self.given or self.escapes)
        return alone and all(End.FIGURE in each for each in ends)


def _is_timed(draw: Op, timed: Callable[[Op], bool], deepest: int) -> bool | None:
    """None where nothing calls the function around it."""
    calls = [draw] if draw.code == "call" else draw.calls
    if all(each.is_dropped for each in calls) and timed(draw):
        return True
    unit = draw.function.unit
    if draw.function is unit.module or not deepest:
        return False
    around = unit.callers.entering(draw.function)
    told = {_is_timed(each, timed, deepest - 1) for each in around}
    return None if told <= {None} else False not in told


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

"""What draws from the global generators of libraries, and what seeds them."""

from __future__ import annotations

import ast
from functools import cache, cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.control import exclude
from detlint.dataflow.slices import before, closure
from detlint.models import randomness, tables
from detlint.models.loading import is_known
from detlint.models.names import means_seeding, words_of
from detlint.syntax.mentions import holds, mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit
    from detlint.models.randomness import DrawingMethod

# What the text of a function that seeds holds.
_PARTS = (
    *("seed", "Seed", "determinis", "set_state", "setstate", "set_rng_state", "guard"),
    *("reproducib", "hyperpyyaml", "prepare_environment"),
)
_MAKING = frozenset(("get", "make", "manual", "new", "spawn"))
_HELD = frozenset(("call", "declared", "enter", "free", "global", "phi"))
_MOVING = frozenset(("cpu", "cuda", "fit", "half", "to"))
_DEEPEST = 6  # functions, one calling another, between two operations
_FEW = 20  # calls by which a file gets to a draw
_MOST = 200  # operations behind a seed that are asked


def drawn_from(op: Op) -> str:
    """The library whose global generator a call draws from; "" for none."""
    if op.code != "call":
        return ""
    place = next(filter(None, map(randomness.GIVEN_AT.get, op.called)), None)
    names = (*randomness.GIVEN, *filter(None, map(randomness.GIVEN_BY.get, op.called)))
    if any(op.given(each, place) is not None for each in names):
        return ""
    found = next(filter(None, map(randomness.DRAWS.get, op.called)), "")
    return found or _of_method(op) or _of_tensor(op) or _of_model(op)


def _of_method(call: Op) -> str:
    """The library of ``stats.norm.rvs(size=n)``, ``Prophet().fit(x).predict(x)`` and
    ``Normal(0, 1).sample()``, also of what the function makes before."""
    row = randomness.DRAWING_METHODS.get(word_of(call))
    if row is None or call.args[0].code != "attr":
        return ""
    if row.given and call.given(row.given, row.place) is not None:
        return ""
    owner = call.args[0].args[0]
    known = (one.of for one in call.values.types(owner) if one.name == "instance")
    if any(map(row.owners, (*call.called, *known))):
        return row.library
    made = [each for each in _makers(owner) if each.code == "call"]
    found = [each for each in made if any(map(row.owners, each.called))]
    return "" if not found or any(_is_off(each, row) for each in found) else row.library


def _is_off(made: Op, row: DrawingMethod) -> bool:
    """Whether an object is made to draw nothing, or from a generator of its own."""
    many = made.given(row.many) if row.many else None
    none = many is not None and made.values.constant(many) in (0, None)
    return none or bool(row.off and made.given(row.off))


def _of_tensor(call: Op) -> str:
    """The library of ``torch.softmax(x, -1).multinomial(1)``, a method of what torch gave."""
    if call.args[0].code != "attr" or word_of(call) not in randomness.OF_TENSORS:
        return ""
    names = call.values.called(call.args[0].args[0])
    return "torch" if any(each.startswith("torch.") for each in names) else ""


def _of_model(call: Op) -> str:
    """The library of ``model.generate(x, do_sample=True)`` and of what ``pipeline(…)`` gives, of
    transformers, and of ``pipe(prompt)`` of diffusers."""
    text = call.function.unit.text
    if holds(text, randomness.SAMPLES) and _is_sampled(call):
        generates = word_of(call) == randomness.GENERATING and call.args[0].code == "attr"
        made = () if generates else _makers(call.args[0])
        known = generates or any(randomness.PIPELINE in each.called for each in made)
        return "torch" if known else ""
    loads = any(holds(text, each) for each in randomness.LOADS_PIPELINE)
    piped = loads and call.given("latents") is None
    return "torch" if piped and any(map(randomness.draws_latents, _names_made(call))) else ""


def _is_sampled(call: Op) -> bool:
    """Whether a call says ``do_sample=True``, also in a dict that it unpacks or a configuration."""
    for name, value in call.arguments():
        if name == randomness.SAMPLES:
            return value.constant is True
        for made in _makers(value) if name in ("**", "generation_config") else ():
            if made.code == "call" and made.given(randomness.SAMPLES) is not None:
                return _is_sampled(made)
            if made.code == "dict" and any(map(_is_sampling_entry, made.args)):
                return True
    return False


def _is_sampling_entry(entry: Op) -> bool:
    key, value = entry.args if entry.code == "entry" else (None, None)
    named = key is not None and key.text == randomness.SAMPLES
    return named and value is not None and value.constant is True


def _names_made(call: Op) -> list[str]:
    function = call.args[0]
    if function.code not in _HELD or call.called:
        return []
    return [name for each in _makers(function) if each.code == "call" for name in each.called]


def _makers(value: Op) -> Iterator[Op]:
    """What may have made a value, also through ``pipe.to("cuda")``."""
    return closure([value], _before, _MOST)


def _before(op: Op) -> Sequence[Op]:
    if op.code == "call" and op.args[0].code == "attr" and word_of(op) in _MOVING:
        return op.args[0].args
    return before(op)


def drawn_by_tensorflow(op: Op) -> str:
    """TensorFlow, of a call that draws from its global generator and is given no seed; "" for
    another."""
    if op.code != "call":
        return ""
    if not randomness.QUEUES_OF_TENSORFLOW.isdisjoint(op.called):
        shuffles = op.given("shuffle")
        if shuffles is not None and op.values.constant(shuffles) is False:
            return ""
    elif randomness.OF_TENSORFLOW.isdisjoint(op.called):
        return ""
    place = 1 if "_flip_" in word_of(op) else None
    return "tensorflow" if op.lacks("seed", position=place) else ""


class Seeding:
    """Answers for one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._taking = cache(self._find_taking)

    def seeds(self, library: str) -> bool:
        """Whether code of the file seeds the global generator of a library."""
        return any(library in libraries for _, libraries in self._calls)

    def aside(self, library: str, draw: Op) -> str:
        """The function that seeds a library, where none does that the file calls, or that a draw
        stands in; "" otherwise."""
        own = draw.function.outermost
        found = {x.function.outermost for x, libraries in self._calls if library in libraries}
        left = all(each is not own and self._is_uncalled(each) for each in found)
        return min(each.word for each in found) if found and left else ""

    def is_drawn_before(self, library: str, draw: Op) -> bool:
        """Whether a function of the file gets to a draw, and only later to all that seeds a
        library in it."""
        seeds = [op for op, libraries in self._calls if library in libraries]
        for way in closure([draw], lambda way: way.function.known_calls.calls, _FEW):
            found = [self._ways(each, way.function) for each in seeds]
            if all(x and all(_comes_later(each, way) for each in x) for x in found):
                return True
        return False

    def _ways(self, op: Op, function: Function, depth: int = 0) -> list[Op]:
        """The operations of a function by which alone the file gets to another one; none where it
        may do so in other ways."""
        if op.function is function:
            return [op]
        known = op.function.known_calls
        if not known.all or depth > _DEEPEST:
            return []
        found = [self._ways(each, function, depth + 1) for each in known.calls]
        return [each for x in found for each in x] if all(found) else []

    def _is_uncalled(self, function: Function) -> bool:
        """Whether a file does not name a function or method, nor what may call it by itself."""
        owner, _, word = function.name.rpartition(".")
        if function.decorators or (word.startswith("__") and word.endswith("__")):
            return False
        inherits = bool(owner) and bool(
            set(self._unit.bases(owner)) - {"object", "builtins.object"}
        )
        return not inherits and len(mentions(self._unit.text, word)) == 1

    def seeds_by_models(self, library: str) -> bool:
        """The same, by a function of which the settings of the project say so."""
        values = self._unit.values
        return any(
            library in row.seeds and row.name not in tables.FUNCTIONS
            for op, _ in self._calls
            if op.code == "call" and (row := values.function_row(op)) is not None
        )

    def seeds_apart(self, library: str, drawn: Op, names: Iterable[str], *, last: bool) -> bool:
        """The same, with something other than what a call draws, or what has one of some names;
        ``last``: so does an attribute."""
        count, taking = self._taking(library, last)
        keys: list[Op | str] = [drawn, *names]
        tied = set[int]().union(*(taking.get(each, set()) for each in keys))
        return len(tied) < count

    def _find_taking(self, library: str, last: bool) -> tuple[int, dict[Op | str, set[int]]]:
        """How many calls seed a library, and by each operation and name that some are given
        something made of, which these are."""
        seeds = [op for op, libraries in self._calls if library in libraries]
        found: dict[Op | str, set[int]] = {}
        for place, op in enumerate(seeds):
            given = [value for _, value in op.arguments()] if op.code == "call" else []
            for each in _behind(given):
                for key in (each, each.word if last or each.code != "attr" else ""):
                    if key != "":
                        found.setdefault(key, set()).add(place)
        return len(seeds), found

    @cached_property
    def _calls(self) -> list[tuple[Op, tuple[str, ...]]]:
        return [
            (op, libraries)
            for outer in self._unit.functions_holding(*_PARTS, *self._unit.own_seeding)
            for function in outer.everything()
            for op in function.ops
            if (libraries := self._seeded(op))
        ]

    def _seeded(self, op: Op) -> tuple[str, ...]:
        """The libraries that an operation seeds."""
        values = self._unit.values
        if is_guard(op):
            return randomness.LIBRARIES
        if op.code != "call":
            return ()
        row = values.function_row(op)
        if row is not None and row.seeds:
            return row.seeds if has_seed(op) or row.name not in randomness.SEEDING else ()
        called = values.called(op)
        # What a function of the file does is seen in it.
        helps = values.callee(op) is None and _is_helper(op, called)
        return randomness.LIBRARIES if helps else ()


def _comes_later(seed: Op, draw: Op) -> bool:
    return seed.place > draw.place and not exclude(draw, seed)


def _is_helper(call: Op, called: list[str]) -> bool:
    """Whether a function out of sight seeds, by its name: what, cannot be seen."""
    word = word_of(call)
    if word in randomness.HELPERS:
        return True
    if word == "seed" or not means_seeding(word) or word[0].isupper() or not has_seed(call):
        return False
    return words_of(word)[0] not in _MAKING and not any(map(is_known, called))


def is_guard(op: Op) -> bool:
    """Whether an operation is a call of guard that seeds and turns determinism on, or the import
    that does."""
    if op.code == "import":
        named = op.node.names if isinstance(op.node, ast.Import) else []
        return any(each.name in randomness.GUARD for each in named)
    called = op.called
    return not randomness.GUARD.isdisjoint(called)


def has_seed(call: Op) -> bool:
    """Whether a call is given something first that is not None."""
    given = [value for _, value in call.arguments()]
    return bool(given) and not (given[0].is_none)


def _behind(values: list[Op]) -> Iterator[Op]:
    """What some values are made of."""
    return closure(values, lambda op: () if op.code == "param" else op.args, _MOST)

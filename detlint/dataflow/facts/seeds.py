"""What seeds, and what is given a seed: by a call, by an experiment that runs a function."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.required_arguments import looked_up
from detlint.dataflow.calls import path_of, word_of
from detlint.dataflow.control import is_certain
from detlint.dataflow.facts.found import FileFacts, Found, whole
from detlint.dataflow.facts.processes import starts_workers
from detlint.dataflow.learning.inference import decorators
from detlint.dataflow.randomness.generators import (
    Fate,
    is_seeded,
    is_shared,
    only_names,
)
from detlint.dataflow.randomness.seeding import has_seed, is_guard
from detlint.dataflow.slices import behind
from detlint.index.facts import EVERY, IN_FILE, OF_EXPERIMENT, RENEWED
from detlint.models import experiments, names, randomness
from detlint.models import training as trainers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.learning.training import Training
    from detlint.dataflow.unit import Unit


_OF_GENERATORS = frozenset(("seed", "manual_seed", "manual_seed_all"))
_MODULES = {"np": "numpy", "numpy": "numpy", "torch": "torch"}
_SEED = frozenset(("seed", "random_seed", "manual_seed"))
_WORKERS = 1  # the place of the argument
_GIVEN = (experiments.GIVEN, experiments.GIVEN_SEED)
_MOST = 50  # operations behind a seed


class SeedFacts(FileFacts):
    """Answers for the functions of one file."""

    def __init__(self, unit: Unit, training: Training) -> None:
        super().__init__(unit, training)
        self._states = unit.rng_states

    def seeds(self, function: Function) -> Iterator[Found]:
        """Calls that seed, and classes of which making one does."""
        if starts_workers(function):
            return
        for op in function.ops:
            if op.code == "store_attr":
                owners = self._values.qualified(op.args[0]) if op.name in _SEED else ()
                named = (f"{each}.{op.name}" for each in owners)
                found = filter(None, map(randomness.SEEDING_ATTRIBUTES.get, named))
                yield from (Found(op, each) for each in found)
            elif op.code in ("call", "import"):
                need = OF_EXPERIMENT if _takes_seed(op) else ""
                for what in self._seeded(op):
                    yield Found(op, what, need=need)
            elif op.code == "class" and any(map(self._is_trainer, op.args)):
                yield Found(op, EVERY)
        bases = function.unit.qualified_bases(function.name)
        if any(map(trainers.seeds, bases)):
            yield Found(whole(function), EVERY)
        if decorator := _runner(function):
            for library in randomness.LIBRARIES:
                yield Found(whole(function), library, decorator, need=OF_EXPERIMENT)

    @staticmethod
    def experiment_seeds(function: Function) -> Iterator[Found]:
        """Where the configuration of an experiment gets a seed."""
        for op, how in _configured(function):
            yield Found(op, how)

    def _is_trainer(self, base: Op) -> bool:
        return any(map(trainers.seeds, self._values.qualified(base)))

    def _seeded(self, op: Op) -> Iterator[str]:
        if is_guard(op):
            yield EVERY
        if op.code != "call":
            return
        called, word = self._training.called(op) or list(_as_written(op)), word_of(op)
        rows = (each for name in called for each in randomness.BY_NAME.get(name, ()))
        row = tuple(dict.fromkeys(rows))
        if row:
            if has_seed(op) and not self._states.is_put_back(op):
                yield from (each for each in row if not self._says_nothing(op, each))
        elif (
            word in randomness.HELPERS
            or (word == "random_seed" and op.args[1:])
            or any(map(_seeds_by_name, called))
            or self._hands_seed_on(op, called, word)
        ):
            yield f"{word}()"
        elif any(map(trainers.seeds, called)) or self._is_seeding_command_line(op, word):
            yield EVERY

    def _says_nothing(self, seed: Op, library: str) -> bool:
        """Whether a seed holds for a few lines only, or is what the same generator has drawn."""
        apart = self._states.holds_apart(seed, library)
        return apart or self._states.is_of_itself(seed, library)

    def _hands_seed_on(self, call: Op, called: Sequence[str], word: str) -> bool:
        """Whether a function of some library, or what trains by a method, takes a seed, with which
        it may seed everything."""
        constant = self._values.constant
        given = [value for name, value in call.arguments() if name in _SEED]
        takes = any(constant(each) is not None for each in given)
        if not any(map(randomness.may_seed, called)):
            return takes and not called and self._training.library(call) == "torch"
        if word == "seed":
            return has_seed(call)
        if word.startswith("set_deterministic") and call.args[1:]:  # which is given the options
            return not isinstance(constant(call.args[1]), bool)
        return takes

    def _is_seeding_command_line(self, call: Op, word: str) -> bool:
        """Lightning's, which seeds all, unless it is told not to; since release 2.5 with 0, where
        it is given no number."""
        given = call.given("seed_everything_default")
        value = None if given is None else self._values.constant(given)
        if self._training.makes_command_line(call):
            return value is not False
        return word == "LightningCLI" and value is not None and not isinstance(value, bool)

    def of_generators(self, call: Op) -> str | None:
        """Generators that are drawn from, whose seed is a parameter or kept from one."""
        seed = seed_of(call)
        if seed is None or (seed.code not in ("attr", "param") and not looked_up(seed)[1]):
            return None
        fate = Fate(call)
        is_used = fate.methods or fate.given or fate.escapes
        apart = is_seeded(fate) or is_shared(fate) or only_names(call, fate)
        return "" if is_used and not apart else None

    def of_kept_generators(self, call: Op) -> str | None:
        """Seeded generators that the file keeps for all of its functions, each with those that draw
        from it, after a mark where the one around makes it anew whenever it runs."""
        seed = seed_of(call)
        if seed is None or seed.is_none or not _is_for_all(call):
            return None
        fate = Fate(call)
        draws = [each for each in fate.draws if each.calls]
        draws += [each for each, _ in fate.given]
        drawing = {each.function.outermost.name for each in draws} - {""}
        renewed = call.function.is_defined and is_certain(call)
        found = f"{RENEWED if renewed else ''}{' '.join(sorted(drawing))}"
        return None if is_seeded(fate) else found or None

    def of_worker_seeds(self, call: Op) -> str | None:
        """Of ``seed_everything(0)``, whether workers are "given" or "left out": Fabric gives."""
        seeds = word_of(call) == "seed_everything"
        called = [*self._training.called(call), *self._training.methods(call)] if seeds else []
        if not any(each.startswith(trainers.LIGHTNING) for each in called):
            return None
        fabric = any(each.endswith("Fabric.seed_everything") for each in called)
        given = fabric or call.unpacks or call.given("workers", _WORKERS) is not None
        return "given" if given else "left out"


def _as_written(call: Op) -> Iterator[str]:
    """What is called of something unknown that is written as a module is: a function may be handed
    it, or get it from one that imports late."""
    first, _, rest = path_of(call.args[0]).partition(".")
    if rest and first in _MODULES:
        yield f"{_MODULES[first]}.{rest}"


def _seeds_by_name(called: str) -> bool:
    """Whether a function of some module is named as one that seeds, and not a generator's."""
    word = called.rpartition(".")[2]
    means = names.means_seeding(word) and word not in _OF_GENERATORS
    return means and not randomness.seeds_itself(called)


def _is_for_all(value: Op) -> bool:
    """Whether a variable of the module or an attribute of a class keeps a value."""
    owners = (use.args[0] for use in value.uses if use.code == "store_attr")
    return (
        isinstance(value.function.node, ast.ClassDef)
        or any(use.code == "store_global" for use in value.uses)
        or any(owner.word == "cls" or owner.code == "global" for owner in owners)
    )


def seed_of(call: Op) -> Op | None:
    """The seed of a generator that is made."""
    keyword = next((randomness.SEED_PARAMETER.get(name) for name in call.called), None)
    return call.given(keyword, 0) if keyword else None


def seeds_given(call: Op) -> list[Op]:
    """The seeds that a call is given."""
    given = [value for name, value in call.arguments() if name in _SEED]
    return [*given, *(call.args[1:2] if word_of(call) == "seed" else ())]


def takes_none(seed: Op) -> bool:
    """Whether a call that seeds takes None, and then seeds by the operating system."""
    return not randomness.RESEEDING.isdisjoint(seed.called)


def hands_on(unit: Unit, name: str) -> bool:
    """Whether a function of a file takes options of any name, among them a seed: whoever gets them
    may seed with it."""
    function = unit.defined(name)
    taken = [op.name for op in function.params.values()] if function is not None else []
    return "**" in [stars for stars, _ in taken] and not any(each in _SEED for _, each in taken)


def _runner(function: Function) -> str:
    """The decorator by which an experiment runs a function, as it is written; "" of none."""
    for each in decorators(function):
        if each.code == "attr" and each.name in experiments.RUNS and _is_of_experiment(each):
            return f"@{ast.unparse(each.node)}"
    return ""


def _takes_seed(seeding: Op) -> bool:
    """Whether what an experiment runs seeds with the seed that its configuration has in any case:
    ``np.random.seed(_config["seed"])``."""
    if not any(each.word in _GIVEN for each in seeding.function.params.values()):
        return False
    made = list(behind(*seeding.args[1:2], most=_MOST))
    taken = {each.word for each in made if each.code == "param"}
    looked_up = any(each.code == "item" and each.args[1].text == experiments.SEED for each in made)
    return experiments.GIVEN_SEED in taken or (looked_up and experiments.GIVEN in taken)


def _is_of_experiment(decorator: Op) -> bool:
    made = decorator.values.bound_to(decorator.args[0])
    known = made.code == "call" and not experiments.CLASSES.isdisjoint(made.called)
    return known or decorator.name == experiments.AUTOMAIN  # another file may make it


def _configured(function: Function) -> Iterator[tuple[Op, str]]:
    """Where an experiment's configuration gets a seed, or what one does not see, each with
    ``IN_FILE`` where a file has to give it."""
    for call in function.coded("call"):
        if word_of(call) == experiments.ADDS:
            yield from ((call, how) for how in map(_added, call.arguments()) if how is not None)
        elif (updates := call.given(experiments.UPDATES)) is not None and _may_hold(updates):
            yield call, ""
    scope = any(
        each.code == "attr" and each.name == experiments.SCOPE for each in decorators(function)
    )
    bound = function.bindings.get(experiments.SEED, []) if scope else []
    yield from ((each, "") for each in bound if not each.is_none)


def _added(argument: tuple[str | None, Op]) -> str | None:
    """How an argument of what adds to the configuration may give a seed; None if it does not."""
    name, value = argument
    if name not in (None, "*", "**", experiments.ADDED):
        return "" if name == experiments.SEED and not value.is_none else None
    if isinstance(value.constant, str):
        return IN_FILE
    return "" if _may_hold(value) else None


def _may_hold(settings: Op) -> bool:
    """Whether settings may have a seed: all but those that are written out without one."""
    hidden = settings.code != "dict" or len(settings.entries) < len(settings.args)
    return hidden or any(
        key.constant in (experiments.SEED, ...) and not value.is_none
        for key, value in settings.entries
    )

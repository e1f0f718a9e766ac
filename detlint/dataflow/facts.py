"""How each kind of fact is told from operations: what seeds, draws, trains, turns on, sets."""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, cast

from detlint.dataflow.arguments import settings
from detlint.dataflow.arguments.choices import Choices
from detlint.dataflow.arguments.required_arguments import Needs
from detlint.dataflow.callers import Callers
from detlint.dataflow.calls import owner_word, path_of, word_of
from detlint.dataflow.ir import Op
from detlint.dataflow.learning import checkpoints
from detlint.dataflow.learning.inference import decorators
from detlint.dataflow.learning.made_models import fate_of
from detlint.dataflow.learning.trained import LOSS, MODEL, WEIGHTS, Trained, gives_weights
from detlint.dataflow.learning.training import Training
from detlint.dataflow.loops import epochs
from detlint.dataflow.numerics import tensors
from detlint.dataflow.numerics.gradients import Gradients
from detlint.dataflow.numerics.layers import whole_of
from detlint.dataflow.origins import Origins, Place, qualified
from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.randomness import experiments, samplers
from detlint.dataflow.randomness.generators import Generators, is_seeded, is_shared, only_names
from detlint.dataflow.randomness.idle_draws import doubt
from detlint.dataflow.randomness.loaders import drawing, flag, may_be_positive
from detlint.dataflow.randomness.rng_states import States
from detlint.dataflow.randomness.seeding import drawn_by_tensorflow, drawn_from, has_seed, is_guard
from detlint.dataflow.slices import closure
from detlint.index.facts import (
    DRAWING,
    EVERY,
    MAY_BE,
    OF_EXPERIMENT,
    REPAIRED,
    SEEDING,
    STARTING,
    THAWS,
    TRAINER,
    UNSEEN_NAMES,
    VARIABLES,
    VARYING,
    Fact,
)
from detlint.index.scan import RUN
from detlint.models import layers, names, randomness, varying
from detlint.models import settings as rows
from detlint.models import training as trainers
from detlint.models.completions import JOBLIB, is_context
from detlint.sources.kinds import NOTEBOOK
from detlint.syntax.layout import layout_of
from detlint.syntax.parsing import REFUSALS, UnparsedError
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function
    from detlint.dataflow.numerics.operators import Operators, Table
    from detlint.dataflow.unit import Unit
    from detlint.notebooks.notebook import Notebook

_SETTLING = SEEDING | {"freezes"}
_CONDITIONAL = _SETTLING | DRAWING | VARYING  # what an argument may turn on
_OF_GENERATORS = frozenset(("seed", "manual_seed", "manual_seed_all"))
_MODULES = {"np": "numpy", "numpy": "numpy", "torch": "torch"}
_SEED = frozenset(("seed", "random_seed", "manual_seed"))
_OPTIONS = ("deterministic", "full_determinism", "use_deterministic_algorithms")
_CONFIGURING = ("Args", "Arguments", "Config", "Fabric", "Trainer")
_SEVERAL = ("ddp", "deepspeed", "fsdp")  # how strategies of several processes are called
_COUNTS = frozenset(f"{rows.TRAINER}.{each}" for each in ("devices", "gpus", "num_nodes"))
_STRATEGY = f"{rows.TRAINER}.strategy"
_SWITCHED_ON = {f"{rows.TRAINER}.deterministic": "torch", rows.DETERMINISTIC: "cudnn"}
_WORKERS = 1  # the place of the argument
_WORKER_START = "worker_init_fn"
_TABLES: tuple[Table, ...] = ("refused", "switched")
_RELEASE = (2, 13)  # of torch, whose operators differ
_NO_TORCH = ("tensorflow.", "keras.", "optax.", "flax.")
_NAMING = frozenset(("attr", "free", "global", "import"))
_FUNCTIONS = frozenset(("free", "function", "global"))
_UPDATES = frozenset(("add_", "addcdiv_", "copy_", "sub_"))
_HOLDING_BACK = (
    *("requires_grad", "no_grad", "inference_mode", "set_grad_enabled"),
    "Embedding.from_pretrained",
)
_GRADIENTS = frozenset(("g", "grad", "grads", "gradient", "gradients"))
_FEW = 50  # operations behind an update
_HELD = frozenset(("attr", "item", "iter", "unpack"))
_GATHERING = frozenset(("choice", "declared", "free", "list", "phi", "tuple"))
_GROUPS = ("tuple", "list", "set")
_SORTING = frozenset(("builtins.isinstance", "builtins.issubclass"))


class Found(NamedTuple):
    """An operation that does something; ``text``: how the source says it, if not by the node;
    ``need``: what it needs besides."""

    op: Op
    what: str
    text: str | None = None
    node: ast.AST | None = None
    need: str = ""


def read_facts(unit: Unit, kind: str, parts: Iterable[Sequence[int]]) -> list[list[Fact] | None]:
    """The facts of a kind in the functions and classes around the places of each part of a file;
    None of a part that cannot be parsed. What one part holds does not depend on the others."""
    source = unit.source
    notebook = cast("Notebook", source) if source.kind == NOTEBOOK and kind == "sets" else None
    magics = list(_set_by_magics(notebook)) if notebook is not None else []
    layout = layout_of(source.text)
    live = [[each for each in places if not layout.hides(each)] for places in parts]
    told = in_deep_stack(lambda: [_read(unit, kind, places) for places in live])
    return [[*magics, *facts] if facts is not None else magics or None for facts in told]


def _read(unit: Unit, kind: str, places: Sequence[int]) -> list[Fact] | None:
    """Those of the functions at some places, None if they cannot be parsed."""
    with suppress(*REFUSALS):
        try:
            return unit.facts.read(kind, places)
        except UnparsedError:  # lines were misjudged, or it is no Python
            whole = unit.as_whole
            return whole.facts.read(kind, places) if whole is not None else None
    return None


def hands_on(unit: Unit, name: str) -> bool:
    """Whether a function of a file takes options of any name, among them a seed: whoever gets them
    may seed with it."""
    function = unit.defined(name)
    taken = [op.name for op in function.params.values()] if function is not None else []
    return "**" in [stars for stars, _ in taken] and not any(each in _SEED for _, each in taken)


def _set_by_magics(source: Notebook) -> Iterator[Fact]:
    """What ``%env`` sets in a notebook."""
    from detlint.documents.notebook import variables

    for each in variables(source):
        place = (*source.location(each.start), *source.location(each.end))
        yield Fact(each.name, each.value or "", *place)


def _told(needs: Needs, kind: str, op: Op) -> str:
    """What has to be passed for an operation to run, as a fact holds it."""
    if kind == "generators":
        seed = _seed_of(op)
        found = needs.of_default(op, seed) if seed is not None else []
        return "\n".join(each.dump() for each in (*found, *needs.with_options(op)) if found)
    if kind in STARTING:
        return "\n".join(each.dump() for each in needs.with_options(op))
    if kind not in _CONDITIONAL:
        return ""
    if kind not in _SETTLING:
        found = needs.with_options(op)
        shuffle = flag(op) if kind == "orders" else None
        found += needs.of_flag(shuffle) if shuffle is not None else ()
    else:
        found = needs.settling(op)
        if op.code == "call" and op.args[1:] and (kind != "seeds" or _takes_none(op)):
            given = op.args[1:2] if kind == "seeds" else _seeds_given(op)
            found += [need for each in given for need in needs.of_value(each)]
    return "\n".join(each.dump() for each in found)


def _seed_of(call: Op) -> Op | None:
    """The seed of a generator that is made."""
    called = call.called
    keyword = next((randomness.SEED_PARAMETER.get(name) for name in called), None)
    return call.given(keyword, 0) if keyword else None


def _seeds_given(call: Op) -> list[Op]:
    """The seeds that a call is given."""
    given = [value for name, value in call.arguments() if name in _SEED]
    return [*given, *(call.args[1:2] if word_of(call) == "seed" else ())]


def _is_of_space(call: Op) -> bool:
    """``env.action_space.sample()``."""
    method = call.args[0]
    owner = method.args[0] if method.code == "attr" else method
    return owner.code == "attr" and owner.name in randomness.SPACES


def _seeded_by(call: Op) -> str:
    """What a call that is given a seed gives it to: an environment, its space, or either."""
    if _is_of_space(call):
        return "space"
    owner, word = owner_word(call), word_of(call)
    # What a method of the program's own gives it to is seen there.
    is_plain = owner == "self" or (owner and word in randomness.SEEDING_ENVIRONMENTS)
    return "environment" if is_plain else f"{word}()"


def _takes_none(seed: Op) -> bool:
    """Whether a call that seeds takes None, and then seeds by the operating system."""
    called = seed.called
    return not randomness.RESEEDING.isdisjoint(called)


class FactReader:
    """Reads the facts of one file."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._values = unit.values
        self._states = States(unit)
        self._training = Training(unit)
        self._generators = Generators(unit)
        self._trained = Trained(unit)
        self._tables: dict[str, Operators] = {}
        self._choices = _Devices(Callers(unit))
        self._facts: dict[tuple[str, Function], list[Fact]] = {}

    def read(self, kind: str, offsets: Iterable[int]) -> list[Fact]:
        """The facts of a kind in the functions at some places, in order: not those that visibly
        never run. Raises UnparsedError."""
        functions = self.unit.functions_at(offsets)
        return [fact for outer in functions for fact in self._facts_of(kind, outer)]

    def _facts_of(self, kind: str, outer: Function) -> list[Fact]:
        if (kind, outer) not in self._facts:
            self._facts[kind, outer] = list(self._read(kind, outer))
        return self._facts[kind, outer]

    def _read(self, kind: str, outer: Function) -> Iterator[Fact]:
        for function in filter(_may_be_called, outer.everything()):
            paths, needs = Paths(function), Needs(function)
            for found in self._found(kind, function):
                if paths.may_run(found.op):
                    told = (_told(needs, kind, found.op), found.need)
                    yield self._fact(found, "\n".join(filter(None, told)))

    def _found(self, kind: str, function: Function) -> Iterator[Found]:
        """What a function does of a kind, as ``of_<kind>`` tells it of a call, or ``<kind>`` of all
        of its operations."""
        judge = getattr(self, f"of_{kind}", None)
        if judge is None:
            yield from getattr(self, kind)(function)
            return
        for call in function.coded("call"):
            what = judge(call)
            if what is not None:
                yield Found(call, what)

    def _fact(self, found: Found, need: str) -> Fact:
        source, node = self.unit.source, found.node or found.op.node
        start, end = self.unit.span(node)
        text = " ".join(source.text[start:end].split()) if found.text is None else found.text
        place = (*source.location(start), *source.location(end))
        within = found.op.function.outermost.name
        return Fact(found.what, text, *place, need, doubt(found.op), within)

    def _called(self, call: Op) -> list[str]:
        called = self._values.called(call)
        return [each.replace("tensorflow.compat.v2.", "tensorflow.", 1) for each in called]

    # What seeds

    def seeds(self, function: Function) -> Iterator[Found]:
        """Calls that seed, and classes of which making one does."""
        if _starts_workers(function):
            return
        for op in function.ops:
            if op.code in ("call", "import"):
                need = OF_EXPERIMENT if experiments.takes_seed(op) else ""
                for what in self._seeded(op):
                    yield Found(op, what, need=need)
            elif op.code == "class" and any(map(self._is_trainer, op.args)):
                yield Found(op, EVERY)
        bases = self._training.bases(function.name) if function.name else ()
        if any(map(trainers.seeds, bases)):
            yield Found(_whole(function), EVERY)
        if decorator := experiments.runner(function):
            for library in randomness.LIBRARIES:
                yield Found(_whole(function), library, decorator, need=OF_EXPERIMENT)

    @staticmethod
    def experiment_seeds(function: Function) -> Iterator[Found]:
        """Where the configuration of an experiment gets a seed."""
        for op, how in experiments.seeds_given(function):
            yield Found(op, how)

    def _is_trainer(self, base: Op) -> bool:
        return any(map(trainers.seeds, self._values.qualified(base)))

    def _seeded(self, op: Op) -> Iterator[str]:
        if is_guard(op):
            yield EVERY
        if op.code != "call":
            return
        called, word = self._called(op) or list(_as_written(op)), word_of(op)
        row = next((row for each in called if (row := randomness.BY_NAME.get(each))), ())
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
        """Whether a function of some library takes a seed, with which it may seed everything."""
        if not any(map(randomness.may_seed, called)):
            return False
        if word == "seed":
            return has_seed(call)
        if word.startswith("set_deterministic") and call.args[1:]:  # which is given the options
            return not isinstance(self._values.constant(call.args[1]), bool)
        given = (value for name, value in call.arguments() if name in _SEED)
        return any(self._values.constant(each) is not None for each in given)

    def _is_seeding_command_line(self, call: Op, word: str) -> bool:
        """Lightning's, which seeds all, unless it is told not to; since release 2.5 with 0, where
        it is given no number."""
        given = call.given("seed_everything_default")
        value = None if given is None else self._values.constant(given)
        if self._training.makes_command_line(call):
            return value is not False
        return word == "LightningCLI" and value is not None and not isinstance(value, bool)

    # What draws

    def of_draws(self, call: Op) -> str | None:
        """Calls that draw from a global generator, where something depends on that."""
        library = drawn_from(call) or drawn_by_tensorflow(call)
        apart = library and self._states.is_seeded_apart(call, library)
        return None if apart else library or None

    def of_environments(self, call: Op) -> str | None:
        """Calls that make an environment of reinforcement learning, or, of a class of one, draw
        from the generator that it has."""
        if not randomness.ENVIRONMENTS.isdisjoint(self._called(call)):
            return "environment"
        return "draw" if self._draws_in_environment(call) else None

    def _draws_in_environment(self, call: Op) -> bool:
        """``self.np_random.uniform(0, 1)``."""
        generator = call.args[0].args[0] if call.args[0].code == "attr" else call
        named = [x for x in (generator, *generator.uses) if x.name == randomness.OF_ENVIRONMENT]
        if not any(x.code in ("attr", "store_attr") and x.args[0].is_self for x in named):
            return False
        bases = self._training.bases(generator.function.outermost.class_name)
        stores = self.unit.stores(randomness.OF_ENVIRONMENT)
        kept = (each.args[1] for each in stores)
        made = (each.args[0] if each.code == "unpack" else each for each in kept)
        return any(each.startswith(randomness.GYMS) for each in bases) and not any(
            randomness.SEEDING_OWN.isdisjoint(each.called) for each in made
        )

    @staticmethod
    def of_environment_steps(call: Op) -> str | None:
        """``state, reward, *_ = env.step(action)``: not of an optimizer or its schedule."""
        steps = word_of(call) == "step" and call.args[1:]
        return "environment" if steps and any(x.code != "drop" for x in call.uses) else None

    def of_environment_seeds(self, call: Op) -> str | None:
        """Calls that give such a one a seed, or a space, or what may be either."""
        if any(map(randomness.seeds_no_environment, self._called(call))):
            return None
        given = any(self._values.constant(each) is not None for each in _seeds_given(call))
        return _seeded_by(call) if given else None

    @staticmethod
    def of_spaces(call: Op) -> str | None:
        """Calls that draw from a space of an environment."""
        return "space" if word_of(call) == "sample" and _is_of_space(call) else None

    def of_builds(self, call: Op) -> str | None:
        """Calls that draw weights."""
        return self._training.built(call) or None

    def of_trains(self, call: Op) -> str | None:
        """Calls that train."""
        return self._training.library(call) or None

    def of_trainees(self, call: Op) -> str | None:
        """Calls of what other files may have that trains, each with the name of that, and the
        classes of what it is given."""
        return " ".join(self._training.handed_to_training(call)) or None

    def steps(self, function: Function) -> Iterator[Found]:
        """What changes weights by their gradients: an optimizer's step, an update by hand."""
        for op in function.ops:
            called = op.code == "call" and self._is_step(op)
            if called or _updates(op) or self._is_of_functions(op):
                yield Found(op, "torch")

    def _is_step(self, call: Op) -> bool:
        """``optimizer.step()``, ``scaler.step(optimizer)``: not of a schedule, nor of an
        environment, whose result is used."""
        word = word_of(call)
        if word != "step":
            return word == "optimizer_step"
        given = call.args[1:2]
        used = any(each.code != "drop" for each in call.uses)
        if given and used and given[0].code not in _FUNCTIONS:
            return False
        method = call.args[0]
        owners = self._training.classes(method.args[0]) if method.code == "attr" else ()
        return not any("lr_scheduler" in each for each in owners)

    def _is_of_functions(self, op: Op) -> bool:
        """Whether it works on weights that are handed around, which may change anywhere."""
        names_ = self._values.qualified(op) if op.code in _NAMING and op.uses else ()
        return any(each.startswith(("torch.func.", "functorch.")) for each in names_)

    # What differs from run to run on a GPU

    def of_trained(self, call: Op) -> str | None:
        """What is trained where an optimizer is made or a trainer starts, and what computes with
        that where a loss goes back."""
        word, method = word_of(call), call.args[0]
        if method.code == "attr" and (word in trainers.BACKWARDS or word in ("fit", "train")):
            library = self._training.library(call)
            if word in trainers.BACKWARDS and library:
                loss = call.given("loss", 0) or method.args[0]
                return self._told_of(self._trained.made_of(loss, LOSS))
            return self._fitted(call) if library in ("torch", TRAINER) else None
        # A class, or ``getattr(torch.optim, name)``.
        if (word[:1].isupper() or method.code == "call") and self._is_optimizer(call):
            return self._told_of(self._trained.made_of(call.given("params", 0), WEIGHTS))
        return None

    def _is_optimizer(self, call: Op) -> bool:
        """Whether an optimizer is made: one of torch, or a class that is given weights."""
        called, word = self._called(call), word_of(call)
        if any("lr_sched" in each or each.startswith(_NO_TORCH) for each in called):
            return False
        if any(map(trainers.OPTIMIZERS, called)) or word in trainers.KNOWN_OPTIMIZERS:
            return True
        chosen = call.args[0].args[1:2] if word_of(call.args[0]) == "getattr" else ()
        if any("torch.optim" in self._values.qualified(each) for each in chosen):
            return True
        return any(gives_weights(each) for each in call.args[1:2])

    def _fitted(self, call: Op) -> str | None:
        """What a trainer is given, or was; of one that the project has, its optimizer tells."""
        makers = [each for each in self._training.made(call.args[0].args[0]) if each.called]
        if any(each.place is not None for each in makers):
            return None
        # Lightning's trainers get the module first, others what it learns from.
        names_ = [owner_word(call), *(name for each in makers for name in each.names)]
        is_model = word_of(call) == "fit" and any("rainer" in each for each in names_)
        given = [(call.given("model"), True), (call.given("", 0), is_model)]
        classes = [each.op for each in makers if word_of(each.op)[:1].isupper()]
        given += [(each.given("model", 0), True) for each in classes if each.code == "call"]
        parts = [self._trained.made_of(each, MODEL, sure=sure) for each, sure in given]
        told = set().union(*parts)
        seen = any(not each.startswith(MAY_BE) for each in told)
        return self._told_of(told if seen else {*told, UNSEEN_NAMES})

    @staticmethod
    def _told_of(names_: set[str]) -> str:
        return " ".join(sorted(names_))

    def layers(self, function: Function) -> Iterator[Found]:
        """Layers and models that may, where code names them, or derives a class from one."""
        for base, name in zip(*self._bases(function), strict=True):
            if kind := varying.kind_of([name]):
                yield Found(_whole(function), kind, name, base)
        for op in function.ops:
            if op.code in _NAMING and op.uses:
                names_ = self._values.qualified(op) or _as_of_torch(op)
                sizes = [each.args[1].constant for each in op.calls if each.args[1:]]
                kind = varying.sized(varying.kind_of(names_), sizes)
                if varying.is_model(kind):
                    yield Found(op, varying.FROZEN if _is_frozen(op) else kind)
                elif kind and not (
                    _only_compares(op) or _is_aside(op) or self._is_unused(op, kind)
                ):
                    # A name that is imported here says where it is used.
                    node = op.node if op.code != "import" else op.uses[0].node
                    yield Found(_used(op), kind, node=node)

    def _bases(self, function: Function) -> tuple[list[ast.expr], list[str]]:
        """The bases of a class, and their qualified names."""
        if not isinstance(function.node, ast.ClassDef):
            return [], []
        written, names_ = function.node.bases, self._training.bases(function.name)
        return (written, names_) if len(written) == len(names_) else ([], [])

    def idles(self, function: Function) -> Iterator[Found]:
        """Functions and classes of which a part of the file makes nothing that gets a gradient."""
        if function.outer is not None:
            return
        named: dict[str, list[Op]] = {}
        for each in function.everything():
            for op in each.ops:
                for name in self._values.qualified(op) if op.code in _NAMING and op.uses else ():
                    named.setdefault(name, []).append(op)
        for name, ops in named.items():
            foreign = name.partition(".")[0] in varying.PLAIN
            if not foreign and all(_is_aside(x) or self._only_idles(x) for x in ops):
                yield Found(ops[0], name)

    def _only_idles(self, named: Op) -> bool:
        return self._is_idle(named) and self._is_only_called(named)

    def _is_only_called(self, named: Op) -> bool:
        """Whether nothing is done by methods with what a function or class makes that may compute
        with it, but for calls of it."""
        return all(
            layers.keeps(str(use.name)) or layers.runs(str(use.name))
            for made in named.calls
            for value in self._gradients.layers.way(made).values
            for use in value.uses
            if use.code == "attr"
        )

    def freezes(self, function: Function) -> Iterator[Found]:
        """Where attributes of models are said not to be trained, in any case, or models to be: what
        makes these."""
        known = self._gradients.layers
        for said, at, on in known.told:
            if at.function is function:
                yield Found(at, " ".join(self._thawed(said) if on else self._frozen(said)))

    def _frozen(self, said: Op) -> Iterable[str]:
        whole = whole_of(said)
        made = self._trained.made_of(whole.args[0], MODEL) if whole.code == "attr" else ()
        return sorted(f"{each}#{whole.name}" for each in made)

    def _thawed(self, said: Op) -> Iterable[str]:
        root = whole_of(said)
        while root.code in _HELD and not root.is_self:
            root = root.args[0]
        return (THAWS, *(self._trained.made_of(root, MODEL) or (UNSEEN_NAMES,)))

    def _is_unused(self, named: Op, kind: str) -> bool:
        """Whether no gradient is worked out of what a layer or a function computes."""
        word = str(named.name).rpartition(".")[2]
        if kind == varying.OF_FACTORS or word[:1].isupper():
            return self._is_idle(named)
        from detlint.dataflow.numerics.operator_gradients import are_off_for_callers

        calls = named.calls
        off = bool(calls) and all(are_off_for_callers(self._gradients, x.function) for x in calls)
        return off or self._is_idle(named)

    def _is_idle(self, named: Op) -> bool:
        """Whether no layer that is made of a class gets a gradient."""
        if not any(each in self.unit.text for each in _HOLDING_BACK):
            return False
        made = [each for each in named.uses if each in named.calls or _is_held_table(each)]
        rest = [each for each in made if each.code == "call"]
        return 0 < len(made) == len(named.uses) and all(map(self._gradients.is_idle, rest))

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(tensors.Fields(self.unit), Callers(self.unit), Origins())

    def operators(self, function: Function) -> Iterator[Found]:
        """Calls of operators that differ, where a gradient may come to them; ``layers`` tells of
        those that are layers."""
        from detlint.dataflow.numerics.operators import Operators  # which reads long tables
        from detlint.dataflow.numerics.repeats import differs

        for name in _TABLES:
            if name not in self._tables:
                self._tables[name] = Operators(self.unit, name, _RELEASE)
            operators = self._tables[name]
            for match in operators.matches_in([function]):
                if differs(operators, match) and not varying.kind_of([match.row.name]):
                    what = varying.BY_INDEX if match.takes_index else "torch"
                    yield Found(match.call, what, operators.shown(match))

    def of_segments(self, call: Op) -> str | None:
        """Sums over segments of TensorFlow, which differ on a GPU."""
        return "tensorflow" if any(map(trainers.SEGMENTS, self._called(call))) else None

    @staticmethod
    def orders(function: Function) -> Iterator[Found]:
        """Calls that draw an order, a choice or a split of data from torch's generator."""
        for op in function.coded("call"):
            found, shuffle = drawing(op), flag(op)
            if found is not None:
                yield Found(op, "torch", found[0].name)
            elif shuffle is not None and Needs.of_flag(shuffle):
                yield Found(op, "torch", f"{word_of(op)}(shuffle={shuffle.word})")

    @staticmethod
    def workers(function: Function) -> Iterator[Found]:
        """Loaders that may have workers, each with what has to be passed for that."""
        for op in function.coded("call"):
            given = op.given("num_workers") if word_of(op) == "DataLoader" else None
            if given is not None and may_be_positive(given):
                needs = Needs.of_flag(given)
                yield Found(op, "torch", need="\n".join(each.dump() for each in needs))

    # What turns on and sets

    def enables(self, function: Function) -> Iterator[Found]:
        """Calls that turn determinism on, also where a setting decides."""
        for op in function.ops:
            if is_guard(op):
                yield Found(op, EVERY)
                if repaired := self._repaired(op):
                    yield Found(op, REPAIRED, repaired)
            elif op.code == "call":
                library = self._enabled(op)
                if library:
                    yield Found(op, library)
        for each in settings.flags(function):
            if each.name in _SWITCHED_ON and each.constant is not False:
                yield Found(each.op, _SWITCHED_ON[each.name])

    @staticmethod
    def times(function: Function) -> Iterator[Found]:
        """Where cuDNN is told to pick its kernels by their time."""
        for each in settings.flags(function):
            if each.name == rows.BENCHMARK and each.constant is True:
                yield Found(each.op, "cudnn")

    def _repaired(self, op: Op) -> str:
        """Of which operators guard runs replacements: names, or EVERY."""
        given = op.given("repair") if op.code == "call" else None
        if given is None:
            return ""
        value = self._values.constant(given)
        if isinstance(value, (bool, str)):
            return EVERY if value is True else value or ""
        names_ = [self._values.constant(each) for each in given.args]
        return " ".join(each for each in names_ if isinstance(each, str))

    def _enabled(self, call: Op) -> str:
        called, word = self._called(call), word_of(call)
        if word == "enable_op_determinism":
            return "tensorflow"
        # Turned off is a decision too, and DET303's to report.
        if word == "use_deterministic_algorithms" or not rows.SWITCHES.isdisjoint(called):
            return "torch"
        for keyword in _OPTIONS:
            given = call.given(keyword)
            if given is not None and self._values.constant(given) is not False:
                own = any(each.startswith(trainers.CONFIGURED) for each in called)
                takes = own or word.endswith(_CONFIGURING) or keyword != "deterministic"
                return "torch" if takes else ""
        if word == "enable_full_determinism":
            return EVERY
        return f"{word}()" if names.turns_determinism_on(word) else ""

    @staticmethod
    def sets(function: Function) -> Iterator[Found]:
        """Variables of the environment that are set."""
        for each in settings.options(function, VARIABLES):
            if each.form == "environment":
                value = each.constant
                yield Found(each.op, each.name, value if isinstance(value, str) else "", each.node)

    @staticmethod
    def places(function: Function) -> Iterator[Found]:
        """Literals that name a CUDA device, and calls of ``.cuda()``."""
        for op in function.ops:
            if op.text:
                device, _, index = op.text.partition(":")
                named = device == "cuda" and (op.text == device or index.isdigit())
            else:
                method = op.args[0] if op.code == "call" else op
                named = op.code == "call" and (method.code, method.name) == ("attr", "cuda")
            if named:
                yield Found(op, "cuda")

    def of_devices(self, call: Op) -> str | None:
        """Calls that say where tensors lie: "cpu" where none that has CUDA is meant."""
        word = word_of(call)
        told = call.given("device", 0 if word == "to" else None)
        if told is not None and (word != "to" or not tensors.is_type(told)):
            chosen = self._choices.of(told)
            return "cpu" if chosen and chosen <= trainers.WITHOUT_CUDA else ""
        return "" if word == "cuda" or word.startswith("set_default_") else None

    def of_generators(self, call: Op) -> str | None:
        """Generators that are drawn from, whose seed is a parameter or kept from one."""
        seed = _seed_of(call)
        if seed is None or seed.code not in ("attr", "param"):
            return None
        fate = self._generators.fate(call)
        is_used = fate.methods or fate.given or fate.escapes
        apart = is_seeded(fate) or is_shared(fate) or only_names(call, fate)
        return "" if is_used and not apart else None

    def spawns(self, function: Function) -> Iterator[Found]:
        """Calls that start processes afresh, each with the function that runs there."""
        for op in function.coded("call"):
            if not randomness.SPAWNING.isdisjoint(self._called(op)):
                yield from self._started(op, op.given("fn", 0))
            elif word_of(op) == "Process" and self._is_of_fresh_context(op.args[0]):
                yield from self._started(op, op.given("target", 1))
            else:
                yield from (Found(op, each) for each in self._contained(op.args[0]))
        if any(map(self._is_fresh_process, self._written_bases(function))):
            yield self._run_by(function)

    def processes(self, function: Function) -> Iterator[Found]:
        """The same of those that start as the program says."""
        for op in function.coded("call"):
            if not randomness.PROCESSES.isdisjoint(self._called(op)):
                yield from self._started(op, op.given("target", 1))
        bases = self._training.bases(function.name) if self._written_bases(function) else ()
        if not randomness.PROCESSES.isdisjoint(bases):
            yield self._run_by(function)

    def _written_bases(self, function: Function) -> list[ast.expr]:
        """The bases of what is a class at the top of the file and has a `run` of its own."""
        name = function.name
        runs = name in self.unit.classes and self.unit.defines(RUN, name)
        return Origins.written_bases(Place(self.unit, name)) if runs else []

    def _run_by(self, process: Function) -> Found:
        """A class of processes, with the method that runs in each."""
        name = process.name
        bases = ", ".join(map(ast.unparse, self._written_bases(process)))
        return Found(_whole(process), f".{name}.{RUN}", f"class {name}({bases})")

    def _is_fresh_process(self, base: ast.expr) -> bool:
        """``mp.get_context("spawn").Process``, also of a context that has a name."""
        context = base.value if isinstance(base, ast.Attribute) and base.attr == "Process" else None
        if isinstance(context, ast.Name):
            return any(map(self._is_fresh_context, self.unit.module.bindings.get(context.id, ())))
        if not isinstance(context, ast.Call):
            return False
        made = qualified(self.unit, ast.unparse(context.func))
        given = (*context.args, *(each.value for each in context.keywords))
        how = (each.value for each in given if isinstance(each, ast.Constant))
        return not randomness.CONTEXTS.isdisjoint(made) and any(x in randomness.AFRESH for x in how)

    def _contained(self, method: Op) -> Iterator[str]:
        """The functions of the file that run in a container by a method: ``train.remote``."""
        by_name = method.code == "attr" and method.name in randomness.CALLED_IN_CONTAINER
        for name in self._values.qualified(method.args[0]) if by_name else ():
            function = self.unit.defined(name.removeprefix("."))
            made = decorators(function) if function is not None else ()
            names = (one for x in made if x.code == "call" for one in self._methods(x))
            if not randomness.CONTAINED.isdisjoint(names):
                yield name

    def _started(self, call: Op, started: Op | None) -> Iterator[Found]:
        for name in self._values.qualified(started) if started is not None else ():
            yield Found(call, name)

    def _is_of_fresh_context(self, function: Op) -> bool:
        """``context.Process`` where that is ``get_context("spawn")``."""
        return function.code == "attr" and self._is_fresh_context(function.args[0])

    def _is_fresh_context(self, context: Op) -> bool:
        return any(
            self._is_afresh(each.op)
            for each in self._training.made(context)
            if not randomness.CONTEXTS.isdisjoint(each.names) and each.op.code == "call"
        )

    def _is_afresh(self, call: Op) -> bool:
        method = call.given("method", 0)
        return method is not None and self._values.constant(method) in randomness.AFRESH

    def of_start_methods(self, call: Op) -> str | None:
        """Calls by which all processes start afresh."""
        set_here = not randomness.START_METHODS.isdisjoint(self._called(call))
        return "" if set_here and self._is_afresh(call) else None

    def tasks(self, function: Function) -> Iterator[Found]:
        """Calls that have a pool run tasks, each with the function that does."""
        for op in function.coded("call"):
            given = self._given_to_pool(op)
            for name in self._meant(given) if given is not None else ():
                yield Found(op, name)
            for name in self._asked_in_pool(op):
                yield from (Found(op, each) for each in (name, f"{name}.__getitem__"))

    def _asked_in_pool(self, call: Op) -> Iterator[str]:
        """The classes of the data set that a loader asks in several processes."""
        rows, several = call.given("dataset", 0), call.given("n_processes", 4)
        pooled = not randomness.POOLED_LOADERS.isdisjoint(self._called(call))
        if pooled and rows is not None and (several is None or several.constant != 1):
            yield from self._training.classes(rows)

    def threads(self, function: Function) -> Iterator[Found]:
        """Calls that make several threads, each with the function that these run."""
        for op in function.coded("call"):
            several = any(each.loops for each in op.region.around())
            if several and not randomness.THREADS.isdisjoint(self._called(op)):
                given = op.given("target", 1)
                yield from (Found(op, x) for x in (self._meant(given) if given else ()))

    def worker_starts(self, function: Function) -> Iterator[Found]:
        """Calls that have a loader call a function in each of its workers, each with that, unless
        what stands around calls it, too."""
        for op in function.coded("call"):
            given = op.given(_WORKER_START)
            for name in self._meant(given) if given is not None else ():
                around = function.outermost.all_coded("call")
                if not any(name in self._values.called(each) for each in around):
                    yield Found(op, name)

    def _given_to_pool(self, call: Op) -> Op | None:
        """What a pool calls for each task: ``f`` of ``pool.map(f, rows)`` and
        ``Parallel(4)(delayed(f)(row) for row in rows)``."""
        method = call.args[0]
        if not randomness.CLIENT_APPS.isdisjoint(self._values.called(call)):
            return call.given("client_fn", 0)
        if method.code == "attr" and method.name == "remote":
            return self._remote(method.args[0])
        if method.code == "attr" and method.name in randomness.TASKS:
            return call.given("func", 0) if self._is_pool(method.args[0]) else None
        job = (
            call.args[1].args[0] if call.args[1:] and call.args[1].code == "comprehension" else None
        )
        if job is None or job.code != "call" or JOBLIB.isdisjoint(self._values.called(method)):
            return None
        delayed = job.args[0]
        return delayed.args[1] if delayed.code == "call" and delayed.args[1:] else None

    def _remote(self, called: Op) -> Op | None:
        """``f`` of ``f.remote(x)``, and ``actor.step`` of ``actor.step.remote(x)``, if Ray has that
        run elsewhere."""
        is_made = called.code == "attr" and any(self._made_by_ray(called.args[0]))
        names = self._values.qualified(called)
        return called if is_made or any(map(self._is_remote, names)) else None

    def _is_remote(self, name: str) -> bool:
        """Whether a function or class of the file is made one that runs elsewhere."""
        own = name.removeprefix(".")
        function = self.unit.defined(own)
        for each in function.decorators if function is not None else ():
            said = ast.unparse(each.func if isinstance(each, ast.Call) else each)
            if not randomness.REMOTE.isdisjoint((said, *self.unit.imported.get(said, ()))):
                return True
        return False

    def _made_by_ray(self, actor: Op) -> Iterator[str]:
        """The class of ``Actor.remote()``."""
        for name in self._training.classes(actor):
            made, _, method = name.rpartition(".")
            if method == "remote" and made:
                yield made

    def _is_pool(self, owner: Op) -> bool:
        """Whether a value is a pool, also one of ``multiprocessing.get_context("fork")``."""
        classes = self._training.classes
        if not randomness.POOLS.isdisjoint(classes(owner)):
            return True
        made = owner.args[0] if owner.code == "enter" else owner
        method = made.args[0] if made.code == "call" else made
        context = method.args[0] if method.code == "attr" and method.name == "Pool" else None
        return context is not None and any(map(is_context, classes(context)))

    def _meant(self, given: Op) -> list[str]:
        """The functions that a value may be, or the classes of which it is an object."""
        if given.code == "function":
            calls = given.name.coded("call")
            return [name for each in calls for name in self._values.called(each)]
        if given.code == "call":
            called = self._values.called(given)
            partial = "functools.partial" in called and given.args[1:]
            return self._meant(given.args[1]) if partial else called
        if given.code == "attr" and given.args[0].is_self and given.function.class_name:
            return [f".{given.function.class_name}.{given.name}"]
        actors = self._made_by_ray(given.args[0]) if given.code == "attr" else ()
        if of_actors := [f"{each}.{given.name}" for each in actors]:
            return of_actors
        return self._values.qualified(given)

    # Epochs and ranks

    @staticmethod
    def of_samplers(call: Op) -> str | None:
        """Samplers that shuffle for training and are made once, each with its class."""
        kind = samplers.shuffling(call)
        return kind if kind and not samplers.is_apart(call) else None

    def rounds(self, function: Function) -> Iterator[Found]:
        """Loops over epochs in which something is trained: of each, its first line."""
        for op in function.coded("iter"):
            node = op.region.node
            if isinstance(node, (ast.For, ast.AsyncFor)) and epochs.is_loop(op.region):
                calls = (word_of(each) for each in op.region.ops() if each.code == "call")
                if any(map(trainers.steps, calls)):
                    parts = (self._text(each) for each in (node.target, node.iter))
                    yield Found(op, "", f"for {' in '.join(parts)}", node.target)

    def _text(self, node: ast.AST) -> str:
        return " ".join(self.unit.text_of(node).split())

    @staticmethod
    def tells(function: Function) -> Iterator[Found]:
        """``loader.sampler.set_epoch(epoch)``, ``hasattr(sampler, "set_epoch")``,
        ``sampler.epoch = epoch``."""
        for op in function.ops:
            told = op.code == "store_attr" and op.name == "epoch" and "sampler" in _word(op.args[0])
            if told or (op.code in ("attr", "const") and op.name == "set_epoch"):
                yield Found(op, "")

    # Checkpoints

    @staticmethod
    def saves(function: Function) -> Iterator[Found]:
        """Where the state of an optimizer is saved."""
        for op in function.coded("call"):
            found = checkpoints.saving(op)
            if found is not None:
                yield Found(found, "torch")

    @staticmethod
    def of_resumes(call: Op) -> str | None:
        """Where an optimizer gets the state of a checkpoint that says how far training was, each
        with the names of that place; or where a Trainer is given one, and how."""
        places = checkpoints.resumed(call)
        return (checkpoints.fitted(call) or None) if places is None else " ".join(sorted(places))

    def replaces(self, function: Function) -> Iterator[Found]:
        """Calls that make modules of which a checkpoint always replaces all weights, each with the
        names of what they are given to before that; not where one of these calls trains."""
        for op in function.coded("call"):
            for made in checkpoints.replaced(op):
                calls = list(checkpoints.taken_before(made, op))
                if not any(map(self._training.library, calls)):
                    named = {
                        x for each in calls for x in (*self._called(each), *self._methods(each))
                    }
                    yield Found(made, " ".join(sorted(named)))

    @staticmethod
    def continues(function: Function) -> Iterator[Found]:
        """Loops that train from some round on: of each, its head, with the names of the round;
        the text says what it calls."""
        for op in (*function.coded("iter"), *function.coded("test")):
            loop = op.region
            places = checkpoints.started(loop) if loop.loops and loop.head is op else ()
            if places:
                called = {word_of(each) for each in loop.ops()}
                yield Found(op, " ".join(sorted(places)), " ".join(sorted(called)))

    def perturbs(self, function: Function) -> Iterator[Found]:
        """Layers, functions and transforms that draw whenever data come by; UNSEEN of dropout of
        which one does not see how much it drops."""
        for call in function.coded("call"):
            name = next(
                (x for x in self._called(call) if trainers.DROPOUTS(x) or trainers.DROPS(x)), ""
            )
            if name:
                yield from self._dropping(call, 0 if trainers.DROPOUTS(name) else 1)
                continue
            rows = trainers.TRANSFORMS.items()
            libraries = (x for name in self._called(call) for x, has in rows if has(name))
            yield from (Found(call, each) for each in islice(libraries, 1))

    def of_drops(self, call: Op) -> str | None:
        """Those that draw whether anything is trained or not: functions that drop something, and
        transforms that something is given to."""
        called = self._called(call)
        drops = any(map(trainers.DROPS, called)) and self._drops_always(call)
        transforms = any(map(trainers.TRANSFORMS["torch"], called)) and self._is_applied(call)
        return "torch" if drops or transforms else None

    def _is_applied(self, transform: Op) -> bool:
        """Whether a transform, or what it is a part of, is called or given to a data set, and no
        name says that it is for training."""
        held = list(closure([transform], self._transforms_with, _FEW))
        if any(trainers.says_training(x) for each in held for x in each.function.names_of(each)):
            return False
        return any(use.code == "call" and use not in held for each in held for use in each.uses)

    def _transforms_with(self, value: Op) -> Iterator[Op]:
        for use in value.uses:
            if use.code == "store_global":
                yield from self.unit.reads("global", str(use.name))
            elif use.code in _GATHERING or (use.code == "call" and self._makes_transform(use)):
                yield use

    def _makes_transform(self, call: Op) -> bool:
        return any(map(trainers.MAKES_TRANSFORM, self._called(call)))

    def _drops_always(self, call: Op) -> bool:
        share, training = call.given("p", 1), call.given("training", 2)
        drops = share is None or self._values.constant(share) not in (0, ...)
        return drops and (training is None or self._values.constant(training) is True)

    def _dropping(self, call: Op, place: int) -> Iterator[Found]:
        """Dropout, with what has to be passed so that it drops something."""
        given = call.given("p", place)
        share = 1.0 if given is None else self._values.constant(given)
        if share is ...:
            needs = Needs(call.function).of_share(given) if given is not None else None
            if needs is None:
                yield Found(call, trainers.UNSEEN)
            else:
                yield Found(call, "torch", need="\n".join(each.dump() for each in needs))
        elif isinstance(share, float) and share > 0:
            yield Found(call, "torch")

    def of_worker_seeds(self, call: Op) -> str | None:
        """Of ``seed_everything(0)``, whether workers are "given" or "left out": Fabric gives."""
        seeds = word_of(call) == "seed_everything"
        called = [*self._called(call), *self._methods(call)] if seeds else []
        if not any(each.startswith(trainers.LIGHTNING) for each in called):
            return None
        fabric = any(each.endswith("Fabric.seed_everything") for each in called)
        given = fabric or call.unpacks or call.given("workers", _WORKERS) is not None
        return "given" if given else "left out"

    def _methods(self, call: Op) -> Iterator[str]:
        """The qualified names of a method, by the classes of its object."""
        function = call.args[0]
        if function.code == "attr":
            for each in self._training.classes(function.args[0]):
                yield f"{each}.{function.name}"

    def ranks(self, function: Function) -> Iterator[Found]:
        """Trainers of Lightning that are told to start several processes."""
        for each in settings.flags(function):
            counted = each.name in _COUNTS and _is_several(each.constant)
            if counted or (each.name == _STRATEGY and self._is_of_several(each.value)):
                yield Found(each.op, "lightning")

    def _is_of_several(self, value: Op | None) -> bool:
        if value is None:
            return False
        named = self._values.constant(value)
        word = named if isinstance(named, str) else word_of(value) if value.code == "call" else ""
        return word.lower().startswith(_SEVERAL)


class _Devices(Choices):
    """By which names of devices tensors may be moved."""

    def _of_call(self, op: Op) -> frozenset[object]:
        """``torch.device("cpu")``."""
        made = "torch.device" in op.called and len(op.args) > 1
        return self.of(op.args[1]) if made else self.anything


def _as_written(call: Op) -> Iterator[str]:
    """What is called of something unknown that is written as a module is: a function may be handed
    it, or get it from one that imports late."""
    first, _, rest = path_of(call.args[0]).partition(".")
    if rest and first in _MODULES:
        yield f"{_MODULES[first]}.{rest}"


def _may_be_called(function: Function) -> bool:
    """Whether something names a function that stands in another one, or in the main block."""
    outer = function.outer
    if outer is None or not function.is_defined or function.decorators:
        return True
    made = _makers(function)
    if any(op.uses for op in made) or "." in function.name or not made:
        return True
    return outer.node is None and any(True for _ in outer.unit.reads("global", function.name))


def _makers(function: Function) -> list[Op]:
    """What makes a function that stands in another one."""
    made = function.outer.coded("function") if function.outer is not None else ()
    return [op for op in made if op.name is function]


def _starts_workers(function: Function) -> bool:
    """Whether a loader alone calls a function that stands in another one, in its workers."""
    made = _makers(function)
    return any(op.uses for op in made) and all(
        use.code == "call" and use.given(_WORKER_START) is op for op in made for use in op.uses
    )


def _whole(function: Function) -> Op:
    """A function or class, as an operation."""
    return Op("class", [], "", _node(function), function.region, 0)


def _node(function: Function) -> ast.AST:
    assert function.node is not None  # noqa: S101 - only the module's has none
    return function.node


def _is_several(value: object) -> bool:
    if isinstance(value, tuple):
        return len(value) > 1
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    return type(value) is int and (value > 1 or value == -1)


def _word(op: Op) -> str:
    return str(op.name[1] if op.code == "param" else op.name)


def _as_of_torch(named: Op) -> list[str]:
    """``nn.Embedding`` where a function is handed ``nn``."""
    handed = named.code == "attr" and named.args[0].code in ("param", "free", "unpack")
    return [f"torch.nn.{named.name}"] if handed else []


def _updates(op: Op) -> bool:
    """``p -= lr * p.grad``, ``p.data = p - lr * g``, ``p.sub_(lr * p.grad)``."""
    word = word_of(op) if op.code == "call" else ""
    kept = op.code == "store_attr" and op.name == "data"
    if not (op.code == "augment" or kept or word in _UPDATES or word.startswith("_foreach_")):
        return False
    behind = closure(op.args[1:], lambda each: each.args, _FEW)
    return any(each.word in _GRADIENTS or trainers.goes_back("", each.called) for each in behind)


def _used(named: Op) -> Op:
    """The use of a name, which is read before all that uses it, that stands under fewest tests."""
    uses = (named,) if named.code == "attr" else named.uses
    return min(uses, key=lambda use: sum(1 for _ in use.region.around()))


def _is_frozen(named: Op) -> bool:
    """Whether all models that a call makes get no gradient, or are asked without."""
    made = [fate_of(call).facts for call in named.calls]
    return bool(made) and all(
        not facts.isdisjoint(("asked", "frozen")) and "trained" not in facts for facts in made
    )


def _is_aside(named: Op) -> bool:
    """Whether it is named where a module trains nothing: ``def validation_step(self, batch):``."""
    outer = named.function.outermost
    return bool(outer.class_name) and outer.word in trainers.ASIDE


def _is_held_table(member: Op) -> bool:
    """``nn.Embedding.from_pretrained(vectors)``, which is not trained unless that is asked for."""
    if member.code != "attr" or member.name != "from_pretrained":
        return False
    told = [call.given("freeze", 1) for call in member.calls]
    return bool(told) and all(each is None or each.constant is True for each in told)


def _only_compares(named: Op) -> bool:
    """Whether a class is named to compare others with it: ``isinstance(layer, nn.Conv2d)``."""
    held = [each for each in named.uses if each.code in _GROUPS]
    asked = [use for op in (named, *held) for use in op.uses if use.code not in _GROUPS]
    return bool(asked) and all(
        each.code == "compare" or not _SORTING.isdisjoint(each.called) for each in asked
    )


def _seeds_by_name(called: str) -> bool:
    """Whether a function of some module is named as one that seeds, and not a generator's."""
    library, _, word = called.rpartition(".")
    own = library.partition(".")[0] in ("random", "numpy", "builtins")
    return not own and names.means_seeding(word) and word not in _OF_GENERATORS

"""What of a training may differ from run to run on a GPU, and what gets no gradient."""

from __future__ import annotations

import ast
from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.dataflow.calls import owner_word, word_of
from detlint.dataflow.facts.found import NAMING, FileFacts, Found, whole
from detlint.dataflow.ir import LISTS
from detlint.dataflow.learning.made_models import Fate
from detlint.dataflow.learning.trained import LOSS, MODEL, WEIGHTS, Trained, gives_weights
from detlint.dataflow.numerics import operator_gradients, tensors
from detlint.dataflow.numerics.gradients import Gradients
from detlint.dataflow.numerics.layers import whole_of
from detlint.dataflow.slices import closure
from detlint.grouping import grouped
from detlint.index.facts import MAY_BE, THAWS, TRAINER, UNSEEN_NAMES
from detlint.models import layers, varying
from detlint.models import training as trainers
from detlint.models.attention import MOVES
from detlint.models.tf_data import plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.learning.training import Training
    from detlint.dataflow.numerics.operators import Operators, Table
    from detlint.dataflow.unit import Unit


_TABLES: tuple[Table, ...] = ("refused", "switched")
_RELEASE = (2, 13)  # of torch, whose operators differ
_NO_TORCH = ("tensorflow.", "keras.", "optax.", "flax.")
_HOLDING_BACK = (
    *("requires_grad", "no_grad", "inference_mode", "set_grad_enabled"),
    "Embedding.from_pretrained",
)
_HELD = frozenset(("attr", "item", "iter", "unpack"))
_SORTING = frozenset(("builtins.isinstance", "builtins.issubclass"))


class VaryingFacts(FileFacts):
    """Answers for the functions of one file."""

    def __init__(self, unit: Unit, training: Training) -> None:
        super().__init__(unit, training)
        self._trained = Trained(unit)
        self._tables: dict[str, Operators] = {}

    def of_trained(self, call: Op) -> str | None:
        """What is trained where an optimizer is made or a trainer starts, and what computes with
        that where a loss goes back."""
        word, method = word_of(call), call.args[0]
        if method.code == "attr" and (word in trainers.BACKWARDS or word in ("fit", "train")):
            library = self._training.library(call)
            if word in trainers.BACKWARDS and library:
                loss = call.given("loss", 0) or method.args[0]
                return " ".join(sorted(self._trained.made_of(loss, LOSS)))
            return self._fitted(call) if library in ("torch", TRAINER) else None
        # A class, or ``getattr(torch.optim, name)``.
        if (word[:1].isupper() or method.code == "call") and self._is_optimizer(call):
            return " ".join(sorted(self._trained.made_of(call.given("params", 0), WEIGHTS)))
        return None

    def _is_optimizer(self, call: Op) -> bool:
        """Whether an optimizer is made: one of torch, or a class that is given weights."""
        called, word = self._training.called(call), word_of(call)
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
        return " ".join(sorted(told if seen else {*told, UNSEEN_NAMES}))

    def layers(self, function: Function) -> Iterator[Found]:
        """Layers and models that may, where code names them, or derives a class from one."""
        for base, name in zip(*self._bases(function), strict=True):
            if kind := varying.kind_of([name]):
                yield Found(whole(function), kind, name, base)
        for op in function.ops:
            if op.code in NAMING and op.uses:
                names_ = self._values.qualified(op) or _as_of_torch(op)
                sizes = [each.args[1].constant for each in op.calls if each.args[1:]]
                kind = varying.sized(varying.kind_of(names_), sizes)
                if any(map(varying.UNFUSED, names_)) and all(map(_is_unfused, op.calls)):
                    kind = varying.BY_SIZE  # of its embeddings
                if varying.is_model(kind):
                    if not all(each.code == "attr" for each in op.uses):  # of a module
                        yield Found(op, varying.FROZEN if _is_frozen(op) else kind)
                elif kind and not (
                    _only_compares(op) or _is_aside(op) or self._is_unused(op, kind)
                ):
                    yield Found(_used(op), kind, node=_named(op))

    def _bases(self, function: Function) -> tuple[list[ast.expr], list[str]]:
        """The bases of a class, and their qualified names."""
        if not isinstance(function.node, ast.ClassDef):
            return [], []
        written, names_ = function.node.bases, self._unit.qualified_bases(function.name)
        return (written, names_) if len(written) == len(names_) else ([], [])

    def idles(self, function: Function) -> Iterator[Found]:
        """Functions and classes of which a part of the file makes nothing that gets a gradient."""
        if function.outer is not None:
            return
        named = grouped(
            (name, op)
            for each in function.everything()
            for op in each.ops
            for name in (self._values.qualified(op) if op.code in NAMING and op.uses else ())
        )
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
            return self._is_idle(named) or self._is_weighed(named)
        callers = [each.function for each in named.calls]
        is_off = partial(operator_gradients.are_off_for_callers, self._gradients)
        return (bool(callers) and all(map(is_off, callers))) or self._is_idle(named)

    def _is_idle(self, named: Op) -> bool:
        """Whether no layer that is made of a class gets a gradient."""
        if not any(each in self._unit.text for each in _HOLDING_BACK):
            return False
        made = [each for each in named.uses if each in named.calls or _is_held_table(each)]
        rest = [each for each in made if each.code == "call"]
        return 0 < len(made) == len(named.uses) and all(map(self._gradients.is_idle, rest))

    def _is_weighed(self, named: Op) -> bool:
        """Whether attention is asked for its weights wherever it is called, which is not fused."""
        if not any(map(varying.WEIGHING, self._values.qualified(named))):
            return False
        made = [each for each in named.uses if each in named.calls]
        ways = [self._gradients.layers.way(each) for each in made]
        return 0 < len(made) == len(named.uses) and all(
            way.calls and not (way.handed or way.given) and all(map(_asks_for_weights, way.calls))
            for way in ways
        )

    @cached_property
    def _gradients(self) -> Gradients:
        return Gradients(tensors.Fields(self._unit))

    def operators(self, function: Function) -> Iterator[Found]:
        """Calls of operators that differ, where a gradient may come to them; ``layers`` tells of
        those that are layers."""
        from detlint.dataflow.numerics.operators import Operators  # which reads long tables
        from detlint.dataflow.numerics.repeats import differs
        from detlint.models.operators import SCANS

        for name in _TABLES:
            if name not in self._tables:
                self._tables[name] = Operators(self._unit, name, _RELEASE)
            operators = self._tables[name]
            for match in operators.matches_in([function]):
                if (
                    differs(operators, match)
                    and not varying.kind_of([match.row.name])
                    and not operator_gradients.is_off(operators, match)
                    and (
                        match.row.direction != "backward"
                        or operator_gradients.may_be_trained(operators, match)
                    )
                ):
                    what = varying.BY_INDEX if match.takes_index else "torch"
                    what = varying.BY_ROW if match.row.name in SCANS else what
                    yield Found(match.call, what, operators.shown(match))

    def of_atomics(self, call: Op) -> str | None:
        """What adds up by atomics on a GPU in TensorFlow: sums over segments, cross entropies, and
        the "gradient" of layers."""
        names = [*map(plain_name, self._training.called(call))]
        if any(map(trainers.ATOMICS, names)):
            return "tensorflow"
        biased = call.given("use_bias")
        adds = biased is None or biased.constant is not False
        return "gradient" if adds and any(map(trainers.GRADIENTS_BY_ATOMICS, names)) else None


def _as_of_torch(named: Op) -> list[str]:
    """``nn.Embedding`` where a function is handed ``nn``."""
    handed = named.code == "attr" and named.args[0].code in ("param", "free", "unpack")
    return [f"torch.nn.{named.name}"] if handed else []


def _named(op: Op) -> ast.AST:
    """Where something is named: what is imported, where it is used."""
    use = op.uses[0]
    if op.code != "import":
        return op.node
    return use.call_node.func if use.code == "call" and use.args[0] is op else use.node


def _used(named: Op) -> Op:
    """The use of a name, which is read before all that uses it, that stands under fewest tests."""
    uses = (named,) if named.code == "attr" else named.uses
    return min(uses, key=lambda use: sum(1 for _ in use.region.around()))


def _is_frozen(named: Op) -> bool:
    """Whether all models that a call makes get no gradient, are asked without, or only give their
    weights to others."""
    told = [Fate(call).facts for call in named.calls]
    return bool(told) and all(
        (not facts.isdisjoint(("asked", "frozen")) and "trained" not in facts) or _gives_away(call)
        for facts, call in zip(told, named.calls, strict=True)
    )


def _gives_away(made: Op) -> bool:
    """``model.to("cpu")``, ``model.state_dict()``, and no more."""
    moved = closure([made], _moved)
    taken = {use.name if use.code == "attr" else use.code for each in moved for use in each.uses}
    idle = {"config", "drop", "state_dict", "store_global", *MOVES}
    return "state_dict" in taken and taken <= idle


def _moved(held: Op) -> Iterator[Op]:
    """A model as it is after a move, and as functions read the variable that it is."""
    for use in held.uses:
        if use.code == "store_global":
            yield from use.function.unit.reads("global", str(use.name))
        elif use.name in MOVES:
            yield from use.calls


def _is_unfused(call: Op) -> bool:
    """Whether a call asks a model of transformers for attention that is not fused."""
    given = call.given(varying.ATTENTION)
    return given is not None and call.values.constant(given) == varying.EAGER


def _asks_for_weights(call: Op) -> bool:
    given = call.given(varying.WEIGHTS, varying.WEIGHTS_AT)
    return not call.unpacks and (given is None or call.values.constant(given) is True)


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
    held = [each for each in named.uses if each.code in LISTS]
    asked = [use for op in (named, *held) for use in op.uses if use.code not in LISTS]
    return bool(asked) and all(
        each.code == "compare" or not _SORTING.isdisjoint(each.called) for each in asked
    )

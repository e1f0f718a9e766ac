"""What trains, over which epochs, and what of that a checkpoint holds."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments import settings
from detlint.dataflow.calls import word_of
from detlint.dataflow.facts.found import NAMING, FileFacts, Found
from detlint.dataflow.learning import checkpoints
from detlint.dataflow.loops import epochs
from detlint.dataflow.randomness import samplers
from detlint.dataflow.slices import behind, closure
from detlint.models import settings as rows
from detlint.models import training as trainers

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op


_SEVERAL = ("ddp", "deepspeed", "fsdp")  # how strategies of several processes are called
_COUNTS = frozenset(f"{rows.TRAINER}.{each}" for each in ("devices", "gpus", "num_nodes"))
_STRATEGY = f"{rows.TRAINER}.strategy"
_FUNCTIONS = frozenset(("free", "function", "global"))
_UPDATES = frozenset(("add_", "addcdiv_", "copy_", "sub_"))
_GRADIENTS = frozenset(("g", "grad", "grads", "gradient", "gradients"))
_FEW = 50  # operations behind an update


class TrainingFacts(FileFacts):
    """Answers for the functions of one file."""

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
        names_ = self._values.qualified(op) if op.code in NAMING and op.uses else ()
        return any(each.startswith(("torch.func.", "functorch.")) for each in names_)

    @staticmethod
    def of_graph_runs(call: Op) -> str | None:
        """``session.run(step)``, ``loss.eval()``: what is more than first values of variables."""
        if word_of(call) not in ("eval", "run") or call.args[0].code != "attr":
            return None
        asked = (word_of(each) for each in behind(*call.args[1:2], most=_FEW))
        return None if any(map(trainers.gives_first_values, asked)) else ""

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
        return " ".join(self._unit.text_of(node).split())

    @staticmethod
    def tells(function: Function) -> Iterator[Found]:
        """``loader.sampler.set_epoch(epoch)``, ``hasattr(sampler, "set_epoch")``,
        ``sampler.epoch = epoch``."""
        for op in function.ops:
            told = op.code == "store_attr" and op.name == "epoch" and "sampler" in _word(op.args[0])
            if told or (op.code in ("attr", "const") and op.name == "set_epoch"):
                yield Found(op, "")

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

    @staticmethod
    def saves(function: Function) -> Iterator[Found]:
        """Where the state of an optimizer is saved."""
        for op in function.coded("call"):
            found = checkpoints.saving(op)
            if found is not None:
                yield Found(found, "torch")

    @staticmethod
    def of_resumes(call: Op) -> str | None:
        """Where an optimizer gets the state of a checkpoint, each with the names that a place in
        training gets of it, if any; or where a Trainer is given one, and how."""
        places = checkpoints.resumed(call)
        return (checkpoints.fitted(call) or None) if places is None else " ".join(sorted(places))

    def of_numbered(self, call: Op) -> str | None:
        """Where how far training was is read out of the name of a file, each with the names that
        it gets."""
        return " ".join(sorted(checkpoints.numbered(call))) or None

    def replaces(self, function: Function) -> Iterator[Found]:
        """Calls that make modules of which a checkpoint always replaces all weights, each with the
        names of what they are given to before that; not where one of these calls trains."""
        for op in function.coded("call"):
            for made in checkpoints.replaced(op):
                calls = list(checkpoints.taken_before(made, op))
                if not any(map(self._training.library, calls)):
                    ways = (self._training.called, self._training.methods)
                    named = {x for each in calls for way in ways for x in way(each)}
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


def _updates(op: Op) -> bool:
    """``p -= lr * p.grad``, ``p.data = p - lr * g``, ``p.sub_(lr * p.grad)``."""
    word = word_of(op) if op.code == "call" else ""
    kept = op.code == "store_attr" and op.name == "data"
    if not (op.code == "augment" or kept or word in _UPDATES or word.startswith("_foreach_")):
        return False
    behind = closure(op.args[1:], lambda each: each.args, _FEW)
    return any(each.word in _GRADIENTS or trainers.goes_back("", each.called) for each in behind)


def _word(op: Op) -> str:
    return str(op.name[1] if op.code == "param" else op.name)


def _is_several(value: object) -> bool:
    if isinstance(value, tuple):
        return len(value) > 1
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    return type(value) is int and (value > 1 or value == -1)

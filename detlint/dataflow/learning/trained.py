"""Of what a training is made: what made the models that an optimizer or a trainer is given, and
what computes the loss that goes back, as one file shows it.

What a file leaves open is named, so that others may tell: a parameter by its function, an
attribute by the class that has it. ``callgraph.trained_parts`` follows these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.callers import given
from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.inference import records_none
from detlint.dataflow.numerics.layers import moved
from detlint.dataflow.numerics.tensors import method_of
from detlint.dataflow.slices import closure
from detlint.index.facts import BY_DEFAULT, BY_STAR, COMPUTES, FIRST, MAY_BE, UNSEEN_NAMES, Passed
from detlint.models import gradients, layers, training, varying
from detlint.models.loading import FLOWS
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit

# What a value is looked at as.
WEIGHTS, MODEL, LOSS = "weights", "model", "loss"
_INSIDE = words(
    """augment await binary boolean change declared enter free iter list phi set slice star
    store_item tuple unary"""
)
_NOTHING = frozenset(("class", "compare", "const", "format", "function", "not", "text"))
_OF_LISTS = frozenset(f"builtins.{each}" for each in ("dict", "filter", "list", "map", "tuple"))
_LOOKING_UP = frozenset(("get", "pop")) | FLOWS
_WRAPPED = (None, "*", "model", "module")  # how a wrapper or a container is given its models
_NAMING = frozenset(("attr", "free", "global", "import"))
_TESTING = frozenset(("compare", "format", "not", "test", "text"))
_HANDING_ON = _TESTING | {"choice", "drop", "phi", "return", "store_attr"}
_MOST = 400  # values that one is made of


class _Step(NamedTuple):
    """A value; what it is looked at as; whether it must be a model, or may be one; and which of
    several that a function returns."""

    op: Op
    of: str
    sure: bool = True
    place: int | None = None


class Trained:
    """Answers for the values of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._follows: dict[Op, bool] = {}

    def made_of(self, op: Op | None, of: str, *, sure: bool = True) -> set[str]:
        """The qualified names of the classes and functions that a value is made of, and what names
        that which other files may tell; "?" where one does not see it."""
        found: set[str] = set()
        start = [_Step(op, of, sure)] if op is not None else []
        for _ in closure(start, lambda step: self._behind(step, found), _MOST):
            pass  # what is noted on the way counts
        return found

    def _behind(self, step: _Step, found: set[str]) -> Iterable[_Step]:
        op = step.op
        if op.code == "choice":
            return [step._replace(op=each) for each in op.args[1:]]
        if op.code in _INSIDE and not (op.code == "iter" and step.of == LOSS):
            return [step._replace(op=each) for each in self._inside(op)]
        judge = getattr(self, f"_of_{op.code}", None)
        if judge is not None:
            told: Iterable[_Step] = judge(step, found)
            return told
        if op.code not in _NOTHING:
            self._is_unseen(step, found)
        return ()

    @staticmethod
    def _inside(op: Op) -> list[Op]:
        return op.args[::2] if op.code == "store_item" else op.args

    @staticmethod
    def _is_unseen(step: _Step, found: set[str]) -> None:
        if step.sure and step.of != LOSS:
            found.add(UNSEEN_NAMES)

    # Parts

    @staticmethod
    def _of_item(step: _Step, _: set[str]) -> list[_Step]:
        return [step._replace(op=step.op.args[0])]

    @staticmethod
    def _of_unpack(step: _Step, _: set[str]) -> list[_Step]:
        """``model, optimizer = accelerator.prepare(model, optimizer)``."""
        owner, index = step.op.args[0], step.op.name[0]
        if owner.code == "call" and word_of(owner) in training.WRAPPING:
            return [step._replace(op=each) for each in owner.args[1:][index : index + 1]]
        return [step._replace(op=owner, place=index)]

    @staticmethod
    def _of_comprehension(step: _Step, _: set[str]) -> list[_Step]:
        return [step._replace(op=step.op.args[1 if step.op.name == "dict" else 0])]

    @staticmethod
    def _of_dict(step: _Step, _: set[str]) -> list[_Step]:
        """Of groups of weights no options."""
        entries = step.op.entries
        grouped = [(key, held) for key, held in entries if key.name == "params"]
        return [step._replace(op=held) for _, held in grouped or entries]

    @staticmethod
    def _of_function(step: _Step, _: set[str]) -> list[_Step]:
        """What a lambda gives, as of a table of them: ``{"small": lambda n: small(n)}``."""
        made = step.op.name
        returned = [] if made.is_defined else made.returned
        return [step._replace(op=each) for each in returned]

    # Names

    def _of_param(self, step: _Step, found: set[str]) -> list[_Step]:
        op, function = step.op, step.op.function
        stars, name = op.name
        if op.is_self and function.class_name:
            found.add(_as(f".{function.class_name}[self]", sure=step.sure))
            return []
        if function.outer is not None:
            calls = function.known_calls.calls
            told = [given(each, op) for each in calls]
            return [step._replace(op=each) for each in told if each is not None]
        place = list(function.params).index(name) - bool(function.class_name)
        if stars:
            self._is_unseen(step, found)
        elif step.of != LOSS or step.sure:
            sure = step.sure and step.of != LOSS
            if sure or step.of == LOSS or layers.is_layer(name):
                passed = Passed(step.of, function.name, name, place, bool(op.args))
                found.add(passed.told(sure=sure))
                return [step._replace(op=default) for default in op.args]
        return []

    def _of_global(self, step: _Step, found: set[str]) -> list[_Step]:
        bound = self._unit.module.bindings.get(str(step.op.name), ())
        made = [each for each in bound if each.code not in ("import", "function", "class")]
        if not made:
            named = step.op.values.qualified(step.op) or self._by_star(step.op)
            self._note(named, step, found)
        return [step._replace(op=each) for each in made]

    def _by_star(self, op: Op) -> list[str]:
        """What may come with ``from net import *``, as others tell it."""
        comes = op.code == "global" and self._unit.by_star(str(op.name))
        return [f"{BY_STAR}{op.name}"] if comes else []

    def _of_import(self, step: _Step, found: set[str]) -> list[_Step]:
        self._note([str(step.op.name)], step, found)
        return []

    def _of_attr(self, step: _Step, found: set[str]) -> list[_Step]:
        """What an object keeps: by its class in this file, or else as that of its maker."""
        op, name = step.op, str(step.op.name)
        owner = op.args[0]
        if step.of == LOSS and not owner.is_self:
            return [] if name in gradients.MEASURES else [step._replace(op=owner)]
        if names := op.values.qualified(op):
            self._note(names, step, found)
        elif held := self._unit.held(op.values.owner(owner), name):
            return [step._replace(op=each) for each in held]
        elif not owner.is_self and name in training.WRAPPED:
            return [step._replace(op=owner)]
        elif stored := [each.args[1] for each in self._stores(owner, name)]:
            return [step._replace(op=each) for each in stored]
        elif step.of != LOSS and (step.sure or layers.is_layer(name)):
            makers = self.made_of(owner, MODEL, sure=step.sure)
            found.update(each if each == UNSEEN_NAMES else f"{each}#{name}" for each in makers)
        return []

    def _stores(self, owner: Op, name: str) -> list[Op]:
        """Where the file assigns to an attribute of the same variable."""
        words_ = {owner.word} - {""}
        return [x for x in self._unit.stores(name) if x.args[0].word in words_] if words_ else []

    def _note(self, names: Iterable[str], step: _Step, found: set[str]) -> None:
        told = [each for each in names if not each.startswith("builtins.")]
        if step.of == LOSS or not told:
            self._is_unseen(step, found)
        else:
            found.update(_as(each, sure=step.sure) for each in told)

    # Calls

    def _of_call(self, step: _Step, found: set[str]) -> list[_Step]:
        op = step.op
        if step.of == LOSS:
            return [] if records_none(op) else self._computing(op, found, is_loss=step.sure)
        if gives_weights(op):
            return [_Step(op.args[0].args[0], MODEL, step.sure)]
        named = self._called(op)
        if same := self._same(op, named):
            return [step._replace(op=each) for each in same]
        if step.of == WEIGHTS and not _makes_tensors(named):
            found.update(self._weights_of(op) if step.sure else ())
            return []
        return self._made(step, named, found)

    @staticmethod
    def _same(call: Op, named: list[str]) -> list[Op]:
        """What a call gives back, or one of which it does."""
        if method_of(call) in _LOOKING_UP and not call.called:
            return call.args[0].args
        hands_on = word_of(call) in training.WRAPPING or (named and _OF_LISTS.issuperset(named))
        return call.args[1:] if hands_on else moved(call)

    def _weights_of(self, call: Op) -> set[str]:
        """What a function is given that hands on weights of it."""
        told = ((each, self.made_of(each, MODEL, sure=False)) for each in call.args[1:])
        given_ = [each for each, names in told if not all(map(_holds_no_layers, names))]
        parts = [self.made_of(each, MODEL) for each in given_]
        return set().union(*parts) or {UNSEEN_NAMES}

    def _called(self, call: Op) -> list[str]:
        """What is called, also of a method of the file, or one that a module has."""
        owner = call.function.class_name
        method = call.args[0]
        if (
            method.code == "attr"
            and method.args[0].is_self
            and self._unit.method(owner, str(method.name))
        ):
            return [f".{owner}.{method.name}"]
        called = [each for each in call.called if each not in gradients.NUMBERS]
        return called or self._by_star(method)

    def _made(self, step: _Step, named: list[str], found: set[str]) -> list[_Step]:
        """Of what a call makes, with the layers that it is given."""
        call = step.op
        chosen = call.args[0]
        if word_of(call) in training.HIDING or not (named or call.called):
            hides = named or call.called or chosen.code == "attr"
            self._is_unseen(step, found) if hides else None
            return [] if hides else [_Step(chosen, MODEL, step.sure)]
        which = "" if step.place is None else f"[{step.place}]"
        told = (each for each in named if not each.startswith("builtins."))
        found.update(_as(f"{each}{which}", sure=step.sure) for each in told)
        wraps = any(not varying.brings(each) and not each.startswith(".") for each in named)
        whole = wraps and not any(layers.has_weights(each) for each in named)
        sure = step.sure and whole and not _makes_tensors(named)
        return [_Step(each, MODEL, sure and word in _WRAPPED) for word, each in call.arguments()]

    def _computing(self, call: Op, found: set[str], *, is_loss: bool) -> list[_Step]:
        """What computes with tensors, and what is computed with."""
        method, word = call.args[0], word_of(call)
        named = self._called(call)
        if word in gradients.CUTS or not gradients.NUMBERS.isdisjoint(call.called):
            return []
        found.update(f"{COMPUTES}{each}" for each in named if not each.startswith("builtins."))
        scales = is_loss and word in training.SCALING
        told = [_Step(each, LOSS, scales) for each in call.args[1:]]
        if method.code == "attr" and not (call.called or method.args[0].is_self):
            told.append(_Step(method.args[0], LOSS, sure=is_loss))
        model = _asked(method)
        if not named and model is not None:
            makers = self.made_of(model, MODEL) - {UNSEEN_NAMES}
            how = MAY_BE if self._follows_models(call) else FIRST
            found.update(f"{how}{each.lstrip(MAY_BE)}" for each in makers)
        return told

    def _follows_models(self, call: Op) -> bool:
        """Whether a call is given what a model gives."""
        if call not in self._follows:
            self._follows[call] = False
            parts = (self.made_of(each, LOSS, sure=False) for each in call.args[1:])
            self._follows[call] = any(parts)
        return self._follows[call]


def made(unit: Unit, token: str, *, sure: bool) -> Iterator[tuple[int, list[str]]]:
    """What is told elsewhere of something that a file left open: what the calls in a file pass as
    a parameter, each with its row; what a class keeps in an attribute, or in any that it calls, or
    the file in a variable; what a function returns."""
    of, pairs = MODEL, []
    if passed := Passed.read(token):
        of = passed.of
        calls = [x for x in unit.ops_naming(passed.word) if word_of(x) == passed.word]
        pairs = [(call, call.given(passed.parameter, passed.place)) for call in calls]
        for call, value in pairs if passed.has_default else ():
            # Of what is named like a method, it may be another one.
            named = call.code == "call" and (call.args[0].code != "attr" or call.called)
            if value is None and named and not call.unpacks:
                yield call.row, [BY_DEFAULT]
    elif token.startswith("="):
        pairs = [(each, each) for each in unit.module.bindings.get(token[1:], ())]
    elif token.endswith("#"):
        pairs = [(x, _asked(x.args[0])) for x in _calls_in(unit, token[:-1]) if not x.called]
    elif "#" in token:
        pairs = [(each, each) for each in unit.held(*token.split("#"))]
    else:
        name, _, place = token.rstrip("]").partition("[")
        owner, _, word = name.rpartition(".")
        function = unit.defined(word, owner)
        for each in function.returned if function is not None else ():
            parts = each.args if each.code == "tuple" else ()
            which = parts[int(place)] if place and int(place) < len(parts) else each
            pairs.append((each, which))
    trained = Trained(unit)
    for each, value in pairs:
        if value is not None:
            row = each.row
            yield row, sorted(trained.made_of(value, of, sure=sure))


def may_compute(unit: Unit, name: str) -> bool:
    """Whether a file may compute with what a library has by a name. It does not where it only asks
    that for something, giving it no values, and keeps or hands on what it gets: a device."""
    named = [
        op
        for function in unit.all_naming(name.rpartition(".")[2])
        for op in function.ops
        if op.code in _NAMING and op.uses and name in op.values.qualified(op)
    ]
    return not named or not all(_only_asks(op, use) for op in named for use in op.uses)


def _only_asks(named: Op, use: Op) -> bool:
    if use.code != "call" or use.args[0] is not named:
        return use.code in _TESTING
    given_ = use.args[1:]
    return all(each.constant is not ... for each in given_) and all(
        each.code in _HANDING_ON or _places(each, use) for each in use.uses
    )


def _places(call: Op, value: Op) -> bool:
    """Whether a call says with a value where something lies: ``x.to(device)``."""
    if call.code != "call" or call.args[0] is value:
        return False
    word = next(each for each, given_ in call.arguments() if given_ is value)
    return word == "device" or word_of(call) in layers.MOVES


def _calls_in(unit: Unit, owner: str) -> Iterator[Op]:
    """The calls in the methods of a class."""
    for function in unit.everything_of(owner):
        yield from function.coded("call")


def gives_weights(call: Op) -> bool:
    """``model.parameters()``, ``model.group_params(lr=0.1)``."""
    method = call.args[0] if call.code == "call" else call
    if method is call or method.code != "attr" or call.called:
        return False
    told = method.name in layers.EVERY_PARAMETER or "param" in str(method.name)
    return told and not (method.args[0].is_self and call.args[1:])


def _as(name: str, *, sure: bool) -> str:
    return name if sure else f"{MAY_BE}{name}"


def _holds_no_layers(name: str) -> bool:
    """Whether what a name stands for is of a library that has none: ``argparse.Namespace``."""
    plain = name.lstrip(MAY_BE)
    library = plain.partition(".")[0]
    return library != "torch" and library in varying.PLAIN and not varying.brings(plain)


def _asked(function: Op) -> Op | None:
    """What is called that may be a model, or of which a method is."""
    if function.code == "attr" and not function.args[0].is_self:
        owner = function.args[0]
        return owner if layers.is_layer(owner.word) else None
    return None if function.code == "function" else function


def _makes_tensors(named: Iterable[str]) -> bool:
    """Whether torch makes a tensor: what is trained is that."""
    return any(each in gradients.MAKERS or each in layers.PARAMETERS for each in named)

"""What an optimizer trains, and what computes with that up to a loss, as one file shows it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.callers import Callers
from detlint.dataflow.calls import word_of
from detlint.dataflow.learning.inference import records_none
from detlint.dataflow.numerics.layers import Layers, moved
from detlint.dataflow.numerics.tensors import Tensors, method_of
from detlint.dataflow.origins import Origins
from detlint.dataflow.slices import alternatives, closure
from detlint.models import gradients, layers, training
from detlint.models.layers import PARAMETERS
from detlint.models.model import words
from detlint.models.varying import PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_GIVING = frozenset(("parameters", "named_parameters"))
_CHOOSING = frozenset((*("builtins.filter", "builtins.list", "builtins.tuple"), "itertools.chain"))
_HOLDING = words("binary comprehension declared dict iter list phi star tuple unpack")
_PLAIN = frozenset(("const", "format", "function", "text"))
_ENDS = frozenset(("compare", "drop", "format", "not", "test", "text"))
_PASSES = _HOLDING | words(
    """attr augment boolean change choice entry enter free item slice store_item unary"""
)
_READING = frozenset(("attr", "global", "import", "item", "param"))
_NUMBERS = ("bool", "float", "int", "str")
_MOST = 400  # values that results are followed through


class _UnseenError(Exception):
    """Something is not seen."""


class Trained:
    """Answers for the optimizers of one file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._calls = Callers(unit)
        self._layers = Layers(unit, self._calls, Origins())

    def by(self, optimizer: Op) -> list[str] | None:
        """The qualified names of the classes whose weights it gets, and of the functions and
        classes that compute a loss of what these give; None where not all is seen."""
        params = optimizer.given("params", 0)
        try:
            return sorted(self._names(params)) if params is not None else None
        except _UnseenError:
            return None

    def tensors_alone(self, optimizer: Op) -> bool:
        """Whether it gets nothing but tensors that functions of torch make, in a list."""
        params = optimizer.given("params", 0)
        if params is None or params.code != "list" or not params.args:
            return False
        tensors = Tensors(self._unit)
        return all(
            any(map(tensors.is_tensor, closure([each], _computed_from, _MOST)))
            for each in params.args
        )

    def _names(self, params: Op) -> set[str]:
        names: set[str] = set()
        results: list[Op] = []
        for model in self._models(params):
            for made in self._makers(model):
                names |= self._made_of(made)
                way = self._layers.way(made)
                if not all(map(self._only_looks, way.handed)):
                    raise _UnseenError
                results += way.calls or self._calls_of_whole(made)
        return names | self._computing(results)

    def _calls_of_whole(self, part: Op) -> list[Op]:
        """The calls of the model of which a part was replaced: ``model.fc = nn.Linear(512, 2)``."""
        stores = [each for each in part.uses if each.code == "store_attr"]
        owners = [each.args[0] for each in stores if not each.args[0].is_self]
        made = [one for each in owners for one in self._makers(each)]
        return [call for each in made for call in self._layers.way(each).calls]

    def _models(self, params: Op) -> list[Op]:
        """Those whose ``parameters()`` are handed on, with nothing beside."""
        found: list[Op] = []

        def parts(op: Op) -> Iterable[Op]:
            if op.code == "call":
                if word_of(op) in _GIVING and op.args[0].code == "attr":
                    found.append(op.args[0].args[0])
                    return ()
                if _CHOOSING.isdisjoint(op.called):
                    raise _UnseenError
                return op.args[1:]
            if op.code == "entry":
                return op.args[1:] if op.args[0].name == "params" else ()
            if op.code in _PLAIN:
                return ()
            if op.code not in _HOLDING:
                raise _UnseenError
            return op.args

        for _ in closure([params], parts):
            pass  # what is noted on the way counts
        if not found:
            raise _UnseenError
        return found

    def _makers(self, model: Op) -> list[Op]:
        """The calls that make a value, all of them."""
        found = []
        for each in closure([model], self._before):
            if each.code == "call" and not moved(each):
                found.append(each)
            elif not self._before(each):
                raise _UnseenError
        return found

    def _before(self, op: Op) -> Iterable[Op]:
        return moved(op) or alternatives(op) or self._kept(op)

    def _kept(self, op: Op) -> list[Op]:
        """What an object has in an attribute, by its class or by who made it."""
        if op.code != "attr":
            return []
        name = str(op.name)
        if op.args[0].is_self:
            return list(self._unit.held(op.function.class_name, name))
        try:
            made = self._makers(op.args[0])
        except _UnseenError:
            return []
        stores = [each for each in self._unit.stores(name) if self._is_of(each.args[0], made)]
        owners = [each.removeprefix(".") for call in made for each in call.called]
        held = [each for owner in owners for each in self._unit.held(owner, name)]
        return [each.args[1] for each in stores] or held

    def _is_of(self, owner: Op, made: list[Op]) -> bool:
        try:
            return not owner.is_self and self._makers(owner) == made
        except _UnseenError:
            return False

    def _made_of(self, made: Op) -> set[str]:
        """What a call makes an object of, with all layers, classes and functions that it is given;
        what is read of a configuration is none."""
        if not made.called:
            raise _UnseenError
        names = set(made.called)
        for each in closure(made.args[1:], _given):
            names.update(each.called if each.code == "call" else each.values.qualified(each))
        return names

    @staticmethod
    def _only_looks(call: Op) -> bool:
        return bool(call.called) and all(
            each.startswith(("builtins.", "torch.save", "torch.nn.utils.")) for each in call.called
        )

    # What computes with results

    def _computing(self, results: list[Op]) -> set[str]:
        names: set[str] = set()
        goes_back = False
        for value in closure(results, lambda op: self._after(op, names), _MOST + 1):
            goes_back = goes_back or word_of(value) in training.BACKWARDS
        if not goes_back:
            raise _UnseenError
        return names

    def _after(self, value: Op, names: set[str]) -> Iterator[Op]:
        if word_of(value) in training.BACKWARDS:
            return
        for use in value.uses:
            if use.code in _ENDS or (use.code == "attr" and _cuts(use)):
                continue
            if use.code == "call":
                yield from self._through(value, use, names)
            elif use.code == "store_global":
                reads = self._unit.reads("global", str(use.name))
                yield from (each for each in reads if each.function is not use.function)
            elif use.code == "return":
                yield from self._given_to(use.function)
            elif use.code in _PASSES:
                yield use
            else:
                raise _UnseenError

    def _given_to(self, function: Function) -> list[Op]:
        """The calls that get what a function returns, or the ``forward`` of a class."""
        owner, _, word = function.name.rpartition(".")
        calls = list(self._calls.of(function).calls)
        for made in self._calls.of_class(owner).calls if layers.runs(word) and owner else ():
            way = self._layers.way(made)
            if not all(map(self._only_looks, way.handed)):
                raise _UnseenError
            calls += way.calls
        if not calls:
            raise _UnseenError
        return calls

    def _through(self, value: Op, call: Op, names: set[str]) -> Iterator[Op]:
        """What a call gives that is given a result, or is one of its methods."""
        if records_none(call):
            return
        if call.args[0] is value or word_of(call) in training.BACKWARDS:
            yield call
            return
        called = call.called or self._callee(call)
        names.update(called)
        if not called or any(map(_goes_on, called)):
            yield call

    def _callee(self, call: Op) -> set[str]:
        """What is called that is kept in a variable or an attribute; nothing of a method."""
        function = call.args[0]
        owner, word = call.function.class_name, str(function.name)
        if function.code == "attr" and not function.args[0].is_self:
            return set()
        if function.code == "attr" and self._unit.defines(word, owner):
            return {f".{owner}"}
        return {name for made in self._makers(function) for name in self._made_of(made)}


def _computed_from(op: Op) -> Sequence[Op]:
    """What makes a tensor by arithmetic, by a method, or as a parameter."""
    if method_of(op):
        return op.args[0].args
    made = op.code == "call" and not PARAMETERS.isdisjoint(op.called)
    return op.args if made or op.code == "binary" else ()


def _given(op: Op) -> Sequence[Op]:
    """What a value that a layer is made with is made of, as far as that may be layers."""
    if op.code == "call":
        named = op.called or op.args[0].code == "attr"
        if not named:
            raise _UnseenError
        if not gradients.NUMBERS.isdisjoint(op.called) or word_of(op) in gradients.MEASURES:
            return ()
        return op.args[1:] if op.called else (op.args[0].args[0], *op.args[1:])
    if op.code == "function" or (op.code == "param" and not _is_number(op)):
        raise _UnseenError  # which may make layers
    return () if op.code in _READING else op.args


def _is_number(param: Op) -> bool:
    """Whether a parameter is a number or a text, by its annotation or its default."""
    annotation = getattr(param.node, "annotation", None)
    told = ast.unparse(annotation) if annotation is not None else ""
    given = [each.constant for each in param.args]
    return told in _NUMBERS or (bool(given) and all(type(x) in (int, float, bool) for x in given))


def _cuts(member: Op) -> bool:
    return member.name in gradients.CUTS or member.name in gradients.MEASURES


def _goes_on(name: str) -> bool:
    """Whether what is called by a name may give something with a gradient."""
    library = name.partition(".")[0]
    if library == "builtins":
        return name not in gradients.NUMBERS
    return library == "torch" or library not in PLAIN

"""Whether a gradient comes to a tensor: it is computed from what is trained, or visibly is not."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.backwards import Backwards
from detlint.dataflow.callers import given
from detlint.dataflow.learning.inference import records_none
from detlint.dataflow.numerics.layers import Layers, word_of
from detlint.dataflow.numerics.tensors import (
    Fields,
    annotated,
    computed_with,
    gives_places,
    method_of,
)
from detlint.models import gradients as rows
from detlint.models import layers, memory, tensors
from detlint.models.names import is_network

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Made, Place
    from detlint.dataflow.unit import Unit

Facts = frozenset[str]
NEEDED, UNKNOWN, SEEMS_NONE, NONE = "needed", "unknown", "seems none", "none"
_NEEDED, _UNKNOWN, _SEEMS_NONE, _NONE = (
    frozenset((each,)) for each in (NEEDED, UNKNOWN, SEEMS_NONE, NONE)
)
_FEW = 6  # files; what one of many passes to a function says little of what another is given
_NOTHING: Facts = frozenset()
_NAMING = frozenset(("attr", "global"))
_COMPUTING = frozenset(("augment", "binary", "call", "comprehension"))


class Files:
    """The gradients of other files, that import what this one defines."""

    def __init__(self, others: OtherFiles) -> None:
        self._others = others
        self._known: dict[Unit, Gradients] = {}

    def calls(self, gradients: Gradients, name: str) -> list[tuple[Gradients, Op]]:
        """The calls of a function or class in other files, and the gradients of these."""
        self._known.setdefault(gradients.unit, gradients)
        return [
            (other, call)
            for unit, word, full in self._others.importing(gradients.unit, name)[:_FEW]
            for other in [self._of(unit)]
            for call in (
                *other.unit.callers.of_imported(word, full),
                *other.later(other.unit.callers.partials_of_imported(full)),
            )
        ]

    def _of(self, unit: Unit) -> Gradients:
        if unit not in self._known:
            self._known[unit] = Gradients(Fields(unit), self)
        return self._known[unit]


class Gradients(Backwards[Facts]):
    """Answers for the values of a file."""

    nothing, anything = _NOTHING, _UNKNOWN

    def __init__(self, fields: Fields, files: Files | None = None) -> None:
        super().__init__()
        self._files = files
        self._fields = fields
        self.unit = fields.unit
        self.layers = Layers(self.unit)

    def comes_to(self, op: Op) -> str:
        """Whether a gradient is asked for of a value: ``NEEDED`` as the file shows · ``UNKNOWN``
        · ``SEEMS_NONE``, by a name · ``NONE``, for certain."""
        return surest(self.of(op))

    def fed(self, made: Op) -> str:
        """The same of what a layer is called with that a call makes."""
        return surest(self.fed_by_all(made))

    def is_idle(self, made: Op) -> bool:
        """Whether no gradient of a layer that a call makes is worked out: all calls of it record
        none, or it is not trained, and none is seen to come through it."""
        way = self.layers.way(made)
        if way.calls and not (way.handed or way.given) and all(map(records_none, way.calls)):
            return True
        return self.layers.is_held_still(made) and self.fed(made) != NEEDED

    def join(self, parts: Iterable[Facts]) -> Facts:
        found = _NOTHING
        for each in parts:
            found |= each
            if NEEDED in found:  # the rest does not matter
                break
        return found

    def fed_by_all(self, made: Op) -> Facts:
        """What all calls of a layer give it."""
        way = self.layers.way(made)
        if way.after_weights and not self.layers.is_held_still(made):
            return _NEEDED
        found = [_NONE if records_none(each) else self._given(each) for each in way.calls]
        found += map(self._fed_elsewhere, way.given)
        return self.join(found) or _UNKNOWN

    def _fed_elsewhere(self, builder: Function) -> Facts:
        """What other files call a layer with that a function gives them."""
        if builder.class_name or builder.outer is not None or self._files is None:
            return _UNKNOWN
        found = (other.fed_by_all(call) for other, call in self._files.calls(self, builder.name))
        return _UNKNOWN | self.join(found)

    def _given(self, call: Op) -> Facts:
        return self.joined(value for _, value in call.arguments())

    def judge(self, op: Op) -> Facts:
        if op.code in _COMPUTING and records_none(op):
            return _NONE
        found = super().judge(op)
        return found | self._written(op) if surest(found) in (NONE, SEEMS_NONE) else found

    def _written(self, op: Op) -> Facts:
        """What is written into a tensor where it lies: ``x.copy_(y)``, ``x.requires_grad_()``."""
        found = _NOTHING
        for use in op.uses:
            if use.code == "store_attr" and use.name == "requires_grad" and use.args[0] is op:
                off = use.args[1].name is False
                found |= _NONE if off else _NEEDED
            elif use.code == "attr" and str(use.name).endswith("_") and op.code != "call":
                for call in (each for each in use.uses if each.code == "call"):
                    told = call.args[1:]
                    asks = use.name == "requires_grad_" and not (told and told[0].name is False)
                    found |= _NEEDED if asks else self.joined(told)
        return found

    # By operation

    def _of_const(self, _: Op) -> Facts:
        return _NONE

    _of_text = _of_format = _of_compare = _of_not = _of_function = _of_class = _of_const

    def _of_binary(self, op: Op) -> Facts:
        return self.joined(op.args)

    _of_augment = _of_list = _of_tuple = _of_set = _of_dict = _of_binary

    def _of_unary(self, op: Op) -> Facts:
        return self.of(op.args[0])

    _of_slice = _of_iter = _of_star = _of_delete = _of_unary

    def _of_entry(self, op: Op) -> Facts:
        return self.of(op.args[1])

    def _of_unpack(self, op: Op) -> Facts:
        """``values, places = x.topk(3)``, ``for step, batch in enumerate(loader)``."""
        owner, index = op.args[0], op.name[0]
        if index == 1 and gives_places(owner):
            return _NONE
        return self.of(owner)

    def _of_item(self, op: Op) -> Facts:
        owner, key = op.args
        if key.name == 1 and key.code == "const" and gives_places(owner):
            return _NONE
        if rows.is_loaded(word_of(owner), key.name if key.code == "const" else None):
            return _SEEMS_NONE
        chosen = owner.at(key.name) if owner.code != "dict" else None
        return self.of(owner if chosen is None else chosen)

    def _of_comprehension(self, op: Op) -> Facts:
        return self.of(op.args[1 if op.name == "dict" else 0])

    def _of_store_item(self, op: Op) -> Facts:
        return self.of(op.args[0]) | self.of(op.args[2])

    def _of_change(self, op: Op) -> Facts:
        return self.join((self.of(op.args[0]), self._given(op.args[1])))

    def _of_global(self, op: Op) -> Facts:
        name = str(op.name)
        if rows.is_loader(name):
            return _SEEMS_NONE
        names = self.unit.values.qualified(op)
        return (
            _NONE if any(each.startswith("builtins.") for each in names) else super()._of_global(op)
        )

    def _of_import(self, _: Op) -> Facts:
        return _UNKNOWN

    # Parameters

    def _of_param(self, op: Op) -> Facts:
        stars, name = op.name
        if not rows.PLAIN.isdisjoint(annotated(op)):
            return _NONE
        if rows.is_target(name) or rows.is_loader(name):
            return _SEEMS_NONE
        if rows.is_teacher(name, op.function.params):
            return _SEEMS_NONE
        found = _UNKNOWN if stars else self._handed(op)
        return _NEEDED if surest(found) == UNKNOWN and rows.is_computed(name) else found

    def _handed(self, op: Op) -> Facts:
        """What the calls of its function give a parameter, as far as the file shows."""
        function = op.function
        owner, _, name = function.name.rpartition(".")
        if owner and name in ("forward", "__call__") and function.outer is None:
            return self._fed_to_class(owner, op)
        known = function.known_calls
        later = self.later(self.unit.callers.partials(function)) if not known.all else ()
        found = self.join(self.argument(each, op) for each in (*known.calls, *later))
        if known.all and known.calls:
            return found
        top = not owner and function.outer is None and name
        if not top and known.calls and surest(found) == NONE:
            return _SEEMS_NONE  # what else calls it is rather given the same
        return found | (self._elsewhere(function.name, op) if top else _UNKNOWN)

    def later(self, partials: Iterable[Op]) -> list[Op]:
        """The calls of what ``functools.partial`` makes."""
        return [call for each in partials for call in self.layers.way(each).calls]

    def _elsewhere(self, name: str, op: Op) -> Facts:
        """What a parameter of a function, or of a class' ``forward``, is given in other files."""
        if self._files is None:
            return _UNKNOWN
        is_layer = bool(op.function.class_name)
        return _UNKNOWN | self.join(
            other.fed_by(call, op) if is_layer else other.argument(call, op)
            for other, call in self._files.calls(self, name)
        )

    def argument(self, call: Op, op: Op) -> Facts:
        """What a call gives a parameter."""
        if records_none(call):
            return _NONE
        value = given(call, op)
        return self.of(value) if value is not None else _UNKNOWN

    def _fed_to_class(self, owner: str, op: Op) -> Facts:
        """What objects of a class are called with, where files make some."""
        found = self.join(self.fed_by(each, op) for each in self.unit.callers.of_class(owner).calls)
        return found if NEEDED in found else found | self._elsewhere(owner, op)

    def fed_by(self, made: Op, op: Op) -> Facts:
        """What a layer that a call makes gives a parameter of its ``forward``."""
        way = self.layers.way(made)
        return (
            _NEEDED
            if way.after_weights
            else self.join(self.argument(each, op) for each in way.calls)
        )

    # Attributes

    def _of_attr(self, op: Op) -> Facts:
        name, owner = str(op.name), op.args[0]
        if name in rows.MEASURES or self.unit.values.qualified(op):
            return _NONE if name in rows.MEASURES else _UNKNOWN
        if rows.is_loader(name):
            return _SEEMS_NONE
        if owner.is_self:
            return self._field(op, op.function.class_name, name)
        if name == "indices" and gives_places(owner):
            return _NONE
        if name == "weight" and self.layers.weighs(owner):
            return _UNKNOWN if self.layers.is_frozen(word_of(owner)) else _NEEDED
        return self.of(owner)

    def _field(self, op: Op, owner: str, name: str) -> Facts:
        """What a class keeps in an attribute."""
        if owner not in self.unit.classes:
            return _UNKNOWN
        held = self._fields.kept(op)
        found = self.join(self.of(each) for each in held if not each.is_none)
        if self.layers.is_frozen(name) and surest(found) == NEEDED:
            return _NONE
        if self._fields.buffers(owner, name):
            return found - _UNKNOWN or _NONE
        return found or (_NONE if held else _UNKNOWN)

    # Callers

    def _of_call(self, op: Op) -> Facts:
        told = op.given("requires_grad")
        if told is not None and told.name is not False:
            return _NEEDED
        names = op.called
        for name in names:
            found = self._of_named(op, name)
            if found is not None:
                return found
        return self._of_method(op) if method_of(op) else self._called(op)

    def _of_named(self, op: Op, name: str) -> Facts | None:
        """What a function of a library gives; None if it may be of the project."""
        word = name.rpartition(".")[2]
        if name in layers.PARAMETERS:
            told = op.given("requires_grad", 1)
            return _NONE if told is not None and told.name is False else _NEEDED
        if (
            name in memory.BUFFERS
            or name in rows.MAKERS
            or name in rows.NUMBERS
            or name.startswith(("numpy.", "math."))
        ):
            return _NONE
        if name in rows.HANDS_ON or word in ("tqdm", "trange"):
            return self._given(op)
        if name.startswith("torch.") and word[:1].islower():
            return _NONE if word in tensors.INTEGERS | rows.CUTS else self.joined(computed_with(op))
        if name.startswith("torch.utils.data."):
            return _NONE
        return _UNKNOWN if name.startswith("builtins.") else None

    def _of_method(self, op: Op) -> Facts:
        """What a method gives: of a tensor, of a model, of an object of the file."""
        word, owner = method_of(op), op.args[0].args[0]
        if (
            word in rows.CUTS
            or word in rows.MEASURES
            or word in tensors.INTEGERS
            or word in rows.NEW
        ):
            return _NONE
        if word == "requires_grad_":
            return _NONE if op.args[1:] and op.args[1].name is False else _NEEDED
        if word in rows.SHAPING:
            return self.of(owner)
        found = self._called(op)
        if surest(found) == UNKNOWN and layers.runs(word) and self.layers.weighs(owner):
            return _NEEDED
        if surest(found) != UNKNOWN or owner.is_self:
            return found
        return self.join((self.of(owner), self._given(op)))

    def _called(self, op: Op) -> Facts:
        """What a layer gives that is called, or a function of the project."""
        function = op.args[0]
        found = self.join(self._from(made, op) for made in self.layers.makers(function))
        if not found or surest(found) == UNKNOWN:
            word = word_of(function)
            named = is_network(word) or (is_self_attr(function) and layers.is_layer(word))
            found |= _NEEDED if named else _UNKNOWN
        return found if NEEDED in found else found | (self._given(op) & _NEEDED)

    def _from(self, made: Made | None, op: Op) -> Facts:
        if made is None:
            return _UNKNOWN
        if made.function is not None:
            return self._returned(made.function)
        if not made.called:
            return self._given(op) if _only_holds(made.place) else _UNKNOWN
        if self.layers.makes_weights(made, op.args[0]):
            frozen = self.layers.is_frozen(word_of(op.args[0]))
            return self._given(op) if frozen else _NEEDED
        is_module = made.place is not None or any(
            each.startswith("torch.nn.") for each in made.names
        )
        return self._given(op) if is_module else _UNKNOWN

    def _returned(self, function: Function) -> Facts:
        """What a function of the project gives."""
        if records_none_inside(function):
            return _NONE
        if function.unit is not self.unit:
            return _UNKNOWN
        return self.joined(function.returned) or _UNKNOWN


def kept(unit: Unit, owner: str, name: str) -> Iterator[tuple[int, int, list[str]]]:
    """Where a file makes what objects of a class hold as an attribute, if no gradient is seen to
    come through that: the first and the last line, and what the class names there alone."""
    gradients = Gradients(Fields(unit))
    held = unit.held(owner, name)
    if any(gradients.fed(each) == NEEDED for each in held):
        return
    nodes = [each.node for each in held if isinstance(each.node, ast.expr)]
    lines = [range(each.lineno, (each.end_lineno or each.lineno) + 1) for each in nodes]
    alone: dict[str, bool] = {}
    for each, row in _named_in(unit, owner):
        alone[each] = alone.get(each, True) and any(row in rows for rows in lines)
    names = [each for each, is_alone in alone.items() if is_alone]
    yield from ((each[0], each[-1], names) for each in lines)


def _named_in(unit: Unit, owner: str) -> Iterator[tuple[str, int]]:
    """The qualified names that a class uses, and in which lines."""
    for function in unit.everything_of(owner):
        for op in function.ops:
            for name in unit.values.qualified(op) if op.code in _NAMING else ():
                yield from ((name, use.row) for use in op.uses)


def _only_holds(place: Place | None) -> bool:
    """Whether objects of a class hold what they are made with, and nothing else: a dataclass."""
    if place is None or place.unit.has_unseen_base(place.name):
        return False
    makes = (place.unit.method(place.name, each) for each in ("__init__", "__post_init__"))
    return not any(makes)


def surest(facts: Facts) -> str:
    """What counts of several branches."""
    return next((each for each in (NEEDED, UNKNOWN, SEEMS_NONE) if each in facts), NONE)


def records_none_inside(function: Function) -> bool:
    """Whether a function turns gradients off as a whole."""
    return bool(function.ops) and records_none(function.ops[0]) and bool(function.decorators)


def is_self_attr(op: Op) -> bool:
    """``self.encoder``, ``self.blocks[0]``."""
    while op.code in ("item", "iter", "slice"):
        op = op.args[0]
    return op.code == "attr" and op.args[0].is_self

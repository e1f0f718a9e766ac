"""Layers that code makes: what it keeps them in, where it calls them, and which have weights."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.dataflow.forwards import Forwards
from detlint.dataflow.numerics.tensors import function_of, method_of
from detlint.dataflow.slices import SAME, alternatives, closure
from detlint.models import layers as rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Made, Place
    from detlint.dataflow.unit import Unit

_PARTS = frozenset(("item", "iter", "slice", "unpack"))
_READING = _PARTS | {"attr", "call"}
_HOLDING = frozenset(("comprehension", "dict", "entry", "list", "set", "star", "tuple"))
_BRANCHES = ("if", "else", "except")
_DEEPEST = 6  # layers in layers
_FARTHEST = 40  # values from a layer to what made it
_ITERATES = frozenset(f"builtins.{each}" for each in ("enumerate", "list", "reversed", "zip"))


class Way(Forwards):
    """What becomes of a layer.

    calls   the calls of it
    handed  the calls that it is handed to
    given   the functions that return it
    kept    the attributes that keep it, with their class
    after   it is one of several that follow each other, and weights come before it
    values  all that may be it, or hold it
    is_read  anything is done with what holds it
    """

    same = SAME | _PARTS | {"augment"}
    most = 120

    def __init__(self, layers: Layers) -> None:
        super().__init__(layers.unit)
        self._layers = layers
        self.calls: list[Op] = []
        self.handed: list[Op] = []
        self.given: list[Function] = []
        self.kept: list[tuple[str, str]] = []
        self.after_weights = False
        self.is_read = False
        self.values: set[Op] = set()

    def step(self, use: Op, value: Op) -> Iterable[Op]:
        self.is_read |= use.code in _READING
        return super().step(use, value)

    def _to_attr(self, use: Op, _: Op) -> Iterable[Op]:
        if rows.runs(str(use.name)):
            return [use]
        return use.calls if use.name in rows.MOVES or use.name == "get" else ()

    def _to_dict(self, use: Op, value: Op) -> Iterable[Op]:
        """What holds it, and what it stands beside there."""
        self.after_weights |= self._layers.has_weights_before(use, value)
        return [use]

    _to_comprehension = _to_entry = _to_list = _to_set = _to_star = _to_dict

    def _to_tuple(self, use: Op, value: Op) -> Iterable[Op]:
        # ``self.conv, self.pool = Conv2d(…), MaxPool2d(2)`` uses none.
        return self._to_dict(use, value) if use.uses else ()

    def _to_change(self, use: Op, value: Op) -> Iterable[Op]:
        return [use] if value is use.args[0] else self._to_dict(use, use.args[1])

    def _to_param(self, use: Op, _: Op) -> Iterable[Op]:
        return [use]  # its default

    def _to_store_attr(self, use: Op, _: Op) -> Iterable[Op]:
        self.kept.append((use.function.class_name, str(use.name)))
        return self._layers.kept(use)

    def _to_store_global(self, use: Op, value: Op) -> Iterator[Op]:
        reads = super()._to_store_global(use, value)
        return (read for read in reads if read.function is not use.function)

    def _to_return(self, use: Op, value: Op) -> Iterable[Op]:
        self.given.append(use.function)
        return super()._to_return(use, value)

    def _to_call(self, use: Op, value: Op) -> Iterable[Op]:
        if use.args[0] is value:
            self.calls.append(use)
            return ()
        name = function_of(use)
        last = name.rpartition(".")[2]
        if last in rows.CONTAINERS or method_of(use) == "__init__":
            before = last != "ModuleDict" and self._layers.has_weights_before(use, value)
            self.after_weights |= before
            return [use]
        if name in _ITERATES:
            return [use]
        if method_of(use) in rows.ADDS and use.args[-1] is value:
            return self._added(use)
        self.handed.append(use)
        return ()

    def _added(self, call: Op) -> Iterator[Op]:
        """What is added to a container: ``self.head.add_module("pool", value)``; to a module
        itself, it is an attribute."""
        holder, layers = call.args[0].args[0], self._layers
        if holder.is_self:
            named = call.args[1]
            if len(call.args) > 2 and isinstance(named.name, str):
                yield from layers.read(call.function.class_name, named.name)
            else:
                yield from layers.listed(call.function.class_name)
            return
        before = (each for each in call.function.coded("call") if each.place < call.place)
        for each in before:
            beside = method_of(each) in rows.ADDS and _path(each.args[0].args[0]) == _path(holder)
            self.after_weights |= beside and layers.weighs(each.args[-1])
        yield from (each for each in call.uses if each.code == "change")
        yield from layers.held(holder)


class Layers:
    """Answers for the layers of a file."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._origins = unit.origins
        self._ways: dict[Op, Way] = {}
        self._weights: dict[Place, bool] = {}
        self._frozen: dict[str, bool] = {}
        self._busy: set[str] = set()  # classes that are asked about
        self._makers: dict[tuple[str, str], list[Made | None]] = {}
        self._before: dict[Op, dict[Op, bool]] = {}  # of each part, whether weights come first

    def way(self, made: Op) -> Way:
        """What becomes of what a call makes."""
        if made not in self._ways:
            found = self._ways[made] = Way(self)
            found.values.update(found.followed(made))
        return self._ways[made]

    def listed(self, owner: str) -> Iterator[Op]:
        """Where a class that is a list of layers goes through itself."""
        for function in self.unit.everything_of(owner):
            for own in function.coded("param"):
                if own.is_self:
                    yield from (use for use in own.uses if _goes_through(use))

    def held(self, holder: Op) -> Iterator[Op]:
        """Where a class reads a container that it had kept before things were added to it."""
        before = {"phi": None, "change": 1}  # how many of what it takes
        for each in closure([holder], lambda op: op.args[: before.get(op.code, 0)]):
            if each.is_self:
                yield from self.listed(each.function.class_name)
            elif each.code == "attr" and each.args[0].is_self:
                yield from self.read(each.function.class_name, str(each.name))
            for use in each.uses:
                if use.code == "store_attr" and use.args[-1] is each:
                    yield from self.kept(use)

    def has_weights_before(self, held: Op, value: Op) -> bool:
        """Whether layers with weights come before one in a list, or in a container."""
        if held not in self._before:
            found, weighs = self._before.setdefault(held, {}), False
            for each in held.args if held.code != "entry" else ():
                found.setdefault(each, weighs)
                weighs = weighs or self.weighs(each)
        return self._before[held].get(value, False)

    def kept(self, store: Op) -> Iterator[Op]:
        """Where a class reads what it keeps in an attribute."""
        owner, name = store.function.class_name, str(store.name)
        if store.args[0].is_self:
            yield from self.read(owner, name)
            for each in self.unit.derived(owner):
                yield from self.read(each, name)

    def read(self, owner: str, name: str) -> Iterator[Op]:
        for function in self.unit.methods_naming(owner, name):
            for inner in function.everything():
                for read in inner.reads("attr", name):
                    if read.args[0].is_self:
                        yield read

    # Weights

    def weighs(self, op: Op, depth: int = 0) -> bool:
        """Whether a value is a layer with weights, or a list of such."""
        if depth > _DEEPEST:
            return False
        found = self.makers(op)
        if not found and op.code in ("attr", "global", "free", "param"):
            return rows.is_layer(word_of(op))
        return any(self.makes_weights(each, op, depth) for each in found)

    def makers(self, op: Op) -> list[Made | None]:
        """What may have made a value; an attribute of an object is asked about once."""
        if op.code != "attr" or not op.args[0].is_self:
            return self._origins.of(op)
        key = op.function.class_name, str(op.name)
        if key not in self._makers:
            self._makers[key] = self._origins.of(op)
        return self._makers[key]

    def makes_weights(self, made: Made | None, op: Op, depth: int = 0) -> bool:
        """Whether what something is made by has weights; ``op``: what it is called there."""
        if made is None:
            return rows.is_layer(word_of(op))
        if made.place is not None:
            return self._class_weighs(made.place, depth + 1)
        if not made.called or depth > _DEEPEST:
            return False
        return any(self._is_weighted(name, made.op) for name in made.names)

    def _is_weighted(self, name: str, made: Op) -> bool:
        if name in rows.PARAMETERS:
            return True
        if name.rpartition(".")[2] in rows.CONTAINERS:
            return not made.args[1:] or any(map(self._holds_weights, made.args[1:]))
        known = rows.has_weights(name)
        return _seems(name, made) if known is None else known

    def _holds_weights(self, op: Op) -> bool:
        if op.code in _HOLDING:
            return any(map(self._holds_weights, op.args))
        return op.code not in ("const", "iter") and self.weighs(op, 1)

    def weighs_as_class(self, name: str) -> bool:
        """The same of the objects of a class of the file."""
        place = self._origins.object_of(self.unit, name).place
        return place is not None and self._class_weighs(place, 0)

    def _class_weighs(self, place: Place, depth: int) -> bool:
        """Whether a class of the project makes weights, or derives from what does."""
        if place not in self._weights:
            self._weights[place] = False
            self._weights[place] = depth <= _DEEPEST and any(self._makings(place, depth))
        return self._weights[place]

    def _makings(self, place: Place, depth: int) -> Iterator[bool]:
        for base in place.bases:
            own = base.removeprefix(".")
            if base.startswith(".") and own in place.unit.classes:
                yield self._class_weighs(place._replace(name=own), depth + 1)
            else:
                yield rows.has_weights(base) is True
        for function in place.unit.everything_of(place.name):
            for call in function.coded("call"):
                yield self._makes(call, depth)

    def _makes(self, call: Op, depth: int) -> bool:
        values = call.values
        for name in values.called(call):
            if name in rows.PARAMETERS or rows.has_weights(name):
                return True
            own = name.removeprefix(".")
            if name.startswith(".") and own in call.function.unit.classes:
                place = self._origins.object_of(call.function.unit, own).place
                return place is not None and self._class_weighs(place, depth + 1)
        return False

    def is_frozen(self, name: str) -> bool:
        """Whether the file says that a parameter, or those of a layer, are not trained."""
        if name not in self._frozen:
            self._frozen[name] = "requires_grad" in self.unit.text and any(
                not on and name in _path(each) and (whole_of(each) is each or self.is_certain(at))
                for each, at, on in self.told
            )
        return self._frozen[name]

    @cached_property
    def told(self) -> list[tuple[Op, Op, bool]]:
        """Of what the file says that it gets gradients, or does not, and where."""
        stores = self.unit.stores("requires_grad")
        told = [(each.args[0], each, not _is_false(each.args[1])) for each in stores]
        for read in self.unit.reads("attr", "requires_grad_"):
            for call in read.calls:
                given = call.given("requires_grad", 0)
                told.append((read.args[0], call, given is None or not _is_false(given)))
        return told

    def is_held_still(self, made: Op) -> bool:
        """Whether a file says of what holds a layer that it is not trained, in any case, and of no
        part that it is: ``for p in self.encoder.parameters(): p.requires_grad = False``."""
        return "requires_grad" in self.unit.text and self._is_still(made, _first)

    def _is_still(self, made: Op, parts: Callable[[Op], list[Op]]) -> bool:
        still, of_made = False, partial(self._holds, made)
        for said, at, on in self.told:
            whole = whole_of(said)
            if on and (_is_object(whole, made) or any(map(of_made, closure([whole], parts)))):
                return False
            if not on and (_is_own(whole, made) or of_made(whole) or self._is_table(said, made)):
                still |= self.is_certain(at)
        return still or self._are_still(made.function.class_name)

    def _holds(self, made: Op, value: Op) -> bool:
        """Whether a value is what a call makes, or holds it, also as an object's attribute."""
        way = self.way(made)
        if value in way.values:
            return True
        read = value.code == "attr" and not value.args[0].is_self
        return read and (value.values.owner(value.args[0]), str(value.name)) in way.kept

    def _is_table(self, said: Op, made: Op) -> bool:
        """Whether it is the one parameter of a layer: ``self.table.weight`` of an embedding."""
        alone = any(each.endswith("Embedding") for each in made.called)
        weight = (said.code, said.name) == ("attr", "weight")
        return alone and weight and self._holds(made, said.args[0])

    def _are_still(self, owner: str) -> bool:
        """The same of all objects of a class that the file makes, where no other does."""
        if not owner or owner in self._busy:
            return False
        known = self.unit.callers.of_class(owner)
        self._busy.add(owner)
        still = (
            known.all
            and bool(known.calls)
            and all(self._is_still(each, lambda _: []) for each in known.calls)
        )
        self._busy.discard(owner)
        return still

    def is_certain(self, op: Op) -> bool:
        """Whether no branch decides whether something is said, as far as calls of its function are
        seen."""
        if any(each.kind in _BRANCHES for each in op.region.around()):
            return False
        function = op.function
        if not function.name or function.word == "__init__":
            return True
        calls = function.known_calls.calls
        certain = (x.kind not in _BRANCHES for call in calls for x in call.region.around())
        return bool(calls) and all(certain)


def moved(op: Op) -> list[Op]:
    """``x`` of ``x.cuda()``."""
    method = op.args[0] if op.code == "call" else op
    moves = op.code == "call" and method.code == "attr" and method.name in rows.MOVES
    return method.args if moves else []


def made_by(layer: Op) -> Iterator[Op]:
    """What may have made what a value is, as its file shows it: ``net = Net().cuda()``."""

    def step(op: Op) -> Sequence[Op]:
        return moved(op) or alternatives(op) or [x for x in op.values.bound(op) if not x.is_none]

    return (each for each in closure([layer], step, _FARTHEST) if not step(each))


def _goes_through(use: Op) -> bool:
    return use.code in _PARTS or (use.code == "call" and function_of(use) in _ITERATES)


def _is_false(op: Op) -> bool:
    return (op.code, op.name) == ("const", False)


def whole_of(op: Op) -> Op:
    """Of parameters, what these are all of: ``self.encoder`` of ``p``, for each of
    ``self.encoder.parameters()``."""
    each = op.args[0] if op.code == "unpack" else op
    handed = each.args[0] if each.code == "iter" else each
    if method_of(handed) in rows.EVERY_PARAMETER:
        return handed.args[0].args[0]
    return op


def _first(op: Op) -> list[Op]:
    return op.args[:1]


def _is_own(value: Op, made: Op) -> bool:
    """Whether a value is the object in whose class a layer is made, as the class has it."""
    owner = made.function.class_name
    return bool(owner) and value.is_self and value.function.class_name == owner


def _is_object(value: Op, made: Op) -> bool:
    """Whether a value is an object in whose class a layer is made."""
    owner = made.function.class_name
    return _is_own(value, made) or (bool(owner) and value.values.owner(value) == owner)


def _path(op: Op) -> list[str]:
    """The words of ``self.table.weight``, also where that was just assigned."""
    found, op = [], whole_of(op)
    while op.code in ("attr", "call", "item"):
        found += [str(use.name) for use in op.uses if use.code == "store_attr"]
        if op.code == "attr":
            found.append(str(op.name))
        op = op.args[0]
    return found


def _seems(name: str, made: Op) -> bool:
    """Whether a class that is not seen may be one of layers: where another one makes it."""
    word = name.rpartition(".")[2]
    return word[:1].isupper() and not name.startswith("torch") and is_of_module(made)


def is_of_module(op: Op) -> bool:
    """Whether code is of a class that derives from something like ``nn.Module``, or of none."""
    owner, unit = op.function.class_name, op.function.unit
    if owner not in unit.classes:
        return True
    bases = [each for each in unit.bases(owner) if each not in unit.classes or unit.bases(each)]
    return any(not rows.is_no_module(each) for each in bases)


def word_of(op: Op) -> str:
    """What a value is called where it is read."""
    while op.code in ("item", "iter", "slice"):
        op = op.args[0]
    return op.word

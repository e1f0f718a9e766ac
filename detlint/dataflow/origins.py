"""What made a value: followed backwards through names, attributes, containers, arguments and what
functions return, into other files where these are open."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.callers import SELF, given
from detlint.dataflow.declared import classes
from detlint.dataflow.ir import LISTS, Op
from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.slices import closure
from detlint.journal import ended
from detlint.models.loading import is_known, wraps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import TypeAlias

    from detlint.dataflow.ir import Function
    from detlint.dataflow.unit import Unit

    # The files and parts of files that a file means by a name that it imports.
    Find = Callable[[Unit, str], list[tuple[Unit, str]]]
    Calls = Callable[[Function], list[Op]]
    # A value that is followed; and what an operation leads to: such ones, or what made it.
    _Step: TypeAlias = tuple[Op, "Frame | None", "_Keys"]
    _Steps: TypeAlias = Iterator["Made | _Step | None"]

_DEEPEST = 30  # questions that a question leads to, and calls in calls
_MOST = 3000  # operations that one question may look at
_BUDGET = 20_000  # the same of all questions; real files ask a hundredth of it
_JOINS = frozenset(("phi", "boolean", "free", "enter", "await", "declared"))


class Place(NamedTuple):
    """A class, and the file that it is of."""

    unit: Unit
    name: str

    @property
    def bases(self) -> list[str]:
        """The qualified names of its bases."""
        return self.unit.qualified_bases(self.name)


# They hold each other, so each is made once, and they are told apart by identity.
class Frame(NamedTuple):
    """A function that runs: for a call, made in another frame, on an object."""

    function: Function
    call: Op | None = None
    outer: Frame | None = None
    owner: Made | None = None

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


class Made(NamedTuple):
    """A value by what made it.

    names     the qualified names of what was called, or of the class or function that it is
    op        the call, or the name
    frame     in which that runs
    place     the class of the project that it is an object of, or itself is
    function  the function of the project that it is
    called    it was made by a call: an object, not a class or function
    """

    names: tuple[str, ...]
    op: Op
    frame: Frame | None
    place: Place | None = None
    function: Function | None = None
    called: bool = True

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


_Keys = tuple[object, ...]


class Origins:
    """Answers for the values of a file; ``find`` opens the others, ``calls`` gives all calls of a
    function, by which its parameters are told where no call is looked at.

    ``is_cut``: what a name of another file means, or what other files pass, was not to be seen.
    """

    def __init__(self, find: Find | None = None, calls: Calls | None = None) -> None:
        self._find = find
        self._calls = calls
        self._paths: dict[Frame, Paths] = {}
        self.is_cut = False
        self._steps = 0
        self._busy: set[tuple[Op, Frame | None]] = set()
        self._known: dict[tuple[Op, Frame | None], list[Made | None]] = {}
        self._lineages: dict[Place | None, list[Place]] = {}
        self._frames: dict[tuple[object, ...], Frame] = {}
        self._values: dict[tuple[object, ...], Made] = {}

    @property
    def is_spent(self) -> bool:
        """Whether there was too much to see: from then on nothing is."""
        return self._steps > _BUDGET

    def frame(
        self,
        function: Function,
        call: Op | None = None,
        outer: Frame | None = None,
        owner: Made | None = None,
    ) -> Frame:
        """The frame of a call."""
        key = function, call, outer, owner
        return self._frames.setdefault(key, Frame(*key))

    def made(  # noqa: PLR0913 - what a value is told by
        self,
        names: tuple[str, ...],
        op: Op,
        frame: Frame | None,
        place: Place | None = None,
        function: Function | None = None,
        *,
        called: bool = True,
    ) -> Made:
        """What an operation makes in a frame."""
        key = names, op, frame, place, function, called
        return self._values.setdefault(key, Made(*key))

    def of(self, op: Op, frame: Frame | None = None) -> list[Made | None]:
        """What may have made a value; None stands for what is not seen."""
        asked = op, frame
        if asked in self._busy:
            return []
        if asked not in self._known:
            if self.is_spent or len(self._busy) > _DEEPEST or _depth(frame) > _DEEPEST:
                ended(
                    f"function {op.function.name}",
                    f"{_BUDGET:,} operations, {_DEEPEST} calls in calls",
                )
                return [None]
            self._busy.add(asked)
            self._known[asked] = self._asked(op, frame)
            self._busy.discard(asked)
        return self._known[asked]

    def _asked(self, op: Op, frame: Frame | None) -> list[Made | None]:
        found: list[Made | None] = []
        seen: set[_Step] = set()
        pending: list[_Step] = [(op, frame, ())]
        for step in pending:  # grows
            if step in seen or len(seen) > _MOST:
                if len(seen) > _MOST:
                    ended(f"function {op.function.name}", f"{_MOST:,} operations behind a value")
                continue
            seen.add(step)
            self._steps += 1
            for each in self._behind(*step):
                if isinstance(each, Made) or each is None:
                    if each not in found:
                        found.append(each)
                else:
                    pending.append(each)
        return found

    def _behind(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        if op.code in _JOINS and op.args:
            yield from ((each, frame, keys) for each in op.args)
        elif op.code == "choice":
            yield from ((each, frame, keys) for each in op.args[1:])
        elif op.code in LISTS or op.code == "dict":
            yield from ((each, frame, keys[:-1]) for each in chosen(op, keys))
        elif op.code == "comprehension":
            yield op.args[1 if op.name == "dict" else 0], frame, keys[:-1]
        elif op.code in ("item", "unpack", "iter", "slice", "star", "change", "store_item"):
            yield from self._held(op, frame, keys)
        elif op.code == "binary" and op.name == "Add":  # of two data sets
            yield from ((each, frame, keys) for each in op.args)
        else:
            judge = getattr(self, f"_of_{op.code}", None)
            if judge is not None:
                yield from judge(op, frame, keys)
            elif op.code not in ("const", "text", "format", "not", "compare"):
                yield None

    @staticmethod
    def _held(op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        if op.code in ("item", "unpack", "iter"):
            yield op.args[0], frame, (*keys, member_of(op))
        elif op.code == "store_item":
            key, wanted = _constant(op.args[1]), keys[-1] if keys else None
            if key is None or wanted is None or key == wanted:
                yield op.args[2], frame, keys[:-1]
            if key is None or key != wanted:
                yield op.args[0], frame, keys
        elif op.code == "change":
            yield op.args[0], frame, keys
            whole = op.name == "update"  # what it is given holds what is put in
            if keys or not whole:
                taken = keys if whole else keys[:-1]
                yield from ((each, frame, taken) for _, each in op.args[1].arguments())
        else:
            yield op.args[0], frame, keys

    # Names

    def _of_function(self, op: Op, frame: Frame | None, _: _Keys) -> Iterator[Made]:
        yield self.made((), op, frame, function=op.name, called=False)

    def _of_global(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        unit = op.function.unit
        names = tuple(unit.values.qualified(op))
        name = str(op.name)
        bound = unit.module.bindings.get(name) if name in unit.bound_names and not names else None
        if bound:
            yield from ((each, None, keys) for each in bound)
        elif names:
            yield from self._named(names, op, frame, keys)
        else:
            yield None

    def _of_import(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        yield from self._named((str(op.name),), op, frame, keys)

    def _named(self, names: tuple[str, ...], op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        """A class or function, or what a collection of another file holds."""
        place, function = self._defined(op.function.unit, names)
        if place is None and function is None:
            found = [
                each
                for name in names
                for home, part in self._places(op.function.unit, name)
                for each in home.module.bindings.get(part, ())
            ]
            yield from ((each, None, keys) for each in found)
            if found:
                return
        yield self.made(names, op, frame, place, function, called=False)

    def _defined(self, unit: Unit, names: tuple[str, ...]) -> tuple[Place | None, Function | None]:
        """The class or function of the project that a name means."""
        for name in names:
            for home, part in self._places(unit, name):
                if part in home.classes:
                    return Place(home, part), None
                function = home.defined(part)
                if function is not None:
                    return None, function
        return None, None

    def _places(self, unit: Unit, name: str) -> list[tuple[Unit, str]]:
        own = name[1:]
        if name.startswith(".") and (own in unit.classes or unit.defines(own)):
            return [(unit, own)]
        if self._find is not None:
            return self._find(unit, name)
        self.is_cut |= not is_known(name)
        return []

    def _of_param(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        stars, name = op.name
        if frame is not None and op.function is frame.function:
            if name in SELF and frame.owner is not None:
                yield frame.owner
                return
            if frame.call is not None and not stars:
                given = frame.call.given(name, _position(op))
                if given is not None:
                    yield given, frame.outer, keys
                    return
                if not frame.call.unpacks:  # the default
                    yield from ((each, frame, keys) for each in op.args)
                    return
        owner = op.function.class_name if name in SELF else ""
        if owner in op.function.unit.classes:
            yield self.made((f".{owner}",), op, frame, Place(op.function.unit, owner))
            return
        told = self._passed(op) if frame is None or frame.call is None else []
        if told:
            yield from ((each, None, keys) for each in told)
        else:
            yield from self._annotated(op, frame)

    def _passed(self, op: Op) -> list[Op]:
        """What the calls of a function give a parameter, as far as they are seen."""
        if self._calls is None:
            self.is_cut |= self._find is None
            return []
        values = (given(each, op) for each in self._calls(op.function))
        return [each for each in values if each is not None]

    def _annotated(self, op: Op, frame: Frame | None) -> Iterator[Made | None]:
        """What a parameter's annotation names."""
        annotation = getattr(op.node, "annotation", None)
        unit = op.function.unit
        named = [
            name
            for each in classes(annotation)
            for name in unit.meant_by(each)
            if each not in ("None", "Optional", "typing.Optional", "Union")
        ]
        for name in named:
            place, _ = self._defined(unit, (name,))
            yield self.made((name,), op, frame, place)
        if not named:
            yield None

    # Attributes

    def _of_attr(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        names = tuple(op.values.qualified(op))
        if names:
            yield from self._named(names, op, frame, keys)
            return
        for owner in self.of(op.args[0], frame):
            found = [] if owner is None else list(self.field(owner, str(op.name)))
            yield from ((each, inner, keys) for each, inner in found)
            method = None if owner is None or found else self.method(owner, str(op.name))
            if method is not None:
                yield self.made(
                    (), op, self.frame(method, None, frame, owner), None, method, called=False
                )
            elif not found:
                yield None

    def field(self, owner: Made, name: str) -> Iterator[tuple[Op, Frame | None]]:
        """What an attribute of an object is given, and in which frames."""
        for place in self.lineage(owner):
            for store in place.unit.stored_by(place.name, name):
                function = store.function
                value = store.args[1] if store.code == "store_attr" else store
                if isinstance(function.node, ast.ClassDef):
                    yield value, None
                elif function.name == f"{place.name}.__init__":
                    yield value, self._building(owner, place)
                else:
                    yield value, self.frame(function, None, None, owner)

    def _building(self, owner: Made, place: Place) -> Frame | None:
        """The frame of the constructor of a class, for an object of it or of a subclass."""
        call = owner.op if owner.op.code == "call" else None
        outer = owner.frame
        for each in self.lineage(owner):
            function = each.unit.defined("__init__", each.name)
            if function is None:
                continue
            frame = self.frame(function, call, outer, owner)
            if each == place:
                return frame
            call, outer = super_call(function), frame
        return None

    # Classes

    def lineage(self, owner: Made) -> list[Place]:
        """The class of an object and its bases, as far as they are of the project."""
        if owner.place not in self._lineages:
            self._lineages[owner.place] = self._line(owner)
        return self._lineages[owner.place]

    def _line(self, owner: Made) -> list[Place]:
        return list(closure(filter(None, [owner.place]), self._known_bases))

    def _known_bases(self, place: Place) -> Iterator[Place]:
        return filter(None, (self._defined(place.unit, (name,))[0] for name in place.bases))

    def class_called(self, names: Iterable[str], unit: Unit) -> Place | None:
        """The class of the project that one of some qualified names means in a file."""
        return self._defined(unit, tuple(names))[0]

    def foreign(self, owner: Made) -> list[str]:
        """The names of the bases of its classes that are of libraries, or were not found."""
        names = [(each.unit, name) for each in self.lineage(owner) for name in each.bases]
        return [name for unit, name in names if self._defined(unit, (name,))[0] is None]

    def object_of(self, unit: Unit, name: str) -> Made:
        """Any object of a class of a file."""
        op = Op("object", [], name, ast.Pass(), unit.module.region, 0)
        return self.made((f".{name}",), op, None, Place(unit, name))

    def method(self, owner: Made, name: str) -> Function | None:
        """A method of an object."""
        for place in self.lineage(owner):
            found = place.unit.defined(name, place.name)
            if found is not None:
                return found
        return None

    # Calls

    def entered(self, call: Op) -> list[Function]:
        """The functions of the project that a call may lead to, of a class what builds it; none
        where one is not seen."""
        found = []
        for each in self.of(call.args[0]):
            function = None if each is None else each.function
            if each is not None and each.place is not None and not each.called:
                built = self.made(each.names, call, None, each.place)
                function = self.method(built, "__init__")
            if function is None:
                return []
            found.append(function)
        return found

    def _of_call(self, op: Op, frame: Frame | None, keys: _Keys) -> _Steps:
        names = tuple(op.called)
        given = [each for _, each in op.arguments()]
        if any(map(wraps, names)) or "functools.partial" in names:
            yield from ((each, frame, keys[:-1]) for each in given[:2] if each.code != "const")
            return
        function = op.args[0]
        if function.code == "attr" and function.name == "manual_seed" and not names:
            yield function.args[0], frame, keys  # torch.Generator().manual_seed(0)
            return
        held = list(self._of_dict(op, names, keys))
        if held:
            yield from ((each, frame, inner) for each, inner in held)
            return
        for callee in self.of(function, frame):
            if callee is None or callee.called:
                yield self.made(names, op, frame) if names else None
            elif callee.function is not None:
                inner = self.frame(callee.function, op, frame, owner_of(callee))
                yield from self._returned(callee.function, inner, keys)
            else:
                yield self.made(callee.names, op, frame, callee.place)

    def _returned(self, function: Function, frame: Frame, keys: _Keys) -> _Steps:
        if _depth(frame) > _DEEPEST:
            yield None
            return
        for each in function.returns:
            if each.args and self.may_run(each, frame):
                yield each.args[0], frame, keys

    # What runs

    def may_run(self, op: Op, frame: Frame) -> bool:
        """Whether an operation may run in a frame, by the constants that its call passes."""
        if op.function is not frame.function or (frame.call is None and frame.owner is None):
            return True
        if frame not in self._paths:
            constant = partial(self._constant, frame=frame)
            self._paths[frame] = Paths(frame.function, constant)
        return self._paths[frame].may_run(op)

    def _constant(self, op: Op, frame: Frame) -> object:
        """What a parameter, or an attribute of the object, certainly is in a frame; ``...`` where
        that is not known."""
        for _ in range(_DEEPEST):
            value, outer = self._given(op, frame)
            known = ... if value is None else value.constant
            if value is None or outer is None or known is not ...:
                return known
            op, frame = value, outer
        return ...

    def _given(self, op: Op, frame: Frame) -> tuple[Op | None, Frame | None]:
        """What a value is given by the call of its function, and in which frame; None where that
        is not seen."""
        if op.code == "attr" and op.args[0].is_self:
            return self._only_field(op, frame)
        if op.code != "param" or frame.call is None or op.function is not frame.function:
            return None, None
        found = frame.call.given(str(op.name[1]), _position(op))
        if found is None and not frame.call.unpacks:
            return (op.args[0] if op.args else None), None
        return (None if op.name[0] or op.name[1] in SELF else found), frame.outer

    def _of_dict(self, call: Op, names: tuple[str, ...], keys: _Keys) -> Iterator[tuple[Op, _Keys]]:
        """What a dict holds that ``dict(a=x)`` makes, or ``get`` looks up, and by which keys."""
        method, given = call.args[0], list(call.arguments())
        if "builtins.dict" in names:
            for name, each in given:
                if name in (None, "*", "**"):
                    yield each, keys
                elif not keys or keys[-1] in (None, name):
                    yield each, keys[:-1]
        elif method.code == "attr" and method.name == "get" and given:
            owner = method.args[0]
            unit = owner.function.unit
            values = unit.values if self._find is None else unit.across
            if lattice.are(values.types(owner), "dict"):
                yield owner, (*keys, _constant(given[0][1]))
                yield from ((each, keys) for _, each in given[1:])

    def _only_field(self, op: Op, frame: Frame) -> tuple[Op | None, Frame | None]:
        """What an attribute of an object is given, if nothing but its constructor does so."""
        owner, name = frame.owner, str(op.name)
        if owner is None or owner.op.code != "call":
            return None, None
        stored = list(self.field(owner, name))
        units = dict.fromkeys((owner.op.function.unit, *(x.unit for x in self.lineage(owner))))
        stores = [store for unit in units for store in unit.stores(name)]
        return stored[0] if len(stored) == len(stores) == 1 else (None, None)


def owner_of(method: Made) -> Made | None:
    """The object that a method was looked up on; None of a function."""
    return method.frame.owner if method.frame is not None and not method.called else None


def _depth(frame: Frame | None) -> int:
    count = 0
    while frame is not None:
        frame, count = frame.outer, count + 1
    return count


def chosen(op: Op, keys: _Keys) -> Iterator[Op]:
    """What a container holds that is written out, or of it what a key chooses."""
    wanted = keys[-1] if keys else None
    if op.code == "dict":
        for each in op.args:
            if each.code == "star":
                yield each.args[0]
            elif wanted is None or _constant(each.args[0]) in (None, wanted):
                yield each.args[1]
        return
    part = op.at(wanted)
    yield from op.args if part is None else [part]


def member_of(op: Op) -> object:
    """Which member of a value an operation takes, by its key or place; None where that is not
    known."""
    if op.code == "unpack":
        index, _, counted, starred = op.name
        return index if counted and not starred else None
    return _constant(op.args[1]) if op.code == "item" else None


def _constant(op: Op) -> object:
    return op.name if op.code == "const" else None


def _position(op: Op) -> int:
    """The place of a parameter among the arguments of a call."""
    names = list(op.function.params)
    return names.index(str(op.name[1])) - (names[0] in SELF)


def super_call(function: Function) -> Op | None:
    """``super().__init__(…)``."""
    methods = ((op, op.args[0]) for op in function.coded("call"))
    found = (op for op, each in methods if (each.code, each.name) == ("attr", "__init__"))
    return next(found, None)

"""The types of what a file has from other files, as these tell them."""

from __future__ import annotations

from operator import methodcaller
from typing import TYPE_CHECKING

from detlint.dataflow.lattice import ANY, NOTHING, Type, Types, joined, plain
from detlint.dataflow.origins import Origins, Place
from detlint.models.loading import is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.origins import Find
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_FOREIGN = "@"  # begins what classes and sets of other files are called
_PROPERTIES = ("property", "cached_property")


class ImportedTypes:
    """Answers for one file; ``find`` opens the others.

    A class of another file is called ``@path:Name``, and a set that another file gives has that as
    ``of``, with what gives it: ``@path:labels``, ``@path:Table.names``.
    """

    def __init__(self, values: Values, find: Find) -> None:
        self._values = values
        self._unit = values.unit
        self._find = find
        self._origins = Origins(find)
        self._homes: dict[str, Place] = {}

    def by_star(self, name: str) -> list[str]:
        """The qualified names that a name may have that comes with ``import *``."""
        return list(filter(self._meant, self._unit.by_star(name)))

    def of_names(self, names: Iterable[str]) -> Types:
        """What imported names stand for; nothing where no file of the project says it."""
        return joined(*(self._of_part(*each) for name in names for each in self._meant(name)))

    def _meant(self, name: str) -> list[tuple[Unit, str]]:
        if "." not in name[1:] or is_known(name):
            return []
        return [each for each in self._find(self._unit, name) if each[0] is not self._unit]

    def _of_part(self, home: Unit, part: str) -> Types:
        if part in home.classes:
            return frozenset((Type("type", (), self._called(Place(home, part))),))
        if home.defined(part) is not None:
            return plain("function")
        bound = home.module.bindings.get(part) if part in home.bound_names else None
        if not bound:
            return NOTHING
        return self._asked(home, part, lambda at: joined(*map(at.types, bound)))

    def given_by(self, call: Op) -> Types:
        """What a call of a function of another file gives."""
        functions = [
            function
            for name in self._values.called(call)
            for home, part in self._meant(name)
            if (function := home.defined(part)) is not None
        ]
        method = call.args[0]
        if not functions and method.code == "attr":
            functions = list(self._methods(method.args[0], str(method.name)))
        return joined(*map(self._returned, functions))

    def _returned(self, function: Function) -> Types:
        told = function.name
        return self._asked(function.unit, told, lambda at: at.returned(function))

    def member(self, op: Op) -> Types:
        """An attribute of an object of a class of another file."""
        found = [self.field(each, str(op.name)) for each in self.classes(op.args[0])]
        properties = filter(is_property, self._methods(op.args[0], str(op.name)))
        return joined(*found, *map(self._returned, properties))

    def field(self, place: Place, name: str) -> Types:
        """What a class and its bases of other files assign to an attribute."""
        return joined(
            *(
                self._asked(home, f"{home.storing(each, name)}.{name}", _field(each, name))
                for home, each in self.lineage(place)
                if home is not self._unit
            )
        )

    def _methods(self, owner: Op, name: str) -> Iterator[Function]:
        for place in self.classes(owner):
            if place.name not in place.unit.classes:
                continue
            found = self._origins.method(self._origins.object_of(*place), name)
            if found is not None and found.unit is not self._unit:
                yield found

    def classes(self, op: Op) -> list[Place]:
        """The classes of the project that a value may be an object of, or itself is."""
        own = self._values.owner(op)
        if own:
            return [Place(self._unit, own)]
        return [self._homes[one.of] for one in self._values.types(op) if one.of in self._homes]

    def lineage(self, place: Place) -> list[Place]:
        """A class and its bases, as far as they are of the project."""
        if place.name not in place.unit.classes:
            return []  # it is defined within something
        return self._origins.lineage(self._origins.object_of(*place))

    def object_of(self, word: str) -> Types:
        """An object of a class, or what another name stands for, by the name that an annotation or
        the type of a class has."""
        first, dot, rest = word.partition(".")
        names = [f"{each}{dot}{rest}" for each in self._unit.imported.get(first, ())]
        places = [Place(*each) for name in names for each in self._meant(name)]
        places += [self._homes[word]] if word in self._homes else []
        return joined(
            *(
                self._received(home.across.within(methodcaller("class_named", part)), home, part)
                for home, part in places
                if part in home.classes or part in home.bound_names
            )
        )

    # From one file into another

    def _asked(self, home: Unit, told: str, judge: Callable[[Values], Types]) -> Types:
        """What the values of another file say, as this one has it."""
        values = home.across
        if values.is_busy:  # files that ask each other settle nothing
            self._values.doubt()
            return ANY
        values.doubts = False
        found = values.within(judge)
        if values.doubts:
            self._values.doubt()
        return self._received(found, home, f"{_FOREIGN}{home.path}:{told}")

    def _received(self, types: Types, home: Unit, told: str) -> Types:
        if all(one.name != "set" and not (one.of or one.holds) for one in types):
            return types
        return frozenset(self._as_here(one, home, told) for one in types)

    def _as_here(self, one: Type, home: Unit, told: str) -> Type:
        of = one.of
        if of.startswith("."):
            of = self._called(Place(home, of[1:]))
        elif home.across.elsewhere is not None and of in home.across.elsewhere._homes:  # noqa: SLF001 - of its own kind
            of = self._called(home.across.elsewhere._homes[of])  # noqa: SLF001
        elif one.name == "set":
            of = of or told
        return Type(one.name, tuple(self._received(each, home, told) for each in one.holds), of)

    def _called(self, place: Place) -> str:
        """By which name the types of this file have a class."""
        if place.unit is self._unit:
            return f".{place.name}"
        name = f"{_FOREIGN}{place.unit.path}:{place.name}"
        self._homes[name] = place
        return name


def _field(owner: str, name: str) -> Callable[[Values], Types]:
    return lambda values: values.field(owner, name)


def given_as(unit: Unit, name: str) -> str:
    """What a set is called elsewhere that a part of a file gives."""
    return f"{_FOREIGN}{unit.path}:{name}"


def givers(types: Types) -> set[str]:
    """By what of other files the sets among some types, and in them, are given."""
    found = {one.of for one in types if one.name == "set" and one.of}
    return found.union(*(givers(held) for one in types for held in one.holds))


def is_property(function: Function) -> bool:
    """Whether reading an attribute calls a method."""
    decorators = function.decorators
    names = (getattr(each, "attr", getattr(each, "id", "")) for each in decorators)
    return any(name in _PROPERTIES for name in names)

"""Of what the training of a program is made: what its optimizers and trainers are given, followed
outward over files, and what computes a loss with that."""

from __future__ import annotations

from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from detlint.dataflow.slices import closure
from detlint.index.facts import (
    BY_DEFAULT,
    BY_STAR,
    COMPUTES,
    FIRST,
    HIDING,
    MAY_BE,
    THAWS,
    UNSEEN_NAMES,
    Passed,
)
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN
from detlint.models.containers import MAKING
from detlint.models.layers import is_no_module, may_have_weights
from detlint.models.training import ASIDE
from detlint.models.varying import brings, kind_of, may_be_layer, repeats

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.callgraph.closure import Closure
    from detlint.callgraph.project import Project

_OF_SELF = "self"
_DEEPEST = 3  # attributes of attributes


class TrainedParts:
    """What a program trains.

    libraries  the models and layers of libraries that may differ, with the files that name them
    classes    the classes and functions of the project
    named      all that none of its files defines
    foreign    a model of a library of which nothing is known
    is_seen    all that it is made of is seen
    """

    def __init__(
        self,
        closure: Closure,
        told: Iterable[tuple[str, str]],
        frozen: Callable[[], Iterable[tuple[str, str]]] = tuple,
    ) -> None:
        self._closure = closure
        self._frozen = frozen
        self._members = closure.members
        self._project = closure.project
        self._index = closure.index
        self._idle: dict[tuple[str, str], set[Symbol]] = {}
        # With each, whether objects of derived classes may be meant.
        self.classes: dict[Symbol, bool] = {}
        self.libraries: list[tuple[str, str]] = []
        self.named: set[str] = set()
        self.foreign = ""
        named = [(path, name) for path, names in told for name in names.split()]
        first = [each for each in named if each[1].startswith(FIRST)]
        given = [each for each in named if each not in first]
        self.is_seen = any(not name.startswith((MAY_BE, COMPUTES)) for _, name in given)
        self._follow(given)
        if not self.is_seen:
            self._follow([(path, f"{MAY_BE}{name.removeprefix(FIRST)}") for path, name in first])

    def _follow(self, names: Iterable[tuple[str, str]]) -> None:
        for _ in closure(names, lambda each: self._behind(*each)):
            pass

    # From what is handed on to what that is

    def _behind(self, path: str, told: str) -> Iterable[tuple[str, str]]:
        """What a name that a file told leads to."""
        name = told.lstrip(MAY_BE + FIRST)
        sure = name == told
        if name.startswith(COMPUTES):
            self._add_computing(path, name.removeprefix(COMPUTES))
            return ()
        if name == BY_DEFAULT:
            return ()
        if name == UNSEEN_NAMES:
            found = []
        elif "#" in name:
            found = list(self._kept(path, name, sure=sure))
        elif passed := Passed.read(name):
            found = list(self._passed(path, passed, name, sure=sure))
        else:
            return self._named(path, name, sure=sure)
        self.is_seen &= bool(found) or not sure
        return found

    def _passed(
        self, path: str, passed: Passed, name: str, *, sure: bool
    ) -> Iterator[tuple[str, str]]:
        """What calls that run pass as a parameter."""
        part = passed.function.removesuffix(".__init__")
        users = {each for each in self._closure.reach.users(path, part) if each[0] in self._members}
        for home in sorted({each for each, _ in users}):
            for row, names in self._index.made(home, name, sure=sure):
                user = self._index.part_at(home, row)
                if (home, user) in users and self._runs(home, user):
                    yield from ((home, each) for each in names)

    def _kept(self, path: str, name: str, *, sure: bool) -> Iterator[tuple[str, str]]:
        """What an object keeps in an attribute, by its class or by what gives it."""
        owner, _, word = name.rpartition("#")
        if name.count("#") > _DEEPEST:
            return
        plain = "" if owner.startswith("@") or "#" in owner else owner.partition("[")[0]
        classes = list(filter(self._closure.is_class, self._defined(path, plain)))
        for symbol in classes:
            for each in self._project.lineage(symbol):
                told = self._index.made(each.path, f"{each.part}#{word}", sure=sure)
                yield from ((each.path, one) for _, names in told for one in names)
        if kind_of([plain]):  # a part of a model of a library
            yield path, plain if sure else f"{MAY_BE}{plain}"
        elif not (classes or (plain and not self._defined(path, plain))):
            given = self._behind(path, owner if sure else f"{MAY_BE}{owner}")
            for home, one in given:
                if one != UNSEEN_NAMES:
                    yield home, one if one == BY_DEFAULT else f"{one}#{word}"

    def _holds_others(self, symbol: Symbol) -> bool:
        """Whether what is trained is what an object of a class was given, and not what it makes:
        ``class Registry(dict)``, ``class Options``."""
        names = self._index.outline(symbol.path).classes[symbol.part]
        if not {each.rpartition(".")[2] for each in names}.isdisjoint(MAKING):
            return True
        bases = {each.rpartition(".")[2] for each in self._project.bases(symbol)}
        foreign = bases - {each.part for each in self._project.lineage(symbol)}
        return all(map(is_no_module, foreign)) and not makes_layers(self._closure, [symbol])

    def _named(self, path: str, name: str, *, sure: bool) -> Iterator[tuple[str, str]]:
        """A class, what a function returns, or what a library has."""
        plain, _, place = name.rstrip("]").partition("[")
        if plain.startswith(BY_STAR):
            plain = self._by_star(path, plain.removeprefix(BY_STAR))
        found = self._defined(path, plain)
        for each in found:
            if self._closure.is_class(each):
                self.classes[each] = self.classes.get(each, False) or place == _OF_SELF
                self.is_seen &= not (sure and self._holds_others(each))
                continue
            which = f"{each.part}[{place}]" if place else each.part
            told = self._index.made(each.path, which, sure=sure)
            self.is_seen &= bool(told) or not sure
            yield from ((each.path, one) for _, names in told for one in names)
        held = self._bound(path, plain, sure=sure) if not found else []
        yield from ((home, one) for home, names in held for one in names)
        if not (found or held):
            self._add_library(path, plain, sure=sure)

    def _by_star(self, path: str, word: str) -> str:
        """The qualified name of what comes with ``from net import *``; "" where none has it."""
        modules = (
            f"{'.' * each.level}{each.module}"
            for each in self._index.imports(path)
            if "*" in each.names
        )
        names = [f"{each}.{word}" for each in modules]
        has = (
            x for x in names if self._project.defined(path, x) or self._bound(path, x, sure=True)
        )
        return next(has, "")

    def _bound(self, path: str, name: str, *, sure: bool) -> list[tuple[str, list[str]]]:
        """What a variable of a module is made of, with the file of that, by a qualified name."""
        above, _, word = name.rpartition(".")
        home = self._project.module(path, above) if above.strip(".") else None
        told = self._index.made(home, f"={word}", sure=sure) if home else []
        return [(str(home), names) for _, names in told]

    def _add_computing(self, path: str, name: str) -> None:
        """What is called with what a model gives."""
        found = self._defined(path, name)
        self.classes.update({each: self.classes.get(each, False) for each in found})
        if not found:
            self._add_library(path, name, sure=False)

    def _defined(self, path: str, name: str) -> list[Symbol]:
        """What of the project a name means: of a method that is none there, its class."""
        for each in (name, name.rpartition(".")[0]):
            found = self._project.defined(path, each) if each.strip(".") else []
            known = [one for one in found if self._index.defines(*one)]
            if known:
                return known
        return []

    def _add_library(self, path: str, name: str, *, sure: bool) -> None:
        library = name.partition(".")[0]
        self.named.add(name)
        if not library or self._project.holds(path, library):
            self.is_seen &= not sure
        elif repeats(name):
            return
        elif kind_of([name]):
            self.libraries.append((path, name))
        elif sure and brings(name):
            self.foreign, self.is_seen = self.foreign or name, False

    # From what that is to what takes part

    @cached_property
    def has(self) -> Callable[[str, str], bool]:
        """Whether a part of a file takes part."""
        starts = list(whole(self._project, self.classes))
        reached = self._closure.reach.parts_from(*starts, files=self._members)
        return lambda path, part: bool(part) and reached(path, part)

    @cached_property
    def brought(self) -> str:
        """A layer of a library of which nothing is known: one that a part of it names, or that a
        class of it keeps and calls."""
        named = sorted({name for _, _, name in self._foreign})
        return next(chain(filter(may_be_layer, named), self._kept_layers()), "")

    def _kept_layers(self) -> Iterator[str]:
        classes = ((path, part.partition(".")[0]) for path, part, _ in self._foreign)
        for path, owner in dict.fromkeys(classes):
            bases = self._index.outline(path).classes.get(owner, ())
            if any(not is_no_module(each.rpartition(".")[2]) for each in bases):
                kept = self._index.made(path, f"{owner}#", sure=True)
                named = filter(may_have_weights, (each for _, names in kept for each in names))
                yield from (each for each in named if self._is_foreign_layer(path, each))

    @cached_property
    def _foreign(self) -> list[tuple[str, str, str]]:
        """What parts of it name of libraries that may bring layers, with these parts."""
        paths = [
            path
            for path in self._members
            if self.classes and any(map(brings, self._index.libraries(path)))
        ]
        return [
            (path, part, name)
            for path in sorted(paths)
            for part, uses in self._index.outline(path).uses.items()
            if self.has(path, part)
            for name in sorted(each.replace(":", ".") for each in uses.origins)
            if self._is_foreign_layer(path, name)
        ]

    def _is_foreign_layer(self, path: str, name: str) -> bool:
        library = name.partition(".")[0]
        told = bool(library) and brings(name) and not self._project.holds(path, library)
        return told and not (repeats(name) or kind_of([name]))

    def hides(self) -> bool:
        """Whether a part of it computes with something of a library, or calls by a name that the
        text hides."""
        computes = any(self._index.may_compute(path, name) for path, _, name in self._foreign)
        return (
            computes
            or (bool(self._foreign) and self._calls_foreign())
            or any(
                self.has(path, part)
                for path in self._members
                for kind in HIDING
                for part in self._index.parts_with(path, kind)
            )
        )

    def _calls_foreign(self) -> bool:
        """Whether a class of it calls what it has from a library, whoever got it from there."""
        kept = [
            (path, each)
            for path in self._members
            for owner in self._index.outline(path).classes
            if self.has(path, owner)
            for _, names in self._index.made(path, f"{owner}#", sure=True)
            for each in names
        ]
        return bool(TrainedParts(self._closure, kept).foreign)

    def _runs(self, path: str, part: str) -> bool:
        return path in self._members and self._closure.reach.runs(self._closure.path, path, part)

    # What of that gets no gradient

    def is_idle(self, path: str, part: str, row: int, *, among: Callable[[str, str], bool]) -> bool:
        """Whether a line of a part makes what no gradient is worked out of, or runs only for such
        objects, as far as some parts make them."""
        owner = part.partition(".")[0]
        held = self._held_still.get((path, owner), ())
        still = any(first <= row <= last for first, last, _ in held)
        return still or self._is_idle(path, owner, among, {})

    def _is_idle(
        self,
        path: str,
        name: str,
        among: Callable[[str, str], bool],
        known: dict[tuple[str, str], bool],
    ) -> bool:
        symbol = Symbol(path, name)
        if not name or name == MAIN or symbol in self.classes:
            return False
        if symbol not in known:
            known[symbol] = True  # what leads to itself alone is idle
            users = [each for each in self._closure.reach.users(*symbol) if self._runs(*each)]
            users = [each for each in users if each[1] in ("", MAIN) or among(*each)]
            known[symbol] = bool(users) and all(
                symbol in self._held_back(*each)
                or self._is_idle(each[0], each[1].partition(".")[0], among, known)
                for each in users
            )
        return known[symbol]

    def _held_back(self, path: str, part: str) -> set[Symbol]:
        """What a part of a file makes only objects of that get no gradient."""
        if (path, part) not in self._idle:
            facts = self._index.facts(path, "idles", part.__eq__)
            named = [fact.what for _, fact in facts]
            held = self._held_still.get((path, part.partition(".")[0]), ())
            named += chain.from_iterable(names for _, _, names in held)
            meant = (self._project.defined(path, each) for each in named)
            self._idle[path, part] = set(chain.from_iterable(meant))
        return self._idle[path, part]

    @cached_property
    def _held_still(self) -> dict[tuple[str, str], list[tuple[int, int, list[str]]]]:
        """Of classes of which the program freezes what they hold, where that is made, and what it
        names alone."""
        found: dict[tuple[str, str], list[tuple[int, int, list[str]]]] = {}
        told = [(path, names.split()) for path, names in self._frozen()]
        thawed = [(path, each) for path, names in told if THAWS in names for each in names[1:]]
        if not told or any(each == UNSEEN_NAMES for _, each in thawed):
            return found
        trained = self._classes_of(thawed)
        for path, name in ((path, each) for path, names in told for each in names if "#" in each):
            owner, _, word = name.rpartition("#")
            for symbol in self._classes_of([(path, owner)]) - trained:
                for each in self._project.lineage(symbol):
                    found.setdefault((each.path, each.part), []).extend(
                        self._index.held(each.path, each.part, word)
                    )
        return found

    def _classes_of(self, named: list[tuple[str, str]]) -> set[Symbol]:
        """The classes that names of what makes models lead to."""
        told = [(path, f"{MAY_BE}{each.removeprefix(MAY_BE)}") for path, each in named]
        return set(TrainedParts(self._closure, told).classes)


def makes_layers(closure: Closure, symbols: list[Symbol]) -> bool:
    """Whether functions, or objects of classes, make layers of torch, as far as a program goes."""
    parts = closure.parts_from(*whole(closure.project, symbols))
    return any(
        fact.what == "torch"
        for path in closure.paths
        for _, fact in closure.index.facts(path, "builds", parts[path].__contains__)
    )


def whole(project: Project, symbols: Iterable[Symbol]) -> Iterator[Symbol]:
    """Functions, and classes with the methods of them and of their bases that train."""
    for symbol in symbols:
        for each in project.lineage(symbol):
            for part in project.index.outline(each.path).uses:
                owner, _, method = part.partition(".")
                if part == each.part or (owner == each.part and method not in ASIDE):
                    yield Symbol(each.path, part)

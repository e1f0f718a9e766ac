"""What a program's own file visibly asks of others: what it names and calls of these, and what
they lead to."""

from __future__ import annotations

import itertools
from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.callgraph.fact_base import ByFacts, Located
from detlint.index.facts import IDLE, TESTED
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN
from detlint.kept import known
from detlint.syntax.mentions import words

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Iterator, Mapping

    from detlint.callgraph.closure import Closure
    from detlint.callgraph.conditions import Conditions
    from detlint.callgraph.fact_base import FactBase


class EntryCalls(ByFacts):
    """Answers for one program."""

    def __init__(self, closure: Closure, base: FactBase, conditions: Conditions) -> None:
        super().__init__(closure, base)
        self._conditions = conditions
        self._ways: dict[tuple[str, str], list[Callable[[str, str], bool]]] = {}
        self._named: dict[str, dict[str, set[str]]] = {}  # by kinds

    def asked_for(
        self, kind: str, what: str, often: Container[str], *, every: bool = False
    ) -> Iterator[Located]:
        """Sure facts of other files that its own file visibly leads to: first what it calls, last
        what is used by what it uses; ``every``: also those on which nothing seems to depend."""
        named, unsaid = known(self._named, kind, partial(self._find_named, kind)), []

        def counts(each: Located) -> bool:
            fact = each.fact
            return fact.doubt <= (IDLE if every else TESTED) and (every or not fact.in_mode)

        def asks(each: Located) -> bool:
            return counts(each) and self._asks_for(each, often)

        for each in self._sure(kind, what, named, named, asks):
            if each.fact.method in often:
                unsaid.append(each)
            else:
                yield each
        yield from unsaid
        holders = self._base.holders.get(kind, ())
        others = [each for each in holders if each != self._path]
        asked = partial(self._conditions.is_asked_for, often=often, chosen=every)
        yield from self._sure(kind, what, others, None, lambda each: counts(each) and asked(*each))

    def leads_to(self, located: Located, often: Container[str]) -> bool:
        """Whether its own file visibly leads to a fact of another one; one that runs ``often``
        goes unsaid."""
        asked = self._conditions.is_asked_for(*located, often, chosen=True)
        return asked or self._asks_for(located, often)

    def _sure(
        self,
        kind: str,
        what: str,
        paths: Iterable[str],
        within: Mapping[str, Container[str]] | None,
        asked: Callable[[Located], bool],
    ) -> Iterator[Located]:
        """Those that are asked for, if no argument or option keeps them from running."""
        for path, part, fact in self._base.standing(kind, what, paths, within):
            located = Located(path, fact)
            if asked(located) and not self._base.doubt(kind, path, part, fact, surely=True):
                yield located

    def _asks_for(self, located: Located, often: Container[str]) -> bool:
        """Whether its own file visibly leads to a fact of another one: it names a function of that
        file that gets there, or the class and the method; one that runs ``often`` goes unsaid."""
        place = located.fact.place
        owner, _, word = place.rpartition(".")
        if owner and owner in words(self._closure.source.text):
            often_asked = word in often and self._conditions.may_be_asked(located.path, place)
            return self._names_method(word) or often_asked
        ways = self._ways_into(located.path, owner) if place else ()
        return any(each(located.path, place) for each in ways)

    def _names_method(self, word: str) -> bool:
        return word in self._methods_named

    @cached_property
    def _methods_named(self) -> frozenset[str]:
        """The words of its own file that may name methods."""
        return frozenset(x for x in words(self._closure.source.text) if not x.startswith("__"))

    def _ways_into(self, path: str, owner: str) -> list[Callable[[str, str], bool]]:
        """What of a file is reached there from each function that its own file names; or, of a
        class, from each method that it looks up in what an imported function made."""
        if (path, owner) not in self._ways:
            starts = self._methods_asked(path, owner) if owner else self._functions_named(path)
            home = frozenset((path,))
            self._ways[path, owner] = [
                self._closure.reach.parts_from(*(Symbol(path, each) for each in parts), files=home)
                for parts in starts
            ]
        return self._ways[path, owner]

    def _functions_named(self, path: str) -> Iterator[tuple[str, ...]]:
        outline = self._index.outline(path)
        functions = outline.uses.keys() - outline.classes.keys() - {"", MAIN, "main"}
        yield from ((each,) for each in sorted(functions & words(self._closure.source.text)))

    def _methods_asked(self, path: str, owner: str) -> Iterator[tuple[str, ...]]:
        """Each with its class, for which the other methods wait."""
        for part in self._index.outline(path).uses if owner in self._made.get(path, ()) else ():
            name, _, method = part.partition(".")
            if name == owner and self._looks_up(method):
                yield owner, part

    def _looks_up(self, method: str) -> bool:
        """Whether its own file looks up a method in what a function made, for all that it shows."""
        return self._names_method(method) and any(
            not each.owners
            or not all(map(self._closure.is_class, self._closure.meant(each.owners)))
            for each in self._index.receivers(self._path, method)
        )

    @cached_property
    def _made(self) -> dict[str, set[str]]:
        """The classes of other files that functions lead to which its own file imports, if it names
        a method of theirs."""
        names = (
            f"{'.' * each.level}{each.module}.{name}"
            for each in self._index.imports(self._path)
            for name in each.names
        )
        meant, is_class = self._closure.meant(names), self._closure.is_class
        makers = [each for each in meant if each.part and not is_class(each)]
        reached, found = self._closure.parts_from(*makers) if makers else {}, dict[str, set[str]]()
        asked = (self._closure.reach.having.get(x, ()) for x in self._methods_named if reached)
        for path, owner in dict.fromkeys(itertools.chain.from_iterable(asked)):
            if path != self._path and owner in reached.get(path, ()):
                found.setdefault(path, set()).add(owner)
        return found

    def _find_named(self, kind: str) -> dict[str, set[str]]:
        """The parts of other files that may hold facts of a kind and that it may ask for, by the
        classes and functions that its own file names."""
        named, found = words(self._closure.source.text), dict[str, set[str]]()
        for path in self._base.holders.get(kind, ()):
            outline = self._index.outline(path)
            classes = named.intersection(outline.classes) | self._made.get(path, set())
            calls = not named.isdisjoint(outline.uses.keys() - outline.classes.keys())
            if path == self._path or not (classes or calls):
                continue
            for part in outline.uses:
                owner = part.partition(".")[0]
                if owner in classes or (calls and owner not in outline.classes):
                    found.setdefault(path, set()).add(part)
        return found

    def called_in(self, homes: Container[str]) -> Iterator[Symbol]:
        """The functions of some other files that its own file names, and the methods that it looks
        up in objects of their classes."""
        parts = self._index.outline(self._path).uses.values()
        names = {origin.replace(":", ".") for uses in parts for origin in uses.origins}
        asked = sorted({word for uses in parts for word in uses.attributes})
        meant = self._closure.meant(sorted(names)) if homes else ()
        for each in (symbol for symbol in meant if symbol.path in homes):
            methods = [Symbol(each.path, f"{each.part}.{word}") for word in asked]
            made = [
                one
                for word, one in zip(asked, methods, strict=True)
                if self._index.defines(*one) and self._is_made(each, word)
            ]
            if made or not self._closure.is_class(each):
                yield from (each, *made)

    def _is_made(self, owner: Symbol, method: str) -> bool:
        """Whether its own file looks up a method in an object that is seen to be of a class."""
        owners = (each.owners for each in self._index.receivers(self._path, method))
        return any(owner in self._closure.meant(each) for each in owners)

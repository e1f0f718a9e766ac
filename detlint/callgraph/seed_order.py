"""What a program draws before it seeds, or where it does not, and which first weights are kept."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING

from detlint.callgraph.fact_base import ByFacts, Located
from detlint.index.facts import ONCE, TESTED, UNSET
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN
from detlint.models.loading import AT_ONCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.callgraph.precedence import Branch, Passage, Precedence


class SeedOrder(ByFacts):
    """Answers for one program."""

    def seeds_before(self, library: str, path: str, row: int, column: int = 0) -> bool:
        """Whether it certainly seeds a library's global generator before it gets to a line, or to
        the call at a column of it."""
        found = self._base.facts("seeds", library, runs=True)
        sure = (each for each in found if each.fact.doubt not in (UNSET, ONCE))
        seeds = [(each.path, each.fact.row) for each in sure]
        needs = self._index.needs(path, row, column) if column and seeds else ()
        return any(self._precedence.comes_first(each, (path, row), needs) for each in seeds)

    def trains_before(self, located: Located) -> bool:
        """Whether it gets to all that trains before it gets to a line."""
        found = [(each.path, each.fact.row) for each in self._base.facts("trains")]
        line = located.path, located.fact.row
        return bool(found) and all(self._precedence.comes_first(each, line) for each in found)

    def drawn_before(
        self, library: str, kinds: Iterable[str], among: Iterable[Located] | None = None
    ) -> tuple[Located, str, Located] | None:
        """What it certainly draws before it seeds a library, ``among`` some draws if these alone
        count: such a draw, its kind, and the first seed. Of branches, one is enough."""
        seeds = self._seeds_of(library)
        places = [(each.path, each.fact.row) for each in seeds]
        ways = self._precedence.passes_before(places) if places else ()
        some = None if among is None or not ways else list(among)  # which may take long to find
        for end, passage in ways:
            found = self._drawn_in(passage, library, kinds, some)
            if found is not None:
                told = (each for each in seeds if (each.path, each.fact.row) == end)
                return *found, next(told, seeds[0])
        return None

    def _drawn_in(
        self,
        passage: Passage,
        library: str,
        kinds: Iterable[str],
        among: Iterable[Located] | None,
    ) -> tuple[Located, str] | None:
        for kind in kinds:
            parts = passage.parts
            for path in self._closure.paths:
                parts.setdefault(path, set()).update(self._parts_at_import(path, kind))
            drawn = self._base.facts(kind, library, within=parts) if among is None else among
            for each in drawn:
                # What is made to draw an order does when something goes through it.
                waits = kind == "orders" and each.fact.text not in AT_ONCE
                # Beside a branch that draws weights, the other often loads what an earlier run has.
                if waits or each.fact.doubt > (TESTED if kind == "builds" else 0):
                    continue
                passed = self._precedence.is_passed(each.path, each.fact.row, passage)
                if passed and not self.is_replaced(each):
                    return each, kind
        return None

    def unseeded_branches(
        self, library: str
    ) -> Iterator[tuple[Located, Callable[[Located], bool]]]:
        """Where all that seeds a library stands in one branch: what seeds, and of each other branch
        whether a fact only holds there."""
        seeds = self._seeds_of(library)
        places = [(each.path, each.fact.row) for each in seeds]
        for branch in self._precedence.branches_without(places):
            yield seeds[0], partial(self._is_of, branch)

    def _is_of(self, branch: Branch, located: Located) -> bool:
        return self._precedence.is_of(located.path, located.fact.row, branch)

    def _seeds_of(self, library: str) -> list[Located]:
        """All that may seed a library."""
        found = self._base.standing("seeds", library, anywhere=True)
        return [Located(path, fact) for path, _, fact in found]

    def is_replaced(self, located: Located) -> bool:
        """Whether a checkpoint replaces first weights wherever they are drawn."""
        return bool(self._replaced) and self._makes_replaced(located.path, located.fact.row)

    @cached_property
    def _replaced(self) -> dict[tuple[str, int], bool]:
        """Of lines that make modules, whether a checkpoint always replaces all their weights before
        these are trained."""
        found = (each for each in self._base.facts("replaces") if not self._trains_first(each))
        return {(each.path, each.fact.row): True for each in found}

    def _trains_first(self, located: Located) -> bool:
        """Whether something trains of what a module is given to before a checkpoint replaces it."""
        starts = [x for each in located.fact.what.split() for x in self._called(located.path, each)]
        reaches = self._closure.reach.parts_from(*starts, files=self._closure.members)
        found = self._base.facts("trains") if starts else ()
        parts = ((each.path, self._base.part_of(each)) for each in found)
        return any(part and reaches(path, part) for path, part in parts)

    def _makes_replaced(self, path: str, row: int) -> bool:
        if (path, row) not in self._replaced:
            self._replaced[path, row] = False  # one that makes itself settles nothing
            part = self._index.part_at(path, row)
            users = self._closure.reach.users(path, part) if part not in ("", MAIN) else []
            lines = [
                (file, line)
                for file, user in users
                if file in self._closure and self._closure.reach.runs(self._path, file, user)
                for line, _ in self._index.uses(file, part.rpartition(".")[2], default=False)
                if self._index.part_at(file, line) == user
            ]
            found = bool(lines) and all(self._makes_replaced(*each) for each in lines)
            self._replaced[path, row] = found
        return self._replaced[path, row]

    def _called(self, path: str, name: str) -> Iterator[Symbol]:
        """What of the project runs where a file calls what it means by a qualified name: of a
        method, also its class, which the other methods wait for."""
        yield from self._project.defined(path, name)
        above, _, method = name.rpartition(".")
        for owner in self._project.defined(path, above) if above else ():
            for each in self._project.lineage(owner):
                yield from (each, Symbol(each.path, f"{each.part}.{method}"))

    def _parts_at_import(self, path: str, kind: str) -> Iterable[str]:
        """The parts of a file in which facts may hold that run with it: its statements, and of
        draws the bodies of its classes, which have no layers."""
        return "", *(self._index.outline(path).classes if kind == "draws" else ())

    @cached_property
    def _precedence(self) -> Precedence:
        return self._closure.reach.precedence(self._closure.paths)

"""What the programs of a project reach, and what they may reach."""

from __future__ import annotations

import os
from functools import cache, cached_property, partial, reduce
from itertools import filterfalse
from operator import or_
from typing import TYPE_CHECKING

from detlint.callgraph import roles
from detlint.callgraph.graph import (
    LOOKED_UP,
    METHOD,
    OFFERED,
    Offers,
    are_among,
    enter_calls,
    enter_names,
    flood,
)
from detlint.callgraph.precedence import Precedence
from detlint.dataflow.slices import closure
from detlint.grouping import grouped
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN, registered
from detlint.syntax.stack import in_deep_stack

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from detlint.callgraph.graph import Graph
    from detlint.index.index import Index
    from detlint.index.modules import Definitions, Modules

_PROGRAM = 1


class Reachability:
    """Answers for all programs of a project, worked out at once when the first is asked for.

    ``closures`` holds the files of each program, by the real path at which it starts, ``started``
    the functions of that file that are called besides, and ``targets`` what configurations have
    made. ``graphs``, of calls and of names, take in the files that they do not have yet.
    """

    def __init__(  # noqa: PLR0913 - what is known of the project
        self,
        closures: Mapping[str, Sequence[str]],
        index: Index,
        modules: Modules,
        definitions: Definitions,
        *,
        started: Mapping[str, Sequence[str]],
        targets: Sequence[str],
        graphs: tuple[Graph, Graph],
    ) -> None:
        self._started = started
        self._graphs = graphs
        self._targets = targets
        self._index = index
        self._definitions = definitions
        self._offers = Offers(index, modules)
        self.programs = len(closures)
        self._bits = {path: _PROGRAM << place for place, path in enumerate(closures)}
        self._within: dict[str, int] = {}  # of each file, the programs that it is part of
        for path, files in closures.items():
            bit = self._bits[path]
            for each in files:
                self._within[each] = self._within.get(each, 0) | bit
        self._limits = cache(self._limits_in)

    def runs(self, program: str, path: str, part: str) -> bool:
        """Whether the text shows that a part of a file runs."""
        if not part or part == MAIN:
            return not part or path == program
        return self._is_reached(self._calls, self._running, program, path, part)

    def may_run(self, program: str, path: str, part: str) -> bool:
        """Whether a part of a file may run for all that one can see: not the main block of
        another file, nor a function or class that no code names but such, nor such a method, unless
        it looks names up."""
        owner, _, method = part.partition(".")
        if not owner or owner == MAIN:
            return owner != MAIN or path == program
        # Most of what is asked about runs for certain, which the graph of calls tells as well.
        if self.runs(program, path, part):
            return True
        reached = partial(self._is_reached, self._names, self._named, program)
        if method and not self._look_up & self._bits[program]:
            # Whatever makes an object of the class, its methods run where something names them.
            named = not self.runs(program, path, owner) and reached("", f"{LOOKED_UP}{method}")
            return named and reached(path, owner)
        return reached(path, owner)

    def is_in_workers(self, program: str, path: str, part: str) -> bool:
        """Whether a part only runs in what the workers of a loader call."""
        reached = self._is_reached(self._calls, self._outside_workers, program, path, part)
        return bool(part) and not (part == MAIN and path == program) and not reached

    def starts_workers(self, program: str, path: str, part: str) -> bool:
        """Whether a part runs, and only in what loaders call when their workers start."""
        if part in ("", MAIN) or not self.runs(program, path, part):
            return False
        return not self._is_reached(self._calls, self._outside_starts, program, path, part)

    def _is_reached(
        self, graph: Graph, reached: Sequence[int], program: str, path: str, part: str
    ) -> bool:
        node = graph.known(path, part)
        return node is not None and bool(reached[node] & self._bits[program])

    def users(self, path: str, part: str) -> list[tuple[str, str]]:
        """The parts of files that name a function or class, or a method by its last word: those of
        its own file first, and in one order, whatever programs the graph holds besides."""
        owner, _, method = part.partition(".")
        node = self._calls.known("", f"{METHOD}{method}") if method else None
        node = self._calls.known(path, owner) if node is None else node
        found = self._calls.users(node) if node is not None else []
        others = (each for each in found if each != (path, part))
        return sorted(others, key=lambda each: (each[0] != path, each))

    def parts_from(
        self, *starts: Symbol, files: frozenset[str], program: str = ""
    ) -> Callable[[str, str], bool]:
        """Whether functions that run alone reach a part of some files, or what runs when they
        are imported. A method has an object of its class, which nothing of them makes. With a
        ``program``, they may be given objects of all classes that this uses."""
        calls = self._calls
        found = self._nodes(each for each in starts if each.path in files)
        owners = {Symbol(x.path, x.part.partition(".")[0]) for x in starts if "." in x.part}
        lineage = self._definitions.lineage
        lines = (
            each for owner in owners.difference(starts) for each in filter(None, lineage(owner))
        )
        given = set(self._nodes(lines))
        used = self._used(program).difference(given, found) if program else frozenset[int]()
        reached = calls.reached_from(found, files, calls.marked(given))
        # What makes such an object runs elsewhere, but where they make another.
        beside = calls.reached_from(found, files, calls.marked(used | given)) if used else reached

        def reaches(path: str, part: str) -> bool:
            node = calls.known(path, part)
            own = node is not None and node not in given
            return not part or (own and are_among(reached if node in used else beside, [node]))

        return reaches

    def _nodes(self, symbols: Iterable[Symbol]) -> list[int]:
        found = (self._calls.known(*each) for each in symbols)
        return [each for each in found if each is not None]

    def _used(self, program: str) -> frozenset[int]:
        """The nodes of the classes that a program uses."""
        bit = self._bits[program]
        return frozenset(each for each in self._classes if self._running[each] & bit)

    @cached_property
    def _classes(self) -> list[int]:
        outlines = ((path, self._index.outline(path).classes) for path in self._files)
        return self._nodes(Symbol(path, each) for path, classes in outlines for each in classes)

    def called_by(self, path: str) -> Callable[[str, str], bool]:
        """Whether the statements of a file reach a part of another, or one of its own that no
        decorator hands on."""
        calls, files = self._calls, frozenset(self._within)
        offered = {calls.known(path, each) for each in registered(self._index.source(path).text)}
        here = calls.node(path, "")
        reached = calls.reached_from(filterfalse(offered.__contains__, calls.targets[here]), files)

        def reaches(file: str, part: str) -> bool:
            return are_among(reached, [calls.known(file, part)]) or (not part and file == path)

        return reaches

    def precedence(self, paths: list[str]) -> Precedence:
        """In which order a program gets to what its files hold."""
        return Precedence(paths, self._calls, self._index, self._definitions)

    # The graphs, and what is reached in them

    @cached_property
    def _files(self) -> list[str]:
        files = list(self._within)
        self._index.read_all("outline", files)
        return files

    @cached_property
    def _calls(self) -> Graph:
        graph, told = self._graphs[0], (self._index, self._definitions, self._offers)
        # Names are followed through packages that offer each other's.
        in_deep_stack(lambda: enter_calls(graph, self._files, *told, targets=self._targets))
        return graph

    @cached_property
    def _names(self) -> Graph:
        enter_names(self._graphs[1], self._files, self._index, self._offers)
        return self._graphs[1]

    @cached_property
    def defining(self) -> dict[str, list[str]]:
        """The files that define a function or class at their top, by its name."""
        return grouped((x, path) for path in self._files for x in self._index.outline(path).uses)

    @cached_property
    def having(self) -> dict[str, list[Symbol]]:
        """The classes that define a method, by its name."""
        return grouped(
            (method, Symbol(path, owner))
            for path in self._files
            for owner, _, method in (x.partition(".") for x in self._index.outline(path).uses)
            if method and owner in self._index.outline(path).classes
        )

    @cached_property
    def deriving(self) -> dict[str, list[str]]:
        """The files that have classes which derive from one, by its name."""
        pairs = (
            (base.rpartition(".")[2], path)
            for path in self._files
            for told in self._index.outline(path).classes.values()
            for base in told
        )
        return grouped(dict.fromkeys(pairs))

    @cached_property
    def _running(self) -> list[int]:
        return flood(self._calls, self._starts(self._calls), self._limits(self._calls))

    def _reached_without(self, stops: Mapping[tuple[str, str], int]) -> list[int]:
        """What calls reach in each program by ways that lead through none of some parts, but in
        the programs that each of these is given with."""
        limits = list(self._limits(self._calls))
        for part, programs in stops.items():
            node = self._calls.known(*part)
            if node is not None and self._running[node] & ~programs:  # most do not run anyway
                limits[node] &= programs
        return flood(self._calls, self._starts(self._calls), limits)

    @cached_property
    def _outside_workers(self) -> list[int]:
        stops = {
            (path, part): 0
            for path in self._files
            for part in self._index.outline(path).uses
            if part and self._is_for_workers(path, part)
        }
        calling = {x: self._calling(*x) for x in stops if x[1].endswith(".__call__")}
        while True:
            reached = self._reached_without(stops)
            called = {x: reduce(or_, map(reached.__getitem__, y), 0) for x, y in calling.items()}
            if stops == (stops := stops | called):
                return reached

    def _calling(self, path: str, part: str) -> list[int]:
        """The nodes of what calls objects of a class, as far as one sees who gets them."""
        owner = part.partition(".")[0]
        files = sorted({path, *(each for each, _ in self.users(path, owner))})
        start: list[tuple[str, str, int | str]] = [(each, owner, "") for each in files]
        ways = list(closure(start, self._given))
        rows = ((x[0], row) for x in ways for row, to, _ in self._index.object_calls(*x) if not to)
        return self._nodes(Symbol(x, self._index.part_at(x, row)) for x, row in rows)

    def _given(self, way: tuple[str, str, int | str]) -> Iterator[tuple[str, str, int | str]]:
        for _, name, place in self._index.object_calls(*way):
            for each in (self._definitions.meant(way[0], name) or ()) if name else ():
                yield *each, place

    @cached_property
    def _outside_starts(self) -> list[int]:
        told = grouped(
            (each, (path, part))
            for path in self._files
            for part, fact in self._index.facts(path, "worker_starts")
            for each in self._definitions.meant(path, fact.what) or ()
        )
        alone = (each for each, at in told.items() if set(at) >= set(self.users(*each)))
        return self._reached_without(dict.fromkeys(alone, 0))

    @cached_property
    def _named(self) -> list[int]:
        graph = self._names
        starts = self._starts(graph)
        unseen = self._holding("makes_unseen")  # classes that code does not name
        for path in self._files:
            for name in self._index.outline(path).classes:
                node = graph.node(path, name)
                starts[node] = unseen | self._quoting.get(name, 0)
        return flood(graph, starts, self._limits(graph))

    def _starts(self, graph: Graph) -> dict[int, int]:
        """All files run as they are imported, and of those that are programs the main block."""
        found = {graph.node(path, ""): self._within[path] for path in self._files}
        for path, bit in self._bits.items():
            found.update((graph.node(path, part), bit) for part in (MAIN, *self._started[path]))
        return found

    def _limits_in(self, graph: Graph) -> list[int]:
        """Which programs each node is part of. Names are looked up in those that do so at all."""
        everywhere = (_PROGRAM << len(self._bits)) - 1
        limits = [self._within.get(home, 0) if home else everywhere for home in graph.homes]
        for node in graph.named(OFFERED):
            limits[node] = self._look_up
        return limits

    def _holding(self, kind: str) -> int:
        """The programs that hold a file with facts of a kind."""
        found = 0
        for path, programs in self._within.items():
            if kind in self._index.kinds(path):
                found |= programs
        return found

    @cached_property
    def _look_up(self) -> int:
        return self._holding("looks_up")

    @cached_property
    def _quoting(self) -> dict[str, int]:
        """The programs in which a string holds a name."""
        found: dict[str, int] = {}
        for path in self._files:
            for name in self._index.outline(path).quoted:
                found[name] = found.get(name, 0) | self._within[path]
        return found

    def _is_for_workers(self, path: str, part: str) -> bool:
        """Whether a part gives the items of a data set, changes one, or makes batches of them."""
        owner, _, name = part.partition(".")
        if name == "__iter__":
            bases = self._index.outline(path).classes.get(owner, ())
            return any(each.endswith("IterableDataset") for each in bases)
        if name == "__call__":
            named = f"{os.path.basename(path)} {owner}"
            return roles.changes_items(named, self._index.source(path).text)
        return name == "__getitem__" or "collat" in part.lower()

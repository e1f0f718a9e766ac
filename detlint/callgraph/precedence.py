"""What a program gets to first: its statements in order, and what each leads to."""

from __future__ import annotations

import ast
import sys
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from detlint.callgraph.graph import METHOD
from detlint.dataflow.origins import Origins
from detlint.dataflow.randomness.idle_draws import is_unused, may_not_run
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.unit import Unit
from detlint.index.imports import Import
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN, registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from detlint.callgraph.graph import Graph
    from detlint.dataflow.ir import Function, Op
    from detlint.index.index import Index
    from detlint.index.modules import Definitions

_FOREVER = sys.maxsize
_LEAVING = frozenset(("return", "leave", "raise"))
_DEEPEST = 6  # functions that are gone into, one within another
_NAMING = frozenset(("global", "attr"))


class Line(NamedTuple):
    """A line of a file, in a part of its outline."""

    path: str
    row: int
    part: str


class Passage(NamedTuple):
    """What is passed before some lines.

    ends     the lines
    may_end  the nodes from which one of them may be met
    rows     of each function that is gone through, the row before which all is passed
    """

    ends: list[Line]
    may_end: frozenset[int]
    rows: dict[tuple[str, str], int]

    @property
    def parts(self) -> dict[str, set[str]]:
        """The parts of files that are gone through, as outlines have them."""
        found: dict[str, set[str]] = {}
        for path, name in self.rows:
            found.setdefault(path, set()).update(_parts(name))
        return found


def _parts(function: str) -> tuple[str, ...]:
    """What a line of a function is a part of: a class, if it makes one."""
    return (function, function.removesuffix(".__init__")) if function else ("", MAIN)


class Units:
    """The files of a project, each opened once for all of its programs."""

    def __init__(self, index: Index, definitions: Definitions) -> None:
        self.index = index
        self.definitions = definitions
        self.of: Callable[[str], Unit] = cache(self._opened)

    def _opened(self, path: str) -> Unit:
        return Unit(self.index.source(path), find=self.find)

    def find(self, unit: Unit, name: str) -> list[tuple[Unit, str]]:
        """The files, and their parts, that a file means by a qualified name."""
        found = self.definitions.meant(unit.source.path, name) or ()
        return [(self.of(each.path), each.part) for each in found]


class Precedence:
    """Answers for one program: the file that is run, and those that it imports."""

    def __init__(self, paths: list[str], graph: Graph, units: Units) -> None:
        self._start, *self._imported = paths
        self._files = frozenset(paths)
        self._graph = graph
        self._index = units.index
        self._definitions = units.definitions
        self._unit = units.of
        self._origins = Origins(units.find)
        # One function seeds several libraries.
        self._leading_to = cache(lambda nodes: graph.leading_to(nodes, self._files))

    def comes_first(self, one: tuple[str, int], other: tuple[str, int]) -> bool:
        """Whether it certainly gets to a line, by its file and row, before another."""
        lines = [Line(path, row, self._index.part_at(path, row)) for path, row in (one, other)]
        reached = self._with(frozenset(), self._known((each, "") for each in self._imported))
        if self._is_met(lines[1], reached):
            return False
        unit = self._unit(self._start)
        return self._goes(unit, unit.module, reached, lines, 0) is True

    def passes_before(self, ends: list[tuple[str, int]]) -> tuple[tuple[str, int], Passage] | None:
        """The line of some that it gets to first, and what it passes before; None if that cannot
        be told."""
        lines = [Line(path, row, self._index.part_at(path, row)) for path, row in ends]
        last = self._known((each.path, each.part) for each in lines)
        may_end = self._leading_to(frozenset(last))
        if not may_end.isdisjoint(self._known((each, "") for each in self._imported)):
            return None
        unit = self._unit(self._start)
        passage = Passage(lines, may_end, {})
        end = self._passes(unit, unit.module, passage, 0)
        return None if end is None else (end, passage)

    def is_passed(self, path: str, row: int, passage: Passage) -> bool:
        """Whether a line is passed for certain before the first of the lines is met: in a function
        that is gone through, or with its file, which the program imports; not in a function that
        something has to call first. What a line draws for nothing is none to pass."""
        unit = self._unit(path)
        piece = unit.piece_at(unit.source.line_starts[row - 1])
        around = None if piece is None else unit.function(piece) if piece.kind else unit.module
        if piece is None or around is None or _waits(around, row):
            return False
        if piece.kind != "class" and self._draws_for_nothing(around, row):
            return False
        if piece.kind == "function":
            return row < passage.rows.get((path, around.name), 0)
        return self._loads_before(path, row, passage)

    def _draws_for_nothing(self, around: Function, row: int) -> bool:
        """Whether nothing takes what a line draws: once the generator is seeded, it is as if the
        line had not been there."""
        alone = around.unit.source.path == self._start
        drawn = [op for op in around.ops if getattr(op.node, "lineno", 0) == row and drawn_from(op)]
        return bool(drawn) and all(is_unused(each, alone=alone) for each in drawn)

    def _loads_before(self, path: str, row: int, passage: Passage) -> bool:
        """The same of a line that runs with its file."""
        met = {self._start: passage.rows[self._start, ""]}
        pending = [self._start]
        for each in pending:  # grows
            for at, found in self._imports(each):
                if at < met[each] and found not in met:
                    met[found] = _FOREVER
                    pending.append(found)
        return row < met.get(path, 0)

    def _imports(self, path: str) -> Iterator[tuple[int, str]]:
        """The files that a file certainly imports when it runs, and in which rows."""
        nodes = {
            op.node: None
            for op in self._unit(path).module.ops
            if op.code == "import" and not may_not_run(op)
        }
        for node in nodes:
            for wanted in _wanted(node):
                for found in self._definitions.files(path, wanted):
                    if found in self._files:
                        yield getattr(node, "lineno", 0), found

    def _passes(
        self, unit: Unit, function: Function, passage: Passage, depth: int
    ) -> tuple[str, int] | None:
        """Go through a function up to the first of the lines, which is given back if it is met."""
        path, part = unit.source.path, function.name
        own = [x.row for x in passage.ends if x.path == path and _holds(function, x)]
        last = min(own, default=_FOREVER)
        passage.rows[path, part] = last  # a function that calls itself is passed once
        for op in function.ops:
            row = getattr(op.node, "lineno", 0)
            if row >= last:
                break
            sure = row < passage.rows[path, part] and not may_not_run(op)
            if op.code in _LEAVING:  # what follows may not run
                passage.rows[path, part] = min(row + 1, passage.rows[path, part])
            elif op.code == "call" and (end := self._called(op, unit, passage, depth, sure=sure)):
                passage.rows[path, part] = min(row, passage.rows[path, part])
                return end
        if last == _FOREVER:
            commands = self._commands(unit, function)
            alone = commands if len(commands) == 1 else []
            ends = (self._passes(unit, each, passage, depth + 1) for each in alone)
            return next(ends, None)
        return path, last

    def _called(
        self, call: Op, unit: Unit, passage: Passage, depth: int, *, sure: bool
    ) -> tuple[str, int] | None:
        symbols = self._named(unit, call.args[0]) or self._chosen(call.args[0])
        inner = list(map(self._inner, symbols)) if sure and depth < _DEEPEST else []
        fresh = [x for x in inner if x and (x[0].source.path, x[1].name) not in passage.rows]
        if fresh and len(fresh) == len(symbols):
            ends = (self._passes(*each, passage, depth + 1) for each in fresh)
            return next((each for each in ends if each is not None), None)
        met = not passage.may_end.isdisjoint(self._nodes(symbols, call.args[0]))
        return (unit.source.path, getattr(call.node, "lineno", 0)) if met else None

    def _goes(
        self,
        unit: Unit,
        function: Function,
        reached: frozenset[int],
        lines: list[Line],
        depth: int,
    ) -> bool | None:
        """Whether the first of two lines is met before the other; None where neither is."""
        within = [x.path == unit.source.path and _holds(function, x) for x in lines]
        for op in function.ops:
            row = getattr(op.node, "lineno", 0)
            here = [own and each.row <= row for own, each in zip(within, lines, strict=True)]
            if any(here):
                return here[0] and not (here[1] and lines[1].row < lines[0].row)
            # What a function imports for itself is used where an operation takes it.
            names = [*(x for x in op.args if x.code == "import"), *[op][op.code not in _NAMING :]]
            symbols = [found for each in names for found in self._named(unit, each)]
            if not symbols and op.code != "attr":
                continue
            before, reached = reached, self._with(reached, self._nodes(symbols, op))
            met = [
                self._is_met(each, reached) and not own
                for own, each in zip(within, lines, strict=True)
            ]
            if any(met):
                one = len(symbols) == 1 and all(met) and depth < _DEEPEST
                inner = self._inner(symbols[0]) if one else None
                if inner is None:
                    return met[0] and not met[1]
                return self._goes(*inner, before, lines, depth + 1)
        commands = self._commands(unit, function)
        told = {self._goes(unit, each, reached, lines, depth + 1) for each in commands} - {None}
        return told == {True} if told else None

    def _commands(self, unit: Unit, function: Function) -> list[Function]:
        """The functions of the file that is run that its decorators have something else run, once
        its statements are through: ``@app.command()``."""
        if function.name or unit.source.path != self._start:
            return []
        named = sorted(registered(unit.source.text))
        return [each for each in map(unit.defined, named) if each is not None]

    def _named(self, unit: Unit, op: Op) -> list[Symbol]:
        """The functions and classes of the project that a value may be."""
        path, meant = unit.source.path, self._definitions.meant
        found = [each for name in unit.values.qualified(op) for each in meant(path, name) or ()]
        own = unit.values.function(op) if op.code == "attr" and not found else None
        return [Symbol(path, own.name)] if own is not None else found

    def _nodes(self, symbols: list[Symbol], op: Op) -> list[int]:
        """The nodes of what a value may be, and of methods by its name."""
        names = [("", f"{METHOD}{op.name}")] if op.code == "attr" else []
        return self._known([*symbols, *names])

    def _chosen(self, op: Op) -> list[Symbol]:
        """The classes of the project of which one is chosen; none where others may be."""
        found = self._origins.of(op)
        places = [each.place for each in found if each is not None and not each.called]
        if None in places or len(places) < len(found):
            return []
        return [Symbol(each.unit.source.path, each.name) for each in places if each is not None]

    def _inner(self, symbol: Symbol) -> tuple[Unit, Function] | None:
        """The function that is called, of a class its constructor."""
        path, part = symbol
        unit = self._unit(path)
        owner, _, word = part.rpartition(".")
        function = unit.method(part, "__init__") or unit.defined(word, owner)
        return None if function is None else (unit, function)

    # The graph

    def _known(self, symbols: Iterable[tuple[str, str]]) -> list[int]:
        """The nodes of symbols, of those that have one."""
        found = (self._graph.known(*each) for each in symbols)
        return [each for each in found if each is not None]

    def _is_met(self, line: Line, reached: frozenset[int]) -> bool:
        return self._graph.known(line.path, line.part) in reached

    def _with(self, reached: frozenset[int], nodes: Iterable[int]) -> frozenset[int]:
        """What is reached besides from some nodes."""
        return self._graph.reached_from(nodes, self._files, reached)


def _waits(around: Function, row: int) -> bool:
    """Whether a line lies in a function that is defined within another one, or the module."""
    return any(
        each is not around and each.is_defined and _spans(each, row) for each in around.everything()
    )


def _wanted(node: ast.AST) -> Iterator[Import]:
    """What an import statement imports."""
    if isinstance(node, ast.ImportFrom):
        yield Import(node.module or "", node.level, tuple(each.name for each in node.names))
    elif isinstance(node, ast.Import):
        yield from (Import(each.name, 0, ()) for each in node.names)


def _holds(function: Function, line: Line) -> bool:
    """Whether a line of the same file lies in a function; of the module, what runs with the file.
    Its part of the outline does not tell: what makes an object is part of its class."""
    if not function.name:
        return line.part in ("", MAIN)
    return _spans(function, line.row)


def _spans(function: Function, row: int) -> bool:
    first = getattr(function.node, "lineno", _FOREVER)
    return first <= row <= (getattr(function.node, "end_lineno", None) or first)

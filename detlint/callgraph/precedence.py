"""What a program gets to first: its statements in order, and what each leads to."""

from __future__ import annotations

import ast
import sys
from bisect import bisect_left
from functools import cache, cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

from detlint.callgraph.graph import METHOD, are_among
from detlint.dataflow.arguments.passed_arguments import leaves_out
from detlint.dataflow.arguments.settings import names_tested
from detlint.dataflow.control import exclude
from detlint.dataflow.origins import Origins
from detlint.dataflow.path_conditions import Paths
from detlint.dataflow.randomness.idle_draws import is_unused, may_not_run
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import closure
from detlint.index.imports import Import
from detlint.index.modules import Symbol
from detlint.index.scan import MAIN, registered

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from detlint.callgraph.graph import Graph, Nodes
    from detlint.dataflow.ir import Function, Op, Region
    from detlint.dataflow.origins import Made
    from detlint.dataflow.unit import Unit
    from detlint.index.index import Index
    from detlint.index.modules import Definitions

_FOREVER = sys.maxsize
_LEAVING = frozenset(("return", "leave"))
_DEEPEST = 6  # functions that are gone into, one within another
_NAMING = frozenset(("global", "attr"))
_NAMES = frozenset(("free", "global", "import"))  # which are read before all that uses them


class Line(NamedTuple):
    """A line of a file, in a part of its outline, and what calls of that have to pass so that it
    runs."""

    path: str
    row: int
    part: str
    needs: Sequence[str] = ()


class Passage(NamedTuple):
    """What is passed before some lines.

    ends     the lines
    may_end  the nodes from which one of them may be met
    rows     of each function that is gone through, the row before which all is passed
    ways     what is passed besides where a branch leads to a line, each with that line
    """

    ends: list[Line]
    may_end: Nodes
    rows: dict[tuple[str, str], int]
    ways: list[tuple[tuple[str, int], Passage]]

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


class Branch(NamedTuple):
    """A way through a program that others exclude.

    reached  what is reached in it
    always   what is reached on all ways
    """

    reached: Nodes
    always: Nodes


class _Naming(NamedTuple):
    """A use of what leads somewhere: functions, classes and methods, and their nodes."""

    use: Op
    symbols: list[Symbol]
    nodes: list[int]


class Precedence:
    """Answers for one program: the file that is run, and those that it imports."""

    def __init__(
        self, paths: list[str], graph: Graph, index: Index, definitions: Definitions
    ) -> None:
        self._start, *self._imported = paths
        self._files = frozenset(paths)
        self._graph = graph
        self._index = index
        self._definitions = definitions
        self._unit = index.units.held
        self._origins = Origins(partial(_meant, self._unit, definitions))
        # One function seeds several libraries.
        files = self._files  # what refers to itself is let go of late
        self._leading_to = cache(lambda nodes: graph.leading_to(nodes, files))
        self._reached = cache(lambda nodes, known: graph.reached_from(nodes, files, known))
        self._namings: dict[Function, list[_Naming]] = {}

    def comes_first(
        self, one: tuple[str, int], other: tuple[str, int], needs: Sequence[str] = ()
    ) -> bool:
        """Whether it certainly gets to a line, by its file and row, before another, which needs
        some arguments of the function around it."""
        lines = [Line(path, row, self._index.part_at(path, row)) for path, row in (one, other)]
        if not lines[0].part and self._are_met(lines[:1], self._loaded):
            return True  # a statement of a file that it imports
        unit = self._unit(self._start)
        lines[1] = lines[1]._replace(needs=needs)
        return self._goes(unit, unit.module, self._loaded, lines, 0) is True

    def passes_before(self, ends: list[tuple[str, int]]) -> list[tuple[tuple[str, int], Passage]]:
        """The line of some that it gets to first, and what it passes before; where branches lead
        there, so of each of these. Empty if that cannot be told."""
        lines = [Line(path, row, self._index.part_at(path, row)) for path, row in ends]
        last = self._known((each.path, each.part) for each in lines)
        may_end = self._leading_to(frozenset(last))
        if are_among(may_end, self._known((each, "") for each in self._imported)):
            return []
        unit = self._unit(self._start)
        passage = Passage(lines, may_end, {}, [])
        end = self._passes(unit, unit.module, passage, 0)
        return [] if end is None else [(end, passage), *passage.ways]

    def branches_without(self, ends: list[tuple[str, int]]) -> Iterator[Branch]:
        """The branches of a program that get to none of some lines, where another one alone leads
        to them all."""
        lines = [Line(path, row, self._index.part_at(path, row)) for path, row in ends]
        may_end = self._leading_to(frozenset(self._known((x.path, x.part) for x in lines)))
        before, outer = self._loaded, list[int]()
        unit = self._unit(self._start)
        inner: tuple[Unit, Function] | None = (unit, unit.module)
        met: set[Function] = set()
        while inner is not None and inner[1] not in met and len(met) <= _DEEPEST:
            unit, function = inner
            met.add(function)
            if function not in self._namings:
                self._namings[function] = list(self._named_in(unit, function))
            named = self._namings[function]
            leading = [each for each in named if are_among(may_end, each.nodes)]
            own = [x for x in lines if x.path == unit.source.path and _holds(function, x)]
            calls = [op for x in own for op in function.coded("call") if op.row == x.row]
            if not self._is_plain(function, calls, leading):
                before, outer = self._with(before, outer), []
                leading, reached = self._leading(named, leading, before, lines)
                hidden = len({each.row for each in calls}) < len({each.row for each in own})
                if hidden or self._are_met([x for x in lines if x not in own], reached):
                    return
                besides = [each for each in named if each not in leading]
                ways = [*calls, *(each.use for each in leading)]
                yield from self._excluded(function, ways, besides, before)
                yield from self._dispatched(leading, lines, reached)
            outer += [node for each in named if each not in leading for node in each.nodes]
            symbols = {each for naming in leading for each in naming.symbols}
            inner = self._inner(*symbols) if len(leading) == len(symbols) == 1 and not own else None

    def _is_plain(self, function: Function, calls: list[Op], leading: list[_Naming]) -> bool:
        """Whether some lines, or one function that leads to them, are met in all branches."""
        if len(leading) > 1 or _apart(function, [*calls, *(each.use for each in leading)]):
            return False
        return all(each.symbols and not self._makes(each) for each in leading)

    def _named_in(self, unit: Unit, function: Function) -> Iterator[_Naming]:
        for op in function.ops:
            symbols = self._named(unit, op)
            nodes = self._nodes(symbols, op)
            for use in ((op,) if op.code in ("attr", "class") else op.uses) if nodes else ():
                yield _Naming(use, symbols, nodes)

    def _leading(
        self,
        named: list[_Naming],
        left: list[_Naming],
        before: Nodes,
        lines: list[Line],
    ) -> tuple[list[_Naming], Nodes]:
        """Those of some that lead to one of some lines, and what is reached without these."""
        besides = (each.nodes for each in named if each not in left)
        reached = self._with(before, chain.from_iterable(besides))
        met = partial(self._are_met, lines)
        made = [x for x in left if self._makes(x) and not met(self._with(reached, x.nodes))]
        reached = self._with(reached, chain.from_iterable(each.nodes for each in made))
        leads = [x for x in left if x not in made and met(self._with(reached, x.nodes))]
        return leads, reached

    def _makes(self, naming: _Naming) -> bool:
        """Whether it names classes alone, which lead to no method before one looks that up."""
        classes = (part in self._index.outline(path).classes for path, part in naming.symbols)
        return bool(naming.symbols) and all(classes)

    def _are_met(self, lines: list[Line], reached: Nodes) -> bool:
        return are_among(reached, (self._graph.known(each.path, each.part) for each in lines))

    def _excluded(
        self, function: Function, ways: list[Op], named: list[_Naming], before: Nodes
    ) -> Iterator[Branch]:
        """What of a function only runs where none of some operations does."""
        apart = _apart(function, ways)
        asked = " ".join(name for each in (*ways, *apart) for name in names_tested(each))
        if not apart or "seed" in asked.lower():
            return
        inner = [node for each in named if each.use in apart for node in each.nodes]
        outer = [node for each in named if each.use not in apart for node in each.nodes]
        always = self._with(before, outer)
        yield Branch(self._with(always, inner), always)

    def _dispatched(
        self, leading: list[_Naming], lines: list[Line], reached: Nodes
    ) -> Iterator[Branch]:
        """What the methods of other classes lead to, where one call leads to some lines of methods
        by a name."""
        call = leading[0].use if len(leading) == 1 and not leading[0].symbols else None
        if call is None or call.code != "attr" or call.loop is not None:
            return
        for path in sorted(self._files):
            for part in self._index.outline(path).uses:
                node = self._graph.known(path, part)
                if node is None or not part.endswith(f".{call.name}"):
                    continue
                inner = self._with(reached, [node])
                if not self._are_met(lines, inner):
                    yield Branch(inner, reached)

    def is_of(self, path: str, row: int, branch: Branch) -> bool:
        """Whether a line only runs in a branch, for all that leads to it is seen."""
        node = [self._graph.known(path, self._index.part_at(path, row))]
        return are_among(branch.reached, node) and not are_among(branch.always, node)

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
        drawn = [op for op in around.ops if op.row == row and drawn_from(op)]
        return bool(drawn) and all(is_unused(each, alone=alone) for each in drawn)

    def _loads_before(self, path: str, row: int, passage: Passage) -> bool:
        """The same of a line that runs with its file."""
        ends = {self._start: passage.rows[self._start, ""]}

        def loads(each: str) -> Iterator[str]:
            return (x for at, x in self._imports(each) if at < ends.get(each, _FOREVER))

        return path in closure([self._start], loads) and row < ends.get(path, _FOREVER)

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
        rows = passage.rows
        rows[path, part] = last  # a function that calls itself is passed once
        left: dict[tuple[str, str], int] | None = None  # what is passed if it leaves early
        for op in function.ops:
            row = op.row
            if row >= last:
                break
            if op.code in _LEAVING:
                left = left or {**rows, (path, part): row + 1}
            elif op.code == "call" and (
                end := self._called(op, unit, passage, depth, sure=not may_not_run(op))
            ):
                rows[path, part] = min(row, rows[path, part])
                self._branch(op, unit, passage, depth)
                return end
        if last == _FOREVER:
            if left is not None:
                # A run that gets to one of the lines may not have passed what follows.
                rows.clear()
                rows.update(left)
            commands = self._commands(unit, function)
            alone = len(commands) == 1
            return self._passes(unit, commands[0], passage, depth + 1) if alone else None
        return path, last

    def _branch(self, first: Op, unit: Unit, passage: Passage, depth: int) -> None:
        """Go on where a call in a branch leads to one of the lines, and where those do that run in
        its place."""
        if not may_not_run(first) or depth >= _DEEPEST:
            return
        later = (op for op in first.function.coded("call") if op.place > first.place)
        for call in (first, *(op for op in later if exclude(first, op))):
            symbols = self._named(unit, call.args[0])
            inner = self._inner(symbols[0]) if len(symbols) == 1 else None
            if inner is None or not are_among(passage.may_end, self._known(symbols)):
                continue
            way = passage._replace(rows=dict(passage.rows))
            end = self._passes(*inner, way, depth + 1)
            if end is not None:
                passage.ways.append((end, way))

    def _called(
        self, call: Op, unit: Unit, passage: Passage, depth: int, *, sure: bool
    ) -> tuple[str, int] | None:
        symbols = self._named(unit, call.args[0]) or self._chosen(call.args[0])
        inner = list(map(self._inner, symbols)) if sure and depth < _DEEPEST else []
        fresh = [x for x in inner if x and (x[0].source.path, x[1].name) not in passage.rows]
        if fresh and len(fresh) == len(symbols):
            ends = (self._passes(*each, passage, depth + 1) for each in fresh)
            return next((each for each in ends if each is not None), None)
        met = are_among(passage.may_end, self._nodes(symbols, call.args[0]))
        return (unit.source.path, call.row) if met else None

    def _goes(
        self,
        unit: Unit,
        function: Function,
        reached: Nodes,
        lines: list[Line],
        depth: int,
    ) -> bool | None:
        """Whether the first of two lines is met before the other; None where neither is."""
        pairs = [(x.path == unit.source.path and _holds(function, x), x) for x in lines]
        for op in function.ops:
            row = op.row
            here = [own and each.row <= row for own, each in pairs]
            if any(here):
                return here[0] and not (here[1] and lines[1].row < lines[0].row)
            # What a function imports for itself is used where an operation takes it.
            names = [*(x for x in op.args if x.code == "import"), *[op][op.code not in _NAMING :]]
            symbols = [found for each in names for found in self._named(unit, each)]
            if not symbols and op.code != "attr":
                continue
            if lines[1].needs and self._leaves_out(op, symbols, lines[1]):
                continue
            before, reached = reached, self._with(reached, self._nodes(symbols, op))
            met = [self._are_met([each], reached) and not own for own, each in pairs]
            if any(met):
                one = len(symbols) == 1 and all(met) and depth < _DEEPEST
                inner = self._inner(symbols[0]) if one else None
                if inner is None:
                    return met[0] and not met[1]
                return self._goes(*inner, before, lines, depth + 1)
        commands = self._commands(unit, function)
        told = {self._goes(unit, each, reached, lines, depth + 1) for each in commands}
        return told - {None} == {True} if told - {None} else None

    def _leaves_out(self, op: Op, symbols: list[Symbol], other: Line) -> bool:
        """Whether a value is the function of a line, and is only called with what
        keeps it from that line."""
        if symbols != [Symbol(other.path, other.part)]:
            return False
        calls = [op] if op.code == "call" else op.uses
        called = all(each.code == "call" and each.args[0] in (op, *op.args[:1]) for each in calls)
        return bool(calls) and called and all(leaves_out(each, other.needs) for each in calls)

    def _commands(self, unit: Unit, function: Function) -> list[Function]:
        """The functions of the file that is run that its decorators have something else run, once
        its statements are through, ``@app.command()``, or that it gives to another library, which
        calls them: ``fire.Fire(main)``."""
        if function.name or unit.source.path != self._start:
            return []
        others = (op for op in function.coded("call") if not self._named(unit, op.args[0]))
        given = (str(x.name) for op in others for _, x in op.arguments() if x.code == "global")
        named = sorted({*registered(unit.source.text), *given})
        return [each for each in map(unit.defined, named) if each is not None]

    def _named(self, unit: Unit, op: Op) -> list[Symbol]:
        """The functions and classes of the project that a value may be."""
        path, meant = unit.source.path, self._definitions.meant
        names = unit.values.qualified(op) or (unit.by_star(op.word) if op.code == "global" else ())
        found = [each for name in names for each in meant(path, name) or ()]
        own = unit.values.function(op) if op.code == "attr" and not found else None
        return [Symbol(path, own.name)] if own is not None else found

    def _nodes(self, symbols: list[Symbol], op: Op) -> list[int]:
        """The nodes of what a value may be, and of methods by its name."""
        names = [("", f"{METHOD}{op.name}")] if op.code == "attr" else []
        return self._known([*symbols, *names])

    def _chosen(self, op: Op) -> list[Symbol]:
        """The classes of the project of which one is chosen; none where others may be."""
        found = [x for x in self._origins.of(op) if x is None or not self._is_lacking(x)]
        places = [None if each is None or each.called else each.place for each in found]
        told = [Symbol(each.unit.source.path, each.name) for each in places if each is not None]
        return told if len(told) == len(places) else []

    def _is_lacking(self, made: Made) -> bool:
        """Whether a module of the project has no such thing: ``if hasattr(nets, "Old")`` asks."""
        path = made.op.function.unit.source.path
        asked = [each.rpartition(".") for each in made.names]
        homes = [(self._definitions.module(path, module), last) for module, _, last in asked]
        return bool(homes) and not any(x is None or self._index.may_give(x, y) for x, y in homes)

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

    @cached_property
    def _loaded(self) -> Nodes:
        """What is reached as the files are imported."""
        return self._with(b"", self._known((each, "") for each in self._imported))

    def _with(self, reached: Nodes, nodes: Iterable[int]) -> Nodes:
        """What is reached besides from some nodes."""
        return self._reached(frozenset(nodes), reached)


def _meant(
    open_file: Callable[[str], Unit], definitions: Definitions, unit: Unit, name: str
) -> list[tuple[Unit, str]]:
    """The files, and their parts or variables, that a file means by a qualified name."""
    find = partial(_meant, open_file, definitions)
    return definitions.places(unit.source.path, name, open_file, find)[0]


def _apart(function: Function, ways: list[Op]) -> set[Op]:
    """What of a function only runs where none of some operations does."""
    # Between what leaves the function, and the ways, all of one region is alike.
    cuts = sorted(each.place for each in (*function.leaving, *ways))
    known: dict[tuple[Region, int], bool] = {}
    apart: set[Op] = set()
    for op in function.ops if ways else ():
        alike = op.region, bisect_left(cuts, op.place)
        if alike not in known:
            known[alike] = all(_are_apart(op, each) for each in ways)
        if known[alike]:
            apart.add(op)
    return set(filter(Paths(function).may_run, apart))


def _are_apart(one: Op, other: Op) -> bool:
    """Whether only one of two operations runs, in whatever round of a loop."""
    loops = (each for each in one.region.around() if each.loops)
    return exclude(one, other) and not any(map(other.within, loops))


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

"""What the clock decides: how long a training goes on, above all, and what is chosen by it.

And what is decided by what a program measures of the machine or of itself.
"""

from __future__ import annotations

import ast
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import word_of
from detlint.dataflow.ends import End, ends_of
from detlint.dataflow.origins import Origins
from detlint.dataflow.randomness.entropy import Entropies, Entropy
from detlint.dataflow.randomness.seeding import drawn_from
from detlint.dataflow.slices import ahead, behind
from detlint.dataflow.unit import Unit
from detlint.models.randomness import ENTROPY
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.dataflow.ir import Function, Op

_CLOCK, _MEASURED = "the clock", "what is measured"
_WORDS = {name.rpartition(".")[2] for name, what in ENTROPY.items() if what == _CLOCK}
_JOINS = ("boolean", "not", "phi", "choice")
_STORES = ("store_attr", "store_item", "store_global")
_LEAVING = (ast.Break, ast.Return)
_KEYWORDS = ("max_time", "time_budget_s")  # of what trains for so long
# What takes a size: functions, methods, and the ends of the names of arguments.
_SIZED = frozenset(("builtins.range", "itertools.islice", "itertools.batched"))
_SPLITTING = frozenset(("split", "chunk", "array_split", "tensor_split"))
_SIZES = ("size", "steps", "workers", "chunks", "limit")
_COUNTING = ("Add", "Sub")
_FEW = 100  # operations behind what is kept
_IDENTITY = frozenset(("Is", "IsNot"))
_Place = tuple[int, int]
Span = tuple[int, int, int, int]


class Timed(NamedTuple):
    """A condition that the clock decides.

    ends  whether a loop or a function ends by it, or it is returned or kept
    sets  whether it decides what a variable holds that is no time and is not only shown
    """

    line: int
    text: str
    ends: bool
    sets: bool = False


def timed_conditions(path: str, code: str) -> list[Timed]:
    """Those of a file, in order, but for what only raises an error."""
    if not any(each in code for each in (*_WORDS, *_KEYWORDS)):
        return []
    with closing(Unit(Source(path, code), whole=True)) as unit:
        entropies, tests, functions = Entropies(Origins()), _tests(code), _functions(unit)
        compared = (_compared(each, entropies, tests) for each in functions)
        given = (_given(each) for each in functions)
        told = (timed for some in compared for timed, what in some if what.what == _CLOCK)
        return sorted({*told, *(each for some in given for each in some)})


class Measured(NamedTuple):
    """Calls of a file that measure and decide something, by line and text; and the names of
    functions that return what is measured."""

    deciding: list[tuple[int, str]]
    returning: set[str]


def measured(path: str, code: str, calls: Collection[Span], names: Collection[str]) -> Measured:
    """What is decided by what a file measures: a size, a condition, how long something goes on.

    calls  from where to where those go that measure: lines and columns, as ``ast`` has them
    names  of functions of other files that return what is measured
    """
    with closing(Unit(Source(path, code), whole=True)) as unit:
        tests, functions = _tests(code), _functions(unit)
        ops = (op for each in functions for op in each.all_coded("call"))
        given = [op for op in ops if span(op.node) in calls or word_of(op) in names]
        parts = {use: op for op in given for use in op.uses if use.code == "attr"}
        sources = {**parts, **{op: op for op in given}}
        told_by = {part: Entropy(op, _MEASURED) for part, op in sources.items()}
        entropies = Entropies(Origins(), told_by)
        compared = (each for some in functions for each in _compared(some, entropies, tests))
        found = [what for timed, what in compared if timed.ends or timed.sets]
        sizes = (op for some in functions for op in _sizes(some))
        found += [what for op in sizes if (what := entropies.of(op)) is not None]
        deciding = {each.call for each in found if each.what == _MEASURED}
        told = sorted({(_place(op.node)[0], ast.unparse(op.node)) for op in deciding})
        inner = (each for some in functions for each in some.everything())
        values = ((each.word, entropies.of(op)) for each in inner for op in each.returned)
        return Measured(told, {name for name, what in values if what and what.what == _MEASURED})


def _functions(unit: Unit) -> list[Function]:
    pieces = (unit.function(each) for each in unit.pieces if each.kind)
    return [each for each in (*pieces, unit.module) if each is not None]


def _sizes(function: Function) -> Iterator[Op]:
    """Values that say how large something is, or how often it is done."""
    for each in function.all_coded("slice"):
        yield from each.args[1:]
    for call in function.all_coded("call"):
        splits = word_of(call) in _SPLITTING or not _SIZED.isdisjoint(call.called)
        for name, value in call.arguments():
            if splits or (name or "").endswith(_SIZES):
                yield value


def _compared(
    function: Function, entropies: Entropies, tests: dict[_Place, bool]
) -> Iterator[tuple[Timed, Entropy]]:
    for compare in function.all_coded("compare"):
        if not _IDENTITY.isdisjoint(compare.name):  # ``born is None`` compares no times
            continue
        uses = [use for op in ahead([compare], _JOINS) for use in op.uses]
        kept = any(each.code in ("return", *_STORES) for each in uses)
        places = {_place(each.node) for each in uses if each.code == "test"} & tests.keys()
        asked = map(entropies.of, compare.args) if kept or places else ()
        if found := [each for each in asked if each and each.what in (_CLOCK, _MEASURED)]:
            ends = kept or any(tests[each] for each in places)
            sets = not places.isdisjoint(_choosing(function, entropies))
            yield _told(compare.node, ends=ends, sets=sets), found[0]


def _choosing(function: Function, entropies: Entropies) -> Iterator[_Place]:
    """Conditions that decide what a variable holds, but for times, for counts that begin anew, as
    of what is logged now and then, and for what is only shown; or what is drawn and kept in an
    object."""
    for each in function.all_coded("phi"):
        counts = any(arg.code == "augment" and arg.name in _COUNTING for arg in each.args)
        if isinstance(each.node, ast.If) and not counts and ends_of(each, picks=True) is End.ELSE:
            found = entropies.of(each)
            if found is None or found.what not in (_CLOCK, _MEASURED):
                yield _place(each.node.test)
    for each in (*function.all_coded("store_attr"), *function.all_coded("store_item")):
        if any(map(drawn_from, behind(each.args[-1], most=_FEW))):
            around = (region for region in each.region.around() if region.kind in ("if", "else"))
            yield from (_place(e.node.test) for e in around if isinstance(e.node, ast.If))


def _given(function: Function) -> Iterator[Timed]:
    """Limits that a library is given."""
    for call in function.all_coded("call"):
        for name, value in call.arguments():
            if name in _KEYWORDS and not value.is_none:
                yield _told(call.node, ends=True)


def _tests(code: str) -> dict[_Place, bool]:
    """Conditions by their place, but for what only raises; whether a loop or a function ends by
    each."""
    found: dict[_Place, bool] = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.While):
            found |= {_place(node): True, _place(node.test): True}
        elif isinstance(node, ast.If) and not isinstance(node.body[0], ast.Raise):
            inner = (part for each in node.body for part in ast.walk(each))
            found[_place(node.test)] = any(isinstance(each, _LEAVING) for each in inner)
    return found


def _told(node: ast.AST, *, ends: bool, sets: bool = False) -> Timed:
    return Timed(getattr(node, "lineno", 0), ast.unparse(node), ends, sets)


def span(node: ast.AST) -> Span:
    """From where to where it goes: lines and columns."""
    return (*_place(node), getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))


def _place(node: ast.AST) -> _Place:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

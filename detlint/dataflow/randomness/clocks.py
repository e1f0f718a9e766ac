"""What the clock decides: how long a training goes on, above all, and what is chosen by it."""

from __future__ import annotations

import ast
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.ends import End, ends_of
from detlint.dataflow.origins import Origins
from detlint.dataflow.randomness.entropy import Entropies
from detlint.dataflow.slices import ahead
from detlint.dataflow.unit import Unit
from detlint.models.randomness import ENTROPY
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function

_CLOCK = "the clock"
_WORDS = {name.rpartition(".")[2] for name, what in ENTROPY.items() if what == _CLOCK}
_JOINS = ("boolean", "not", "phi", "choice")
_STORES = ("store_attr", "store_item", "store_global")
_LEAVING = (ast.Break, ast.Return)
_KEYWORDS = ("max_time", "time_budget_s")  # of what trains for so long
_Place = tuple[int, int]


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
        entropies, tests = Entropies(Origins()), _tests(code)
        pieces = (unit.function(each) for each in unit.pieces if each.kind)
        functions = [each for each in (*pieces, unit.module) if each is not None]
        compared = (_compared(each, entropies, tests) for each in functions)
        given = (_given(each) for each in functions)
        return sorted({each for some in (*compared, *given) for each in some})


def _compared(
    function: Function, entropies: Entropies, tests: dict[_Place, bool]
) -> Iterator[Timed]:
    for compare in function.all_coded("compare"):
        uses = [use for op in ahead([compare], _JOINS) for use in op.uses]
        kept = any(each.code in ("return", *_STORES) for each in uses)
        places = {_place(each.node) for each in uses if each.code == "test"} & tests.keys()
        asked = map(entropies.of, compare.args) if kept or places else ()
        if any(each is not None and each.what == _CLOCK for each in asked):
            ends = kept or any(tests[each] for each in places)
            sets = not places.isdisjoint(_choosing(function, entropies))
            yield _told(compare.node, ends=ends, sets=sets)


def _choosing(function: Function, entropies: Entropies) -> Iterator[_Place]:
    """Conditions that decide what a variable holds, but for times, for counts that begin anew, as
    of what is logged now and then, and for what is only shown."""
    for each in function.all_coded("phi"):
        counts = any(arg.code == "augment" for arg in each.args)
        if isinstance(each.node, ast.If) and not counts and ends_of(each, picks=True) is End.ELSE:
            found = entropies.of(each)
            if found is None or found.what != _CLOCK:
                yield _place(each.node.test)


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


def _place(node: ast.AST) -> _Place:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

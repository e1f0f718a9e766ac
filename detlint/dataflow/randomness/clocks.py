"""What the clock decides: how long a training goes on, above all, and what is chosen by it.

And what is decided by what a program measures of the machine or of itself.
"""

from __future__ import annotations

import ast
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import bound, last_of, word_of
from detlint.dataflow.ends import NOWHERE, STORES, Acts, End, decided, ends_of, is_told, tested
from detlint.dataflow.randomness.entropy import Entropies, Entropy, source
from detlint.dataflow.slices import ahead, behind, closure
from detlint.dataflow.unit import Unit
from detlint.models.containers import POSITIONS
from detlint.models.randomness import ENTROPY
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from detlint.dataflow.ir import Function, Op

_CLOCK, _MEASURED = "the clock", "what is measured"
_WORDS = {name.rpartition(".")[2] for name, what in ENTROPY.items() if what == _CLOCK}
_JOINS = ("boolean", "not", "phi", "choice")
_PARTS = ("boolean", "not", "phi")  # of a condition, or of several
_UNUSED = (*_JOINS, "test", "drop", "format", "return")
_LEAVING = (ast.Break, ast.Return)
_KEYWORDS = ("max_time", "time_budget_s")  # of what trains for so long
# What takes a size: functions, methods, and the ends of the names of arguments.
_SIZED = frozenset(("builtins.range", "itertools.islice", "itertools.batched"))
_SPLITTING = frozenset(("split", "chunk", "array_split", "tensor_split"))
_SIZES = ("size", "steps", "workers", "chunks", "limit")
_COUNTING = ("Add", "Sub")
# What makes numbers of times that are equal more often than the times are.
_ROUNDING = frozenset(
    (*(f"builtins.{each}" for each in ("int", "round")), "math.ceil", "math.floor", "math.trunc")
)
_DIVIDING = ("FloorDiv", "Mod")
_EXTREMES = ("max", "min", "sorted")
_FEW = 100  # operations behind what is picked; what functions hand to each other
_IDENTITY = frozenset(("Is", "IsNot"))
_Place = tuple[int, int]
Span = tuple[int, int, int, int]


class Timed(NamedTuple):
    """What the clock decides: a condition, or a number that is made of its times.

    ends  whether a loop or a function ends by it, or it is returned or kept
    sets  whether something hangs on it that is no time and is not only shown
    """

    line: int
    text: str
    ends: bool
    sets: bool = False


class _Hands(NamedTuple):
    """What functions hand to each other: the last parts of the names of those that return a time,
    with the place where it stands in a tuple, or None; and calls with a time that they give."""

    returning: frozenset[tuple[str, int | None]] = frozenset()
    giving: frozenset[tuple[Op, Op]] = frozenset()


def timed_conditions(texts: Mapping[str, str]) -> dict[str, list[Timed]]:
    """What the clock decides in each of some files, in order, but for what only raises an error;
    through functions that return or are given a time, also where these stand in another file.

    texts  by path
    """
    found: dict[str, list[Timed]] = {path: [] for path in texts}
    caught = _caught(texts.values())
    with ExitStack() as opened:
        units: dict[str, Unit] = {}
        hands, before = _Hands(), None
        while hands != before and len(hands.returning) + len(hands.giving) < _FEW:
            before = hands
            told = (*(name for name, _ in hands.returning), *(word_of(e) for e, _ in hands.giving))
            for path, code in texts.items():
                if not any(each in code for each in (*_WORDS, *_KEYWORDS, *told)):
                    continue
                if path not in units:
                    unit = Unit(Source(path, code), whole=True)
                    units[path] = opened.enter_context(closing(unit))
                found[path], more = _timed(units[path], before, caught)
                hands = _Hands(hands.returning | more.returning, hands.giving | more.giving)
    return found


def _timed(unit: Unit, hands: _Hands, caught: Collection[str]) -> tuple[list[Timed], _Hands]:
    functions, tests = _functions(unit), _tests(unit.text, caught)
    entropies = Entropies(dict(_handed(functions, hands)))
    compared = (told for each in functions for told in _compared(each, entropies, tests))
    found = {timed for timed, what in compared if what.what == _CLOCK}
    for each in functions:
        found.update(_given(each))
        found.update(_numbers(each, entropies))
    inner = [each for some in functions for each in some.everything()]
    returned = ((each.word, op) for each in inner for op in each.returned)
    returning = {
        (name, at)
        for name, op in returned
        if not _is_common(name)
        for at in _times_in(op, entropies)
    }
    calls = (op for some in functions for op in some.all_coded("call"))
    given = ((op, value) for op in calls for _, value in op.arguments())
    giving = {(op, value) for op, value in given if _is_time(entropies.of(value))}
    return sorted(found), _Hands(frozenset(returning), frozenset(giving))


def _is_time(found: Entropy | None) -> bool:
    return found is not None and found.what == _CLOCK


def _times_in(returned: Op, entropies: Entropies) -> Iterator[int | None]:
    """Where times stand in a tuple; None for what is a time itself."""
    given = [each for each in closure([returned], _given_back) if each.code != "call"]
    plain = (each.code == "tuple" and all(e.code != "star" for e in each.args) for each in given)
    are_tuples = bool(given) and all(plain)
    places = (part for each in given for part in enumerate(each.args))
    for at, value in places if are_tuples else [(None, returned)]:
        if _is_time(entropies.of(value)):
            yield at


def _given_back(call: Op) -> Iterator[Op]:
    """What a function of the file returns."""
    callee = call.values.callee(call) if call.code == "call" else None
    return iter(callee.returned if callee is not None else ())


def _is_common(name: str) -> bool:
    """Whether objects of many kinds have a method of this name: ``get``, ``__init__``."""
    return name.startswith("__") or any(hasattr(each, name) for each in (dict, list, set, str))


def _handed(functions: Collection[Function], hands: _Hands) -> Iterator[tuple[Op, Entropy]]:
    """Values of a file that are times, as functions return or give them."""
    taken: dict[str, list[Function]] = {}
    members: dict[str, set[object]] = {}
    for name, at in hands.returning:
        members.setdefault(name, set()).add(at)
    for some in functions:
        for op in (*some.all_coded("call"), *some.all_coded("attr")):
            name = word_of(op) if op.code == "call" else str(op.name)
            if (places := members.get(name)) is not None:
                yield op, Entropy(op, _CLOCK, members=frozenset(() if None in places else places))
        for each in some.everything():
            word = each.class_name if each.word == "__init__" else each.word
            taken.setdefault(word, []).append(each)
    for call, value in hands.giving:
        for each in taken.get(word_of(call), ()):
            found = (op for op, given in bound(each, call).items() if given is value)
            yield from ((op, Entropy(call, _CLOCK)) for op in found)


class Measured(NamedTuple):
    """Calls of a file that measure and decide something, by line and text; and the names of
    functions that return what is measured."""

    deciding: list[tuple[int, str]]
    returning: set[str]


def measured(
    path: str, code: str, calls: Collection[Span], names: Collection[str], *, truths: bool = False
) -> Measured:
    """What is decided by what a file measures: a size, a condition, how long something goes on.

    calls   from where to where those go that measure: lines and columns, as ``ast`` has them
    names   of functions of other files that return what is measured
    truths  whether what they give is asked as it is, ``if job.done():``, and compared with None; a
            loop that only waits for it decides nothing
    """
    with closing(Unit(Source(path, code), whole=True)) as unit:
        tests, functions = _tests(code, _caught([code]), loops=not truths), _functions(unit)
        ops = (op for each in functions for op in each.all_coded("call"))
        given = [op for op in ops if span(op.node) in calls or word_of(op) in names]
        parts = {use: op for op in given for use in op.uses if use.code == "attr" and not truths}
        sources = {**parts, **{op: op for op in given}}
        told_by = {part: Entropy(op, _MEASURED) for part, op in sources.items()}
        entropies = Entropies(told_by)
        compared = (e for some in functions for e in _compared(some, entropies, tests, truths))
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
    function: Function, entropies: Entropies, tests: dict[_Place, bool], truths: bool = False
) -> Iterator[tuple[Timed, Entropy]]:
    for compare, compared in _conditions(function, truths):
        uses = [use for op in ahead([compare], _JOINS) for use in op.uses]
        kept = any(each.code in ("return", *STORES) for each in uses)
        asked = [each for each in uses if each.code == "test" and _place(each.node) in tests]
        parts = [use for op in ahead([compare], _PARTS) for use in op.uses]
        used = any(each.code not in _UNUSED and not is_told(each) for each in parts)
        sides = map(entropies.of, compared) if kept or asked or used else ()
        if found := [each for each in sides if each and each.what in (_CLOCK, _MEASURED)]:
            ends = kept or any(tests[_place(each.node)] for each in asked)
            sets = used or any(_decides(each, entropies) for each in asked)
            yield _told(compare.node, ends=ends, sets=sets), found[0]


def _conditions(function: Function, truths: bool) -> Iterator[tuple[Op, Sequence[Op]]]:
    """What a function asks, and of what; ``truths``: also what is asked as it is."""
    for compare in function.all_coded("compare"):
        if truths or _IDENTITY.isdisjoint(compare.name):  # ``born is None`` compares no times
            yield compare, compare.args
    tested = [each.args[0] for each in function.all_coded("test")] if truths else []
    parts = closure(tested, lambda op: op.args if op.code in _JOINS else ())
    yield from ((each, [each]) for each in parts if each.code not in (*_JOINS, "compare"))


def _decides(test: Op, entropies: Entropies) -> bool:
    """Whether a test decides anything but times, counts that begin anew, as of what is logged now
    and then, and what is only shown."""
    for each in decided(test):
        counts = any(arg.code == "augment" and arg.name in _COUNTING for arg in each.args)
        ends = NOWHERE if counts else ends_of(each, picks=True)
        if ends is End.ELSE and not _is_time(entropies.of(each)):
            return True
    return _BesideTimes(entropies).by(test)


class _BesideTimes(Acts):
    """The same of all but times and counts, also by functions that are not seen."""

    def __init__(self, entropies: Entropies) -> None:
        self._entropies = entropies

    def may_be_read(self, store: Op) -> bool:
        return any(True for _ in store.function.unit.reads("global", str(store.name)))

    def is_idle(self, op: Op) -> bool:
        if op.code in STORES:
            return self._is_time(op.args[-1]) or _counts(op)
        given = [value for _, value in op.arguments()] if op.is_dropped else []
        return (bool(given) and all(map(self._is_time, given))) or self._is_time(op)

    def _is_time(self, value: Op) -> bool:
        return _is_time(self._entropies.of(value))

    def may_do_more(self, call: Op) -> bool:
        own = call.args[0].code in ("free", "global", "param")
        return own and not any(each.startswith("builtins.") for each in call.called)


def _counts(store: Op) -> bool:
    """Whether an attribute only counts, and begins anew here."""
    if store.code != "store_attr" or not isinstance(store.args[-1].literal, int):
        return False
    owner = store.values.owner(store.args[0])
    held = store.function.unit.held(owner, str(store.name)) if owner else []
    others = [each for each in held if not isinstance(each.literal, int)]
    return bool(others) and all(e.code == "augment" and e.name in _COUNTING for e in others)


def _numbers(function: Function, entropies: Entropies) -> Iterator[Timed]:
    """Numbers, sizes and choices that are made of times, and that are not only shown: they may
    come to the same although the times differ."""
    rounded = (op for op in function.all_coded("call") if not _ROUNDING.isdisjoint(op.called))
    divided = (op for op in function.all_coded("binary") if op.name in _DIVIDING)
    found = [op for op in (*rounded, *divided) if any(_is_time(entropies.of(e)) for e in op.args)]
    for op in function.all_coded("call"):
        if word_of(op) in POSITIONS or (word_of(op) in _EXTREMES and _picks(op)):
            parts = behind(*op.args, most=_FEW)
            found += [op] if any(_is_time(source(each)) for each in parts) else []
    told = [op for op in found if ends_of(op, picks=True) is End.ELSE]
    for op in (*told, *(op for op in _sizes(function) if _is_time(entropies.of(op)))):
        yield _told(op.node, ends=False, sets=True)


def _picks(call: Op) -> bool:
    """Whether of several things one is taken, or some, by what belongs to it."""
    parts = any(use.code in ("item", "iter", "unpack") for use in call.uses)
    return parts or any(name == "key" for name, _ in call.arguments())


def _given(function: Function) -> Iterator[Timed]:
    """Limits that a library is given."""
    for call in function.all_coded("call"):
        for name, value in call.arguments():
            if name in _KEYWORDS and not value.is_none:
                yield _told(call.node, ends=True)


def _caught(codes: Iterable[str]) -> set[str]:
    """The names of exceptions that some files catch."""
    nodes = (node for code in codes if "except" in code for node in ast.walk(ast.parse(code)))
    handled = (each.type for each in nodes if isinstance(each, ast.ExceptHandler))
    return {last_of(part) for each in handled if each for part in ast.walk(each)} - {""}


def _tests(code: str, caught: Collection[str], *, loops: bool = True) -> dict[_Place, bool]:
    """Conditions by their place, but for what only raises what nobody catches; whether a loop or a
    function ends by each: where ``loops`` is, also one that asks it in its head."""
    found: dict[_Place, bool] = {}
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.While):
            found |= {_place(node): loops, _place(node.test): loops}
        elif isinstance(node, ast.If):
            first = node.body[0]
            inner = [part for each in node.body for part in ast.walk(each)]
            raised = getattr(first, "exc", None)
            raises = last_of(getattr(raised, "func", raised)) in caught
            if raises or not isinstance(first, ast.Raise):
                found[_place(node.test)] = raises or any(isinstance(e, _LEAVING) for e in inner)
        else:
            found |= {_place(each): False for each in tested(node)}
    return found


def _told(node: ast.AST, *, ends: bool, sets: bool = False) -> Timed:
    return Timed(getattr(node, "lineno", 0), ast.unparse(node).partition("\n")[0], ends, sets)


def span(node: ast.AST) -> Span:
    """From where to where it goes: lines and columns."""
    return (*_place(node), getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))


def _place(node: ast.AST) -> _Place:
    return getattr(node, "lineno", 0), getattr(node, "col_offset", 0)

"""Sets that a file gives others, and where these read them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow import lattice
from detlint.dataflow.imported_types import given_as, givers
from detlint.dataflow.importers import Importers
from detlint.dataflow.orders.imported_orders import may_be_of_project
from detlint.dataflow.orders.sets import STATES, Sets, read_at, stays_empty
from detlint.dataflow.slices import closure

if TYPE_CHECKING:
    import ast
    from collections.abc import Iterable, Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.orders.sets import Reading
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_FARTHEST = 30  # steps back to what makes a set
_NAMES = ("attr", "free", "global", "import", "phi")
_MOST = 100  # functions of other files that are looked at for what a file gives


class Given(NamedTuple):
    """What a file gives others that is, or holds, a set whose order may vary."""

    part: str  # the function, variable or attribute of a class by which it does so
    value: Op


def leaving(sets: Sets, functions: Iterable[Function]) -> Iterator[tuple[ast.AST, str]]:
    """What some functions of a file give others: the expression, and the part of the file that
    gives it, or "" where it is an argument."""
    for function in functions:
        for part, value in _given(sets.unit.values, function):
            made = _made(sets.unit.values, value)
            private = "." not in part and part.startswith("_")  # few import that
            if not (private or stays_empty(made)):
                yield made.node, part
        for call in function.all_coded("call"):
            yield from ((read_at(call, value), "") for value in _handed_on(sets, call))


def _handed_on(sets: Sets, call: Op) -> Iterator[Op]:
    """The sets that a call gives a function of another file, as it seems."""
    if (sets.values.function_row(call) or sets.values.method_row(call)) is not None:
        return
    for name, value in call.arguments():
        handed = name not in ("*", "**") and sets.is_set(value) and _varies(sets.values, value)
        if handed and not sets.goes_through(call, name, value) and may_be_of_project(call):
            yield value


def _given(values: Values, function: Function) -> Iterator[Given]:
    """What of a function, and of those in it, others may read."""
    if function.outer is None and function.is_defined:
        given = filter(partial(_varies, values), function.returned)
        yield from (Given(function.name, each) for each in given)
    for each in function.everything():
        for op in each.ops:
            if op.code == "store_global" and _varies(values, op.args[0]):
                yield Given(str(op.name), op.args[0])
            elif op.code == "store_attr" and op.args[0].is_self and _varies(values, op.args[1]):
                yield Given(f"{each.class_name}.{op.name}", op.args[1])
    if function.name and function.name == function.class_name:
        for name, bound in function.bindings.items():
            varying = (each for each in bound if _varies(values, each))
            yield from (Given(f"{function.name}.{name}", each) for each in varying)


def _varies(values: Values, op: Op) -> bool:
    """Whether a value may be a set, or a container of sets, whose order may vary."""
    return lattice.holds(values.types(op), _is_varying)


def _is_varying(one: lattice.Type) -> bool:
    elements = lattice.elements(frozenset((one,)))
    return one.name == "set" and lattice.hash_varies(elements) is not False


def _made(values: Values, op: Op) -> Op:
    """What a file makes a value of that it gives to others."""
    for _ in range(_FARTHEST):
        behind = [each for each in _behind(values, op) if _varies(values, each)]
        if not behind:
            break
        op = behind[0]
    return op


def _behind(values: Values, op: Op) -> list[Op]:
    if op.code in STATES:
        return op.args[:1]
    callee = values.callee(op) if op.code == "call" else None
    return values.bound(op) if callee is None else callee.returned


class GivenSets:
    """Answers for one file, with the others open."""

    def __init__(self, unit: Unit, others: OtherFiles) -> None:
        self._unit = unit
        self._others = others
        self._sets: dict[Unit, Sets] = {}
        self._importers: dict[Unit, Importers] = {}

    def read(self, parts: Iterable[str]) -> Iterator[Reading]:
        """Where other files read the sets that some parts of the file give them."""
        given = {given_as(self._unit, each) for each in parts}
        found = (each for part in parts for each in self._naming(self._unit, part))

        def gets(some: Iterable[tuple[Function, str]]) -> Iterator[tuple[Function, str]]:
            return (each for each in dict.fromkeys(some) if _gets(*each, given))

        for function, _ in closure(
            gets(found), lambda each: gets(self._handed_on(each[0], given)), _MOST
        ):
            yield from self._of_function(function, given)

    def _of_function(self, function: Function, given: set[str]) -> Iterator[Reading]:
        if function.unit not in self._sets:
            self._sets[function.unit] = Sets(function.unit, self._others, foreign=True)
        for reading in self._sets[function.unit].of_function(function):
            if _is_given(reading.op, given):
                yield reading

    def _handed_on(self, function: Function, given: set[str]) -> Iterator[tuple[Function, str]]:
        """The functions that may read what a function hands on of these sets, and by which word."""
        unit = function.unit
        for part, value in _given(unit.across, function):
            if _is_given(value, given):
                word = part.rpartition(".")[2]
                yield from ((each, word) for each in unit.functions_naming(word))
                yield from self._naming(unit, part)

    def _naming(self, unit: Unit, part: str) -> Iterator[tuple[Function, str]]:
        if unit not in self._importers:
            self._importers[unit] = Importers(unit, self._others)
        return self._importers[unit].naming(part)


def _gets(function: Function, word: str, given: set[str]) -> bool:
    """Whether a function reads any of some sets, or what holds them, by a word."""
    words = {word, *_words(given)}
    return any(
        _is_given(each, given)
        for inner in function.everything()
        for op in inner.ops
        if op.code in _NAMES and str(op.name).rpartition(".")[2] in words
        for each in (op, *(use for use in op.uses if use.code == "call"))
    )


def _words(given: set[str]) -> set[str]:
    """How the files that give some sets call what gives them."""
    return {each.replace(":", ".").rpartition(".")[2] for each in given}


def _is_given(op: Op, given: set[str]) -> bool:
    return not given.isdisjoint(givers(op.function.unit.across.types(op)))

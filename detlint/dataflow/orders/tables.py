"""Tables that programs write in an order, and which of them a training may read in theirs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.dataflow.calls import word_of
from detlint.dataflow.orders.expected import ANYTHING, texts
from detlint.dataflow.orders.use import OF_ROWS, Use
from detlint.dataflow.slices import closure
from detlint.models import files

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.callgraph.other_files import OtherFiles
    from detlint.dataflow.ir import Op
    from detlint.dataflow.unit import Unit
    from detlint.dataflow.values import Values

_HANDED_ON = frozenset(("declared", "enter", "free", "phi"))
_MOST = 8  # steps from a file to its name
_FEW = 30  # parts of a name


class Tables:
    """Judges the order of rows that are written into a file, where each names what it is of."""

    def __init__(self, values: Values, others: OtherFiles | None) -> None:
        self._values = values
        self._others = others

    def written(self, call: Op, op: Op) -> Use | None:
        """The use by a call that writes such rows, where nothing of the project is known to go by
        their order; None where something may, or no file is written."""
        place = _place(self._values, call)
        if place is None or self._is_read_back(place):
            return None
        table = _kind(call), *_names(self._values, place)
        if self._others is not None and self._others.go_by_table(self._values.unit, *table):
            return None
        return Use(op, OF_ROWS, assumed=True)

    def _is_read_back(self, place: Op) -> bool:
        """Whether the file itself reads what stands where fields of an object say: a table that is
        made where it is missing."""
        fields = _fields_of(place)
        return bool(fields) and any(
            _fields_of(each) == fields for _, each in _places(self._values.unit)
        )


def _place(values: Values, call: Op) -> Op | None:
    """What says which file a call writes."""
    word = word_of(call)
    if word in files.OF_TABLES:
        named = (each for name, each in call.arguments() if name in (None, *files.PLACES))
        found = next(named, None)
    elif word == "dump":
        found = call.given("fp") or call.given("stream", 1)
    else:
        found = call.args[0].args[0] if call.args[0].code == "attr" else None
    return named_by(values, found) if found is not None else None


def named_by(values: Values, file: Op) -> Op:
    """What tells the name of an open file, or of what writes into one."""
    for _ in range(_MOST):
        called = values.called(file)
        function = file.args[0] if file.code == "call" else None
        if file.code in _HANDED_ON and file.args:
            file = file.args[0]
        elif not files.BY_NAME.isdisjoint(called) and file.args[1:]:
            file = file.args[1]
        elif function is not None and function.code == "attr" and function.name == "open":
            file = function.args[0]
        else:
            break
    return file


def reads(unit: Unit) -> Iterator[tuple[str, str]]:
    """The tables that the functions of a file read: of which kind, and by which pattern of a
    name."""
    for kind, place in _places(unit):
        for each in _names(unit.across, place):
            yield kind, each


def _places(unit: Unit) -> Iterator[tuple[str, Op]]:
    """Of the tables that a file reads, the kind, and what tells the name."""
    asked = sorted({name.rpartition(".")[2] for name in files.READERS})
    functions = dict.fromkeys(each for word in asked for each in unit.all_naming(word))
    values = unit.across
    for function in functions:
        for call in function.coded("call"):
            kinds = [files.READERS[name] for name in values.called(call) if name in files.READERS]
            given = [each for name, each in call.arguments() if name in (None, *files.PLACES)]
            if kinds and given and not _is_other(values, call):
                yield kinds[0], named_by(values, given[0])


def _fields_of(place: Op) -> set[str]:
    """The fields of its object by which a method tells a place."""
    parts = closure([place], lambda op: op.args, _FEW)
    return {str(each.name) for each in parts if each.code == "attr" and each.args[0].is_self}


def _is_other(values: Values, call: Op) -> bool:
    """Whether a file is opened to be written, or for what reads another kind of files."""
    if "builtins.open" not in values.called(call):
        return False
    mode = call.given("mode", 1)
    if mode is not None and values.constant(mode) not in ("r", "rt", "rb", ...):
        return True
    entered = (use for each in (call, *call.uses) for use in each.uses if use.code == "call")
    called = [name for each in entered for name in values.called(each)]
    return bool(called) and all(each.startswith(files.OTHER_READERS) for each in called)


def may_be_same(one: str, other: str) -> bool:
    """Whether two patterns of names may be of one file."""
    if "*" not in other:
        one, other = other, one
    if "*" not in one:
        return re.fullmatch(".*".join(map(re.escape, other.split("*"))), one) is not None
    (start, _, _), (start_2, _, _) = one.partition("*"), other.partition("*")
    end, end_2 = one.rpartition("*")[2], other.rpartition("*")[2]
    begins = start.startswith(start_2) or start_2.startswith(start)
    return begins and (end.endswith(end_2) or end_2.endswith(end))


def _names(values: Values, place: Op) -> list[str]:
    """The last parts of paths, with a star for what a variable gives."""
    found = (each.rpartition("/")[2] for each in texts(values, place))
    return [re.sub(rf"[{ANYTHING}*]+", "*", each) for each in found]


def _kind(call: Op) -> str:
    word = word_of(call)
    return "json" if word == "dump" else files.KINDS.get(word.removeprefix("to_"), "text")

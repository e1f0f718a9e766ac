"""Whether a row of a table names what it is of, and holds something else of that."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow import lattice
from detlint.dataflow.calls import bound, word_of
from detlint.dataflow.slices import closure, states_before
from detlint.models.model import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from detlint.dataflow.ir import Op
    from detlint.dataflow.values import Values

_DEEPEST = 6  # functions, tables and lists that a row is handed on by
# What gives a path or a name of the same file, by functions and by methods.
_NAMING = words(
    """builtins.str os.fspath os.path.abspath os.path.basename os.path.join os.path.normpath
    os.path.realpath os.path.relpath pathlib.Path pathlib.PurePath"""
)
_METHODS = words(
    """absolute as_posix lower relative_to removeprefix removesuffix replace resolve strip
    with_suffix"""
)
_NAMES = words("name path stem")  # of a path, or of an entry of a folder
_BELOW = words("glob iglob iterdir rglob scandir")
_COPYING = words("list sorted tuple")
_JOINING = frozenset(("binary", "declared", "enter", "format", "text"))
_ROWS = words("dict list tuple")
# What makes a row or a table of what it is given.
_MAKING = words("DataFrame Series concat dict from_records list tuple")


class Names:
    """Tells what names one of some elements: the files that a listing gives, or parameters that
    get the name of one."""

    def __init__(self, values: Values, elements: Iterable[Op], *, given: bool = False) -> None:
        self._values = values
        self._elements = set(elements)
        self._given = given

    @cached_property
    def _roots(self) -> set[Op]:
        parts = {use for each in self._elements for use in each.uses if use.code == "unpack"}
        known = self._elements | parts
        return known if self._given else {each for each in known if self._is_text(each)}

    def _is_text(self, op: Op) -> bool:
        return lattice.are(self._values.types(op), "path", "str")

    def are_in(self, rows: Op, depth: int = _DEEPEST) -> bool:
        """Whether a row, or all rows of a list or table, hold the path or the name of one, beside
        something else: ``{"path": path, "size": size_of(path)}``."""
        if depth == 0 or not _is_line(rows):
            return False
        if rows.code == "call":
            return self._are_in_given(rows, depth - 1)
        held = list(closure([rows], states_before))
        listed = [each for state in held for each in _rows_of(state)]
        if listed:
            return all(self.are_in(each, depth - 1) for each in listed)
        parts = [part for state in held for part in _cells(state)]
        others = [part for state in held for part in _spread(state)]
        named = any(map(self.are, parts)) or any(self.are_in(each, depth - 1) for each in others)
        return len(parts) + len(others) > 1 and named

    def _are_in_given(self, call: Op, depth: int) -> bool:
        """The same of what a function of the file gives, or of a table that a call makes."""
        given = [each for _, each in call.arguments()]
        function = self._values.callee(call)
        if function is not None:
            own = [each for each, value in bound(function, call).items() if self.are(value)]
            inside, rows = Names(self._values, own, given=True), function.returned
            return bool(own and rows) and all(inside.are_in(each, depth) for each in rows)

        return word_of(call) in _MAKING and bool(given) and self.are_in(given[0], depth)

    def are(self, op: Op) -> bool:
        """Whether a value is the path or the name of one."""
        if op in self._roots:
            return True
        if op.code == "attr":
            return op.name in _NAMES and (op.args[0] in self._elements or self.are(op.args[0]))
        if op.code in _JOINING:
            return any(map(self.are, op.args))
        if op.code == "iter":
            return self._lists_below(op.args[0])
        return self._are_cut(op)

    def _are_cut(self, op: Op) -> bool:
        """The same of a part of one, and of what a call gives."""
        if op.code in ("item", "unpack"):  # `splitext(name)[0]`
            first = op.name[0] == 0 if op.code == "unpack" else op.args[1].literal == 0
            split = first and "os.path.splitext" in self._values.called(op.args[0])
            return split and any(map(self.are, op.args[0].args[1:]))
        return op.code == "call" and any(map(self.are, self._named_by(op)))

    def _lists_below(self, listed: Op) -> bool:
        """Whether a list holds paths of what lies in the folder of one: ``[x for x in
        folder.iterdir() if x.is_file()]``."""
        while (inner := _same_elements(listed)) is not None:
            listed = inner
        if listed.code != "call" or word_of(listed) not in _BELOW:
            return False
        function = listed.args[0]
        folders = function.args if function.code == "attr" else ()
        return any(map(self.are, (*folders, *listed.args[1:])))

    def _named_by(self, call: Op) -> Sequence[Op]:
        """What a call gives another name of."""
        if not _NAMING.isdisjoint(self._values.called(call)):
            return call.args[1:]
        function = call.args[0]
        return function.args if function.code == "attr" and function.name in _METHODS else ()


def _same_elements(listed: Op) -> Op | None:
    """What a list has its elements of: ``sorted(x)``, ``[each for each in x if …]``."""
    if listed.code == "comprehension" and listed.args[0].code == "iter":
        return listed.args[0].args[0]
    copies = listed.code == "call" and word_of(listed) in _COPYING
    return listed.args[1] if copies and listed.args[1:] else None


def _rows_of(state: Op) -> Sequence[Op]:
    """The rows that a list or table is made of, or that are added to it."""
    if state.code == "change":
        return state.args[1].args[1:] if state.name == "append" else ()
    if state.code == "comprehension":
        return state.args[:1]
    rows = state.args if state.code in ("list", "tuple") else ()
    return rows if any(each.code in _ROWS or word_of(each) in _MAKING for each in rows) else ()


def _is_line(row: Op) -> bool:
    """Whether a text is no more than a line: one of several holds what a file does."""
    *before, last = row.args if row.code == "text" else [row]
    return "\n" not in last.text.rstrip("\n") and not any("\n" in each.text for each in before)


def _spread(state: Op) -> Sequence[Op]:
    """The rows whose cells a row holds, too: ``{**row, "size": size}``."""
    return [x.args[0] for x in state.args if x.code == "star"] if state.code == "dict" else ()


def _cells(state: Op) -> Sequence[Op]:
    """What a row holds, by what makes it, or puts something into it."""
    if state.code == "dict":
        return [value for _, value in state.entries]
    if state.code == "store_item":
        return state.args[2:]
    if state.code in _JOINING:  # a line
        return [each for each in state.args if each.code != "const"]
    return state.args if state.code in ("list", "tuple") else ()

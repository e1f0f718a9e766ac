"""Where what a variable or a field holds is made, changed, set and read, in the files of a
program."""

from __future__ import annotations

import ast
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import last_of, word_of
from detlint.dataflow.changes import LOOPS
from detlint.models.training import SETTING
from detlint.syntax.mentions import holds
from detlint.syntax.parsing import REFUSALS, parsed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

    Place = tuple[str, int]

_CHANGES = ("change", "store_item")
_OUTER = ("free", "global")
_LATER = 3  # the rank of what changes it
_STORES = (ast.Assign, ast.AugAssign, ast.AnnAssign)
# What only tells a person of what it is given.
_TELLS = {
    *("print", "log", "info", "debug", "warning", "write", "append", "add_scalar", "log_metrics"),
    *("set_postfix", "set_description", "format"),
}
_OF_MODULES = re.compile(r"(parameters|modules|children)\(")


class Variable(NamedTuple):
    """A variable of a function, ``<module>`` for the module, or a field of a class."""

    name: str
    owner: str
    file: str
    is_field: bool


class Definition(NamedTuple):
    """What makes what it holds, by what begins it; or changes that.

    is_anew  whether each round of a loop begins it anew
    """

    rank: int
    line: int
    is_anew: bool = False


class DefUse:
    """Looks for them in some files, which are opened."""

    def __init__(self, units: Sequence[Unit]) -> None:
        self._units = units
        self._read: dict[Unit, set[str]] = {}

    def made_and_changed(self, variable: Variable) -> tuple[Place | None, Place | None]:
        """Where what it holds is made, and where it changes later; None for nowhere."""
        everywhere = variable.is_field or variable.owner == "<module>"
        units = sorted(self._units, key=lambda each: each.source.path != variable.file)
        made: Place | None = None
        for unit in units if everywhere else units[:1]:
            path, found = unit.source.path, _definitions(unit, variable)
            made = made or next(((path, each.line) for each in found if each.rank < _LATER), None)
            changes = [(path, line) for line in sorted({each.line for each in found})]
            if later := next((each for each in changes if each != made), None):
                return made, later
        return made, None

    def is_enclosed(self, variable: Variable) -> bool:
        """Whether it is a variable of the function that made its owner, and has returned that and
        not the variable: nobody else reaches it."""
        units = [each for each in self._units if each.source.path == variable.file]
        every = [] if variable.is_field else [x for u in units for x in u.all_naming(variable.name)]
        own = next((each for each in every if each.word == variable.owner), None)
        if own is None:
            return False
        holder = _holder(own, variable.name)
        given = [x for e in holder.returned for x in (e, *e.args[e.code == "call" :])]
        held = holder.bindings.get(variable.name, ())
        return any(each.name is own for each in given) and not any(each in held for each in given)

    def set_at(self, name: str) -> Place | None:
        """Where an attribute of a library's object is set, or what does so is called: in a loop, if
        that is done in any; else the last place."""
        found = [each for unit in self._units for each in unit.stores(name)] if name else []
        found += self._calls(SETTING.get(name, ()))
        by = sorted({each.function.word for each in found} - {""})
        found += filter(_is_repeated, self._calls(by))
        at = next(filter(_is_repeated, found), found[-1] if found else None)
        return None if at is None else (at.function.unit.source.path, at.row)

    def _calls(self, words: Collection[str]) -> Iterator[Op]:
        calls = (x for unit in self._units for word in words for x in unit.ops_naming(word))
        return (each for each in calls if word_of(each) in words)

    def is_read(self, variable: Variable) -> bool:
        """Whether anything reads it, but to print or log it. What is made anew in each round of a
        loop is not kept, whatever reads it."""
        own = (each for each in self._units if each.source.path == variable.file)
        first = [
            x for each in own if not variable.is_field for x in _definitions(each, variable)[:1]
        ]
        return not any(each.is_anew for each in first) and any(
            variable.name in self._names_read(each)
            for each in self._units
            if holds(each.text, variable.name)
        )

    def _names_read(self, unit: Unit) -> set[str]:
        if unit not in self._read:
            self._read[unit] = set(_read(unit.text))
        return self._read[unit]


def _definitions(unit: Unit, variable: Variable) -> list[Definition]:
    name, owner = variable.name, variable.owner.rpartition(".")[2]
    every = list(unit.all_naming(name))
    if variable.is_field:
        own = [each for each in every if each.class_name.rpartition(".")[2] == owner]
        return sorted(x for each in own or every for x in _of_field(each, name))
    own = [each for each in every if each.word == owner]
    others = (x for x in every if _is_global(x, name))
    inner = _holder(own[0], name).everything() if own else others
    return sorted(x for each in inner for x in _of_variable(each, name))


def _holder(function: Function, name: str) -> Function:
    """The function that has a variable: itself, or one around it."""
    for each in function.around():
        if name in {bound for bound, *_ in each.assigned} - each.nonlocals:
            return each
    return function


def _is_global(function: Function, name: str) -> bool:
    stored = any(each.name == name for each in function.coded("store_global"))
    return stored or all(bound != name for bound, *_ in function.assigned)


def _of_field(function: Function, name: str) -> Iterator[Definition]:
    rank = 0 if function.word == "__init__" else _LATER
    stores = [each for each in function.stores.get(name, ()) if each.args[0].is_self]
    if isinstance(function.node, ast.ClassDef):
        rank, stores = 1, function.bindings.get(name, [])
    for each in (*stores, *_changes(function, f"self.{name}")):
        yield Definition(rank, each.row)
    for call in function.all_coded("call"):  # self.register_buffer("scale", ones)
        if any(each.code == "const" and each.name == name for each in call.args[1:2]):
            yield Definition(2, call.row)


def _of_variable(function: Function, name: str) -> Iterator[Definition]:
    bound = function.bindings.get(name, ())
    goes_on = any(each.code == "phi" and isinstance(each.node, LOOPS) for each in bound)
    for _, op, node in (each for each in function.assigned if each[0] == name):
        loops = [each for each in op.region.around() if isinstance(each.node, LOOPS)]
        is_anew = bool(loops) and not goes_on and node is not loops[0].node
        yield Definition(0, getattr(node, "lineno", 0), is_anew)
    yield from (Definition(_LATER, each.row) for each in _changes(function, name))


def _changes(function: Function, path: str) -> Iterator[Op]:
    """What changes the object of a variable or a field, or a part of it."""
    bound, name = function.bindings.get(path, ()), path.removeprefix("self.")
    for op in (each for code in _CHANGES for each in function.coded(code)):
        changed = op.args[0]
        while changed.code in ("item", *_CHANGES):
            changed = changed.args[0]
        is_field = changed.code == "attr" and path != name and changed.args[0].is_self
        is_named = changed.name == name and (is_field or (changed.code in _OUTER and path == name))
        if is_named or op in bound or changed in bound:
            yield op


def _is_repeated(op: Op) -> bool:
    """Whether a loop runs it again and again, and not once for each module or parameter."""
    loops = (each.node for each in op.region.around() if isinstance(each.node, LOOPS))
    heads = (getattr(each, "iter", None) for each in loops)
    return any(each is None or not _OF_MODULES.search(ast.unparse(each)) for each in heads)


def _read(text: str) -> Iterator[str]:
    """Names and attributes that are read, but for what is printed or logged, and for what they are
    computed from themselves."""
    waiting: list[tuple[ast.AST, str]] = []
    with suppress(*REFUSALS):
        waiting.append((parsed(text), ""))
    while waiting:
        node, own = waiting.pop()
        if isinstance(node, ast.JoinedStr) or (
            isinstance(node, ast.Call) and last_of(node.func) in _TELLS
        ):
            continue
        if isinstance(getattr(node, "ctx", None), ast.Load) and last_of(node) not in ("", own):
            yield last_of(node)
        parts = list(ast.iter_child_nodes(node))
        if isinstance(node, _STORES):
            own = last_of(_stored(node))
            if isinstance(node, ast.Assign):  # what an item is put into is not read by that
                parts = [x for each in parts for x in (_indices(each) or [each])]
        waiting += [(each, own) for each in parts]


def _stored(node: ast.Assign | ast.AugAssign | ast.AnnAssign) -> ast.expr:
    """The first of what an assignment stores into."""
    target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    parts = target.elts if isinstance(target, (ast.Tuple, ast.List)) else []
    return next(iter(parts), target)


def _indices(node: ast.AST) -> list[ast.AST]:
    """Of an item that is stored, what says which it is."""
    found: list[ast.AST] = []
    while isinstance(node, ast.Subscript) and (found or isinstance(node.ctx, ast.Store)):
        found.append(node.slice)
        node = node.value
    return found

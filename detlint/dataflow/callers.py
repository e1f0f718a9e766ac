"""The calls of a function that its file shows, and what they give it."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.calls import whole_function
from detlint.dataflow.learning.inference import decorators, stops
from detlint.grouping import grouped
from detlint.syntax.mentions import quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.unit import Unit

_PLAIN = frozenset(("builtins.staticmethod", "builtins.classmethod"))
_PARTIAL = "functools.partial"
SELF = ("self", "cls")


class Known(NamedTuple):
    """Calls of a function; ``all``: the file does nothing else with it, and nobody but the file is
    expected to."""

    calls: tuple[Op, ...]
    all: bool


class Callers:
    """Answers for the functions and classes of a file."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._imported: dict[tuple[str, str], list[Op]] = {}
        self._known: dict[tuple[bool, str, Function | None], Known] = {}
        self._within: dict[Function, dict[object, list[Op]]] = {}

    def of(self, function: Function) -> Known:
        """The calls of a function or method; of a constructor, those of its class."""
        owner, _, name = function.name.rpartition(".")
        if isinstance(function.node, ast.ClassDef):
            return self.of_class(function.name)
        if owner and name == "__init__":
            return self.of_class(owner)
        if not function.is_defined:
            return Known((), False)
        found = self._of(owner, name, function)
        plain = all(map(_is_plain, decorators(function)))
        return found._replace(all=found.all and plain and is_own(function))

    def of_class(self, name: str) -> Known:
        """The calls of a class."""
        return self._of("", name, None)

    def callee(self, call: Op) -> Function | None:
        """The function, method or ``__init__`` of the file that a call runs; a method also by its
        name, if only one class has it."""
        found = self._unit.values.callee(call)
        if found is not None:
            return found
        for name in self._unit.values.called(call):
            return self._unit.method(name[1:], "__init__") if name.startswith(".") else None
        function = call.args[0]
        return self._only_method(str(function.name)) if function.code == "attr" else None

    def _only_method(self, name: str) -> Function | None:
        owners = [each for each in self._unit.classes if self._unit.defined(name, each)]
        return self._unit.defined(name, owners[0]) if len(owners) == 1 else None

    def entering(self, function: Function) -> list[Op]:
        """The calls that run a function, and no other one of its name."""
        return [each for each in self.of(function).calls if self.callee(each) is function]

    def handing(self, function: Function) -> list[Op]:
        """The calls that a function is handed to."""
        _, _, name = function.name.rpartition(".")
        reads = self._reads("", name, function)
        return [
            use
            for read in reads
            for use in read.uses
            if use.code == "call" and use.args[0] is not read
        ]

    def of_imported(self, word: str, name: str) -> list[Op]:
        """The calls of what the file imports, by a qualified name; by which word it calls that."""
        key = word, name
        if key not in self._imported:
            calls = self._unit.ops_naming(word)
            self._imported[key] = [x for x in calls if name in self._unit.values.called(x)]
        return self._imported[key]

    def partials(self, function: Function) -> list[Op]:
        """The calls of ``functools.partial`` that bind no place of a function: its later calls
        give what they would give itself."""
        handing = self.handing(function) if "partial" in self._unit.text else ()
        return list(filter(_binds_no_place, handing))

    def partials_of_imported(self, name: str) -> list[Op]:
        """The same of what the file imports, by a qualified name."""
        return [
            call
            for call in self.of_imported("partial", _PARTIAL)
            if _binds_no_place(call) and name in self._unit.values.qualified(call.args[1])
        ]

    def _of(self, owner: str, name: str, function: Function | None) -> Known:
        # A method that is called on something is not looked up: it may be that of any class.
        inner = function if function is not None and function.outer else None
        key = bool(owner), name, inner
        if key not in self._known:
            calls: list[Op] = []
            complete = name not in quoted(self._unit.text)
            for read in self._reads(owner, name, function):
                for use in read.uses:
                    if use.code == "call" and use.args[0] is read:
                        calls.append(use)
                    elif use.code not in ("class", "phi", "free") and not _asks(use):
                        complete = False
            self._known[key] = Known(tuple(dict.fromkeys(calls)), complete and bool(calls))
        return self._known[key]

    def _reads(self, owner: str, name: str, function: Function | None) -> Iterator[Op]:
        """Where code names it."""
        outer = function.outer if function is not None and not owner else None
        if outer is None:
            yield from self._unit.reads("attr" if owner else "global", name)
            return
        if outer not in self._within:
            self._within[outer] = _named_within(outer)
        yield from self._within[outer].get(name, ())
        yield from self._within[outer].get(function, ())


def _binds_no_place(call: Op) -> bool:
    """``partial(work, rows=rows)``."""
    whole, places = whole_function(call)
    return whole is not call and not places


def _named_within(outer: Function) -> dict[object, list[Op]]:
    """Where a function, or one that it defines, reads each name of others, and defines each
    function."""
    return grouped(
        found
        for each in outer.everything()
        for found in (*each.globals.items(), *((op.name, op) for op in each.coded("function")))
    )


class AllCallers:
    """Answers for the functions of a project: their calls in their own files and in those that
    import them. ``importing``: which these are, as ``OtherFiles`` has it."""

    def __init__(self, importing: Callable[[Unit, str, str], list[tuple[Unit, str, str]]]) -> None:
        self._importing = importing

    def of(self, function: Function) -> list[Op]:
        """The calls of a function; of a constructor, those of its class. None of a method that
        is called on something, which may be that of any class."""
        owner, _, name = function.name.rpartition(".")
        if function.outer is not None or (owner and name != "__init__"):
            return []
        unit, sought = function.unit, owner or name
        found = list(function.known_calls.calls)
        for other, word, full in self._importing(unit, sought, sought):
            found += other.callers.of_imported(word, full)
        return found


def is_own(function: Function) -> bool:
    """Whether only its file is expected to call a function: one that is private, or that stands
    at the top; those who import that use it likewise."""
    owner, _, name = function.name.rpartition(".")
    return not owner or (name.startswith("_") and not name.endswith("__"))


def _asks(use: Op) -> bool:
    """``super(Name, self)``, ``isinstance(x, Name)``."""
    called = use.called
    return any(each in ("builtins.super", "builtins.isinstance") for each in called)


def _is_plain(decorator: Op) -> bool:
    names = decorator.values.qualified(decorator)
    return stops(decorator) or not _PLAIN.isdisjoint(names)


def given(call: Op, param: Op) -> Op | None:
    """What a call gives a parameter of what it calls; its default, if it leaves it out; None
    where that is not seen."""
    stars, name = param.name
    names = list(param.function.params)
    own = bool(names) and names[0] in SELF
    if stars or (name == names[0] and own):
        return None
    found = call.given(name, names.index(name) - own)
    if found is not None or call.unpacks:
        return found
    return param.args[0] if param.args else None

"""What of a file reads a field or a global, and what calls a function."""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.ir import CHANGING, GIVING
from detlint.sources.kinds import NOTEBOOK, kind_of_name
from detlint.syntax.mentions import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.values import Values

_LOOKING_UP = frozenset(("get", "pop", "setdefault"))
_SCRIPT = re.compile(r"__name__\s*==\s*[\"']__main__[\"']")


class References:
    """Who of a file uses what it defines."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.unit = values.unit
        self._global_reads: dict[str, list[Op]] = {}
        self._attributes_read: dict[Function, set[str]] = {}
        self._names_handed_on: dict[Function, set[str]] = {}
        self._calls_by_callee: dict[Function, dict[Function, list[Op]]] = {}

    def reads_of_field(self, owner: str, name: str) -> Iterator[Op]:
        """Where the methods of a class, of its bases and of those that derive from it read an
        attribute of their object, which is that of the class."""
        for function in self._methods_naming(owner, name):
            for each in function.everything():
                for op in each.ops:
                    if op.code == "attr" and op.name == name and is_self(op.args[0]):
                        yield op

    def is_read(self, name: str) -> bool:
        """Whether something of the file reads an attribute of any object."""
        return any(
            each.reads("attr", name)
            for outer in self.unit.functions_naming(name)
            for each in outer.everything()
        )

    def reads_of_objects(self, owner: str, name: str) -> Iterator[Op]:
        """Where the file reads an attribute of other objects of a class, or of one that derives
        from it."""
        classes = {owner, *self.unit.derived(owner)}
        for function in self.unit.functions_naming(name):
            for each in function.everything():
                for op in each.reads("attr", name):
                    if not is_self(op.args[0]) and self.values.owner(op.args[0]) in classes:
                        yield op

    def reads_of_key(self, key: str) -> Iterator[Op]:
        """Where the file looks up what something holds by a key, and not only to add to it."""
        for function in self.unit.functions_naming(key):
            for each in function.everything():
                yield from (op for op in each.ops if _looks_up(op, key) and not _only_filled(op))

    def reads_again(self, stored: Op) -> bool:
        """Whether the function that fills an attribute reads it, too: as what it was filled with,
        so that no operation says so."""
        function = stored.function
        if function not in self._attributes_read:
            self._attributes_read[function] = _attributes_read(function.node)
        return stored.name in self._attributes_read[function]

    def _methods_naming(self, owner: str, name: str) -> Iterator[Function]:
        own = {
            each
            for each in self.unit.derived(owner)
            if any(op.code == "store_attr" for op in self.unit.stored_by(each, name))
        }
        own.update(below for each in tuple(own) for below in self.unit.derived(each))
        for each in self.unit.related(owner):
            if each not in own:  # these have an attribute of their own
                yield from self.unit.methods_naming(each, name)

    def stays(self, name: str, value: Op) -> bool:
        """Whether what a name of the module holds at the end is a value that was changed since."""
        last = self.unit.module.bindings[name][-1]
        return last.code in ("phi", "change", "store_item") and value in _behind(last)

    def is_for_a_script(self, name: str) -> bool:
        """Whether nobody imports a name of the module."""
        return name == "_" or (not name.isupper() and self._is_script)

    @cached_property
    def _is_script(self) -> bool:
        """Whether a file does something when it is run."""
        text, module = self.unit.text, self.unit.module
        does = any(op.code == "drop" and op.region is module.region for op in module.ops)
        return does or "__name__ ==" in text or "__name__==" in text

    def reads_of_global(self, name: str) -> list[Op]:
        """Where functions read a name of the module."""
        if name not in self._global_reads:
            inside = (
                each.globals.get(name)
                for function in self.unit.functions_naming(name)
                for each in function.everything()
            )
            found = [read for read in inside if read is not None and read.code == "global"]
            self._global_reads[name] = found
        return self._global_reads[name]

    def is_unread_global(self, name: str) -> bool:
        """Whether neither the file nor who imports it reads a name of the module."""
        return self.is_for_a_script(name) and not self.reads_of_global(name)

    def calls_of(self, function: Function) -> list[Op] | None:
        """All calls of a function that nobody else can call; None for others."""
        name = function.name.rpartition(".")[2]
        mangled = "." in function.name and name.startswith("__") and not name.endswith("__")
        private = mangled or (name.startswith("_") and not name.startswith("__"))
        if function.outer is None and not (private or self._is_of_script(function)):
            return None
        naming = self.unit.functions_naming(name)
        if name in quoted(self.unit.text):
            return None  # looked up by its name
        if any(name in self._handed_on_in(each) for each in naming):
            return None
        found = [op for op in self.calls_in_file(function) if op.function is not function]
        # What a script defines may still be imported, if only a test of it calls the function.
        imported = not (private or self._is_notebook)
        tried = imported and any(op.function is self.unit.module for op in found)
        return None if tried or not (found or mangled) else found

    def calls_in_file(self, function: Function) -> list[Op]:
        """The calls of a function that stand in its file."""
        naming = self.unit.functions_naming(function.name.rpartition(".")[2])
        return [op for each in naming for op in self._calls_in(each).get(function, ())]

    def _is_of_script(self, function: Function) -> bool:
        """Whether it is a plain function of a file that is run."""
        plain = not getattr(function.node, "decorator_list", True)
        return plain and "." not in function.name and self._is_run

    @cached_property
    def _is_run(self) -> bool:
        return self._is_notebook or _SCRIPT.search(self.unit.text) is not None

    @cached_property
    def _is_notebook(self) -> bool:
        """Whether the file is one that nobody imports."""
        return kind_of_name(self.unit.source.path) == NOTEBOOK

    def _calls_in(self, function: Function) -> dict[Function, list[Op]]:
        """The calls of a function, and of those in it, by what of the file they call."""
        if function not in self._calls_by_callee:
            found: dict[Function, list[Op]] = {}
            for each in function.everything():
                for op in each.ops:
                    callee = self.values.callee(op) if op.code == "call" else None
                    if callee is not None:
                        found.setdefault(callee, []).append(op)
            self._calls_by_callee[function] = found
        return self._calls_by_callee[function]

    def _handed_on_in(self, function: Function) -> set[str]:
        """The names whose values a function hands on, from where they may be called."""
        if function not in self._names_handed_on:
            self._names_handed_on[function] = {
                str(op.name)
                for each in function.everything()
                for op in each.ops
                if op.code in ("attr", "free", "global")
                and any(use.code != "call" or use.args[0] is not op for use in op.uses)
            }
        return self._names_handed_on[function]


def _attributes_read(node: ast.AST | None) -> set[str]:
    """The attributes that a function reads; to add to one is no reading."""
    nodes = [] if node is None else [*ast.walk(node)]
    added_to = {
        id(each.func.value)
        for each in nodes
        if isinstance(each, ast.Call)
        and isinstance(each.func, ast.Attribute)
        and each.func.attr in CHANGING - GIVING
    }
    return {
        each.attr
        for each in nodes
        if isinstance(each, ast.Attribute)
        and isinstance(each.ctx, ast.Load)
        and id(each) not in added_to
    }


def _looks_up(op: Op, key: str) -> bool:
    """``state["done"]``, ``state.get("done", [])``."""
    taken = op.args[1] if len(op.args) > 1 else None
    if taken is None or (taken.code, taken.name) != ("const", key):
        return False
    function = op.args[0]
    called = op.code == "call" and function.code == "attr"
    return op.code == "item" or (called and function.name in _LOOKING_UP)


def _only_filled(read: Op) -> bool:
    return all(
        use.code == "change" or (use.code == "attr" and use.name in CHANGING - GIVING)
        for use in read.uses
    )


def is_self(op: Op) -> bool:
    """Whether a value is the object or class whose method a function is."""
    name = op.name[1] if op.code == "param" else op.name
    return op.code in ("param", "free", "global") and name in ("self", "cls")


def _behind(op: Op) -> set[Op]:
    found, pending = {op}, [op]
    while pending:
        for each in pending.pop().args:
            if each not in found and len(found) < 100:
                found.add(each)
                pending.append(each)
    return found

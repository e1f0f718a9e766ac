"""What of a file reads a field or a global, and what calls a function."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.calls import looked_up_in
from detlint.dataflow.slices import behind
from detlint.index.entrypoints import main_line
from detlint.models.containers import CHANGING, GIVING, PICKING
from detlint.sources.kinds import NOTEBOOK, kind_of_name
from detlint.syntax.mentions import quoted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.dataflow.ir import Function, Op
    from detlint.dataflow.values import Values

_MOST = 100  # operations behind what a name holds


class References:
    """Who of a file uses what it defines."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.unit = values.unit
        self._global_reads: dict[str, list[Op]] = {}
        self._attributes_read: dict[Function, set[str]] = {}
        self._names_handed_on: dict[Function, set[str]] = {}

    def reads_of_field(self, owner: str, name: str) -> Iterator[Op]:
        """Where the methods of a class, of its bases and of those that derive from it read an
        attribute of their object, which is that of the class."""
        for function in self._methods_naming(owner, name):
            for each in function.everything():
                yield from (op for op in each.reads("attr", name) if op.args[0].is_self)

    def is_read(self, name: str) -> bool:
        """Whether something of the file reads an attribute of any object."""
        return any(True for _ in self.unit.reads("attr", name))

    def reads_of_objects(self, owner: str, name: str) -> Iterator[Op]:
        """Where the file reads an attribute of other objects of a class, or of one that derives
        from it."""
        classes = {owner, *self.unit.derived(owner)}
        for op in self.unit.reads("attr", name):
            if not op.args[0].is_self and self.values.owner(op.args[0]) in classes:
                yield op

    def reads_of_key(self, key: str) -> Iterator[Op]:
        """Where the file looks up what something holds by a key, and not only to add to it."""
        for each in self.unit.all_naming(key):
            yield from (op for op in each.ops if _looks_up(op, key) and not is_only_changed(op))

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
        return last.code in ("phi", "change", "store_item") and value in behind(last, most=_MOST)

    def is_for_a_script(self, name: str) -> bool:
        """Whether nobody imports a name of the module."""
        return name == "_" or self.is_notebook or (not name.isupper() and self._is_script)

    @cached_property
    def _is_script(self) -> bool:
        """Whether a file does something when it is run."""
        text, module = self.unit.text, self.unit.module
        does = any(op.code == "drop" and op.region is module.region for op in module.ops)
        return does or "__name__ ==" in text or "__name__==" in text

    def reads_of_global(self, name: str) -> list[Op]:
        """Where functions read a name of the module."""
        if name not in self._global_reads:
            self._global_reads[name] = list(self.unit.reads("global", name))
        return self._global_reads[name]

    def is_unread_global(self, name: str) -> bool:
        """Whether neither the file nor who imports it reads a name of the module."""
        return self.is_for_a_script(name) and not self.reads_of_global(name)

    def calls_of(self, function: Function) -> list[Op] | None:
        """All calls of a function that nobody else can call; None for others."""
        name = function.word
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
        imported = not (private or self.is_notebook)
        tried = imported and any(op.function is self.unit.module for op in found)
        return None if tried or not (found or mangled) else found

    def calls_in_file(self, function: Function) -> list[Op]:
        """The calls of a function that stand in its file."""
        calls = function.known_calls.calls
        return [each for each in calls if self.values.callee(each) is function]

    def _is_of_script(self, function: Function) -> bool:
        """Whether it is a plain function of a file that is run."""
        plain = function.node is not None and not function.decorators
        return plain and "." not in function.name and self._is_run

    @cached_property
    def _is_run(self) -> bool:
        return self.is_notebook or main_line(self.unit.text) is not None

    @cached_property
    def is_notebook(self) -> bool:
        """Whether the file is one that nobody imports."""
        return kind_of_name(self.unit.source.path) == NOTEBOOK

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
    _, taken = looked_up_in(op, PICKING)
    return taken is not None and taken.text == key


def is_only_changed(value: Op) -> bool:
    """Whether nothing is done with a container but what changes it."""
    return all(
        use.code == "change" or (use.code == "attr" and use.name in CHANGING - GIVING)
        for use in value.uses
    )


def stores_of(value: Op) -> Iterator[Op]:
    """What stores a value in an attribute, also as ``self.paths: list[str] = []``."""
    for use in value.uses:
        if use.code == "store_attr":
            yield use
        elif use.code == "declared":
            yield from stores_of(use)

"""Calls of the functions and methods that a file defines, where all of it was parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module


class OwnCalls:
    """What the calls of one file call, and who calls what."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def called(self, call: cst.Call) -> cst.FunctionDef | None:
        """The function, method or ``__init__`` of this file that a call runs."""
        func, found = call.func, None
        if isinstance(func, cst.Name):
            found = self._module.names.definition(func)
        elif isinstance(func, cst.Attribute) and self._module.called(call) is None:
            found = self._method(func.attr.value)
        if isinstance(found, cst.ClassDef):
            methods = (each for each in found.body.body if isinstance(each, cst.FunctionDef))
            found = next((each for each in methods if each.name.value == "__init__"), None)
        return found

    def _method(self, name: str) -> cst.FunctionDef | None:
        """The one method of that name, whatever it is called on."""
        named = self._module.tree.occurrences.get(name, ())
        above = [self._module.parent(each) for each in named]
        found = [each for each in above if isinstance(each, cst.FunctionDef)]
        found = [each for each in found if each.name.value == name]
        in_class = len(found) == 1 and self._module.enclosing_class(found[0]) is not None
        return found[0] if in_class else None

    def calls_of(self, function: cst.FunctionDef) -> Iterator[cst.Call]:
        """The calls of a function or method."""
        for name in self._module.tree.occurrences.get(function.name.value, ()):
            node: cst.CSTNode = name
            parent = self._module.parent(node)
            if isinstance(parent, cst.Attribute) and parent.attr is name:
                node, parent = parent, self._module.parent(parent)
            is_call = isinstance(parent, cst.Call) and parent.func is node
            if is_call and isinstance(parent, cst.Call) and self.called(parent) is function:
                yield parent


def parameter_of(function: cst.FunctionDef, keyword: str, place: int) -> str | None:
    """The parameter that takes an argument, by its keyword or by its place."""
    parameters = [*function.params.posonly_params, *function.params.params]
    names = [each.name.value for each in parameters]
    if names[:1] in (["self"], ["cls"]):
        names.pop(0)
    if not keyword:
        return names[place] if place < len(names) else None
    names += [each.name.value for each in function.params.kwonly_params]
    return keyword if keyword in names else None

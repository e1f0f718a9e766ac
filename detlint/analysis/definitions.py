"""The functions of a file that its code calls, also those that narrowing left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.layout import layout_of
from detlint.mentions import heads
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_OWNERS = ("self", "cls")
_WORD = re.compile(r"\w+")


class Definition(NamedTuple):
    """A function, with a module that holds all of it, or else what calls it.

    offset  where its name stands in the source
    method  whether it is called on an instance, so that its first parameter is given already
    """

    module: Module
    node: cst.FunctionDef
    offset: int
    method: bool = False

    def arguments(self, call: cst.Call) -> dict[str, cst.BaseExpression] | None:
        """What a call gives to each parameter; None where that cannot be told."""
        parameters = self.node.params
        names = [each.name.value for each in (*parameters.posonly_params, *parameters.params)]
        places = names[1:] if self.method else names
        found: dict[str, cst.BaseExpression] = {}
        for place, argument in enumerate(call.args):
            if argument.star or (argument.keyword is None and place >= len(places)):
                return None
            name = argument.keyword.value if argument.keyword is not None else places[place]
            found[name] = argument.value
        return found


class Definitions:
    """Finds functions in the text of a file, and parses what they stand in."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._read: dict[int, Definition | None] = {}

    def of(self, function: cst.BaseExpression) -> Definition | None:
        """What ``function`` or ``self.method`` names, if that is certain."""
        found = self._at(self._offset_of(function))
        if found is None or isinstance(function, cst.Name):
            return found
        static = any(_is_named(each, "staticmethod") for each in found.node.decorators)
        return found._replace(method=not static)

    def method(self, owner: cst.ClassDef, name: str) -> Definition | None:
        """What a class at the top of the file defines by a name, unless a subclass may, too."""
        return self._at(self._offset_of_method(owner, name))

    def _at(self, offset: int | None) -> Definition | None:
        if offset is None:
            return None
        if offset not in self._read:
            self._read[offset] = self._parse(offset)
        return self._read[offset]

    def _offset_of(self, function: cst.BaseExpression) -> int | None:
        if isinstance(function, cst.Name):
            return self._offset_of_function(function)
        if not isinstance(function, cst.Attribute) or not isinstance(function.value, cst.Name):
            return None
        owner = self._module.enclosing_class(function)
        if owner is None or function.value.value not in _OWNERS:
            return None
        return self._offset_of_method(owner, function.attr.value)

    def _offset_of_function(self, name: cst.Name) -> int | None:
        definition = self._module.names.definition(name)
        if not isinstance(definition, cst.FunctionDef):
            return None
        return self._module.tree.span(definition.name)[0]

    def _offset_of_method(self, owner: cst.ClassDef, name: str) -> int | None:
        """The one definition of a method in the text of a class at the top level of the file."""
        text = self._module.source.text
        start = self._module.tree.span(owner.name)[0]
        if not text.startswith("class", text.rfind("\n", 0, start) + 1):
            return None
        layout = layout_of(text)
        block = next(each for each in layout.top if each.start <= start < each.end)
        found = [place for place in heads(text, name) if layout.at(place) is None]
        own = [offset for offset in found if block.start <= offset < block.end]
        if len(own) != 1 or re.search(rf"\.{name}\s*=[^=]", text):
            return None
        derived = rf"^[ \t]*class[ \t]+\w+[^:]*\b{block.name}\b"
        if len(found) > 1 and re.search(derived, text, re.MULTILINE):
            return None
        return own[0]

    def _parse(self, offset: int) -> Definition | None:
        module = self._module.around([offset])
        name = _WORD.match(self._module.source.text, offset)
        if module is None or name is None:
            return None
        for each in module.tree.occurrences.get(name[0], ()):
            node = module.parent(each)
            if isinstance(node, cst.FunctionDef) and module.tree.span(each)[0] == offset:
                return Definition(module, node, offset)
        return None


def _is_named(decorator: cst.Decorator, word: str) -> bool:
    return isinstance(decorator.decorator, cst.Name) and decorator.decorator.value == word

"""Whether the size that an operator is given is 1, also where loops, calls or classes give it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.private_calls import calls_or_makings
from detlint.analysis.unpacking import unpacked
from detlint.names import UNKNOWN
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterable

    from detlint.module import Module
    from detlint.scope import Binding

_DEEPEST = 12
_HANDED_ON = 3  # functions and classes through which a size is passed
_BOUND = r"\bself\.{name}\b(?=[ \t]*(?::[^=\n]*)?=[^=])"


class Sizes:
    """Answers about sizes: True if one of them is not 1, False if all are; None if unknown.

    Where code chooses between values that are all known, one of them is enough: there are runs
    with it. So is one element of what a loop goes over, and one call of the file.
    """

    def __init__(self, module: Module, handed_on: int = 0, depth: int = 0) -> None:
        self._module = module
        self._handed_on = handed_on
        self._depth = depth
        self._busy: set[str] = set()  # names that are made of themselves

    def other_than_one(self, node: cst.CSTNode | None) -> bool | None:
        """Whether a size is not 1, or one of several is not."""
        if node is None or self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            return self._of(self._module.names.value_of(node))
        finally:
            self._depth -= 1

    def _of(self, node: cst.CSTNode) -> bool | None:
        if isinstance(node, (cst.Tuple, cst.List)):
            return _together(self.other_than_one(each.value) for each in node.elements)
        if isinstance(node, cst.IfExp):
            return _choice(map(self.other_than_one, (node.body, node.orelse)))
        if _is_shape(node):
            return True
        if isinstance(node, cst.Attribute):
            return self._of_attribute(node, elements=False)
        value = self._module.literal(node)
        if value is UNKNOWN and isinstance(node, cst.Name):
            return self._of_name(node, elements=False)
        return None if value is UNKNOWN else value != 1

    def _in(self, node: cst.CSTNode | None) -> bool | None:
        """Whether an element of what a loop goes over is not 1."""
        if node is None or self._depth > _DEEPEST:
            return None
        self._depth += 1
        try:
            return self._of_elements(self._module.names.value_of(node))
        finally:
            self._depth -= 1

    def _of_elements(self, node: cst.CSTNode) -> bool | None:
        if isinstance(node, (cst.Tuple, cst.List, cst.Set)):
            return _together(self.other_than_one(each.value) for each in node.elements)
        if isinstance(node, cst.Call) and self._module.called(node) == "builtins.range":
            given = [self._module.literal(each.value) for each in node.args]
            numbers = [each for each in given if type(each) is int]
            known = len(numbers) == len(given) in (1, 2)
            return any(each > 1 for each in range(*numbers)) if known else None
        if isinstance(node, cst.Attribute):
            return self._of_attribute(node, elements=True)
        return self._of_name(node, elements=True) if isinstance(node, cst.Name) else None

    def ask(self, node: cst.CSTNode | None, *, elements: bool) -> bool | None:
        """The same for what a loop goes over: whether an element of it is not 1."""
        return self._in(node) if elements else self.other_than_one(node)

    def _of_name(self, name: cst.Name, *, elements: bool) -> bool | None:
        bindings = self._module.names.visible(name)
        if not bindings or name.value in self._busy:
            return False if bindings else None  # what it is made of besides decides
        self._busy.add(name.value)
        try:
            origin = self._origin_in_loop(name) if not elements else None
            if origin is not None:
                return self._in(origin)
            return _choice(self._of_binding(each, name, elements=elements) for each in bindings)
        finally:
            self._busy.discard(name.value)

    def _origin_in_loop(self, name: cst.Name) -> cst.BaseExpression | None:
        """What the loop around a name that binds it goes over, whatever others do."""
        for above in self._module.ancestors(name):
            if isinstance(above, cst.FunctionDef):
                break
            if isinstance(above, cst.For):
                if isinstance(above.target, cst.Name) and above.target.value == name.value:
                    return above.iter
                if isinstance(above.target, cst.Tuple):
                    parts = [getattr(each.value, "value", "") for each in above.target.elements]
                    if parts[1:] == [name.value]:
                        return self._numbered(above.iter)
        return None

    def _numbered(self, node: cst.CSTNode) -> cst.BaseExpression | None:
        """``sizes`` of ``enumerate(sizes)``."""
        is_numbered = self._module.called(node) == "builtins.enumerate"
        return node.args[0].value if isinstance(node, cst.Call) and is_numbered else None

    def _of_binding(self, binding: Binding, name: cst.Name, *, elements: bool) -> bool | None:
        if binding.kind == "value":
            return self.ask(binding.node, elements=elements)
        if binding.kind == "parameter":
            return self._of_parameter(binding, name, elements=elements)
        if elements:
            return None
        if binding.kind == "loop":
            return self._in(binding.node)
        return self._of_part(name) if binding.kind == "other" else None

    def _of_part(self, name: cst.Name) -> bool | None:
        """``_, _, height, width = x.shape``, ``for place, size in enumerate(sizes)``."""
        found = list(unpacked(self._module, name))
        numbered = self._numbered(found[0][0]) if len(found) == 1 else None
        if numbered is not None:
            return self._in(numbered) if found[0][1] == 1 else None
        return True if found and all(_is_shape(origin) for origin, _ in found) else None

    def _of_attribute(self, node: cst.Attribute, *, elements: bool) -> bool | None:
        """``self.size``, if all that the class binds it to is known."""
        owner = self._module.enclosing_class(node)
        if owner is None or not self._module.names.is_self(node.value):
            return None
        bound = re.compile(_BOUND.format(name=re.escape(node.attr.value)))
        places = [match.start() for match in bound.finditer(self._module.source.text)]
        around = self._module.around(places) if places else None
        if around is None:
            return None
        inside = Sizes(around, self._handed_on, self._depth)
        values = [
            value
            for each, attributes in around.bindings.attributes.items()
            if each.name.value == owner.name.value
            for value in attributes.get(node.attr.value, [])
        ]
        return _choice(inside.ask(each, elements=elements) for each in values) if values else None

    def _of_parameter(self, binding: Binding, name: cst.Name, *, elements: bool) -> bool | None:
        """What the calls in the file give, or else the default of what is looped over: nobody
        asks for a pyramid of ones."""
        function = self._module.enclosing_function(name)
        if not isinstance(function, cst.FunctionDef) or self._handed_on > _HANDED_ON:
            return None
        default = self.ask(binding.node, elements=elements)
        given: list[bool | None] = []
        for definition, call in calls_or_makings(self._module, function):
            arguments = definition.arguments(call) if call is not None else None
            if arguments is None:
                given.append(None)
            elif name.value in arguments:
                inside = Sizes(definition.module, self._handed_on + 1)
                given.append(inside.ask(arguments[name.value], elements=elements))
            else:
                given.append(default)
        if True in given:
            return True
        return default if elements and False not in given else None


def _together(parts: Iterable[bool | None]) -> bool | None:
    """Of several sizes: one that is not 1 settles it."""
    found = list(parts)
    if True in found:
        return True
    return None if None in found or not found else False


def _choice(values: Iterable[bool | None]) -> bool | None:
    """Of values one of which is taken: all have to be known."""
    found = list(values)
    return None if None in found or not found else any(found)


def _is_shape(node: cst.CSTNode) -> bool:
    """``x.shape``, ``x.shape[-2:]``, ``x.size(2)``: what varies, and is seldom 1."""
    while isinstance(node, cst.Subscript):
        node = node.value
    if isinstance(node, cst.Call):
        method = node.func
        return isinstance(method, cst.Attribute) and method.attr.value == "size"
    return isinstance(node, cst.Attribute) and node.attr.value == "shape"

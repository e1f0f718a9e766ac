"""Keys by which no two files of a listing are equal, for ``max`` and ``min``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.definitions import Definitions
    from detlint.module import Module

_NUMBERS = ("builtins.int", "builtins.float")
_NAMES = ("builtins.str", "os.fspath", "os.path.basename")
_PATHS = ("os.path.splitext", "os.path.split", "pathlib.Path", "pathlib.PurePath")
# Methods that take a name apart: of text, of a compiled pattern, of a match.
_METHODS = words(
    """findall fullmatch group groups lower lstrip match partition removeprefix removesuffix replace
    rpartition rsplit rstrip search split strip upper with_suffix"""
)
_PARTS = frozenset(("name", "parts", "path", "stem", "suffix"))


class Keys:
    """Judges the ``key`` of a call in one module."""

    def __init__(self, module: Module, definitions: Definitions) -> None:
        self._module = module
        self._definitions = definitions

    def tell_apart(self, key: cst.BaseExpression) -> bool:
        """Whether a key is a number in the name of a file, or the name itself."""
        if self._module.qualified_name(key) in (*_NUMBERS, *_NAMES):
            return True
        if isinstance(key, cst.Lambda) and self._is_parsed(key):
            return True
        if isinstance(key, cst.Lambda):
            parameters, value, module = key.params.params, key.body, self._module
        else:
            definition = self._definitions.of(key)
            returned = _only_expression(definition.node) if definition is not None else None
            if definition is None or returned is None:
                return False
            parameters, value, module = definition.node.params.params, returned, definition.module
            parameters = parameters[definition.method :]
        return len(parameters) == 1 and _Key(module, parameters[0].name.value).is_unique(value)

    def are_names(self, node: cst.CSTNode, names: set[str]) -> bool:
        """Whether a value is a name of a file, or a part of it, given the variables that hold
        such a name."""
        key = _Key(self._module, "")
        below = self._module.tree.descendants(node)
        variables = [each for each in below if isinstance(each, cst.Name)]
        known = all(
            each.value in names
            or isinstance(self._module.parent(each), cst.Attribute)
            or self._module.qualified_name(each) is not None
            for each in variables
        )
        given = any(each.value in names for each in variables)
        return given and known and all(map(key.takes_apart, below))

    def _is_parsed(self, key: cst.Lambda) -> bool:
        """``lambda info: info.epoch``, where the file makes that by ``epoch=int(match.group(1))``:
        a number in the name of a file. The text tells, because methods may have been cut."""
        part, names = key.body, [each.name.value for each in key.params.params]
        if not isinstance(part, cst.Attribute) or not isinstance(part.value, cst.Name):
            return False
        parsed = rf"\b{part.attr.value}\s*=\s*int\(\s*\w*match\w*(?:\.group\b|\[)"
        made = re.search(parsed, self._module.source.text)
        return names == [part.value.value] and made is not None


class _Key:
    """The expression that a key makes of its parameter."""

    def __init__(self, module: Module, parameter: str) -> None:
        self._module = module
        self._parameter = parameter

    def is_unique(self, node: cst.BaseExpression) -> bool:
        if isinstance(node, cst.Tuple):
            return any(self.is_unique(each.value) for each in node.elements)
        if isinstance(node, cst.UnaryOperation):
            return not isinstance(node.operator, cst.Not) and self.is_unique(node.expression)
        if isinstance(node, cst.Call) and len(node.args) == 1:
            inner = node.args[0].value
            if self._module.called(node) in _NUMBERS:
                return self._is_part(inner)
            return self._module.called(node) in _NAMES and self.is_unique(inner)
        if isinstance(node, cst.Attribute):
            return node.attr.value == "name" and self.is_unique(node.value)
        return self._is_parameter(node)

    def _is_part(self, node: cst.BaseExpression) -> bool:
        """Whether a text is taken from the name, by what takes nothing else."""
        below = self._module.tree.descendants(node)
        return any(map(self._is_parameter, below)) and all(map(self.takes_apart, below))

    def _is_parameter(self, node: cst.CSTNode) -> bool:
        return isinstance(node, cst.Name) and node.value == self._parameter

    def takes_apart(self, node: cst.CSTNode) -> bool:
        """Whether a part of an expression does no more than take a text apart."""
        if isinstance(node, cst.Call):
            name = self._module.called(node)
            if name is not None:
                return name.startswith("re.") or name in (*_NAMES, *_PATHS, *_NUMBERS)
            return isinstance(node.func, cst.Attribute) and node.func.attr.value in _METHODS
        if isinstance(node, cst.Attribute) and self._module.qualified_name(node) is None:
            return node.attr.value in _METHODS | _PARTS
        return True


def _only_expression(function: cst.FunctionDef) -> cst.BaseExpression | None:
    """What a function of one expression returns."""
    statements: list[cst.CSTNode] = []
    for line in function.body.body:
        statements += line.body if isinstance(line, cst.SimpleStatementLine) else [line]
    if statements and isinstance(statements[0], cst.Expr):
        statements = statements[1:]  # a docstring
    if len(statements) == 1 and isinstance(statements[0], cst.Return):
        return statements[0].value
    return None

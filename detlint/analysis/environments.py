"""Environment variables that code sets, for rules that see trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_SETTERS = frozenset({"os.putenv", "os.environ.setdefault", "os.environ.__setitem__"})


def assignments(
    module: Module, node: cst.CSTNode
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    """The names and values that an assignment or a call puts into ``os.environ``."""
    if isinstance(node, cst.Assign):
        for target in node.targets:
            if (key := _key(module, target.target)) is not None:
                yield key, node.value
    elif isinstance(node, cst.Call):
        name = module.called(node) or ""
        if name in _SETTERS and len(node.args) > 1:
            yield node.args[0].value, node.args[1].value
        elif name == "os.environ.update":
            yield from _updated(module, node)


def _key(module: Module, target: cst.BaseExpression) -> cst.BaseExpression | None:
    if not isinstance(target, cst.Subscript) or module.qualified_name(target.value) != "os.environ":
        return None
    index = target.slice[0].slice
    return index.value if isinstance(index, cst.Index) else None


def _updated(
    module: Module, call: cst.Call
) -> Iterator[tuple[cst.BaseExpression, cst.BaseExpression]]:
    for argument in call.args:
        given = argument.value
        if argument.keyword is not None:
            yield cst.SimpleString(f'"{argument.keyword.value}"'), given
        elif isinstance(given, cst.Dict):
            for element in given.elements:
                if isinstance(element, cst.DictElement):
                    yield element.key, element.value
        elif module.called(given) == "builtins.dict" and isinstance(given, cst.Call):
            for each in given.args:
                if each.keyword is not None:
                    yield cst.SimpleString(f'"{each.keyword.value}"'), each.value

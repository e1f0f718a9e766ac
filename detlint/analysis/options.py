"""Named options of a program, such as ``cudnn_benchmark``, and the values that code gives them.

For options that are known by their name alone, whoever reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.mentions import mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from detlint.module import Module

_FIELDS = frozenset({"field", "Field", "attrib"})
_DEFAULTS = frozenset({"get", "pop", "getattr"})
_DECLARATIONS = frozenset({"add_argument", "option"})  # argparse, click


class Option(NamedTuple):
    """An option being given a value.

    form  "keyword" (of a call) · "key" (of a mapping) · "attribute" · "variable" (at the top
          level of a file that never reads it, as in a configuration) · "parameter" (its
          default) · "field" (of a class) · "flag" (the default of a command-line flag) ·
          "default" (``cfg.get("name", value)``)
    """

    name: str
    value: cst.BaseExpression
    node: cst.CSTNode
    form: str


def options(module: Module, node: cst.CSTNode, names: Collection[str]) -> Iterator[Option]:
    """The named options to which a node gives a value."""
    if isinstance(node, cst.Call):
        yield from _of_call(module, node, names)
    elif isinstance(node, cst.DictElement):
        key = _string(node.key)
        if key in names:
            yield Option(key, node.value, node, "key")
    elif isinstance(node, cst.Assign):
        for target in node.targets:
            yield from _of_target(module, target.target, node.value, node, names)
    elif isinstance(node, cst.AnnAssign) and node.value is not None:
        yield from _of_target(module, node.target, node.value, node, names)
    elif isinstance(node, cst.Param) and node.default is not None and node.name.value in names:
        yield Option(node.name.value, node.default, node, "parameter")


def _of_target(
    module: Module,
    target: cst.BaseExpression,
    value: cst.BaseExpression,
    node: cst.CSTNode,
    names: Collection[str],
) -> Iterator[Option]:
    if isinstance(target, cst.Attribute):
        if target.attr.value in names:
            yield Option(target.attr.value, value, node, "attribute")
    elif isinstance(target, cst.Subscript):
        key = _index(target)
        if key in names:
            yield Option(key, value, node, "key")
    elif isinstance(target, cst.Name) and target.value in names:
        scope = module.bindings.scope_of(target).node
        if isinstance(scope, cst.ClassDef):
            yield Option(target.value, _field_default(value), node, "field")
        elif isinstance(scope, cst.Module) and _written_once(module, target.value):
            yield Option(target.value, value, node, "variable")


def _of_call(module: Module, call: cst.Call, names: Collection[str]) -> Iterator[Option]:
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value in names:
            yield Option(argument.keyword.value, argument.value, argument, "keyword")
    values = [argument.value for argument in call.args if not argument.star]
    method = _method(call)
    if method in _DECLARATIONS:
        default = module.argument(call, "default")
        flags = (_flag(value) for value in values)
        name = next((flag for flag in flags if flag in names), "")
        if name and default is not None:
            yield Option(name, default, call, "flag")
    elif method == "setattr" and len(values) > 2 and (name := _string(values[1])) in names:
        yield Option(name, values[2], call, "attribute")
    elif method == "setdefault" and len(values) == 2 and (name := _string(values[0])) in names:
        yield Option(name, values[1], call, "key")
    elif method in _DEFAULTS and len(values) > 1 and (name := _string(values[-2])) in names:
        yield Option(name, values[-1], call, "default")


def _method(call: cst.Call) -> str:
    function = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    return function.value if isinstance(function, cst.Name) else ""


def _string(node: cst.CSTNode | None) -> str:
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return value if isinstance(value, str) else ""


def _flag(node: cst.CSTNode) -> str:
    """``"--ds.use-flash-attn"`` → ``use_flash_attn``."""
    text = _string(node)
    return text.lstrip("-").rpartition(".")[2].replace("-", "_") if text.startswith("--") else ""


def _index(node: cst.Subscript) -> str:
    index = node.slice[0].slice if len(node.slice) == 1 else None
    return _string(index.value) if isinstance(index, cst.Index) else ""


def _field_default(value: cst.BaseExpression) -> cst.BaseExpression:
    """``field(default=True)`` → ``True``."""
    if isinstance(value, cst.Call) and _method(value) in _FIELDS:
        for argument in value.args:
            if argument.keyword is None or argument.keyword.value == "default":
                return argument.value
    return value


def _written_once(module: Module, name: str) -> bool:
    # The text, not the tree: functions that read the name may have been narrowed away.
    return len(mentions(module.source.text, name)) == 1

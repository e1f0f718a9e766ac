"""Environment variables that code sets, and what is certain of their values."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.options import options
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# Stands for the parts of a value that are not known; no word of a flag.
HOLE = "\0"
_ENVIRONMENTS = frozenset({"os.environ", "os.environb"})
_SHELLS = frozenset(
    {
        "os.system",
        "os.popen",
        *(
            f"subprocess.{name}"
            for name in ("run", "call", "Popen", "check_call", "check_output", "getoutput")
        ),
    }
)
_FORMS = frozenset({"keyword", "key"})
_SETTERS = frozenset({"os.putenv", "os.environ.setdefault", "os.environ.__setitem__"})


class Variable(NamedTuple):
    """A variable being set: its text, with ``HOLE`` for what is not known, and where."""

    text: str
    node: cst.CSTNode


def variables(module: Module, node: cst.CSTNode, name: str) -> Iterator[Variable]:
    """The values that a node gives to an environment variable.

    ``os.environ["X"] = …``, ``environ.setdefault``, ``os.putenv``, ``{"X": …}`` and
    ``dict(env, X=…)`` of any mapping, and ``X=…`` before a command of a shell.
    """
    for option in options(module, node, {name}):
        if option.form in _FORMS:
            yield Variable(known_text(module, option.value), option.node)
    if not isinstance(node, cst.Call):
        return
    called = module.called(node)
    values = [argument.value for argument in node.args if not argument.star]
    if called == "os.putenv" and len(values) == 2 and module.literal(values[0]) == name:
        yield Variable(known_text(module, values[1]), node)
    elif called in _SHELLS and values:
        command = known_text(module, values[0])
        for match in re.finditer(rf"\b{name}=(?:\"([^\"]*)\"|'([^']*)'|(\S*))", command):
            yield Variable(match[1] or match[2] or match[3] or "", node)


def known_text(module: Module, node: cst.CSTNode) -> str:
    """The text of a string, with ``HOLE`` for each part that is not a literal."""
    node = module.names.value_of(node)
    value = module.literal(node)
    if isinstance(value, str):
        return value
    if isinstance(node, cst.ConcatenatedString):
        return known_text(module, node.left) + known_text(module, node.right)
    if isinstance(node, cst.FormattedString):
        texts = (getattr(part, "value", HOLE) for part in node.parts)
        return "".join(each if isinstance(each, str) else HOLE for each in texts)
    if isinstance(node, cst.BinaryOperation):
        return _of_operation(module, node)
    return _of_method(module, node)


def _of_operation(module: Module, node: cst.BinaryOperation) -> str:
    if isinstance(node.operator, cst.Add):
        return known_text(module, node.left) + known_text(module, node.right)
    if isinstance(node.operator, cst.Modulo):
        return re.sub(r"%(?:\(\w+\))?[\d.]*[a-z]", HOLE, known_text(module, node.left))
    return HOLE


def _of_method(module: Module, node: cst.CSTNode) -> str:
    """``"…{}…".format(x)``, ``",".join([…])``."""
    if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
        return HOLE
    owner, method = node.func.value, node.func.attr.value
    if method == "format":
        return re.sub(r"\{[^{}]*\}", HOLE, known_text(module, owner))
    parts = module.names.value_of(node.args[0].value) if method == "join" and node.args else None
    if not isinstance(parts, (cst.List, cst.Tuple)):
        return HOLE
    texts = (known_text(module, each.value) for each in parts.elements)
    return known_text(module, owner).join(texts)


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

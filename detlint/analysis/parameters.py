"""The parameters of a ``torch.nn.Module`` class, and what its code does with each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_MODULE = frozenset(
    f"torch.nn.{name}" for name in ("Module", "modules.Module", "modules.module.Module")
)
_HARMLESS_BASES = frozenset(("abc.ABC", "typing.Generic", "typing.Protocol", "builtins.object"))
_PARAMETER = frozenset(("torch.nn.Parameter", "torch.nn.parameter.Parameter"))
_BUFFER = frozenset(("torch.nn.Buffer", "torch.nn.parameter.Buffer"))


class Declared(NamedTuple):
    """A parameter as the class makes it: its name, and the call that makes its first value."""

    name: str
    value: cst.BaseExpression
    statement: cst.CSTNode


def family(module: Module, owner: cst.ClassDef) -> list[cst.ClassDef]:
    """A class and its bases up to ``torch.nn.Module``; empty if one of them is out of sight."""
    found: list[cst.ClassDef] = []
    pending, is_module = [owner], False
    while pending:
        current = pending.pop()
        if current in found:
            continue
        found.append(current)
        if current.keywords:
            return []
        for base in current.bases:
            node = base.value.value if isinstance(base.value, cst.Subscript) else base.value
            name = module.qualified_name(node)
            definition = module.names.definition(node)
            if isinstance(definition, cst.ClassDef):
                pending.append(definition)
            elif name in _MODULE:
                is_module = True
            elif name not in _HARMLESS_BASES:
                return []
    return found if is_module else []


def declared(module: Module, owner: cst.ClassDef) -> Iterator[Declared]:
    """The parameters, and the buffers that no checkpoint holds, that a class makes for itself."""
    for node in module.tree.descendants(owner.body):
        if isinstance(node, (cst.Assign, cst.AnnAssign)):
            name, value = attribute_of_self(_target(node)), _content(module, node.value)
            if name and value is not None:
                yield Declared(name, value, node)
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            yield from _registered(module, node, node.func)


def _registered(module: Module, call: cst.Call, method: cst.Attribute) -> Iterator[Declared]:
    name = module.literal(module.argument(call, "name", 0))
    if not isinstance(name, str) or not is_self(method.value):
        return
    value: cst.BaseExpression | None = None
    if method.attr.value == "register_parameter":
        value = _content(module, module.argument(call, "param", 1))
    elif method.attr.value == "register_buffer" and _is_transient(module, call):
        value = module.argument(call, "tensor", 1)
    if value is not None:
        yield Declared(name, value, call)


def _content(module: Module, value: cst.BaseExpression | None) -> cst.BaseExpression | None:
    """The tensor that ``Parameter(…)`` wraps. A frozen one is there to be loaded."""
    if not isinstance(value, cst.Call):
        return None
    kind = module.called(value)
    if kind in _PARAMETER:
        if module.literal(module.argument(value, "requires_grad", 1)) is not False:
            return module.argument(value, "data", 0)
    elif kind in _BUFFER and _is_transient(module, value):
        return module.argument(value, "data", 0)
    return None


def _is_transient(module: Module, call: cst.Call) -> bool:
    return module.literal(module.argument(call, "persistent", 2)) is False


def _target(statement: cst.Assign | cst.AnnAssign) -> cst.CSTNode | None:
    if isinstance(statement, cst.AnnAssign):
        return statement.target
    return statement.targets[0].target if len(statement.targets) == 1 else None


def attribute_of_self(node: cst.CSTNode | None) -> str:
    """``weight`` for ``self.weight``."""
    return node.attr.value if isinstance(node, cst.Attribute) and is_self(node.value) else ""


def is_self(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Name) and node.value == "self"

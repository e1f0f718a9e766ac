"""Memory that is only scaled on its way into a parameter, which something fills later."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.uses import is_target, last_name, loads
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_KEEPERS = frozenset({"Parameter", "Buffer", "register_buffer", "register_parameter"})


def is_placeholder(module: Module, node: cst.CSTNode) -> bool:
    """Whether a product goes only into a parameter or a buffer, also through one local."""
    if not _scales(node):
        return False
    parent = module.parent(node)
    while parent is not None and _scales(parent):
        node, parent = parent, module.parent(parent)
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1:
        return _is_kept_local(module, parent.targets[0].target)
    return _is_kept(module, node)


def _scales(node: cst.CSTNode) -> bool:
    factors = (cst.Multiply, cst.Divide)
    return isinstance(node, cst.BinaryOperation) and isinstance(node.operator, factors)


def _is_kept_local(module: Module, target: cst.BaseExpression) -> bool:
    function = module.enclosing_function(target)
    if not isinstance(target, cst.Name) or function is None:
        return False
    uses = [
        use
        for use in loads(module, function)
        if use.value == target.value and not is_target(module, use)
    ]
    return bool(uses) and all(_is_kept(module, use) for use in uses)


def _is_kept(module: Module, node: cst.CSTNode) -> bool:
    argument = module.parent(node)
    call = module.parent(argument) if isinstance(argument, cst.Arg) else None
    return isinstance(call, cst.Call) and last_name(call.func) in _KEEPERS

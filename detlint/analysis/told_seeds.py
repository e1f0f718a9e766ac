"""Whether DET103 tells of a seed that takes a value from a certain call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.entropy import origin
from detlint.analysis.seed_places import (
    is_never_read,
    is_undone,
    key_of_seed,
    only_labels,
    takes_seed,
)
from detlint.analysis.seeding import is_only_written, means_seed, target_name
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module


def is_told(module: Module, node: cst.CSTNode, call: cst.CSTNode) -> bool:
    """Whether ``node``, a call or a local that holds what it gives, goes into such a seed."""
    inner = node
    for parent in module.ancestors(node):
        if _is_seed(module, parent, inner):
            value = inner.value if isinstance(inner, cst.Arg) else inner
            found = origin(module, value)
            if found is not None and found.call is call and not only_labels(module, value):
                return True
        if isinstance(parent, (cst.BaseSmallStatement, cst.BaseCompoundStatement)):
            return False
        inner = parent
    return False


def _is_seed(module: Module, parent: cst.CSTNode, value: cst.CSTNode) -> bool:
    """Whether ``value`` stands where its parent takes, names or returns a seed."""
    if isinstance(parent, cst.Call) and isinstance(value, cst.Arg):
        return not is_undone(module, parent) and _takes(module, parent, value)
    if isinstance(parent, cst.Return):
        function = module.enclosing_function(parent)
        return isinstance(function, cst.FunctionDef) and means_seed(function.name.value)
    if isinstance(parent, cst.DictElement):
        key = module.literal(parent.key) if parent.value is value else None
        return isinstance(key, str) and means_seed(key)
    if isinstance(parent, cst.Param):
        return parent.default is value and means_seed(parent.name.value)
    return any(_names_seed(module, each, parent) for each in _targets(parent, value))


def _takes(module: Module, call: cst.Call, argument: cst.Arg) -> bool:
    keyword = argument.keyword.value if argument.keyword is not None else ""
    if means_seed(keyword) or (not keyword and takes_seed(module, call)):
        return True
    return keyword in ("", "default") and bool(key_of_seed(module, call))


def _targets(parent: cst.CSTNode, value: cst.CSTNode) -> list[cst.CSTNode]:
    """What an assignment, or a loop, gives the value to."""
    if isinstance(parent, cst.Assign) and parent.value is value:
        return [each.target for each in parent.targets]
    if isinstance(parent, (cst.AnnAssign, cst.AugAssign, cst.NamedExpr)) and parent.value is value:
        return [parent.target]
    return [parent.target] if isinstance(parent, cst.For) and parent.iter is value else []


def _names_seed(module: Module, target: cst.CSTNode, statement: cst.CSTNode) -> bool:
    if not means_seed(target_name(module, target)):
        return False
    if not isinstance(statement, (cst.Assign, cst.AnnAssign)):
        return True
    unread = isinstance(statement, cst.Assign) and is_only_written(module, target)
    return not (unread or is_never_read(module, target, statement))

"""Local dicts that are filled, and never read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.consumption import Consumption


def is_only_filled(consumption: Consumption, target: cst.CSTNode) -> bool:
    """Whether a function that fills ``found[name]["files"]`` never looks into ``found``."""
    name = _root(target) if isinstance(target, cst.Subscript) else None
    scope = consumption.reads.home(name) if name is not None else None
    if name is None or scope is None or not isinstance(scope.node, cst.FunctionDef):
        return False
    module, made = consumption.module, consumption.module.names.value_of(name)
    if not isinstance(made, (cst.Dict, cst.DictComp)):
        return False
    function = scope.node
    return all(
        _is_stored_in(consumption, each) and module.enclosing_function(each) is function
        for each in consumption.reads.loads(name)
    )


def _root(node: cst.CSTNode) -> cst.Name | None:
    while isinstance(node, cst.Subscript):
        node = node.value
    return node if isinstance(node, cst.Name) else None


def _is_stored_in(consumption: Consumption, load: cst.Name) -> bool:
    """``found[name]["files"] = x``, ``len(found)``."""
    module, node = consumption.module, load
    above, below = module.parent(load), node
    while isinstance(above, cst.Subscript) and above.value is below:
        above, below = module.parent(above), above  # type: ignore[assignment]
    if isinstance(above, cst.AssignTarget):
        return below is not load
    call = module.parent(above) if isinstance(above, cst.Arg) else None
    return module.called(call) == "builtins.len" or consumption.conditions.is_diagnostic(load)

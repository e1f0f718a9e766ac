"""Whether a tensor that an operator is given has a gradient at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis import gradient_names, gradients, tensor_facts
from detlint.analysis.constants import Constants
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.module import Module

# The grid and the weights can have a gradient of their own.
_SECOND = {"grid_sample": "grid", "grid_sampler": "grid", "embedding_bag": "weight"}


def have_none(module: Module, call: cst.Call, found: Match) -> bool:
    """Whether nothing that a call is given visibly has one."""
    second = _SECOND.get(found.form.rpartition(".")[2])
    if (
        second != "weight"
        and tensor_facts.numbers(module, _first(module, call, found)) == "integer"
    ):
        return True
    if not has_none(module, call, found):
        return False
    return second is None or _is_constant(module, module.argument(call, second, 1))


def has_none(module: Module, call: cst.Call, found: Match) -> bool:
    """Whether the first of its tensors has none: detached, ground truth, or made of data."""
    tensor = _first(module, call, found)
    return (
        gradients.is_detached(module, tensor)
        or gradient_names.is_target(module, tensor)
        or _is_constant(module, tensor)
    )


def _is_constant(module: Module, node: cst.BaseExpression | None) -> bool:
    """Not asked of a script's plain lines: narrowing leaves some out."""
    blocks = (cst.IndentedBlock, cst.SimpleStatementSuite, cst.Lambda)
    above = module.ancestors(node) if node is not None else ()
    return any(isinstance(each, blocks) for each in above) and Constants(module).holds(node)


def _first(module: Module, call: cst.Call, found: Match) -> cst.BaseExpression | None:
    if found.form.startswith("torch.Tensor."):
        return call.func.value if isinstance(call.func, cst.Attribute) else None
    return module.argument(call, "input", 0)

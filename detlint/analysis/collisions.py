"""Whether an operator that takes an index can reach a place twice. Where it does not, nothing is
added up, in no order, and no value is written over another."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.module import Module

_INDEXED = re.compile(r"\.(?:gather|index_select|index_copy_?|index_add_?|scatter_add_?)$")
_FARTHEST = 20  # steps from an index to where it came from
_KEEPING = frozenset({"clone", "contiguous", "cuda", "detach", "long", "to", "type", "clamp"})
_CHOOSING = frozenset({"argmax", "argmin"})
# Each element differs from the others, along the dimension that is indexed.
_DISTINCT = frozenset({"argsort", "nonzero", "randperm", "sort", "topk", "where"})
_SHAPING = _KEEPING - {"clamp"} | frozenset(
    {"expand", "expand_as", "flatten", "reshape", "squeeze", "unsqueeze", "view"}
)
_PERMUTATION = re.compile(r"(?:^|_)(?:perm|permutation)$")


def reaches_each_once(module: Module, call: cst.Call, found: Match) -> bool:
    """``x.gather(1, label.unsqueeze(1))``, ``x.index_select(0, order.argsort())``."""
    if not _INDEXED.search(found.form):
        return False
    skipped = 0 if found.form.startswith("torch.Tensor.") else 1
    dim = module.literal(module.argument(call, "dim", skipped))
    index = module.argument(call, "index", skipped + 1)
    if index is None:
        return False
    if _is_distinct(module, index):
        return True
    gathers = found.form.endswith(".gather")
    return gathers and type(dim) is int and _has_length_one(module, index, dim)


def _is_distinct(module: Module, index: cst.BaseExpression) -> bool:
    """``torch.nonzero(mask).squeeze(1)``, ``scores.topk(3, dim=1).indices.unsqueeze(-1)``."""
    node: cst.CSTNode = index
    for _ in range(_FARTHEST):  # a local can be made of itself
        node = module.names.value_of(node)
        if isinstance(node, cst.Subscript) or _is_indices(node):
            node = node.value  # type: ignore[attr-defined]
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            name = node.func.attr.value
            if name not in _SHAPING:
                return name in _DISTINCT and (name != "where" or len(node.args) == 1)
            node = node.func.value
        else:
            last = node.attr if isinstance(node, cst.Attribute) else node
            return isinstance(last, cst.Name) and _PERMUTATION.search(last.value) is not None
    return False


def _is_indices(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value == "indices"


def _has_length_one(module: Module, index: cst.BaseExpression, dim: int) -> bool:
    node = module.names.value_of(index)
    for _ in range(_FARTHEST):
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            break
        name = node.func.attr.value
        if name not in _KEEPING:
            return _gives_length_one(module, node, name, dim)
        node = module.names.value_of(node.func.value)
    if not isinstance(node, cst.Subscript):
        return False
    parts = [each.slice.value for each in node.slice if isinstance(each.slice, cst.Index)]
    last = parts[-1] if parts else None
    added = isinstance(last, cst.Name) and last.value == "None"
    rest = len(node.slice) - 1
    spread = isinstance(node.slice[0].slice, cst.Index) and isinstance(
        node.slice[0].slice.value, cst.Ellipsis
    )
    return added and rest > 0 and dim == (-1 if spread else rest)


def _gives_length_one(module: Module, call: cst.Call, name: str, dim: int) -> bool:
    given = [module.literal(each.value) for each in call.args if each.keyword is None]
    if name in ("unsqueeze", *_CHOOSING):
        at = module.literal(module.argument(call, "dim", 0))
        kept = name == "unsqueeze" or module.literal(module.argument(call, "keepdim", 1)) is True
        return kept and at == dim
    if name in ("view", "reshape"):
        return len(given) > 1 and -len(given) <= dim < len(given) and given[dim] == 1
    return False

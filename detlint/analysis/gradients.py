"""Where no gradient is recorded, so that what a call returns has no backward."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_STOPPING = frozenset(
    f"torch.{place}{name}"
    for place in ("", "autograd.", "autograd.grad_mode.")
    for name in ("no_grad", "inference_mode")
)
# By name: code that gets data or weights ready, or that runs a trained model.
_APART = re.compile(
    r"(?:^|_)(?:pre_?process|post_?process|preprocessing|load|checkpoint|ckpt|state_?dict|infer"
    r"|inference|generate|reorder|collate|visuali[sz]e|plot|export|eval|evaluate|evaluation|test"
    r"|search"
    r"|process_data|collect)(?:_|$)"
)
_APART_CLASS = re.compile(
    r"(?:Image|Video|Pre|Post|pre|post)Process|Pipeline|Dataset|BeamSearch|(?:Image|Video)Predictor"
)


def stops(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a context manager or decorator turns gradients off: ``torch.no_grad()``."""
    function = node.func if isinstance(node, cst.Call) else node
    name = module.qualified_name(function)
    if name in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
        return isinstance(node, cst.Call) and (
            module.literal(module.argument(node, "mode", 0)) is False
        )
    return name in _STOPPING


def are_unlikely(module: Module, node: cst.CSTNode) -> bool:
    """Whether the names around some code say that nothing is trained there.

    Preprocessing and postprocessing, inference.
    """
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef) and _APART.search(above.name.value):
            return True
        if isinstance(above, cst.ClassDef) and is_apart(above.name.value):
            return True
    return False


def is_apart(name: str) -> bool:
    """Whether a class by that name gets data ready, or runs a trained model."""
    return _APART_CLASS.search(name) is not None

"""Code and tensors that have no gradient by their names, as far as anybody names them so."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# What a loss compares with, and pictures as a loader gives them. Not those called real, which
# gradient penalties differentiate.
_TARGET = re.compile(
    r"(?:^|_)(?:gt|ground_?truth|label|target|tgt|teacher)s?$|^(?:gt|target|tgt|teacher)_"
    r"|^(?:orig|original|raw|ref|src|source)_(?:frame|image|img)s?$"
)
_BATCH = re.compile(r"^(?:batch|data|example|sample)s?$")
_LOADED = re.compile(r"^(?:frame|gt|image|img|label|mask|segmentation|target|video)s?$")
_LOADER = re.compile(r"(?:^|_)(?:data)?loaders?(?:_|$)|loader$", re.IGNORECASE)
# A reference beside a kernel of its own, for where that cannot run.
_REFERENCE = re.compile(r"_(?:naive|py|python|pytorch|ref|reference|torch)$")
_KERNEL = re.compile(r"^class[ \t]+\w+\([ \t]*(?:[\w.]+\.)?Function[ \t]*\)", re.MULTILINE)


def is_reference(module: Module, node: cst.CSTNode) -> bool:
    """Whether code is what a kernel, which its file wraps, is compared with or replaced by on
    the CPU: ``def deform_attn_pytorch(…)``."""
    function = module.enclosing_function(node)
    return (
        isinstance(function, cst.FunctionDef)
        and _REFERENCE.search(function.name.value) is not None
        and _KERNEL.search(module.source.text) is not None
    )


def is_target(module: Module, node: cst.CSTNode | None) -> bool:
    """Whether a tensor is what a function is given to compare with: a parameter ``target``,
    ``batch["image"]``, or ``f_t`` beside ``f_s``, the teacher's features and the student's."""
    while not isinstance(node, cst.Name):
        if isinstance(node, cst.Subscript) and is_loaded(module, node):
            return True
        if isinstance(node, (cst.Subscript, cst.Attribute)):
            node = node.value
        elif isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
            node = node.func.value
        else:
            return False
    kinds = [each.kind for each in module.names.visible(node)]
    if kinds == ["loop"]:
        origin = module.names.visible(node)[0].node
        return isinstance(origin, cst.Name) and is_target(module, origin)
    if "parameter" not in kinds:
        return False
    return is_called_target(node.value) or _is_of_teacher(module, node)


def is_called_target(name: str) -> bool:
    """Whether a parameter is what a loss compares with, by its name."""
    return _TARGET.search(name) is not None


def is_loader(name: str) -> bool:
    """Whether a name is that of something that gives data: ``train_loader``."""
    return _LOADER.search(name) is not None


def is_loaded(module: Module, node: cst.Subscript) -> bool:
    """``batch["image"]``: what a loader gives."""
    key = node.slice[0].slice
    literal = module.literal(key.value) if isinstance(key, cst.Index) else None
    named = isinstance(node.value, cst.Name) and _BATCH.search(node.value.value)
    return bool(named) and isinstance(literal, str) and _LOADED.search(literal) is not None


def _is_of_teacher(module: Module, name: cst.Name) -> bool:
    function = module.enclosing_function(name)
    if not name.value.endswith("_t") or not isinstance(function, cst.FunctionDef):
        return False
    student = f"{name.value[:-1]}s"
    return any(each.name.value == student for each in function.params.params)

"""Where no gradient is recorded, so that what a call returns has no backward."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from detlint.analysis.kept_modules import kept_in
from detlint.analysis.text_places import function_of
from detlint.layout import layout_of
from detlint.mentions import mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_STOPPING = frozenset(
    f"torch.{place}{name}"
    for place in ("", "autograd.", "autograd.grad_mode.")
    for name in ("no_grad", "inference_mode")
)
_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
_DETACHED = frozenset({"data", "detach"})
ENDING = _DETACHED | frozenset(
    {"argmax", "argmin", "argsort", "bool", "int", "item", "long", "numpy", "tolist"}
)
_DATA = frozenset({"torch.from_numpy", "torch.tensor", "torch.as_tensor", "torch.load"})
# By name: code that gets data or weights ready, or that runs a trained model.
_APART = re.compile(
    r"(?:^|_)(?:pre_?process|post_?process|preprocessing|load|checkpoint|ckpt|state_?dict|infer"
    r"|inference|generate|reorder|collate|visuali[sz]e|plot|export|eval|evaluate|evaluation|test"
    r"|search"
    r"|process_data|collect)(?:_|$)"
)
_ANSWERS = re.compile(r"(?:^|_)predict(?:_|$)")
# A file, or the folder that it lies in. Not a search: that may be for an architecture.
_APART_FILE = re.compile(
    r"(?:^|_)(?:pre_?process|post_?process|preprocessing|process_data|infer|inference|export"
    r"|extract|beam_search|visuali[sz]e|marching_cubes)(?:_|$)"
    r"|^(?:feature_extraction|image_processing|video_processing)_"
)
_EVALUATES = frozenset({"eval", "evaluate", "evaluation", "evaluator"})  # or one above that
_APART_CLASS = re.compile(
    r"(?:Image|Video|Pre|Post|pre|post)Process|Pipeline|Dataset|BeamSearch|(?:Image|Video)Predictor"
)
_OFF = re.compile(r"\ntorch\.(?:autograd\.)?set_grad_enabled\((?:mode=)?False\)")
_OFF_WORDS = ("no_grad", "inference_mode")
_FAR = 1500  # decorators, which may hold texts
_LOADS = re.compile(r"state_?dict|checkpoint_model|\bckpt\b")


def stops(module: Module, node: cst.BaseExpression) -> bool:
    """Whether a context manager or decorator turns gradients off: ``torch.no_grad()``."""
    function = node.func if isinstance(node, cst.Call) else node
    name = module.qualified_name(function)
    if name in ("torch.set_grad_enabled", "torch.autograd.set_grad_enabled"):
        return isinstance(node, cst.Call) and (
            module.literal(module.argument(node, "mode", 0)) is False
        )
    return name in _STOPPING


def are_off(module: Module, node: cst.CSTNode) -> bool:
    """Whether code runs where gradients are off: in such a block, function or method.

    So is all that a custom ``torch.autograd.Function`` calls: its own backward is used.
    """
    for above in module.ancestors(node):
        if type(above) is cst.With:  # isinstance asks an abstract base class
            if any(stops(module, item.item) for item in above.items):
                return True
        elif type(above) is cst.FunctionDef:
            if any(stops(module, each.decorator) for each in above.decorators):
                return True
            owner = module.parent(module.parent(above) or above)
            if isinstance(owner, cst.ClassDef) and any(
                module.qualified_name(base.value) in _FUNCTIONS for base in owner.bases
            ):
                return True
    return False


def are_unlikely_in(module: Module) -> bool:
    """Whether the name of the file, or of its folder, says that nothing is trained there, or
    the file turns gradients off as it is loaded."""
    folder, name = os.path.split(module.source.path)
    parts = (os.path.splitext(name)[0], os.path.basename(folder))
    above = os.path.basename(os.path.dirname(folder))
    return (
        any(_APART_FILE.search(part) for part in parts)
        or not _EVALUATES.isdisjoint((*parts, above))
        or _OFF.search(module.source.text) is not None
    )


def are_unlikely(module: Module, node: cst.CSTNode) -> bool:
    """Whether the names around some code say that nothing is trained there.

    Preprocessing and postprocessing, loading weights, inference.
    """
    if _loads(module, node):
        return True
    for above in module.ancestors(node):
        if isinstance(above, cst.FunctionDef) and _APART.search(above.name.value):
            return True
        if isinstance(above, cst.ClassDef) and is_apart(above.name.value):
            return True
    return False


def answers(module: Module, node: cst.CSTNode) -> bool:
    """Whether code runs a trained model, by the names around it."""
    functions = (each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef))
    return are_unlikely(module, node) or any(_ANSWERS.search(each.name.value) for each in functions)


def _loads(module: Module, node: cst.CSTNode) -> bool:
    """Whether the function around a node says, in code or docstring, that it loads weights."""
    layout = layout_of(module.source.text)  # docstrings are not parsed
    around = function_of(layout.text, module.span(node)[0])
    found = _LOADS.finditer(layout.text, *around) if around is not None else ()
    spans = (layout.at(each.start()) for each in found)
    return any(span is None or span.kind != "comment" for span in spans)


def is_apart(name: str) -> bool:
    """Whether a class by that name gets data ready, or runs a trained model."""
    return _APART_CLASS.search(name) is not None


def is_detached(module: Module, node: cst.CSTNode | None) -> bool:
    """Whether a tensor is data, or cut off from what it was computed from: ``x.detach()``."""
    while node is not None:
        node = module.names.value_of(node)
        if module.called(node) in _DATA:
            return True
        function = node.func if isinstance(node, cst.Call) else node
        if isinstance(node, cst.Subscript):
            node = node.value
            continue
        if not isinstance(function, cst.Attribute):
            return False
        if function.attr.value in _DETACHED:
            return True
        node = function.value
    return False


def is_dropped(module: Module, call: cst.Call) -> bool:
    """Whether the gradient of what a call returns goes nowhere: ``f(x).clone().detach()``.

    Nor has a call one that writes to ``out``.
    """
    if module.argument(call, "out") is not None:
        return True
    node: cst.CSTNode = call
    while isinstance(attribute := module.parent(node), cst.Attribute):
        if attribute.attr.value in ENDING:
            return True
        above = module.parent(attribute)
        node = above if isinstance(above, cst.Call) and above.func is attribute else attribute
    return isinstance(node, cst.Call) and isinstance(module.parent(node), cst.Comparison)


def are_off_for(module: Module, made: cst.Call) -> bool:
    """Whether every use of a module that a call makes lies where gradients are off.

    A local, or an attribute of ``self``, whose uses all can be seen.
    """
    target = kept_in(module, made)
    if isinstance(target, cst.Name):
        uses: list[tuple[Module, cst.CSTNode]] = [
            (module, each)
            for each in module.tree.occurrences.get(target.value, [])
            if not isinstance(module.parent(each), cst.AssignTarget)
            and module.enclosing_function(each) is module.enclosing_function(target)
        ]
        return module.enclosing_function(target) is not None and _all_off(uses)
    if isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name):
        return target.value.value == "self" and _all_off(list(_uses_of_attribute(module, target)))
    return False


def speaks_of(text: str, function: tuple[int, int], words: tuple[str, ...]) -> bool:
    """Whether a function, by where it stands, or what is above its head has one of some words."""
    start = max(function[0] - _FAR, 0)
    return any(mentions(text, each, start, function[1]) for each in words)


def _may_be_off(text: str, place: int) -> bool:
    around = function_of(text, place)
    return around is not None and speaks_of(text, around, _OFF_WORDS)


def _all_off(uses: list[tuple[Module, cst.CSTNode]]) -> bool:
    return bool(uses) and all(are_off(module, node) for module, node in uses)


def _uses_of_attribute(
    module: Module, target: cst.Attribute
) -> Iterator[tuple[Module, cst.CSTNode]]:
    """Where the class reads an attribute; in the source, since methods may be narrowed away."""
    owner, text = module.enclosing_class(target), module.source.text
    if owner is None or not any(each in text for each in _OFF_WORDS):
        return
    name = target.attr.value
    places = mentions(text, f"self.{name}")
    around = module.around(places) if any(_may_be_off(text, each) for each in places) else None
    if around is None:
        return
    for each in around.tree.occurrences.get(name, []):
        read = around.parent(each)
        inside = around.enclosing_class(each)
        if not isinstance(read, cst.Attribute) or read.attr is not each or inside is None:
            continue
        if inside.name.value == owner.name.value and not isinstance(
            around.parent(read), cst.AssignTarget
        ):
            yield around, read

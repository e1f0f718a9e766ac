"""Whether a function is there for a model's answers alone, by what it needs and who asks for it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.layout import layout_of
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# A cache of keys and values by its name; not `use_cache`, `cache_position` or `rope_cache`.
_CACHE = re.compile(
    r"(?:^|_)(?:kv|k|v|keys?|values?|key_values?)_?caches?$|^past_?(?:k(?:ey|v)|key_values?)|^layer_past$"
)
_ANSWERS = re.compile(
    r"(?:^|_)(?:eval|evaluate|evaluation|infer|inference|decod(?:e|ing)|generat\w+)(?:_|$)"
)


def only_answers(module: Module, node: cst.CSTNode) -> bool:
    """Whether the functions around a node only run where a model answers."""
    above = [each for each in module.ancestors(node) if isinstance(each, cst.FunctionDef)]
    return any(_needs_cache(module, each) for each in above) or (
        bool(above) and _is_asked_for_answers(module, above[-1])
    )


def _needs_cache(module: Module, function: cst.FunctionDef) -> bool:
    """Whether a function takes a cache, and does not run without: ``kv_cache.put(keys)`` on no
    condition."""
    parameters = function.params
    every = (*parameters.posonly_params, *parameters.params, *parameters.kwonly_params)
    names = {each.name.value for each in every if _CACHE.search(each.name.value)}
    if names:
        names -= set(_bound(module, function))  # as where it is made if there is none
    return any(
        isinstance(each, (cst.Attribute, cst.Subscript))
        and isinstance(each.value, cst.Name)
        and each.value.value in names
        and _always_runs(module, each, function)
        for each in (module.tree.descendants(function.body) if names else ())
    )


def _bound(module: Module, function: cst.FunctionDef) -> Iterator[str]:
    for each in module.tree.descendants(function.body):
        if isinstance(each, cst.AssignTarget) and isinstance(each.target, cst.Name):
            yield each.target.value


def _always_runs(module: Module, node: cst.CSTNode, function: cst.FunctionDef) -> bool:
    choices = (cst.If, cst.IfExp, cst.BooleanOperation, cst.Try, cst.While)
    for each in module.ancestors(node):
        if each is function:
            return True
        if isinstance(each, (*choices, cst.FunctionDef, cst.Lambda)):
            return False
    return False


def _is_asked_for_answers(module: Module, function: cst.FunctionDef) -> bool:
    """Whether only functions by the name of evaluation or inference name a function of the file:
    ``def enable_for_eval(model): model.forward = function``."""
    name, text = function.name.value, module.source.text
    if module.enclosing_class(function) is not None:
        return False
    mentions = [each.start() for each in re.finditer(rf"(?<!def )\b{name}\b", text)]
    layout = layout_of(text)
    asking = [each for each in mentions if not layout.hides(each)]
    blocks = [
        (each.start, each.end)
        for each in layout.top
        if each.kind == "def" and _ANSWERS.search(each.name)
    ]
    return bool(asking) and all(
        any(start <= place < end for start, end in blocks) for place in asking
    )

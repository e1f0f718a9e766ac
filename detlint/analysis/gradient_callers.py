"""Functions that a file calls only where no gradient is recorded, or not on a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.gradients import are_off, speaks_of
from detlint.analysis.placement import is_off_gpu
from detlint.analysis.private_calls import file_calls, is_private
from detlint.analysis.text_places import function_of, name_of
from detlint.mentions import is_head, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_CALLS = 2  # from a function without gradients to the one that is asked about
_OFF = ("no_grad", "inference_mode", "is_available", "is_cuda")


def are_off_for_callers(module: Module, node: cst.CSTNode, depth: int = 0) -> bool:
    """Whether a function or private method is called in its file, and there only where gradients
    are off. A public one may be imported, by those who use it likewise."""
    function = module.enclosing_function(node)
    if depth > _CALLS or not isinstance(function, cst.FunctionDef):
        return False
    name, text = function.name.value, module.source.text
    known = is_private(name) or (
        module.parent(module.parent(function) or function) is None
        and not (f'"{name}"' in text or f"'{name}'" in text)
    )
    if not known or not _may_be_off(text, name):
        return False
    calls = list(file_calls(module, function))
    return bool(calls) and all(
        call is not None
        and (
            are_off(definition.module, call)
            or is_off_gpu(definition.module, call)
            or are_off_for_callers(definition.module, call, depth + 1)
        )
        for definition, call in calls
    )


def _may_be_off(text: str, name: str, depth: int = 0) -> bool:
    """Whether the text around each mention of a function, or above its head, speaks of gradients
    being off, or is another private function of that kind: told before anything is parsed."""
    if depth > _CALLS or not any(each in text for each in _OFF):
        return False
    for mention in mentions(text, name):
        if not is_head(text, mention):
            around = function_of(text, mention)
            if around is None:
                return False
            if not speaks_of(text, around, _OFF):
                caller = name_of(text, around)
                if caller is None or not is_private(caller):
                    return False
                if not _may_be_off(text, caller, depth + 1):
                    return False
    return True

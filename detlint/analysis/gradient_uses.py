"""What becomes of what an operator gives: whether a backward can go through it at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.gradients import ENDING, is_dropped
from detlint.analysis.kept_modules import kept_in
from detlint.analysis.reads import Reads
from detlint.layout import Layout
from detlint.lexer import whole_word
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Read of a result beside what ends its gradient, these need none.
_MEASURES = frozenset({"device", "dim", "dtype", "is_cuda", "ndim", "numel", "shape", "size"})
_FEW = 5  # mentions of a name, some of which may stand in comments
_RUNS = re.compile(r"^(?:for|while|with)\b|__name__\s*==", re.MULTILINE)


def is_cut_off(module: Module, call: cst.Call) -> bool:
    """Whether what a call returns is read only where no gradient comes back: ``x.data``."""
    if is_dropped(module, call):
        return True
    assignment = module.parent(call)
    if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1:
        return False
    target = assignment.targets[0].target
    if not isinstance(target, cst.Name) or module.enclosing_function(target) is None:
        return False
    loads = list(Reads(module).reached(target, assignment))
    reads = [above.attr.value for each in loads if (above := _attribute(module, each)) is not None]
    return (
        len(reads) == len(loads)
        and ENDING.issuperset(set(reads) - _MEASURES)
        and any(each in ENDING for each in reads)
    )


def _attribute(module: Module, name: cst.Name) -> cst.Attribute | None:
    above = module.parent(name)
    return above if isinstance(above, cst.Attribute) and above.value is name else None


def is_never_used(module: Module, made: cst.Call) -> bool:
    """Whether a module that a call makes is bound to a name that nothing in the file mentions
    again: a local, a variable of a script."""
    target, text = kept_in(module, made), module.source.text
    if not isinstance(target, cst.Name):
        return False
    function = module.enclosing_function(target)
    if function is not None:
        alike = (each for each in module.tree.descendants(function) if isinstance(each, cst.Name))
        return sum(each.value == target.value for each in alike) == 1
    script = isinstance(module.bindings.scope_of[target].node, cst.Module)
    return script and _RUNS.search(text) is not None and _is_mentioned_once(text, target.value)


def _is_mentioned_once(text: str, name: str) -> bool:
    mentions = [match.start() for match in whole_word(name).finditer(text)]
    if len(mentions) == 1 or len(mentions) > _FEW:
        return len(mentions) == 1
    layout = Layout(text)
    return sum(not layout.hides(each) for each in mentions) == 1

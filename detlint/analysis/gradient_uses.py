"""What becomes of what an operator gives: whether a backward can go through it at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.gradients import ENDING, is_dropped
from detlint.analysis.kept_modules import kept_in
from detlint.analysis.private_calls import file_calls
from detlint.analysis.reads import Reads
from detlint.layout import layout_of
from detlint.mentions import calls, mentions
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Read of a result beside what ends its gradient, these need none.
_MEASURES = frozenset({"device", "dim", "dtype", "is_cuda", "ndim", "numel", "shape", "size"})
# They give values and the places of these.
_PLACED = frozenset({"max", "min", "median", "mode", "sort", "topk", "kthvalue"})
_SELECTIONS = frozenset(f"torch.{name}" for name in _PLACED)
_LEAVES = frozenset({"torch.nn.Parameter", "torch.nn.parameter.Parameter"})
_RETURNS = 2  # functions through which a result is handed back
_FARTHEST = 40  # steps from an operator to where a gradient ends
_FEW = 5  # mentions of a name, some of which may stand in comments
_FORWARD = re.compile(r"^[ \t]+def[ \t]+(?:forward|__call__)\(", re.MULTILINE)
_ASKS = re.compile(r"\bgetattr\(|\bself\.(?:_modules|(?:named_)?(?:children|modules)\()")
_LEAF = re.compile(r"\.data[ \t]*=[^=]")
_RUNS = re.compile(r"^(?:for|while|with)\b|__name__\s*==", re.MULTILINE)


def is_cut_off(module: Module, call: cst.Call) -> bool:
    """Whether what a call returns is read only where no gradient comes back: ``x.data``,
    ``x.max(dim=1)[1]``, ``x > 0``."""
    return is_dropped(module, call) or _Ends(module).end(call) is True


class _Ends:
    """Follows a tensor through expressions and locals to where its gradient ends.

    True: at such a place; False: not, or out of sight; None: only its size or type was asked for.
    """

    def __init__(self, module: Module, returns: int = _RETURNS) -> None:
        self._module = module
        self._returns = returns
        self._reads = Reads(module)
        self._steps = _FARTHEST

    def end(self, node: cst.CSTNode) -> bool | None:
        """How the gradient of an expression ends in what it stands in."""
        self._steps -= 1
        above = self._module.parent(node)
        if self._steps < 0 or above is None:
            return False
        if isinstance(above, cst.Comparison):
            return True
        if isinstance(above, cst.Attribute):
            return self._of_attribute(above)
        if isinstance(above, cst.Arg):
            return self._of_argument(above)
        if isinstance(above, cst.Assign):
            return self._of_assignment(above)
        return self._of_function(above) if isinstance(above, cst.Return) else self._of_part(above)

    def _of_part(self, above: cst.CSTNode) -> bool | None:
        kept = (cst.BinaryOperation, cst.UnaryOperation, cst.IfExp, cst.Subscript)
        listed = (cst.Element, cst.List, cst.Tuple)
        return self.end(above) if isinstance(above, (*kept, *listed)) else False

    def _of_attribute(self, attribute: cst.Attribute) -> bool | None:
        name, call = attribute.attr.value, self._module.parent(attribute)
        if name in _MEASURES:
            return None
        if name in ENDING:
            return True
        if not isinstance(call, cst.Call) or call.func is not attribute:
            return self.end(attribute) if name in ("T", "mT", "values") else False
        if name in _PLACED and call.args:
            return self._of_places(call)
        return self.end(call)

    def _of_function(self, statement: cst.Return) -> bool | None:
        """Of what a function returns, by all the calls of it in the file."""
        function = self._module.enclosing_function(statement)
        if self._returns == 0 or not isinstance(function, cst.FunctionDef):
            return False
        if not _has_leaves(self._module.source.text):
            return False
        found = [
            call is not None and _Ends(definition.module, self._returns - 1).end(call)
            for definition, call in file_calls(self._module, function)
        ]
        if not found or False in found:
            return False
        return True if True in found else None

    def _of_argument(self, argument: cst.Arg) -> bool | None:
        """Of what a function is given: it computes with it, or only shows it."""
        call = self._module.parent(argument)
        owner, _, name = (self._module.called(call) or "").rpartition(".")
        if not isinstance(call, cst.Call):
            return False
        if f"{owner}.{name}" in _LEAVES:
            return True  # a new leaf
        if owner == "torchvision.utils" or (owner.startswith("torch") and name in ENDING):
            return True
        if f"{owner}.{name}" in _SELECTIONS and len(call.args) > 1:
            return self._of_places(call)
        return self.end(call) if owner in ("torch", "torch.nn.functional") else False

    def _of_places(self, call: cst.Call) -> bool | None:
        """Of ``values, places = x.max(dim=1)``, where only the places are used: they have none."""
        above = self._module.parent(call)
        if isinstance(above, cst.Attribute):
            return above.attr.value == "indices" or self.end(above)
        if isinstance(above, cst.Subscript):
            index = above.slice[0].slice
            second = isinstance(index, cst.Index) and self._module.literal(index.value) == 1
            return second or self.end(above)
        targets = above.targets if isinstance(above, cst.Assign) else ()
        parts = targets[0].target if len(targets) == 1 else None
        if not isinstance(parts, cst.Tuple) or not isinstance(above, cst.Assign):
            return False
        values = parts.elements[0].value
        return isinstance(values, cst.Name) and not any(self._reads.reached(values, above))

    def _of_assignment(self, assignment: cst.Assign) -> bool | None:
        """Of a local, all of whose reads end it."""
        target = assignment.targets[0].target
        if isinstance(target, cst.Attribute) and target.attr.value == "data":
            return True
        local = isinstance(target, cst.Name) and len(assignment.targets) == 1
        if not isinstance(target, cst.Name) or not local:
            return False
        if self._module.enclosing_function(target) is None:
            return False
        found = [self.end(each) for each in self._reads.reached(target, assignment)]
        return False if False in found else (True if True in found else None)


def _has_leaves(text: str) -> bool:
    """Whether a file makes tensors of their own of what was computed."""
    return any(calls(text, "Parameter")) or _LEAF.search(text) is not None


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
    script = isinstance(module.bindings.scope_of(target).node, cst.Module)
    return script and _RUNS.search(text) is not None and _is_mentioned_once(text, target.value)


def is_never_read(module: Module, target: cst.Attribute) -> bool:
    """Whether nothing in the file reads the attribute of a class that has a ``forward``."""
    text, layout = module.source.text, layout_of(module.source.text)
    start, _ = module.span(target)
    owner = next((each for each in layout.top if each.start <= start < each.end), None)
    if owner is None or owner.kind != "class" or "Sequential" in owner.bases:
        return False
    if not _FORWARD.search(text, owner.start, owner.end) or _ASKS.search(
        text, owner.start, owner.end
    ):
        return False
    return _is_mentioned_once(text, target.attr.value)


def _is_mentioned_once(text: str, name: str) -> bool:
    places = mentions(text, name)
    if len(places) == 1 or len(places) > _FEW:
        return len(places) == 1
    layout = layout_of(text)
    return sum(not layout.hides(each) for each in places) == 1

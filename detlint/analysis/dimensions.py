"""How many dimensions a tensor has at least, as far as source shows."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.reads import Reads
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_DEEPEST = 20
# They give a tensor of as many dimensions.
_KEEPING = words(
    """
    abs bfloat16 clamp clone contiguous cpu cuda detach double exp float half log log_softmax long
    neg relu sigmoid softmax tanh to type type_as
    """
)
_SIZED = words("zeros ones rand randn empty")
# What these give has as many, without a batch one less, which is as they take it.
_GIVING = {
    **dict.fromkeys(("interpolate", "upsample", "conv2d", "conv_transpose2d"), 3),
    **dict.fromkeys(("max_pool2d", "avg_pool2d", "pixel_shuffle"), 3),
    **dict.fromkeys(("conv3d", "conv_transpose3d", "upsample_bilinear", "grid_sample"), 4),
}
_MODES = {"bilinear": 4, "bicubic": 4, "trilinear": 5}
_SWAPS = words("transpose swapaxes swapdims movedim moveaxis")
_PATTERN = re.compile(r"\([^()]*\)|\S+")


class Dimensions:
    """Answers about the tensors of one module; 0 where nothing is known."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._reads = Reads(module)
        self._depth = 0

    def of(self, node: cst.CSTNode | None) -> int:
        """How many dimensions a tensor has at least."""
        if node is None or self._depth > _DEEPEST:
            return 0
        self._depth += 1
        try:
            if isinstance(node, cst.Name):
                return self._of_shape(node) or self._of_name(node)
            if isinstance(node, cst.IfExp):
                return min(self.of(node.body), self.of(node.orelse))
            if isinstance(node, cst.Subscript):
                return self._of_part(node)
            return self._of_call(node) if isinstance(node, cst.Call) else 0
        finally:
            self._depth -= 1

    def _of_part(self, part: cst.Subscript) -> int:
        """``x[:, :, 1:]`` has what it is sliced in, and what ``x`` has."""
        slices = [isinstance(each.slice, cst.Slice) for each in part.slice]
        return max(len(slices), self.of(part.value)) if all(slices) else 0

    def _of_name(self, name: cst.Name) -> int:
        """Of a local, by the assignments that are seen where it is read."""
        value = self._module.names.value_of(name)
        if not isinstance(value, cst.Name):
            return self.of(value)
        kinds = {each.kind for each in self._module.names.visible(name)}
        if not self._reads.stores(name) or not kinds <= {"value", "parameter"}:
            return 0
        if "parameter" in kinds and not self._reads.hides_parameter(name):
            return 0
        values = [getattr(each, "value", None) for each in self._reads.reaching(name)]
        return min(map(self.of, values), default=0)

    def _of_shape(self, name: cst.Name) -> int:
        """By what the function asks of the same tensor: ``b, c, h, w = x.shape``, ``x.size(3)``."""
        function, known = self._module.enclosing_function(name), 0
        for each in self._module.tree.occurrences.get(name.value, []):
            asked = self._asked(each)
            if (
                asked > known
                and self._module.enclosing_function(each) is function
                and self._reads.dominates(each, name)
                and self._reads.reaching(each) == self._reads.reaching(name)
            ):
                known = asked
        return known

    def _asked(self, name: cst.Name) -> int:
        """How many dimensions there have to be for what is done with a tensor's shape."""
        shape = self._module.parent(name)
        if not isinstance(shape, cst.Attribute) or shape.attr.value not in ("shape", "size"):
            return 0
        above = self._module.parent(shape)
        if isinstance(above, cst.Subscript) and above.value is shape:
            return self._asked_of_part(above)
        if not isinstance(above, cst.Call) or above.func is not shape:
            return self._taken_apart(shape)
        index = self._module.literal(above.args[0].value) if above.args else None
        return _up_to(index) or (0 if above.args else self._taken_apart(above))

    def _asked_of_part(self, part: cst.Subscript) -> int:
        """``x.shape[3]``, ``height, width = x.shape[2:]``."""
        index = part.slice[0].slice
        if isinstance(index, cst.Index):
            return _up_to(self._module.literal(index.value))
        if not isinstance(index, cst.Slice):
            return 0
        skipped = 0 if index.lower is None else self._module.literal(index.lower)
        known = isinstance(skipped, int) and index.upper is None and index.step is None
        parts = self._taken_apart(part) if known else 0
        return parts + max(skipped, 0) if parts and isinstance(skipped, int) else 0

    def _taken_apart(self, node: cst.CSTNode) -> int:
        """Into how many names an assignment takes a shape apart."""
        assignment = self._module.parent(node)
        if not isinstance(assignment, cst.Assign) or len(assignment.targets) != 1:
            return 0
        target = assignment.targets[0].target
        parts = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
        return sum(isinstance(each, cst.Element) for each in parts)

    def _of_call(self, call: cst.Call) -> int:
        owner, _, name = (self._module.called(call) or "").rpartition(".")
        if owner == "einops":
            return _of_pattern(self._module.literal(self._module.argument(call, "pattern", 1)))
        if owner == "torch" and name in _SIZED:
            return _arguments(call)
        if owner == "torch.nn.functional" and name in _GIVING:
            mode = self._module.literal(self._module.argument(call, "mode", 3))
            return _MODES.get(mode, _GIVING[name]) if isinstance(mode, str) else _GIVING[name]
        if owner.startswith("torch"):
            return self._made_of(call, name, self._module.argument(call, "input", 0), 1)
        if owner or not isinstance(call.func, cst.Attribute):
            return 0
        return self._made_of(call, call.func.attr.value, call.func.value, 0)

    def _made_of(
        self, call: cst.Call, name: str, tensor: cst.BaseExpression | None, skipped: int
    ) -> int:
        """``x.permute(0, 2, 1)``, ``x.transpose(1, 2)``, ``x.view(b, c, -1)``; ``skipped`` is
        how many arguments come before those that a method has."""
        if name in ("permute", "view", "reshape"):
            return _arguments(call, skipped)
        if name in _KEEPING or name == "unsqueeze":
            return self.of(tensor) + (name == "unsqueeze")
        given = [each.value for each in call.args if each.keyword is None][skipped:]
        if name in _SWAPS and len(given) == len(("one", "other")):
            axes = [_up_to(self._module.literal(each)) for each in given]
            return max(*axes, self.of(tensor)) if all(axes) else 0
        return 0


def _up_to(axis: object) -> int:
    """How many dimensions there have to be for an axis."""
    return 0 if type(axis) is not int else axis + 1 if axis >= 0 else -axis


def _arguments(call: cst.Call, skipped: int = 0) -> int:
    """How many sizes are given, one by one or as a sequence."""
    if any(each.star or each.keyword is not None for each in call.args):
        return 0
    given = [each.value for each in call.args][skipped:]
    if len(given) == 1 and isinstance(given[0], (cst.Tuple, cst.List)):
        elements = given[0].elements
        return 0 if any(isinstance(e, cst.StarredElement) for e in elements) else len(elements)
    return len(given)


def _of_pattern(pattern: object) -> int:
    if not isinstance(pattern, str) or "->" not in pattern:
        return 0
    return len([each for each in _PATTERN.findall(pattern.partition("->")[2]) if each != "..."])

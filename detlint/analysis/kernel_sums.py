"""Whether a sum in a Triton kernel depends on the values that its configurations vary."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.kernel_shapes import Axis, Shapes, names
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_DOTS = frozenset({"dot", "dot_scaled"})
_WHOLE = frozenset({"int1", "int8", "int16", "int32", "int64", "uint8", "uint32", "uint64"})


class Sums:
    """The products and loops of a kernel, next to the parameters that vary."""

    def __init__(self, module: Module, kernel: cst.FunctionDef, varied: frozenset[str]) -> None:
        self._module = module
        self._kernel = kernel
        self._varied = varied
        self._shapes = Shapes(module, kernel)

    def split_differently(self, dot: cst.Call) -> bool:
        """Whether the axis that a ``tl.dot`` sums over, or the loop around it, can vary."""
        if is_whole(dot):
            return False
        axis = self._summed(dot)
        return axis is None or self._varies(axis) or self._is_added_in_varied_rounds(dot)

    def _varies(self, found: Axis) -> bool:
        return not self._varied.isdisjoint(self._shapes.behind(found))

    def _summed(self, dot: cst.Call) -> Axis | None:
        """The names that the length of the summed axis is made of."""
        operands = [
            self._module.argument(dot, keyword, place)
            for place, keyword in enumerate(("input", "other"))
        ]
        left, right = (self._shapes.of(each) for each in operands)
        found: list[Axis] = []
        if left is not None and len(left) >= 2:
            found.append(left[-1])
        if right is not None and len(right) >= 2:
            found.append(right[-2])
        return frozenset().union(*found) if found else None

    def _is_added_in_varied_rounds(self, dot: cst.Call) -> bool:
        sums = self._shapes.made_of(dot)
        for loop in self._module.ancestors(dot):
            if loop is self._kernel:
                return False
            if (
                isinstance(loop, (cst.For, cst.While))
                and self._sums(loop, sums)
                and self._varies(names(_rounds(loop)))
            ):
                return True
        return False

    def _sums(self, loop: cst.For | cst.While, sums: Axis) -> bool:
        """Whether one of some names that a loop adds to is not started anew in each round."""
        increased = sums.intersection(self._increased(loop))
        return any(not self._is_started(name, loop) for name in increased)

    def _increased(self, loop: cst.For | cst.While) -> Iterator[str]:
        for each in self._module.tree.descendants(loop.body):
            if isinstance(each, cst.AugAssign) and isinstance(each.target, cst.Name):
                if isinstance(each.operator, (cst.AddAssign, cst.SubtractAssign)):
                    yield each.target.value
            elif isinstance(each, cst.Assign) and isinstance(each.targets[0].target, cst.Name):
                name = each.targets[0].target.value
                if self._adds(name, each.value):
                    yield name

    def _adds(self, name: str, value: cst.CSTNode) -> bool:
        """``acc + x``, ``acc * scale + x``, ``tl.dot(a, b, acc)``."""
        for each in self._module.tree.descendants(value):
            if isinstance(each, cst.BinaryOperation) and isinstance(
                each.operator, (cst.Add, cst.Subtract)
            ):
                if name in names(each):
                    return True
            elif (
                isinstance(each, cst.Call)
                and self._shapes.operation(each) in _DOTS
                and any(name in names(argument) for argument in each.args[2:])
            ):
                return True
        return False

    def _is_started(self, name: str, loop: cst.For | cst.While) -> bool:
        return any(
            isinstance(each, cst.Assign)
            and isinstance(each.targets[0].target, cst.Name)
            and each.targets[0].target.value == name
            and name not in names(each.value)
            for each in self._module.tree.descendants(loop.body)
        )


def is_whole(call: cst.Call) -> bool:
    """Whether a call visibly adds whole numbers: ``tl.sum(x.to(tl.int32))``, a comparison."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value in ("out_dtype", "dtype"):
            return _is_whole_type(argument.value)
    value = call.args[0].value if call.args else None
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Attribute):
        return value.func.attr.value == "to" and any(_is_whole_type(a.value) for a in value.args)
    return False


def _is_whole_type(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Attribute) and node.attr.value in _WHOLE


def _rounds(loop: cst.For | cst.While) -> cst.BaseExpression:
    return loop.iter if isinstance(loop, cst.For) else loop.test

"""Calls whose values cannot differ, though torch refuses the operator for other calls of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.module import Module

# They give values and the places of these; of equal values, any place may be meant.
_SELECTIONS = frozenset({"torch.median", "torch.kthvalue"})
_REDUCTION = "torch.Tensor.index_reduce_"
_ORDERLESS = frozenset({"amax", "amin"})
# Windows that do not overlap give each input one gradient; averages in steps of one, without
# padding, have a kernel of their own that needs no atomics.
_POOLS = {"AvgPool3d": 0, "avg_pool3d": 1, "MaxPool3d": 0, "max_pool3d": 1}  # where the size is
_DILATION = 3  # arguments after the size
_ONES = (1, 1, 1)
_GRIDS = frozenset({"grid_sample", "grid_sampler"})
_ADAPTIVE_MAXIMUM = "torch.nn.functional.adaptive_max_pool"


def is_same_in_each_run(module: Module, call: cst.Call, found: Match) -> bool:
    """``x.median(dim=1).values``, ``x.index_reduce_(0, index, source, "amax")``, counts of
    ``torch.histc``, ``nn.AvgPool3d(2)``, ``nn.AdaptiveMaxPool2d(1)``,
    ``F.grid_sample(image.detach(), grid)``."""
    if found.derived is not None:
        module, call = found.derived.module, found.derived.call
    if found.row.name == "torch.histc":
        return True  # below 2**24 in a bin, which are exact
    if found.row.direction == "backward":
        return _has_one_gradient(module, call, found)
    if found.row.name in _SELECTIONS:
        return _uses_values_alone(module, call)
    if found.row.name != _REDUCTION:
        return False
    given = [module.literal(each.value) for each in call.args]
    return any(isinstance(each, str) and each in _ORDERLESS for each in given)


def _has_one_gradient(module: Module, call: cst.Call, found: Match) -> bool:
    name = found.form.rpartition(".")[2]
    if found.row.name.startswith(_ADAPTIVE_MAXIMUM):
        return _is_global(module, call, name)
    if name in _GRIDS:
        return _leaves_image(module, call, found)
    return name in _POOLS and not module.has_unpacking(call) and _adds_once(module, call, name)


def _is_global(module: Module, call: cst.Call, name: str) -> bool:
    """``nn.AdaptiveMaxPool2d(1)``: the maximum of all, so that one window gives a gradient."""
    # Not at the top: it imports libcst, which clean files need not.
    from detlint.analysis.sizes import Sizes

    size = module.argument(call, "output_size", int(name.startswith("adaptive")))
    return Sizes(module).other_than_one(size) is False


def _leaves_image(module: Module, call: cst.Call, found: Match) -> bool:
    """Whether only the grid of a sampling can have a gradient, each place of which one thread
    writes; the atomics are for that of the image. What cuDNN does instead is not known."""
    # Not at the top, as above.
    from detlint.analysis.gradient_inputs import has_none

    corners = module.argument(call, "align_corners", 4)
    by_cudnn = corners is not None and module.literal(corners) is not False
    return not by_cudnn and has_none(module, call, found)


def _uses_values_alone(module: Module, call: cst.Call) -> bool:
    above = module.parent(call)
    if isinstance(above, cst.Attribute):
        return above.attr.value == "values"
    if isinstance(above, cst.Subscript):
        index = above.slice[0].slice
        return isinstance(index, cst.Index) and module.literal(index.value) == 0
    target = above.targets[0].target if isinstance(above, cst.Assign) else None
    if isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
        second = target.elements[1].value
        return isinstance(second, cst.Name) and second.value == "_"
    return False


def _adds_once(module: Module, call: cst.Call, name: str) -> bool:
    """Whether no two windows of a pooling overlap, or it averages in steps of one."""
    first = _POOLS[name]
    size = module.argument(call, "kernel_size", first)
    stride = module.argument(call, "stride", first + 1)
    padding = module.argument(call, "padding", first + 2)
    dilation = module.argument(call, "dilation", first + _DILATION)
    sizes = _triple(module, size)
    if sizes == _ONES:
        return True
    is_maximum = name.lower().startswith("max")
    if is_maximum and dilation is not None and _triple(module, dilation) != _ONES:
        return False
    if stride is None or (size is not None and stride.deep_equals(size)):
        return True
    steps = _triple(module, stride)
    if steps == _ONES and not is_maximum:
        return padding is None or _triple(module, padding) == (0, 0, 0)
    if steps is None or sizes is None:
        return False
    return all(step >= length for step, length in zip(steps, sizes, strict=True))


def _triple(module: Module, node: cst.CSTNode | None) -> tuple[int, int, int] | None:
    """A size of three dimensions, for which one number may stand."""
    value = module.literal(node)
    parts = [value] * 3 if isinstance(value, int) else value
    if not isinstance(parts, (list, tuple)) or len(parts) != len(_ONES):
        return None
    first, second, third = parts
    known = isinstance(first, int) and isinstance(second, int) and isinstance(third, int)
    return (first, second, third) if known else None

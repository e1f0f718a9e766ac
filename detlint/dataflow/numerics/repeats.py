"""Callers of operators that give the same in each run, though others of them differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.numerics.dimensions import Dimensions, up_to
from detlint.dataflow.numerics.operator_gradients import may_differ, seems_exact
from detlint.dataflow.numerics.sizes import is_size_of
from detlint.models import operators as rows

if TYPE_CHECKING:
    from detlint.dataflow.ir import Op
    from detlint.dataflow.numerics.operators import Match, Operators
    from detlint.dataflow.unit import Unit

_ONES = (1, 1, 1)


def differs(operators: Operators, found: Match) -> bool:
    """Whether what a call leads to may differ from run to run on a GPU, where it is trained."""
    return may_differ(operators, found) and not (
        is_same_in_each_run(operators, found)
        or operators.indices.is_exact(found)
        or adds_whole_numbers(operators, found)
        or seems_exact(found)
        or scans_rows(found)
    )


def scans_rows(found: Match) -> bool:
    """Whether a scan has several rows, each of which one block goes along, for all that is seen:
    ``torch.zeros(9, 4).cumsum(dim=1)``."""
    tensor = found.input
    if tensor is None or found.row.name not in rows.SCANS:
        return False
    axis = found.argument("dim", 1) or found.decides.given("axis")
    needed = up_to(axis.constant) if axis is not None else 0
    return max(Dimensions(found.call, None).of(tensor), needed) > 1


def is_same_in_each_run(operators: Operators, found: Match) -> bool:
    """``x.median(dim=1).values``, ``x.index_reduce_(0, index, source, "amax")``, counts of
    ``torch.histc``, ``nn.AvgPool3d(2)``, ``nn.AdaptiveMaxPool2d(1)``,
    ``F.grid_sample(image.detach(), grid)``, ``nn.MaxUnpool2d(2)`` of places that differ."""
    name = found.row.name
    if name == rows.COUNTS:
        return True  # below 2**24 in a bin, which are exact
    if found.row.direction == "backward":
        return _has_one_gradient(operators, found)
    if name.startswith(rows.UNPOOLS):
        return _places_differ(operators.unit)
    if name in rows.SELECTIONS:
        # ``x.median(dim=1).values``, ``x.median(dim=1)[0]``, ``values, _ = x.median(dim=1)``.
        return bool(found.call.uses) and all(map(_takes_values, found.call.uses))
    reduce = found.argument("reduce", 4) if name == rows.REDUCTION else None
    return reduce is not None and reduce.constant in rows.ORDERLESS


def _has_one_gradient(operators: Operators, found: Match) -> bool:
    word = found.form.rpartition(".")[2]
    if found.row.name.startswith(rows.ADAPTIVE):
        size = found.decides.given("output_size", int(word.startswith("adaptive")))
        return size is not None and _divides(operators, found, size)
    if word in rows.GRIDS:
        return _leaves_image(operators, found)
    return word in rows.POOLS and not found.decides.unpacks and _adds_once(found.decides, word)


def _places_differ(unit: Unit) -> bool:
    """Whether the windows of no pool of the file that gives the places of its maxima overlap, so
    that none comes twice, and there is one: ``nn.MaxPool2d(2, return_indices=True)``."""
    holding = unit.functions_holding(*rows.MAXIMA)
    calls = [each for function in holding for each in function.all_coded("call")]
    named = [(each, name.rpartition(".")[2]) for each in calls for name in unit.values.called(each)]
    pools = [each for each in named if _gives_places(*each)]
    return bool(pools) and all(
        word in rows.POOLS and not call.unpacks and _adds_once(call, word) for call, word in pools
    )


def _gives_places(call: Op, word: str) -> bool:
    asked = call.given("return_indices", 6 if word[0].islower() else 4)
    told = call.unpacks or (asked is not None and asked.constant is not False)
    return any(each in word for each in rows.MAXIMA) and (told or word.endswith("_indices"))


def _divides(operators: Operators, found: Match, size: Op) -> bool:
    """Whether each size that a pooling gives is 1 or that of its input, so that no two windows
    overlap: ``F.adaptive_avg_pool3d(x, (x.shape[2], 1, None))``."""
    if operators.sizes.other_than_one(size) is False:
        return True
    if size.code not in ("list", "tuple"):
        return False
    return all(
        each.is_none
        or operators.sizes.other_than_one(each) is False
        or (found.input is not None and is_size_of(each, found.input, (n + 2, n - len(size.args))))
        for n, each in enumerate(size.args)  # behind those of the batch and the channels
    )


def _leaves_image(operators: Operators, found: Match) -> bool:
    """Whether only the grid of a sampling can have a gradient, each place of which one thread
    writes; the atomics are for that of the image. What cuDNN does instead is not known."""
    corners = found.call.given("align_corners", 4)
    if corners is not None and corners.constant is not False:
        return False
    image = found.input
    return image is not None and operators.gradients.comes_to(image) in rows.NO_GRADIENT


def _takes_values(use: Op) -> bool:
    if use.code == "attr":
        return bool(use.name == "values")
    if use.code == "unpack":
        return bool(use.name[0] == 0) or not use.uses
    return use.code == "item" and use.args[1].constant == 0


def _adds_once(call: Op, word: str) -> bool:
    """Whether no two windows of a pooling overlap, or it averages in steps of one."""
    first = int(word[0].islower())  # a function is given the input before
    size, stride = call.given("kernel_size", first), call.given("stride", first + 1)
    padding = call.given("padding", first + 2)
    dilation = call.given("dilation", first + rows.DILATION)
    sizes = _sizes(size)
    if sizes == _ONES:
        return True
    is_maximum = word.lower().startswith("max")
    if is_maximum and dilation is not None and _sizes(dilation) != _ONES:
        return False
    if stride is None or stride is size:
        return True
    steps = _sizes(stride)
    if steps == _ONES and not is_maximum:
        return padding is None or _sizes(padding) == (0, 0, 0)
    if steps is None or sizes is None:
        return False
    return all(step >= length for step, length in zip(steps, sizes, strict=True))


def _sizes(op: Op | None) -> tuple[int, ...] | None:
    """A size of up to three dimensions, as one of three: the last number stands for the rest."""
    value = op.constant if op is not None else ...
    parts = value if isinstance(value, tuple) else (value,)
    numbers = tuple(each for each in parts if isinstance(each, int))
    if not numbers or len(numbers) != len(parts) or len(parts) > len(_ONES):
        return None
    return numbers + numbers[-1:] * (len(_ONES) - len(parts))


def adds_whole_numbers(operators: Operators, found: Match) -> bool:
    """Whether an operator adds up whole numbers, whose sum is the same in any order."""
    if found.row.direction == "backward":
        return False
    if not found.form.startswith("torch."):
        added = found.argument("src", 0) or found.argument("x", 0)
        return added is not None and operators.tensors.is_whole(added)
    if not found.form.rpartition(".")[2].startswith(rows.ADDING):
        return False
    into, added = found.input, found.argument("src", 3) or found.argument("source", 3)
    exact = into is not None and operators.tensors.is_integer(into)
    return exact or (added is not None and operators.tensors.is_whole(added))

"""Calls of torch that allocate memory without filling it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from detlint.analysis.uses import last_name, words
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.module import Module

# What makes a tensor of given lengths, for the growth by ``resize_``.
_FACTORIES = frozenset(f"torch.{name}" for name in ("empty", "ones", "rand", "randn", "zeros"))
# torch.FloatTensor(2, 3), torch.cuda.LongTensor(8): sizes, where torch.Tensor([2, 3]) is data.
_KINDS = words("Float Double Half BFloat16 Byte Char Short Int Long Bool")
_LEGACY = re.compile(rf"torch\.(?:cuda\.)?(?:{'|'.join(sorted(_KINDS))})?Tensor")
# out_features, num_classes, self.hidden_size: one number, by all conventions.
_COUNT = re.compile(r"^(?:in|out|num|n)_\w*[a-z]$|(?:^|_)(?:size|dim)$")
# Where a filled counterpart exists that takes the same arguments.
ZEROED = {"empty": "zeros", "empty_like": "zeros_like", "new_empty": "new_zeros"}
# The tokens at which all of these are written.
TOKENS = (
    "empty(",
    "empty_like(",
    "empty_strided(",
    "new_empty(",
    "resize_(",
    *(f"{kind}Tensor(" for kind in sorted(_KINDS)),
    "Tensor(",
)


def is_written_plainly(call: cst.Call, tokens: tuple[str, ...] = TOKENS) -> bool:
    """Whether the call is spelt as in the tokens, so that narrowing finds it."""
    function = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
    space = call.whitespace_after_func
    plain = isinstance(space, cst.SimpleWhitespace) and not space.value
    return plain and isinstance(function, cst.Name) and f"{function.value}(" in tokens


def is_allocation(module: Module, call: cst.Call, *, parameter: bool = False) -> bool:
    """Whether a call returns memory that certainly holds what was left there.

    A tensor of one element stands in for something else, unless it is made a
    parameter. One length by the name of a count is a length there, too: nobody
    trains a tensor that holds ``out_features``.
    """
    least = 1 if parameter else 2
    if not is_written_plainly(call) or not _is_real(module, call):
        return False
    function, sizes = module.qualified_name(call.func), _sizes(call)
    if function is None:
        return _is_method(module, call, sizes, least)
    if function == "torch.empty_like":
        return True
    if function == "torch.empty_strided":
        sizes = sizes[:1]  # the rest are strides
    elif _LEGACY.fullmatch(function):
        if not _takes_sizes(module, sizes, named=parameter):
            return False
    elif function != "torch.empty":
        return False
    return not is_small(module, sizes, least)


def is_legacy(module: Module, call: cst.Call) -> bool:
    """Whether a call is ``torch.Tensor(…)`` or the like."""
    return _LEGACY.fullmatch(module.called(call) or "") is not None


def _is_real(module: Module, call: cst.Call) -> bool:
    """Whether there is memory, and its content is not another's: pinned memory is for copies."""
    if module.argument(call, "out") is not None or _on_meta(module, call):
        return False
    return module.literal(module.argument(call, "pin_memory")) is not True


def _is_method(module: Module, call: cst.Call, sizes: list[cst.BaseExpression], least: int) -> bool:
    if not isinstance(call.func, cst.Attribute) or is_small(module, sizes, least):
        return False
    if call.func.attr.value == "new_empty":
        return True
    return call.func.attr.value == "resize_" and _grows(module, call.func.value, sizes)


def _grows(module: Module, tensor: cst.BaseExpression, sizes: list[cst.BaseExpression]) -> bool:
    """Whether ``resize_`` certainly adds elements, which nothing fills."""
    made = module.names.value_of(tensor)
    if not isinstance(made, cst.Call):
        return False
    function, before = module.called(made) or "", None
    if function in _FACTORIES:
        before = elements(module, _sizes(made))
    elif _LEGACY.fullmatch(function) and not made.args:
        before = 0
    if before is None or before == 0:
        return before == 0
    after = elements(module, sizes)
    return after is not None and after > before


def _on_meta(module: Module, call: cst.Call) -> bool:
    device = module.argument(call, "device")
    if device is None:
        return False
    made = module.names.value_of(device)
    if isinstance(made, cst.Call) and module.called(made) == "torch.device":
        return any(module.literal(each.value) == "meta" for each in made.args)
    return module.literal(device) == "meta"


def _sizes(call: cst.Call) -> list[cst.BaseExpression]:
    """The arguments that give the shape, or the one that holds them all."""
    named = [each.value for each in call.args if each.keyword and each.keyword.value == "size"]
    return named or [each.value for each in call.args if each.keyword is None]


def elements(module: Module, sizes: Sequence[cst.BaseExpression]) -> int | None:
    """The number of elements of a shape, as far as literals tell; 0 if any length is 0."""
    lengths: list[object] = []
    for size in sizes:
        target = module.names.value_of(size)
        if isinstance(target, (cst.Tuple, cst.List)):
            lengths.extend(module.literal(each.value) for each in target.elements)
        else:
            lengths.append(module.literal(size))
    if 0 in [each for each in lengths if isinstance(each, int)]:
        return 0
    known = [each for each in lengths if isinstance(each, int)]
    return math.prod(known) if len(known) == len(lengths) else None


def is_small(module: Module, sizes: Sequence[cst.BaseExpression], least: int) -> bool:
    """Whether a shape certainly has fewer elements."""
    count = elements(module, sizes)
    return count is not None and count < least


def _takes_sizes(module: Module, sizes: Sequence[cst.BaseExpression], *, named: bool) -> bool:
    """Whether a legacy constructor gets lengths: several arguments, or one integer."""
    if len(sizes) != 1:
        return len(sizes) > 1
    return _is_integer(module, sizes[0], named=named)


def _is_integer(module: Module, node: cst.BaseExpression, *, named: bool) -> bool:
    value = module.literal(node)
    if isinstance(value, int):
        return not isinstance(value, bool)
    if isinstance(node, cst.BinaryOperation):
        return all(_is_integer(module, each, named=named) for each in (node.left, node.right))
    if isinstance(node, cst.Subscript):
        one = len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)
        return one and isinstance(node.value, cst.Attribute) and node.value.attr.value == "shape"
    if isinstance(node, cst.Call):
        method = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
        # With no argument it is a torch.Size, which is taken as a shape, too.
        return method == "size" or module.called(node) in ("builtins.len", "builtins.int")
    if named and _COUNT.search(last_name(node)):
        return True
    # A parameter annotated so.
    return isinstance(node, cst.Name) and module.instance_of(node) == "builtins.int"

"""Functions that compute each element by itself, so that no order of adding up can differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definitions
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

# Of torch, torch.nn.functional and tensors: none adds up, draws, or calls what it is given.
_POINTWISE = words(
    """
    abs add addcdiv addcmul bitwise_and bitwise_or ceil clamp clamp_max clamp_min clip cos cosh
    div eq erf exp exp2 expm1 floor floor_divide fmod frac ge gelu gt hardtanh heaviside isfinite
    isinf isnan le leaky_relu lerp log log10 log1p log2 logical_and logical_not logical_or
    logical_xor logit lt masked_fill maximum minimum mish mul multiply ne neg nan_to_num polar pow
    reciprocal relu relu6 remainder round rsqrt sgn sigmoid sign silu sin sinh softplus sqrt square
    sub tan tanh true_divide trunc where xlogy
    arange as_tensor cat chunk complex concat empty_like expand expand_as flatten flip full
    full_like linspace narrow ones ones_like pad permute repeat reshape roll select split squeeze
    stack swapaxes t tensor tile transpose triu tril unbind unflatten unsqueeze view view_as zeros
    zeros_like view_as_complex view_as_real
    bfloat16 bool clone contiguous cpu cuda detach double float half int long to type type_as
    dim get_device is_complex is_cuda is_floating_point numel size
    """
)
_PLACES = frozenset({"torch", "torch.nn.functional", "torch.special"})
_PLAIN = frozenset(
    f"builtins.{name}"
    for name in (
        *("abs", "bool", "enumerate", "float", "hasattr", "int", "isinstance", "len", "list"),
        *("max", "min", "print", "range", "round", "slice", "tuple", "zip", "ValueError"),
    )
)


def compiles_pointwise(module: Module, call: cst.Call) -> bool:
    """Whether a call of ``torch.compile`` compiles such a function, by what it decorates or is
    given."""
    above = module.parent(call)
    if isinstance(above, cst.Decorator):
        decorated = module.parent(above)
        return isinstance(decorated, cst.FunctionDef) and is_pointwise(module, decorated)
    given = module.argument(call, "model", 0)
    if isinstance(given, cst.Name):
        found = Definitions(module).of(given)
        return found is not None and is_pointwise(found.module, found.node)
    return False


def is_pointwise(module: Module, function: cst.FunctionDef) -> bool:
    """Whether all that a function does is known, and nothing of it adds elements up."""
    for each in module.tree.descendants(function.body):
        if isinstance(each, (cst.BinaryOperation, cst.AugAssign)) and isinstance(
            each.operator, (cst.MatrixMultiply, cst.MatrixMultiplyAssign)
        ):
            return False
        if isinstance(each, (cst.FunctionDef, cst.Lambda, cst.ClassDef, cst.Await, cst.Yield)):
            return False
        if isinstance(each, cst.Call) and not _is_known(module, each):
            return False
    return True


def _is_known(module: Module, call: cst.Call) -> bool:
    name = module.called(call)
    if name is not None:
        place, _, last = name.rpartition(".")
        return name in _PLAIN or place == "math" or (place in _PLACES and last in _POINTWISE)
    # A method: one of a module would be an attribute of self.
    if not isinstance(call.func, cst.Attribute) or module.names.is_self(call.func.value):
        return False
    method = call.func.attr.value
    return method in _POINTWISE or (method.endswith("_") and method[:-1] in _POINTWISE)

"""What source shows of a tensor: that it is one, and of what type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.tensors import TORCH
from detlint.analysis.uses import words
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_FLOATING_TYPES = words("float float16 float32 float64 double half bfloat16")
_INTEGER_TYPES = words("int int8 int16 int32 int64 long short uint8 byte char bool")
# As they are written for a tensor: ``x.float()``, ``torch.FloatTensor``.
_FLOATING_METHODS = words(
    """
    float double half bfloat16 softmax log_softmax sigmoid tanh exp log sqrt mean std var norm
    normal_ uniform_
    """
)
_INTEGER_METHODS = words(
    """
    long int short byte char bool argmax argmin argsort eq ne lt le gt ge isnan isinf isfinite
    logical_and logical_or logical_not nonzero
    """
)
_FLOATING_FUNCTIONS = words(
    "rand randn rand_like randn_like softmax log_softmax sigmoid tanh exp log sqrt linspace normal"
)
_INTEGER_FUNCTIONS = words("randint randperm argmax argmin argsort bincount nonzero searchsorted")
_FACTORIES = words(
    """
    arange empty empty_like eye from_numpy full full_like linspace logspace normal ones ones_like
    rand rand_like randint randint_like randn randn_like randperm tensor as_tensor zeros zeros_like
    cat stack where einsum scatter
    """
)
_NOT_TENSORS = words("item tolist __bool__ __float__ __int__ size")
# They give a tensor of the same type.
_KEEPING_TYPE = words(
    """
    abs cat chunk clamp clone contiguous cpu cuda cumsum detach diagonal expand expand_as flatten
    flip gather index_select max min narrow neg permute ravel repeat reshape roll select squeeze
    split stack sum t to topk transpose unbind unflatten unfold unsqueeze view view_as
    """
)
_ANNOTATIONS = frozenset({"torch.Tensor", "torch.FloatTensor", "torch.LongTensor"})


def is_tensor(module: Module, node: cst.CSTNode | None) -> bool:
    """Whether a value is a tensor of torch for sure."""
    for each in _origins(module, node, None):
        if isinstance(each, cst.Name):
            return module.instance_of(each) in _ANNOTATIONS
        owner, _, name = (module.called(each) or "").rpartition(".")
        if owner:
            known = name in _FACTORIES or name in TORCH.readers - _NOT_TENSORS
            return owner == "torch.nn.functional" or (owner == "torch" and known)
    return False


def is_gather(module: Module, call: cst.Call) -> bool:
    """``x.gather(1, index)``: the gathers of processes and futures take what they gather first."""
    named = isinstance(call.func, cst.Attribute) and call.func.attr.value == "gather"
    if not named or len(call.args) != 2 or any(each.keyword or each.star for each in call.args):
        return False
    dim, index = (module.literal(each.value) for each in call.args)
    return type(dim) is int and not isinstance(index, (int, str))  # comm.gather(1, 0)


def numbers(module: Module, node: cst.CSTNode | None) -> str:
    """What a tensor's elements are: "floating", "integer", "open" where code chooses, else ""."""
    found = (_type_of(module, each) for each in _origins(module, node, _KEEPING_TYPE))
    return next(filter(None, found), "")


def _origins(
    module: Module, node: cst.CSTNode | None, keeping: frozenset[str] | None
) -> Iterator[cst.CSTNode]:
    """A value, and what it was made of by methods and functions of certain names, or any method."""
    for _ in range(20):  # a local can be made of itself
        if node is None:
            return
        node = module.names.value_of(node)
        yield node
        node = (
            _origin(module, node, keeping)
            if not isinstance(node, cst.Name)
            else (_looped_over(module, node) if keeping is _KEEPING_TYPE else None)
        )


def _looped_over(module: Module, name: cst.Name) -> cst.CSTNode | None:
    """The parts of what a name of a loop is: ``for part in x.split(2)``."""
    bindings = module.names.visible(name)
    loops = [each.node for each in bindings if each.kind == "loop"]
    return loops[0] if len(bindings) == len(loops) == 1 else None


def _origin(
    module: Module, node: cst.CSTNode, keeping: frozenset[str] | None
) -> cst.CSTNode | None:
    if isinstance(node, cst.Subscript):
        return node.value
    if not isinstance(node, cst.Call):
        return None
    owner, _, name = (module.called(node) or "").rpartition(".")
    if owner:
        kept = owner.startswith("torch") and name in (keeping or ())
        return module.argument(node, "input", 0) if kept else None
    if not isinstance(node.func, cst.Attribute):
        return None
    method = node.func.attr.value
    kept = method in keeping if keeping is not None else method not in _NOT_TENSORS
    return node.func.value if kept else None


def _type_of(module: Module, node: cst.CSTNode) -> str:
    if isinstance(node, cst.Comparison):
        return "integer"
    if isinstance(node, cst.IfExp):
        return _either(numbers(module, node.body), numbers(module, node.orelse))
    if not isinstance(node, cst.Call):
        return _annotated(module, node)
    given = module.argument(node, "dtype")
    if given is not None:
        return _of_type(module, given)
    owner, _, name = (module.called(node) or "").rpartition(".")
    if owner:
        return _of_function(module, node, name) if owner.startswith("torch") else ""
    return _of_method(module, node)


def _either(one: str, other: str) -> str:
    return one if one == other else "open"


def _annotated(module: Module, node: cst.CSTNode | None) -> str:
    kinds = {"torch.FloatTensor": "floating", "torch.LongTensor": "integer"}
    name = module.instance_of(node) if isinstance(node, cst.Name) else None
    return kinds.get(name or "", "")


def _of_type(module: Module, node: cst.CSTNode) -> str:
    node = module.names.value_of(node)
    if isinstance(node, cst.IfExp):
        return _either(_of_type(module, node.body), _of_type(module, node.orelse))
    name = (module.qualified_name(node) or "").rpartition(".")[2].removesuffix("Tensor").lower()
    if name in _FLOATING_TYPES:
        return "floating"
    return "integer" if name in _INTEGER_TYPES else "open" if "dtype" in _text(node) else ""


def _text(node: cst.CSTNode) -> str:
    last = node.attr if isinstance(node, cst.Attribute) else node
    return last.value if isinstance(last, cst.Name) else ""


def _of_method(module: Module, call: cst.Call) -> str:
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    if method in _FLOATING_METHODS:
        return "floating"
    if method in _INTEGER_METHODS:
        return "integer"
    if method in ("to", "type"):
        found = {_of_type(module, each.value) for each in call.args} - {""}
        return found.pop() if len(found) == 1 else ""
    return ""


def _of_function(module: Module, call: cst.Call, name: str) -> str:
    if name in _FLOATING_FUNCTIONS:
        return "floating"
    if name in _INTEGER_FUNCTIONS:
        return "integer"
    if name == "arange":
        values = [module.literal(each.value) for each in call.args if each.keyword is None]
        return "integer" if values and all(type(each) is int for each in values) else ""
    return ""

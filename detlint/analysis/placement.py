"""Whether a tensor certainly lies in the memory of the CPU, whatever the program's device is."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.analysis.operators import Match
    from detlint.module import Module

_FARTHEST = 10  # steps from a value to where it came from
_TYPE = re.compile(r"torch\.(?:b?float|u?int|half|double|long|short|bool|complex)\w*")

_TENSOR = re.compile(r"torch\.[A-Z]?\w*Tensor")  # of the default type, or of one that is the CPU's


def runs_on_cpu(module: Module, call: cst.Call, found: Match) -> bool:
    """Whether an operator that differs on CUDA alone gets a tensor that does."""
    if "cpu" not in found.row.devices and is_off_gpu(module, call):
        return True
    is_module = found.made is not None or found.form.rpartition(".")[2][0].isupper()
    if is_module or "cpu" in found.row.devices:
        return False
    if found.form.startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute):
        return on_cpu(module, call.func.value)
    return on_cpu(module, module.argument(call, "input", 0))


def is_off_gpu(module: Module, node: cst.CSTNode) -> bool:
    """Whether code is the branch for where there is no GPU: ``if torch.cuda.is_available(): …
    else: …``, ``if x.is_cuda``."""
    below = node
    for above in module.ancestors(node):
        if isinstance(above, cst.If):
            test, on = above.test, above.body
            if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
                if below is on and _asks_for_gpu(module, test.expression):
                    return True
            elif below is above.orelse and _asks_for_gpu(module, test):
                return True
        elif isinstance(above, cst.FunctionDef):
            return False
        below = above
    return False


def _asks_for_gpu(module: Module, test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.BooleanOperation):
        return all(_asks_for_gpu(module, each) for each in (test.left, test.right))
    if isinstance(test, cst.Attribute):
        return test.attr.value == "is_cuda"
    return module.called(module.names.value_of(test)) == "torch.cuda.is_available"


def on_cpu(module: Module, node: cst.CSTNode | None) -> bool:
    """``x.cpu()``, ``torch.from_numpy(x)``, ``torch.zeros(3, device="cpu")``, and what is computed
    from them: an operator of torch gets all its tensors in one place."""
    return node is not None and _Search(module).lies(node, {}, _FARTHEST)


class _Search:
    """``supposed`` tells of locals that are bound several times, while they are looked up."""

    def __init__(self, module: Module) -> None:
        self._module = module

    def lies(self, node: cst.CSTNode, supposed: dict[str, bool], steps: int) -> bool:
        node = self._module.names.value_of(node)
        if not steps:
            return False
        if isinstance(node, cst.Name):
            return self._local(node, supposed, steps - 1)
        if isinstance(node, cst.IfExp):
            sides = (node.body, node.orelse)
            return all(self.lies(each, supposed, steps - 1) for each in sides)
        origins = self._origins(node) if isinstance(node, cst.Call) else _parts(node)
        return origins is True or any(
            self.lies(each, supposed, steps - 1) for each in origins or ()
        )

    def _local(self, name: cst.Name, supposed: dict[str, bool], steps: int) -> bool:
        """Whether all that a local is bound to lies there, also where it is made of itself."""
        if name.value in supposed:
            return supposed[name.value]
        bindings = self._module.names.visible(name)
        values = [each.node for each in bindings if each.kind == "value" and each.node is not None]
        return (
            len(values) == len(bindings) > 1
            and any(self.lies(each, {**supposed, name.value: False}, steps) for each in values)
            and all(self.lies(each, {**supposed, name.value: True}, steps) for each in values)
        )

    def _origins(self, call: cst.Call) -> list[cst.CSTNode] | bool:
        """Whether a call returns such a tensor, or what decides it."""
        device, name = self._module.argument(call, "device"), self._module.called(call) or ""
        if device is not None or name == "torch.from_numpy":
            return device is None or self._is_cpu(device)
        if _TENSOR.fullmatch(name):
            return "set_default_tensor_type" not in self._module.source.text
        if name.startswith("torch."):
            return [each.value for each in call.args]
        if isinstance(call.func, cst.Attribute):
            return self._method(call, call.func)
        return False

    def _method(self, call: cst.Call, method: cst.Attribute) -> list[cst.CSTNode] | bool:
        if method.attr.value in ("cpu", "cuda"):
            return method.attr.value == "cpu"
        if method.attr.value == "to":
            given = [each.value for each in call.args]
            if any(map(self._is_cpu, given)):
                return True
            kinds = (self._module.qualified_name(each) or "" for each in given)
            return [method.value] if all(map(_TYPE.fullmatch, kinds)) else False
        return [method.value]

    def _is_cpu(self, node: cst.BaseExpression) -> bool:
        """``"cpu"``, ``torch.device("cpu")``."""
        made = self._module.names.value_of(node)
        if isinstance(made, cst.Call) and self._module.called(made) == "torch.device":
            return len(made.args) == 1 and self._is_cpu(made.args[0].value)
        return self._module.literal(node) == "cpu"


def _parts(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Of what a tensor, or a list of tensors, is made: all lie in one place."""
    if isinstance(node, (cst.List, cst.Tuple)):
        yield from (each.value for each in node.elements)
    elif isinstance(node, (cst.ListComp, cst.GeneratorExp)):
        yield node.elt
    elif isinstance(node, cst.BinaryOperation):
        yield from (node.left, node.right)
    elif isinstance(node, (cst.Attribute, cst.Subscript)):
        yield node.value
    elif isinstance(node, cst.UnaryOperation):
        yield node.expression

"""The ways in which a program turns a backend flag of torch on or off."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

CUDNN = "torch.backends.cudnn"
BENCHMARK = f"{CUDNN}.benchmark"
DETERMINISTIC = f"{CUDNN}.deterministic"
CUBLAS_TF32 = "torch.backends.cuda.matmul.allow_tf32"
CUDNN_TF32 = f"{CUDNN}.allow_tf32"
FILL = "torch.utils.deterministic.fill_uninitialized_memory"

# Parameter names and positions in torch 2.13. Releases before benchmark_limit (1.13) had
# deterministic at position 2; what stands there is read as today's torch reads it.
_PARAMETERS = {
    f"{CUDNN}.flags": {
        "benchmark": (BENCHMARK, 1),
        "deterministic": (DETERMINISTIC, 3),
        "allow_tf32": (CUDNN_TF32, 4),
    },
    f"{CUDNN}.set_flags": {
        "_benchmark": (BENCHMARK, 1),
        "_deterministic": (DETERMINISTIC, 3),
        "_allow_tf32": (CUDNN_TF32, 4),
    },
    "torch._C._set_cublas_allow_tf32": {"": (CUBLAS_TF32, 0)},
    "torch._C._set_cudnn_allow_tf32": {"": (CUDNN_TF32, 0)},
    "torch._C._set_cudnn_benchmark": {"": (BENCHMARK, 0)},
    "torch._C._set_cudnn_deterministic": {"": (DETERMINISTIC, 0)},
    "torch._C._set_deterministic_fill_uninitialized_memory": {"": (FILL, 0)},
}


class Switch(NamedTuple):
    """A flag being set.

    flag    its qualified name
    value   what it is set to
    node    where
    text    how the source says it, up to the value: ``cudnn.benchmark = ``
    alone   whether nothing else takes the same value, as in ``a.x = b.y = True``
    """

    flag: str
    value: cst.BaseExpression
    node: cst.CSTNode
    text: str
    alone: bool = True

    def shown(self, value: str) -> str:
        """The whole statement, with the value that it turned out to have."""
        return f"{self.text}{value}{')' * self.text.count('(')}"


def turned(module: Module, node: cst.CSTNode, flag: str, *, to: bool) -> Iterator[Switch]:
    """Where an assignment or a call sets one flag to a value that is certain."""
    for switch in switches(module, node):
        if switch.flag == flag and module.literal(switch.value) is to:
            yield switch


def switches(module: Module, node: cst.CSTNode) -> Iterator[Switch]:
    """The flags that an assignment or a call sets."""
    if isinstance(node, cst.Call):
        yield from _called(module, node)
    elif isinstance(node, cst.Assign):
        for target in node.targets:
            alone = len(node.targets) == 1
            yield from _assigned(module, node, target.target, node.value, alone=alone)
    elif isinstance(node, cst.AnnAssign) and node.value is not None:
        yield from _assigned(module, node, node.target, node.value)


def _assigned(
    module: Module,
    node: cst.CSTNode,
    target: cst.BaseExpression,
    value: cst.BaseExpression,
    *,
    alone: bool = True,
) -> Iterator[Switch]:
    if isinstance(target, cst.Attribute):
        flag = module.qualified_name(target)
        if flag is not None:
            yield Switch(flag, value, node, f"{code(target)} = ", alone)
    elif isinstance(target, (cst.Tuple, cst.List)) and isinstance(value, (cst.Tuple, cst.List)):
        left, right = target.elements, value.elements
        starred = any(isinstance(each, cst.StarredElement) for each in (*left, *right))
        if len(left) == len(right) and not starred:
            for one, other in zip(left, right, strict=True):
                yield from _assigned(module, node, one.value, other.value, alone=alone)


def _called(module: Module, call: cst.Call) -> Iterator[Switch]:
    name = module.called(call)
    for keyword, (flag, position) in _PARAMETERS.get(name or "", {}).items():
        argument = module.argument(call, keyword, position)
        if argument is not None and not _leaves_cudnn_off(module, call, name):
            shown = f"{code(call.func)}({keyword}{'=' if keyword else ''}"
            yield Switch(flag, argument, module.parent(argument) or call, shown)
    # monkeypatch.setattr(owner, "name", value) has the same arguments.
    method = isinstance(call.func, cst.Attribute) and call.func.attr.value == "setattr"
    if (name == "builtins.setattr" or method) and len(call.args) > 2:
        owner, attribute, value = (argument.value for argument in call.args[:3])
        place, last = module.qualified_name(owner), module.literal(attribute)
        if place is not None and isinstance(last, str):
            yield Switch(f"{place}.{last}", value, call, f"{code(owner)}.{last} = ")


def _leaves_cudnn_off(module: Module, call: cst.Call, name: str | None) -> bool:
    """Whether a ``cudnn.flags`` block says that it runs without cuDNN."""
    given = module.argument(call, "enabled", 0)
    return name == f"{CUDNN}.flags" and given is not None and module.literal(given) is False


def code(node: cst.BaseExpression) -> str:
    """A name or attribute as one line of text."""
    return " ".join(cst.Module([]).code_for_node(node).split())

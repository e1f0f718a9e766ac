"""Triton kernels tuned by timing: among how many configurations, and whether they add up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.definitions import Definition, Definitions
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

AUTOTUNE = frozenset(
    {
        "triton.autotune",
        "triton.runtime.autotune",
        "triton.runtime.autotuner.autotune",
        "triton.runtime.autotuner.Autotuner",
    }
)
_CONFIG = frozenset({"triton.Config", "triton.runtime.Config", "triton.runtime.autotuner.Config"})
_LANGUAGE = "triton.language."
# What rounds differently with another number of warps; a dot only with another size of blocks.
_ACROSS_WARPS = frozenset(
    {"sum", "reduce", "cumsum", "cumprod", "associative_scan", "softmax"} | {"atomic_add"}
)
_BY_BLOCKS = frozenset({"dot", "dot_scaled"})
_COPIES = frozenset({"builtins.list", "builtins.tuple"})


def called(module: Module, node: cst.CSTNode | None) -> str | None:
    """The function that a call calls, also where a package hands triton on:
    ``from vllm.triton_utils import tl, triton``."""
    name = module.called(node)
    if name is None or name.startswith("triton."):
        return name
    _, handed_on, rest = name.rpartition(".triton.")
    if handed_on:
        return f"triton.{rest}"
    _, handed_on, rest = name.rpartition(".tl.")
    return f"{_LANGUAGE}{rest}" if handed_on else name


class Configurations:
    """The configurations that a tuner is given."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions = Definitions(module)

    def count(self, node: cst.CSTNode | None) -> int | None:
        """How many there are; None if that is not certain. Filters are taken to keep some."""
        if node is None:
            return None
        node = self._module.names.value_of(node)
        if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
            return self._count_elements(node)
        if isinstance(node, (cst.ListComp, cst.GeneratorExp)):
            return self._count_rounds(node.for_in)
        if isinstance(node, cst.IfExp):
            return _least(self.count(each) for each in (node.body, node.orelse))
        if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
            left, right = self.count(node.left), self.count(node.right)
            return None if left is None or right is None else left + right
        return self._count_call(node) if isinstance(node, cst.Call) else None

    def _count_elements(self, node: cst.List | cst.Tuple | cst.Set) -> int | None:
        total = 0
        for element in node.elements:
            starred = isinstance(element, cst.StarredElement)
            each = self.count(element.value) if starred else 1
            if each is None:
                return None
            total += each
        return total

    def _count_rounds(self, clause: cst.CompFor | None) -> int | None:
        rounds = 1
        while clause is not None:
            each = self.count(clause.iter)
            if each is None:
                return None
            rounds *= each
            clause = clause.inner_for_in
        return rounds

    def _count_call(self, call: cst.Call) -> int | None:
        name = self._module.called(call)
        values = [self._module.literal(argument.value) for argument in call.args]
        if name == "builtins.range":
            numbers = [each for each in values if isinstance(each, int)]
            return len(range(*numbers)) if len(numbers) == len(values) and numbers else None
        if name == "itertools.product":
            product = 1
            for argument in call.args:
                each = self.count(argument.value)
                if each is None or argument.keyword is not None:
                    return None
                product *= each
            return product
        if name in _COPIES and len(call.args) == 1:
            return self.count(call.args[0].value)
        if name == "builtins.filter" and len(call.args) == 2:
            return self.count(call.args[1].value)
        definition = self._definitions.of(call.func)
        return self._count_returned(definition) if definition is not None else None

    @staticmethod
    def _count_returned(definition: Definition) -> int | None:
        """The least that a function returns: one of its branches may leave nothing to tune."""
        inner = Configurations(definition.module)
        return _least(inner.count(value) for value in _returned(definition))

    def vary_blocks(self, node: cst.CSTNode) -> bool:
        """Whether they may differ in more than the number of warps and of stages."""
        node = self._module.names.value_of(node)
        made = [
            each
            for each in self._module.tree.descendants(node)
            if isinstance(each, cst.Call) and called(self._module, each) in _CONFIG
        ]
        return not made or not all(self._has_no_blocks(each) for each in made)

    def _has_no_blocks(self, config: cst.Call) -> bool:
        given = self._module.argument(config, "kwargs", 0)
        return isinstance(given, cst.Dict) and not given.elements


class Kernels:
    """What the kernels of a file do."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions = Definitions(module)

    def add_up(self, kernel: cst.CSTNode | None, *, blocks: bool) -> bool:
        """Whether what a kernel gives depends on how its work is split.

        ``kernel`` is a function or a call that wraps one; ``blocks`` says whether the size
        of its blocks varies, or the number of warps alone.
        """
        operations = _ACROSS_WARPS | _BY_BLOCKS if blocks else _ACROSS_WARPS
        return any(name in operations for name in self._operations(kernel, 0))

    def _operations(self, kernel: cst.CSTNode | None, depth: int) -> Iterator[str]:
        """The functions of triton's language that a kernel, and what it calls here, uses."""
        while isinstance(kernel, cst.Call) and kernel.args:  # triton.heuristics(…)(kernel)
            kernel = kernel.args[0].value
            kernel = self._module.names.value_of(kernel)
        module: Module = self._module
        if isinstance(kernel, cst.Name):
            found = self._definitions.of(kernel)
            if found is None:
                return
            kernel, module = found.node, found.module
        if not isinstance(kernel, cst.FunctionDef) or depth > _DEEPEST:
            return
        kernels = self if module is self._module else Kernels(module)
        for each in module.tree.descendants(kernel.body):
            if isinstance(each, cst.Call):
                name = called(module, each)
                if name is not None:
                    yield name.removeprefix(_LANGUAGE)
                elif isinstance(each.func, cst.Name):
                    yield from kernels._operations(each.func, depth + 1)  # noqa: SLF001


_DEEPEST = 2


def _least(counts: Iterator[int | None]) -> int | None:
    found = list(counts)
    known = [each for each in found if each is not None]
    return min(known) if known and len(known) == len(found) else None


def _returned(definition: Definition) -> Iterator[cst.BaseExpression]:
    module = definition.module
    for each in module.tree.descendants(definition.node):
        own = isinstance(each, cst.Return) and module.enclosing_function(each) is definition.node
        if isinstance(each, cst.Return) and own and each.value is not None:
            yield each.value

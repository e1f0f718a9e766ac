"""Triton kernels tuned by timing: whether what they give depends on the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from detlint.analysis.definitions import Definitions
from detlint.analysis.kernel_configurations import WARPS
from detlint.analysis.kernel_sums import Sums, is_whole
from detlint.analysis.triton_names import LANGUAGE, called
from detlint.rule import cst

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

# What rounds differently with another number of warps; a dot only with another size of blocks.
_ACROSS_WARPS = frozenset(
    {"sum", "reduce", "cumsum", "cumprod", "associative_scan", "softmax"} | {"atomic_add"}
)
_BY_BLOCKS = frozenset({"dot", "dot_scaled"})
_DEEPEST = 2


class Operation(NamedTuple):
    """A call of triton's language in a kernel, ``depth`` calls below the one that is tuned."""

    name: str
    call: cst.Call
    kernel: cst.FunctionDef
    module: Module
    depth: int


class Kernels:
    """What the kernels of a file do."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._definitions = Definitions(module)

    def add_up(self, kernel: cst.CSTNode | None, varied: frozenset[str] | None) -> bool:
        """Whether what a kernel gives depends on how its work is split.

        ``kernel`` is a function or a call that wraps one; ``varied`` are the parameters in which
        its configurations differ, None where they cannot be seen.
        """
        return any(self._adds_up(each, varied) for each in self._operations(kernel, 0))

    def _adds_up(self, found: Operation, varied: frozenset[str] | None) -> bool:
        if found.name in _ACROSS_WARPS:
            return varied != frozenset() and not is_whole(found.call)
        if found.name not in _BY_BLOCKS:
            return False
        if varied is None:
            return True
        blocks = varied - {WARPS}
        if found.depth or not blocks:
            return bool(blocks)
        return Sums(found.module, found.kernel, blocks).split_differently(found.call)

    def _operations(self, kernel: cst.CSTNode | None, depth: int) -> Iterator[Operation]:
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
                    yield Operation(name.removeprefix(LANGUAGE), each, kernel, module, depth)
                elif isinstance(each.func, cst.Name):
                    yield from kernels._operations(each.func, depth + 1)  # noqa: SLF001

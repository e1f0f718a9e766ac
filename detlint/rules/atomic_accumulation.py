"""DET603 atomic-accumulation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from detlint.dataflow import folding
from detlint.dataflow.calls import said
from detlint.dataflow.kernels.atomics import adds_integers, is_chosen, slot
from detlint.documents.cuda import additions
from detlint.documents.document import Word
from detlint.models.atomics import ADDITIONS, COMPILERS
from detlint.rule import Example, Rule
from detlint.sources.kinds import CUDA, kind_of_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.ir import Op
    from detlint.documents.cuda import Addition
    from detlint.documents.document import Text
    from detlint.finding import Finding

_SHORTEST = 60  # characters of a call that a message can hold
_ADVICE = (
    "let each block write its share to a place of its own, and add these up in one order, or sort "
    "by index and add up each segment"
)
_SLOT_ADVICE = "compute the places with a prefix sum of the counts, or sort what was stored"


class AtomicAccumulation(Rule):
    """Why runs differ: An atomic addition loses no update, but leaves open in which order updates
    come. Floats added in another order round to another sum, so each launch differs in the last
    bits. Integers add up alike in any order. But if the old value is the place where a thread
    stores its row, rows stand in the order of arrival.

    Reported:
    - atomic additions of floats in kernels of Triton, tilelang, cuTile and Numba
    - the same in files of CUDA and C++, also torch's `gpuAtomicAdd` and `fastAtomicAdd`, and in
      CUDA source in strings that are compiled
    - `cupyx.scatter_add`
    - integers, where the old value hands out places

    Lowers the confidence:
    - in C++ and CUDA: the project tells Python a name for what runs it, and none of its Python
      files holds that: *possible*

    Not reported:
    - counters and locks, minima and maxima, and values that are seen to be integers
    - code behind a flag that is named for determinism
    - source that nothing compiles
    - in CUDA and C++, a macro that hides the call, and a type that another file declares

    What to do: Let each block write its share to a place of its own, and add these up in one order.
    Or sort by index, and add up each segment. Compute places with a prefix sum of the counts. No
    switch of torch reaches these kernels.
    """

    code = "DET603"
    summary = "a kernel adds up in the order in which its threads arrive"
    triggers = (
        *("atomic_add", "atomic.add(", "atomic.sub(", "scatter_add(", "load_inline", "RawKernel"),
        *("RawModule", "ElementwiseKernel", "ReductionKernel", "SourceModule", "elementwise("),
        "compile_with_cache",
    )
    mentions = ("atomicAdd", "gpuAtomicAdd", "fastAtomicAdd")
    source = (
        "https://developer.nvidia.com/blog/controlling-floating-point-determinism-in-nvidia-cccl"
    )
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
    examples = (
        Example(
            bad="""
                import triton
                import triton.language as tl

                @triton.jit
                def gradient_of_bias(gradient, result, n, BLOCK: tl.constexpr):
                    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                    part = tl.load(gradient + place, mask=place < n)
                    tl.atomic_add(result, tl.sum(part))  # DET603
            """,
            good="""
                import triton
                import triton.language as tl

                @triton.jit
                def gradient_of_bias(gradient, parts, n, BLOCK: tl.constexpr):
                    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
                    part = tl.load(gradient + place, mask=place < n)
                    tl.store(parts + tl.program_id(0), tl.sum(part))  # summed up afterwards
            """,
        ),
        Example(
            bad="""
                import cupy

                SOURCE = r\"\"\"
                extern "C" __global__ void add(const float* x, const int* bin, float* total) {
                    atomicAdd(&total[bin[threadIdx.x]], x[threadIdx.x]);
                }
                \"\"\"

                add = cupy.RawKernel(SOURCE, "add")  # DET603
            """,
        ),
        Example(
            bad="""
                from numba import cuda

                @cuda.jit
                def keep(rows, wanted, kept, counter):
                    row = cuda.grid(1)
                    if wanted[row]:
                        slot = cuda.atomic.add(counter, 0, 1)  # DET603
                        kept[slot] = rows[row]
            """,
        ),
    )

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """What the project builds, and none of its Python code calls."""
        native = kind_of_name(finding.path) == CUDA
        unused = native and linted.never_calls(os.path.realpath(finding.path), finding.row)
        return unused or super().doubted_by_all(finding, programs, linted)

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            for name in self.unit.values.called(op):
                # Handed on by a package: vllm.triton_utils.
                known = "triton.language.atomic_add" if name.endswith(".tl.atomic_add") else name
                if known in ADDITIONS:
                    self._check_addition(op, *ADDITIONS[known])
                elif known in COMPILERS:
                    self._check_source(op)

    def _check_addition(self, call: Op, place: int, value: int) -> None:
        if is_chosen(call):
            return
        function = said(call)
        taken = slot(call)
        if taken:
            message = f"{taken} = {function}() hands out places in the order in which threads come"
            self.report(call.node, message, advice=_SLOT_ADVICE)
            return
        where, added = call.given("pointer", place), call.given("val", value)
        if added is not None and not adds_integers(where, added):
            shown = self._shown(call, f"{function}()")
            message = f"{shown} adds up floats in the order in which threads come"
            self.report(call.node, message, advice=_ADVICE)

    def _shown(self, call: Op, short: str) -> str:
        text = self.unit.text_of(call.node)
        return text if len(text) <= _SHORTEST and "\n" not in text else short

    # CUDA

    def visit_Text(self, node: Text) -> None:
        for addition in additions(node.text):
            place = Word(addition.start, addition.end, None)
            message, advice = _told(addition)
            self.report(place, message, advice=advice)

    def _check_source(self, call: Op) -> None:
        for source in self._sources(call):
            for addition in additions(source):
                message, advice = _told(addition)
                self.report(call.node, message, advice=advice)
                return

    def _sources(self, call: Op) -> Iterator[str]:
        """The texts that it is given, as far as they are known; for a parameter, those that the
        module holds."""
        values, module = self.unit.values, self.unit.module
        for _, given in call.arguments():
            value = values.bound_to(given)
            texts = value.args if value.code in ("list", "tuple") else [value]
            if value.code in ("param", "phi"):
                texts = [each for bound in module.bindings.values() for each in bound]
            for each in texts:
                yield folding.text(values, each)


def _told(addition: Addition) -> tuple[str, str]:
    """The message and the advice."""
    shown, what, advice = addition.text, "adds up floats", _ADVICE
    if addition.slot:
        shown, what, advice = f"{addition.slot} = {shown}", "hands out places", _SLOT_ADVICE
    return f"{shown} {what} in the order in which threads come", advice

"""DET401 uninitialized-tensor-read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.allocation_text import looks_unwritten
from detlint.analysis.allocations import TOKENS, ZEROED, is_allocation
from detlint.analysis.placeholders import is_placeholder
from detlint.analysis.tensors import TORCH
from detlint.analysis.unwritten import Library, UnwrittenReads
from detlint.rule import Example, Rule, cst

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.settings import Settings

_TORCH = Library(TORCH, is_allocation, is_placeholder, ZEROED)


class UninitializedTensorRead(Rule):
    """Why runs differ: `torch.empty` and similar calls return memory as an earlier owner left it.
    What a program computes from that differs between runs.

    Reported:
    - `torch.empty`, `empty_like`, `new_empty` and `empty_strided`, if read before anything is
      written
    - `resize_`, where it makes a tensor larger, and `torch.Tensor(2, 3)`, the older way
    - a read is: an operand, an argument of a torch function or a module, an index, a comparison, a
      print
    - nothing has written on any path that leads there

    Not reported:
    - a tensor that is handed to unknown code: it may write it
    - a tensor of which only shape, type or device is used
    - one with no elements, or on the device `meta`

    What to do: Write every element first, or allocate with `torch.zeros(…)`, `torch.ones(…)` or
    `torch.full(…)`.

    Fix safety: unsafe. Zeros make the runs equal, but may not be the values that were meant.
    """

    code = "DET401"
    summary = "memory is read that nothing has written"
    triggers = TOKENS
    source = "https://docs.pytorch.org/docs/stable/generated/torch.empty.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                def total(batches):
                    losses = torch.empty(len(batches))  # DET401
                    for batch in batches:
                        losses += batch
                    return losses
            """,
            fixed="""
                import torch

                def total(batches):
                    losses = torch.zeros(len(batches))
                    for batch in batches:
                        losses += batch
                    return losses
            """,
        ),
        Example(
            bad="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.empty_like(x))  # DET401
            """,
            good="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.empty_like(x).normal_())
            """,
            fixed="""
                import torch
                import torch.nn.functional as F

                def noise(x):
                    return F.relu(torch.zeros_like(x))
            """,
        ),
    )

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the text around a call shows that its memory is written, or kept."""
        return looks_unwritten(text, offset)

    def __init__(self, module: Module, settings: Settings) -> None:
        super().__init__(module, settings)
        self._reads = UnwrittenReads(module, _TORCH)

    def visit_Call(self, node: cst.Call) -> None:
        for allocation, name in self._reads.found(node):
            self._report(allocation, name)

    def _report(self, call: cst.Call, name: cst.Name | None) -> None:
        function = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        start, _ = self.module.tree.span(function)
        # What narrowing leaves out is left out of whole files, too.
        if self._reads.is_muted(call) or not self.concerns(self.module.source.text, start):
            return
        self.report(
            call,
            self._reads.claim(call, name),
            advice=self._reads.advice(call),
            edits=self._reads.fix(call),
            safe=False,
        )

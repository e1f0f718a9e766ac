"""DET401 uninitialized-tensor-read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.memory.initialisation import Initialisation
from detlint.models.memory import TORCH
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence


class UninitializedTensorRead(Rule):
    """Why runs differ: `torch.empty` and similar calls return memory as an earlier owner left it.
    What a program computes from that differs between runs.

    Reported:
    - `torch.empty`, `empty_like`, `new_empty` and `empty_strided`, if read before anything is
      written
    - `resize_`, where it makes a tensor larger, and `torch.Tensor(2, 3)`, the older way
    - a read is: an operand, an argument of a torch function or a module, an index, a comparison, a
      print
    - nothing has written on any path that leads there, through other names, dicts, fields and
      functions of the file

    Lowers the confidence:
    - what reads it is only named like a network: `model(x)`

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
    triggers = (
        *("empty(", "empty_like(", "empty_strided(", "new_empty(", "resize_(", "BFloat16Tensor("),
        *("BoolTensor(", "ByteTensor(", "CharTensor(", "DoubleTensor(", "FloatTensor("),
        *("HalfTensor(", "IntTensor(", "LongTensor(", "ShortTensor(", "Tensor("),
    )
    confidence = Confidence.CERTAIN
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

    def examine(self, offsets: Sequence[int]) -> None:
        memory = Initialisation(self.unit, TORCH)
        for allocation in memory.allocations(offsets):
            read = memory.read(allocation)
            if read is not None:
                call = read.allocation.call_node
                self.report(
                    call,
                    memory.claim(read),
                    advice=memory.advice(call),
                    edits=memory.fix(call),
                    safe=False,
                    confidence=Confidence.LIKELY if read.assumed else Confidence.CERTAIN,
                )

"""DET502 deterministic-only-if-enabled."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.models.operators import SWITCHED
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.numerics.operators import Match, Operators
    from detlint.finding import Finding

_ADVICE = "turn on torch.use_deterministic_algorithms(True), under which it is deterministic"
_PLACES = {
    ("cuda",): " on CUDA",
    ("cpu",): " on the CPU",
    ("cuda", "cpu"): "",
}


class DeterministicOnlyIfEnabled(Rule):
    """Why runs differ: Some operators of torch have a fast kernel that differs from run to run, and
    a slower one that does not. `torch.use_deterministic_algorithms(True)` alone decides which runs.
    Seeds have no influence, and cuDNN's flags only on convolutions.

    Reported:
    - `index_add`, `scatter_add`, `index_put(accumulate=True)`, `ConvTranspose2d` and similar
      operators
    - operators whose backward alone has two kernels, as `gather` and `index_select`
    - sums by index of `torch_scatter` (since 2.0.1), `torch_sparse.spmm` and PyTorch Geometric's
      `scatter`: they call `scatter_add`

    Lowers the confidence:
    - only the backward differs, and nothing shows a gradient, outside of losses and of classes of
      layers; or no training program imports it
    - names say preprocessing, inference, a cache or whole numbers, as `input_ids`; or the file is
      about an engine that serves models. So does a `cumsum` that has several rows

    Not reported:
    - by default, none of this (select `DET502` to see it), nor in files that turn the switch on
    - indices that visibly reach no place twice, and sums of counts, which are exact
    - only the backward differs, and no gradient comes: integers, detached or fresh tensors, code
      without gradients

    What to do: Call `torch.use_deterministic_algorithms(True)`, or `guard.enable(seed=0)`, at the
    start of the program. On Apple's MPS that does not help: `index_add` and `Embedding`'s backward
    add with atomics there as well (pytorch issues 161029 and 195404).
    """

    code = "DET502"
    default = False
    summary = "an operator is deterministic only if enabled"
    triggers = tuple(sorted(SWITCHED))
    needs = ("torch",)
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    crosses_files = True
    lowered_where_untrained = True
    lowered_by = (*Rule.lowered_by, "test")
    examples = (
        Example(
            bad="""
                import torch

                def total(messages, receivers, nodes):
                    result = torch.zeros(nodes, messages.shape[1], device=messages.device)
                    return result.index_add_(0, receivers, messages)  # DET502
            """,
            good="""
                import torch

                torch.use_deterministic_algorithms(True)

                def total(messages, receivers, nodes):
                    result = torch.zeros(nodes, messages.shape[1], device=messages.device)
                    return result.index_add_(0, receivers, messages)
            """,
        ),
        Example(
            bad="""
                from torch import nn

                grow = nn.ConvTranspose2d(64, 32, 2, stride=2)  # DET502
            """,
        ),
    )

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        """Other files may show that a gradient comes."""
        return finding.confidence is Confidence.POSSIBLE

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the file does not hold the argument that makes it such a call."""
        # Not at the top: importing the tables takes longer than scanning a file.
        from detlint.dataflow.numerics.operators import may_match

        return may_match("switched", text, offset)

    @cached_property
    def _is_on(self) -> bool:
        from detlint.dataflow.arguments.settings import enables_strictly

        return enables_strictly(self.unit)

    def examine(self, offsets: Sequence[int]) -> None:
        from detlint.dataflow.numerics.operators import Operators

        operators = Operators(self.unit, "switched", self.settings.target_torch, self.others)
        for found in operators.differing(offsets):
            self._judge(operators, found)

    def _judge(self, operators: Operators, found: Match) -> None:
        from detlint.dataflow.numerics import operator_gradients
        from detlint.dataflow.numerics.repeats import adds_whole_numbers, scans_rows

        backward = found.row.direction == "backward"
        exact = operators.indices.is_exact(found) or adds_whole_numbers(operators, found)
        if exact or self._is_on:
            return
        doubted = (
            (backward and not operator_gradients.may_be_trained(operators, found))
            or operator_gradients.is_doubted(found)
            or operator_gradients.seems_exact(found)
            or self.unit.answering.serves
            or scans_rows(found)
        )
        sure = Confidence.POSSIBLE if doubted else self.confidence
        what = "'s backward" if backward else ""
        place = _PLACES[found.row.devices]
        message = f"{operators.shown(found)}{what}{place} by default {found.row.reason}"
        self.report(found.call.node, message, advice=_ADVICE, confidence=sure)

"""DET501 no-deterministic-implementation."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, cast

from detlint.models.operators import REFUSED
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.callgraph.program import Program
    from detlint.callgraph.python_files import PythonFiles
    from detlint.dataflow.ir import Op
    from detlint.dataflow.numerics.operators import Match, Operators
    from detlint.finding import Finding
    from detlint.operations import Operation
    from detlint.settings import Settings

_REFUSES = "use_deterministic_algorithms(True) refuses it on CUDA"
_SAME = "gives the same values in each run"
_BACKWARD = "backward"
_ON_CUDA = " on CUDA"
_OF_VOLUMES = "3d("  # what functions choose by a number of dimensions


class NoDeterministicImplementation(Rule):
    """Why runs differ: Some operators of torch add up with atomics on a GPU, or leave open which of
    several values is written. They have no other kernel; for many this concerns the backward alone.
    `torch.use_deterministic_algorithms(True)` refuses them with an error. Without it, each run
    rounds differently.

    Reported:
    - a call or a layer of such an operator, with arguments for which it is nondeterministic
    - sums, means and products of `torch_scatter` that no switch of torch reaches: `segment_coo`,
      `scatter_mul`, the backward of `gather_coo`
    - spectrograms of torchaudio, which pad the signal by reflection
    - as the release in `target-torch` does it: torch's own list of such operators is out of date
    - also where the values cannot differ, but the switch refuses all the same: the message says so

    Lowers the confidence:
    - only the backward is concerned, and no gradient is seen to come, or names speak against one
    - no program that trains reaches it: nothing imports the file, nobody builds the class, or all
      ask for another number of dimensions. Or programs run it, but none is seen to train it. It may
      only answer, or be one of several models by name
    - only the switch refuses it, as the values are the same and no program turns that on. Or the
      gradient is, as of `MaxPool3d(2)`

    Not reported:
    - arguments for which it is deterministic, as `AdaptiveAvgPool2d(1)`, or that cannot be seen.
      Where only CUDA is concerned, tensors that visibly lie on the CPU, and code that is only for
      machines without a GPU
    - only the backward is concerned, and there visibly is none: integers, detached or fresh
      tensors, code without gradients, or that is called only from such

    What to do: Have guard replace it, with `guard.enable(seed=0, repair=True)`: the program's
    operators are not reported then. Or do as the advice says. Without `repair`, guard raises an
    error that shows the same as code to paste. `python -m guard preflight train.py` lists those
    that a program reaches, without a GPU.
    """

    code = "DET501"
    summary = "an operator has no deterministic implementation"
    triggers = tuple(sorted(REFUSED))
    settled = (("cumsum(", (2, 6)), ("cumsum_(", (2, 6)), ("kthvalue(", (2, 10)))
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
                from torch import nn
                import torch.nn.functional as F

                class Warp(nn.Module):
                    def __init__(self):
                        super().__init__()
                        self.features = nn.Conv2d(3, 64, 3)

                    def forward(self, image, grid):
                        x = self.features(image)
                        return F.grid_sample(x, grid, align_corners=False)  # DET501
            """,
        ),
        Example(
            bad="""
                from torch import nn

                net = nn.Sequential(
                    nn.Conv2d(3, 64, 3),
                    nn.AdaptiveAvgPool2d((7, 7)),  # DET501
                )
            """,
            good="""
                from torch import nn

                net = nn.Sequential(
                    nn.Conv2d(3, 64, 3),
                    nn.AvgPool2d(2),  # of an image of 14 x 14
                )
            """,
        ),
        Example(
            bad="""
                import torch

                def middle(x):
                    return torch.median(x, dim=-1).values  # DET501
            """,
            good="""
                import torch

                def middle(x):
                    values = torch.sort(x, dim=-1).values
                    return values[..., (x.shape[-1] - 1) // 2]
            """,
        ),
    )

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        """Other files may show that a gradient comes, how many dimensions they ask for, and that
        they do so without a GPU."""
        told = any(each in finding.message for each in (_OF_VOLUMES, _ON_CUDA))
        return told or finding.confidence is Confidence.POSSIBLE

    @classmethod
    def doubted(cls, finding: Finding, program: Program) -> bool:
        """No run differs by it, and nothing turns on what would refuse it."""
        return _SAME in finding.message and not program.has("enables", "torch")

    @classmethod
    def doubted_by_all(
        cls, finding: Finding, programs: Sequence[Program], linted: PythonFiles
    ) -> bool:
        """A backward runs only where something is trained."""
        if super().doubted_by_all(finding, programs, linted):
            return True
        sure = finding.confidence is not Confidence.POSSIBLE and _BACKWARD in finding.message
        path = os.path.realpath(finding.path)
        return sure and linted.is_untrained(path, finding.row, programs)

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the file does not hold the argument that makes it such a call."""
        # Not at the top: importing the tables takes longer than scanning a file.
        from detlint.dataflow.numerics.operators import may_match

        return may_match("refused", text, offset)

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:  # noqa: ARG003
        """The program has guard replace the operator."""
        return _is_replaced(finding, program)

    def examine(self, offsets: Sequence[int]) -> None:
        from detlint.dataflow.numerics.operators import Operators

        operators = Operators(self.unit, "refused", self.settings.target_torch, self.others)
        for found in operators.differing(offsets):
            self._judge(operators, found)
        for call in dict.fromkeys(operators.left_open):
            self.leave(call.node)

    def _judge(self, operators: Operators, found: Match) -> None:
        from detlint.dataflow.numerics import operator_gradients
        from detlint.dataflow.numerics.repeats import adds_whole_numbers, is_same_in_each_run

        row = cast("Operation", found.row)
        backward, sure = row.direction == "backward", self.confidence
        if row.silent and adds_whole_numbers(operators, found):
            return  # nothing refuses it, and the result is exact
        if backward and not operator_gradients.is_likely(operators, found):
            sure = Confidence.POSSIBLE
        shown = operators.shown(found)
        if _OF_VOLUMES in shown and self._is_not_asked_for(found.call):
            sure = Confidence.POSSIBLE
        if is_same_in_each_run(operators, found):
            # No run differs by it. Values may come with indices that do, where something is
            # trained; a model that answers leaves the switch off.
            if backward or operator_gradients.is_doubted(found):
                sure = Confidence.POSSIBLE
            same = "gives the same gradient in each run" if backward else _SAME
            message = f"{shown} {same}, but {_REFUSES}"
        else:
            what = _BACKWARD if backward else "implementation"
            where = "" if found.differs_on_cpu else _ON_CUDA
            when = f" before torch {row.until}" if row.until else ""
            message = f"{shown} has no deterministic {what}{where}{when}"
        self.report(found.call.node, message, advice=_advice(row), confidence=sure)

    def _is_not_asked_for(self, call: Op) -> bool:
        """Whether all that the project gives keeps a call from running: ``if dims == 3: …``; of
        what others may install, if it trains something itself."""
        from detlint.dataflow.arguments.by_default import ByDefault
        from detlint.dataflow.callers import AllCallers

        callers = self.all_callers
        if callers is None and self.others is not None and self.others.train(self.unit):
            callers = AllCallers(self.others.importing)
        return callers is not None and not ByDefault(self.unit, callers).may_run(call)


def _is_replaced(finding: Finding, program: Program) -> bool:
    """Whether guard replaces the operator.

    It has a replacement for each that a call is found by, of torch and of extensions.
    """
    from detlint.operations import OPERATIONS
    from detlint.operations.extensions import REPLACED

    return program.is_guarded() and any(
        finding.advice == _advice(row)
        and any(form.rpartition(".")[2] in finding.message for form in row.api)
        and program.replaces(row.names())
        for row in (*OPERATIONS, *REPLACED)
        if row.alternatives
    )


def _advice(row: Operation) -> str:
    return f"instead: {row.alternatives[0].text}"

"""DET501 no-deterministic-implementation."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, cast

from detlint.analysis.gradient_evidence import Evidence
from detlint.analysis.gradients import answers
from detlint.analysis.operator_calls import OperatorCalls
from detlint.analysis.operator_text import NEAR, leads
from detlint.analysis.operator_values import is_same_in_each_run
from detlint.analysis.position_embeddings import resizes_positions
from detlint.analysis.trained_code import may_be_trained
from detlint.analysis.uses import last_name
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match
    from detlint.operations import Operation

_REFUSES = "use_deterministic_algorithms(True) refuses it on CUDA"


class NoDeterministicImplementation(Rule):
    """Why runs differ: Some operators of torch add up with atomics on a GPU, or leave open which of
    several values is written. They have no other kernel; for many this concerns the backward alone.
    `torch.use_deterministic_algorithms(True)` refuses them with an error. Without it, each run
    rounds differently.

    Reported:
    - a call or a layer of such an operator, with arguments for which it is nondeterministic
    - sums, means and products of `torch_scatter` that no switch of torch reaches: `segment_coo`,
      `scatter_mul`, the backward of `gather_coo`
    - as the release in `target-torch` does it: torch's own list of such operators is out of date
    - also where the values cannot differ, but the switch refuses all the same: the message says so

    Lowers the confidence:
    - only the backward is concerned, and the file shows no gradient that comes to it, or its names
      speak against one: reported as *possible*
    - the gradient is the same in each run, and only the switch refuses it, as of `MaxPool3d(2)`

    Not reported:
    - arguments for which it is deterministic, as `AdaptiveAvgPool2d(1)`, or that cannot be seen
    - tensors that visibly lie on the CPU, where only CUDA is concerned
    - only the backward is concerned, and there visibly is none: integers, targets, detached inputs,
      code without gradients, or that is called only from such

    What to do: Replace the operator as the advice says: `guard.enable(seed=0)` raises an error that
    shows the same as code to paste. `python -m guard preflight train.py` lists those that a program
    reaches, without a GPU.
    """

    code = "DET501"
    summary = "an operator has no deterministic implementation"
    triggers = (
        "AdaptiveAvgPool",
        "adaptive_avg_pool",
        "AdaptiveMaxPool",
        "adaptive_max_pool",
        "AvgPool3d",
        "avg_pool3d",
        "LPPool3d",
        "lp_pool3d",
        "FractionalMaxPool",
        "fractional_max_pool",
        "MaxPool3d",
        "max_pool3d",
        "MaxUnpool",
        "max_unpool",
        "interpolate",
        "Upsample",
        "upsample(",
        "pad(",
        "stft(",
        "ReflectionPad",
        "Conv1d",
        "Conv3d",
        "grid_sample",
        "CTCLoss",
        "ctc_loss",
        "CrossEntropyLoss",
        "cross_entropy",
        "NLLLoss",
        "nll_loss",
        "EmbeddingBag",
        "embedding_bag",
        "put_(",
        "put(",
        "take(",
        "scatter(",
        "scatter_(",
        "scatter_reduce",
        "index_reduce",
        "bincount(",
        "histc(",
        "median(",
        "nanmedian(",
        "kthvalue(",
        "cumsum(",
        "cumsum_(",
        "segment_coo",
        "segment_sum_coo",
        "segment_add_coo",
        "segment_mean_coo",
        "gather_coo",
        "scatter_mul",
    )
    settled = (("cumsum(", (2, 6)), ("cumsum_(", (2, 6)), ("kthvalue(", (2, 10)))
    needs = ("torch",)
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    confidence = Confidence.LIKELY
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
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where no argument stands near that makes it such a call."""
        return leads(text, offset, NEAR)

    @classmethod
    def expects(cls, text: str, offset: int) -> bool:
        """Not where embeddings are made to fit another size."""
        return not resizes_positions(text, offset)

    @cached_property
    def _calls(self) -> OperatorCalls:
        return OperatorCalls(self.module, self.triggers, NEAR)

    @cached_property
    def _evidence(self) -> Evidence:
        return Evidence(self.module)

    def _is_trained(self, node: cst.Call, found: Match) -> bool:
        """Layers are made to be trained; a function's gradient may be asked for by nobody."""
        makes_layer = last_name(node.func)[:1].isupper()
        trained = makes_layer or may_be_trained(self.module, node)
        return trained and self._evidence.is_shown(node, found)

    def visit_Call(self, node: cst.Call) -> None:
        found = self._calls.match(node, "refused", self.settings.target_torch)
        if found is None:
            return
        row = cast("Operation", found.row)
        backward, sure = row.direction == "backward", self.confidence
        apart = self._calls.is_apart(node, found)  # quickly told
        if apart or (backward and not self._is_trained(node, found)):
            sure = Confidence.POSSIBLE
        if not self.wants(sure) or self._calls.is_harmless(node, found):
            return
        shown, alternative = self._calls.shown(node, found), row.alternatives[0].text
        if is_same_in_each_run(self.module, node, found):
            # No run differs by it. Values may come with indices that do, where something is
            # trained; a model that answers leaves the switch off.
            if backward or answers(self.module, node):
                sure = Confidence.POSSIBLE
            given = "gradient" if backward else "values"
            message = f"{shown} gives the same {given} in each run, but {_REFUSES}"
            self.report(node, message, advice=f"instead: {alternative}", confidence=sure)
            return
        what = "backward" if backward else "implementation"
        where = "" if "cpu" in row.devices else " on CUDA"
        when = f" before torch {row.until}" if row.until else ""
        self.report(
            node,
            f"{shown} has no deterministic {what}{where}{when}",
            advice=f"instead: {alternative}",
            confidence=sure,
        )

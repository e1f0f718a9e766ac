"""DET502 deterministic-only-if-enabled."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis import answering, attention, gradients
from detlint.analysis.collisions import reaches_each_once
from detlint.analysis.enabling import turns_on
from detlint.analysis.operator_calls import OperatorCalls
from detlint.analysis.operator_text import NEAR_SWITCHED, leads
from detlint.analysis.tensor_facts import numbers
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.analysis.operators import Match

_INTEGERS = re.compile(
    r"(?:^|_)(?:ids?|idx|inds?|index|indices|labels?|masks?|tokens?|lengths?|lens?|positions?|targets?"
    r"|tags?|valid|counts?|seqs?)(?:_|$)"
)
_EXTENSIONS = ("torch_scatter.", "torch_geometric.utils.")
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

    Not reported:
    - by default, none of this: DET304 asks for the switch; select `DET502` to see what differs
      without it
    - files that turn the switch on
    - indices that visibly reach no place twice
    - only the backward differs, and no gradient comes: integers, detached tensors, code without
      gradients
    - decoding, caches of keys and values, engines that serve models

    What to do: Call `torch.use_deterministic_algorithms(True)`, or `guard.enable(seed=0)`, at the
    start of the program. On Apple's MPS that does not help: `index_add` and `Embedding`'s backward
    add with atomics there as well (pytorch issues 161029 and 195404).
    """

    code = "DET502"
    default = False
    summary = "an operator is deterministic only under the switch"
    triggers = (
        "index_add",
        "scatter_add",
        "scatter_reduce",
        "index_put",
        "index_copy",
        "gather(",
        "index_select",
        "ConvTranspose",
        "conv_transpose",
        "interpolate",
        "upsample(",
        "upsample_bilinear",
        "Upsample",
        "UpsamplingBilinear2d",
        "pad(",
        "ReplicationPad",
        "ReflectionPad2d",
        "cumsum(",
        "cumsum_(",
        "scatter(",
        "scatter_sum",
        "scatter_mean",
        "global_add_pool",
        "global_mean_pool",
        "spmm(",
    )
    needs = ("torch",)
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CPU"
    confidence = Confidence.LIKELY
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
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where no argument stands near that makes it such a call."""
        return leads(text, offset, NEAR_SWITCHED)

    @cached_property
    def _calls(self) -> OperatorCalls:
        return OperatorCalls(self.module, self.triggers, NEAR_SWITCHED)

    @cached_property
    def _is_on(self) -> bool:
        return turns_on(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        found = self._calls.match(node, "switched", self.settings.target_torch)
        if found is None:
            return
        apart = self._calls.is_apart(node, found)
        sure = Confidence.POSSIBLE if apart else self.confidence
        if not self.wants(sure) or self._calls.is_harmless(node, found) or self._is_on:
            return
        backward = found.row.direction == "backward"
        if attention.has_no_backward(self.module, node, forward=not backward):
            return
        if self._looks_up_integers(node, found):
            return
        if (
            gradients.is_dropped(self.module, node)
            if backward
            else self._adds_integers(node, found)
        ):
            return
        if reaches_each_once(self.module, node, found) or answering.serves(self.module.source):
            return
        what = "'s backward" if backward else ""
        place = _PLACES[found.row.devices]
        shown = self._calls.shown(node, found)
        message = f"{shown}{what}{place} by default {found.row.reason}"
        self.report(node, message, advice=_ADVICE, confidence=sure)

    def _adds_integers(self, call: cst.Call, found: Match) -> bool:
        """Sums of integers are the same in any order."""
        if found.form.startswith(_EXTENSIONS):
            return numbers(self.module, self.module.argument(call, "src", 0)) == "integer"
        if not isinstance(call.func, cst.Attribute) or "scatter_add" not in found.form:
            return False
        method = found.form.startswith("torch.Tensor.")
        into = call.func.value if method else self.module.argument(call, "input", 0)
        added = self.module.argument(call, "src", 2 if method else 3)
        return "integer" in (numbers(self.module, into), numbers(self.module, added))

    def _looks_up_integers(self, call: cst.Call, found: Match) -> bool:
        """``input_ids.gather(1, index)``, ``key_cache[0]…``: by name, nothing with a gradient."""
        method = found.form.startswith("torch.Tensor.") and isinstance(call.func, cst.Attribute)
        given = call.func.value if method else self.module.argument(call, "input", 0)  # type: ignore[attr-defined]
        name = _owner(given)
        backward = found.row.direction == "backward"
        return "cache" in name or (backward and _INTEGERS.search(name) is not None)


def _owner(node: cst.CSTNode | None) -> str:
    """The name of what a value was taken from: ``self.key_cache[0].flatten()`` → ``key_cache``."""
    while isinstance(node, (cst.Subscript, cst.Call)):
        if isinstance(node, cst.Subscript):
            node = node.value
        else:
            node = node.func.value if isinstance(node.func, cst.Attribute) else None
    last = node.attr if isinstance(node, cst.Attribute) else node
    return last.value if isinstance(last, cst.Name) else ""

"""DET309 cudnn-flags-disable-cudnn."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.calls import said
from detlint.models.settings import CUDNN
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.ir import Op


class CudnnFlagsDisableCudnn(Rule):
    """Why runs differ: `torch.backends.cudnn.flags` sets every flag, and `enabled` defaults to
    False. A block that asks only for `deterministic=True` runs without cuDNN, and nothing says so.
    Its kernels, results and speed are not those of the rest of the program. The flag that was asked
    for does nothing.

    Reported:
    - `torch.backends.cudnn.flags(…)` that gives other flags and no `enabled`

    Not reported:
    - `enabled` given by name or by place
    - calls with `*args` or `**kwargs`, which may give it

    What to do: Pass `enabled=True`, or `enabled=False` if that is meant.

    Fix safety: safe. Within the block, cuDNN runs as it does outside.
    """

    code = "DET309"
    summary = "the block runs without cuDNN"
    # "flags as " finds the alias of `from torch.backends.cudnn import flags as f`.
    triggers = ("cudnn", "flags(", "flags as ")
    source = "https://github.com/pytorch/pytorch/blob/v2.13.0/torch/backends/cudnn/__init__.py"
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
    examples = (
        Example(
            bad="""
                import torch

                with torch.backends.cudnn.flags(deterministic=True):  # DET309
                    loss.backward()
            """,
            fixed="""
                import torch

                with torch.backends.cudnn.flags(deterministic=True, enabled=True):
                    loss.backward()
            """,
        ),
    )

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            # The first positional argument is `enabled`.
            named = all(name not in (None, "*", "**", "enabled") for name in op.name)
            if op.name and named and f"{CUDNN}.flags" in self.unit.values.called(op):
                self._tell(op)

    def _tell(self, op: Op) -> None:
        call = op.call_node
        arguments = ", ".join(f"{each}=…" for each in op.name)
        if len(op.name) == 1:
            arguments = ast.unparse(call.keywords[0])
        self.report(
            call,
            f"{said(op)}({arguments}) leaves enabled at its default, False: "
            "the block runs without cuDNN",
            advice="pass enabled=True",
            edits=(self.unit.add_argument(call, "enabled=True"),),
        )

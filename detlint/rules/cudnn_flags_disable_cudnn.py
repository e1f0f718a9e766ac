"""DET309 cudnn-flags-disable-cudnn."""

from __future__ import annotations

from detlint.analysis.switches import CUDNN, code
from detlint.rule import Example, Rule, cst


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

    def visit_Call(self, node: cst.Call) -> None:
        # The first positional argument is `enabled`.
        given = [each.keyword.value for each in node.args if each.keyword is not None]
        if not given or len(given) != len(node.args) or "enabled" in given:
            return
        if self.module.called(node) != f"{CUDNN}.flags":
            return
        arguments = ", ".join(f"{each}=…" for each in given)
        if len(given) == 1:
            arguments = " ".join(self.module.tree.text(node.args[0]).rstrip(", \n").split())
        self.report(
            node,
            f"{code(node.func)}({arguments}) leaves enabled at its default, False: "
            "the block runs without cuDNN",
            advice="pass enabled=True",
            edits=(self.module.add_argument(node, "enabled=True"),),
        )

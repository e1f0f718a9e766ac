"""DET305 uninitialized-memory-not-filled."""

from __future__ import annotations

from detlint.analysis.branches import in_teardown, other_side
from detlint.analysis.switches import FILL, turned
from detlint.rule import Example, Rule, cst


class UninitializedMemoryNotFilled(Rule):
    """While deterministic algorithms are on, PyTorch (2.2 and later) fills what
    `torch.empty`, `empty_like`, `resize_` and the like return with NaN, or with the
    largest integer. With `fill_uninitialized_memory = False` such a tensor holds
    whatever lay in memory, which differs from run to run, and so does any result
    that reads it before writing it.

    Leave it at True. The fill costs time; where that matters, first check that
    results do not change when it is on, and suppress this finding with that reason.

    Fix safety: safe. Results change only if something reads uninitialized memory.
    """

    code = "DET305"
    summary = "uninitialized memory is not filled"
    triggers = ("fill_uninitialized_memory", "_set_deterministic_fill_uninitialized_memory")
    source = "https://docs.pytorch.org/docs/stable/deterministic.html"
    shown = "CPU"
    examples = (
        Example(
            bad="""
                import torch

                torch.utils.deterministic.fill_uninitialized_memory = False  # DET305
            """,
            fixed="""
                import torch

                torch.utils.deterministic.fill_uninitialized_memory = True
            """,
        ),
    )

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check(node)

    def _check(self, node: cst.CSTNode) -> None:
        for switch in turned(self.module, node, FILL, to=False):
            if not self._is_reset(node):
                self.report(
                    switch.node,
                    f"{switch.shown('False')} leaves new tensors holding whatever lay in memory",
                    advice="set it to True",
                    edits=(self.module.replace(switch.value, "True"),) if switch.alone else (),
                )

    def _is_reset(self, node: cst.CSTNode) -> bool:
        return in_teardown(self.module, node) or other_side(self.module, node, self._turns_on)

    def _turns_on(self, node: cst.CSTNode) -> bool:
        return any(turned(self.module, node, FILL, to=True))

"""DET305 uninitialized-memory-not-filled."""

from __future__ import annotations

from detlint.analysis.branches import in_teardown, other_side
from detlint.analysis.switches import FILL, turned
from detlint.rule import Example, Rule, cst


class UninitializedMemoryNotFilled(Rule):
    """Why runs differ: While deterministic algorithms are on, torch 2.2 and later fills new memory.
    `torch.empty`, `empty_like`, `resize_` and similar calls then give NaN, or the largest integer.
    With `fill_uninitialized_memory = False` they hold whatever lay in memory. Any result that reads
    them before they are written differs in each run.

    Reported:
    - `torch.utils.deterministic.fill_uninitialized_memory = False`, and every other way to say it

    Not reported:
    - values that are not literals
    - a reset in teardown: `finally`, `__exit__`, `tearDown`
    - one side of an `if` whose other side sets True

    What to do: Leave it at True. Where the time that it costs matters, check first that results do
    not change with it. Then suppress the finding, with that reason.

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

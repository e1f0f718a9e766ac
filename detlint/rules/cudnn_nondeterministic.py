"""DET302 cudnn-nondeterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.branches import in_teardown, other_side
from detlint.analysis.command_options import is_trainer
from detlint.analysis.config_findings import report_setting
from detlint.analysis.launches import switched
from detlint.analysis.lightning import trainer_argument
from detlint.analysis.switches import DETERMINISTIC, code, turned
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.documents.document import Command, Entry


class CudnnNondeterministic(Rule):
    """Why runs differ: Some of cuDNN's convolution kernels add up gradients with atomics, in the
    order in which threads finish. `cudnn.deterministic = False` allows them. Lightning's
    `Trainer(deterministic=False)` switches deterministic algorithms off, also where the program had
    them on.

    Reported:
    - `torch.backends.cudnn.deterministic = False`, and every other way to say it
    - `Trainer(deterministic=False)` of Lightning
    - the same in configurations and on command lines

    Not reported:
    - values that are not literals
    - a reset in teardown: `finally`, `__exit__`, `tearDown`
    - one side of an `if` whose other side sets True

    What to do: Set it to True: `torch.backends.cudnn.deterministic = True`. Or leave the line out
    and call `torch.use_deterministic_algorithms(True)`: convolutions follow that too, and the flag
    stays as it is.

    Fix safety: safe. Only the choice of kernels changes; it can cost speed.
    """

    code = "DET302"
    summary = "cuDNN may use kernels whose results differ from run to run"
    triggers = ("cudnn", "deterministic", "_deterministic", "set_flags", "_set_cudnn_deterministic")
    mentions = ("deterministic", "DETERMINISTIC")
    source = (
        "https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-determinism"
    )
    examples = (
        Example(
            bad="""
                import torch

                torch.backends.cudnn.deterministic = False  # DET302
            """,
            fixed="""
                import torch

                torch.backends.cudnn.deterministic = True
            """,
        ),
        Example(
            bad="""
                import lightning as L

                trainer = L.Trainer(deterministic=False)  # DET302
            """,
            fixed="""
                import lightning as L

                trainer = L.Trainer(deterministic=True)
            """,
        ),
    )

    def visit_Command(self, node: Command) -> None:
        for option in switched(self.document, node):
            if option.on is False and is_trainer(option, "deterministic"):
                message = f"{option.shown} switches deterministic algorithms off"
                self.report(
                    option.word,
                    message,
                    advice="set it to true",
                    edits=option.turned("true"),
                    confidence=Confidence.LIKELY,  # what the program makes of it is not seen
                )

    def visit_Entry(self, node: Entry) -> None:
        report_setting(self, node)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check(node)
        given = trainer_argument(self.module, node, "deterministic")
        if (
            given is not None
            and self.module.literal(given.value) is False
            and not self._is_reset(node)
        ):
            self.report(
                given,
                f"{code(node.func)}(deterministic=False) switches deterministic algorithms off",
                advice="set it to True",
                edits=(self.module.replace(given.value, "True"),),
            )

    def _check(self, node: cst.CSTNode) -> None:
        for switch in turned(self.module, node, DETERMINISTIC, to=False):
            if not self._is_reset(node):
                shown = switch.shown("False")
                self.report(
                    switch.node,
                    f"{shown} lets cuDNN use kernels whose results differ from run to run",
                    advice="set it to True",
                    edits=(self.module.replace(switch.value, "True"),) if switch.alone else (),
                )

    def _is_reset(self, node: cst.CSTNode) -> bool:
        return in_teardown(self.module, node) or other_side(self.module, node, self._turns_on)

    def _turns_on(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.Call):
            given = trainer_argument(self.module, node, "deterministic")
            if given is not None and self.module.literal(given.value) is True:
                return True
        return any(turned(self.module, node, DETERMINISTIC, to=True))

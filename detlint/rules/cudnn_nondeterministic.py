"""DET302 cudnn-nondeterministic."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import flags_at, switched_off
from detlint.documents.options import is_trainer
from detlint.documents.settings import OfCudnn, report_setting
from detlint.documents.training import switched
from detlint.models.settings import DETERMINISTIC, TRAINER
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.documents.document import Command

_EFFECTS = {
    DETERMINISTIC: "lets cuDNN use kernels whose results differ from run to run",
    f"{TRAINER}.deterministic": "switches deterministic algorithms off",
}


class CudnnNondeterministic(OfCudnn, Rule):
    """Why runs differ: Some of cuDNN's convolution kernels add up gradients with atomics, in the
    order in which threads finish. `cudnn.deterministic = False` allows them. Lightning's
    `Trainer(deterministic=False)` switches deterministic algorithms off, also where the program had
    them on.

    Reported:
    - `torch.backends.cudnn.deterministic = False`, and every other way to say it
    - `Trainer(deterministic=False)` of Lightning
    - the same in configurations and on command lines

    Lowers the confidence:
    - the name of a program that is launched says that it does not train
    - *possible*: a setting in capitals (yacs) that the project declares and nothing reads. So is a
      line whose programs show all their models, with no convolution, recurrent layer or CTC. So is
      code that no program runs which has its file

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
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
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
        for option, sure in switched(self.document, node):
            if option.on is False and is_trainer(option, "deterministic"):
                message = f"{option.shown} switches deterministic algorithms off"
                self.report(
                    option.word,
                    message,
                    advice="set it to true",
                    edits=option.turned("true"),
                    confidence=sure,
                )

    visit_Entry = report_setting  # noqa: N815 - named as its node

    def examine(self, offsets: Sequence[int]) -> None:
        for each in switched_off(flags_at(self.unit, offsets), _EFFECTS):
            shown, effect = each.shown("False"), _EFFECTS[each.name]
            edits = each.replaced("True")
            self.report(each.node, f"{shown} {effect}", advice="set it to True", edits=edits)

"""DET301 cudnn-benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.analysis.branches import behind_setting
from detlint.analysis.command_options import is_trainer
from detlint.analysis.config_findings import report_setting
from detlint.analysis.launches import switched
from detlint.analysis.lightning import trainer_argument
from detlint.analysis.options import options
from detlint.analysis.switches import BENCHMARK, code, switches
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.documents.document import Command, Entry
    from detlint.finding import Edit

_OPTIONS = frozenset({"cudnn_benchmark", "CUDNN_BENCHMARK"})
# Forms that say what the program does; a parameter's default is up to its callers.
_FORMS = frozenset({"keyword", "key", "attribute", "variable"})
_ADVICE = "set it to False"


class CudnnBenchmark(Rule):
    """Why runs differ: With benchmark on, cuDNN times several kernels for each new shape of input,
    and keeps the fastest. Timings differ between runs, so the kernel can differ. With it, the order
    of additions and the rounding differ. `cudnn.deterministic = True` does not replace this: it
    only limits which kernels are timed.

    Reported:
    - `torch.backends.cudnn.benchmark = True`, and every other way to say it, as
      `cudnn.flags(benchmark=True)`
    - `Trainer(benchmark=True)` of Lightning, and `cudnn_benchmark=True` of mmengine
    - the same in configurations and on command lines

    Not reported:
    - values that are not literals
    - `if cfg.fast: …benchmark = True`, which leaves it to a setting

    What to do: Set it to False, which is torch's default: `torch.backends.cudnn.benchmark = False`.
    cuDNN then chooses by a fixed rule.

    Fix safety: safe. Only the choice of kernels changes; it can cost speed.
    """

    code = "DET301"
    summary = "cuDNN picks its kernels by timing them"
    triggers = ("cudnn", "benchmark", "CUDNN_BENCHMARK", "set_flags", "_set_cudnn_benchmark")
    mentions = ("benchmark", "BENCHMARK", "cudnn_deterministic_mode", "reproducibility")
    source = (
        "https://docs.pytorch.org/docs/stable/notes/randomness.html#cuda-convolution-benchmarking"
    )
    examples = (
        Example(
            bad="""
                import torch

                torch.backends.cudnn.benchmark = True  # DET301
            """,
            fixed="""
                import torch

                torch.backends.cudnn.benchmark = False
            """,
        ),
        Example(
            bad="""
                import lightning as L

                trainer = L.Trainer(max_epochs=3, benchmark=True)  # DET301
            """,
            fixed="""
                import lightning as L

                trainer = L.Trainer(max_epochs=3, benchmark=False)
            """,
        ),
        Example(
            bad="""
                env_cfg = dict(
                    cudnn_benchmark=True,  # DET301
                    mp_cfg=dict(mp_start_method="fork"),
                )
            """,
            fixed="""
                env_cfg = dict(
                    cudnn_benchmark=False,
                    mp_cfg=dict(mp_start_method="fork"),
                )
            """,
        ),
    )

    def visit_Command(self, node: Command) -> None:
        for option in switched(self.document, node):
            if option.on and (option.name == "cudnn_benchmark" or is_trainer(option, "benchmark")):
                message = f"{option.shown} has cuDNN pick its kernels by timing them"
                self.report(
                    option.word,
                    message,
                    advice=_ADVICE,
                    edits=option.turned("false"),
                    confidence=Confidence.LIKELY,  # what the program makes of it is not seen
                )

    def visit_Entry(self, node: Entry) -> None:
        report_setting(self, node)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check(node)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        self._check(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check(node)
        given = trainer_argument(self.module, node, "benchmark")
        if given is not None and self.module.literal(given.value) is True:
            self._report(given, given.value, f"{code(node.func)}(benchmark=True)")

    def _check(self, node: cst.CSTNode) -> None:
        for switch in switches(self.module, node):
            if switch.flag == BENCHMARK and self._is_on(switch.value, switch.node):
                edits = (self.module.replace(switch.value, "False"),) if switch.alone else ()
                self._report(switch.node, switch.value, switch.shown("True"), edits)
        for option in options(self.module, node, _OPTIONS):
            if option.form in _FORMS and self._is_on(option.value, option.node):
                self._report(option.node, option.value, f"{option.name}=True")

    def _is_on(self, value: cst.BaseExpression, node: cst.CSTNode) -> bool:
        return self.module.literal(value) is True and not behind_setting(self.module, node)

    def _report(
        self,
        node: cst.CSTNode,
        value: cst.BaseExpression,
        shown: str,
        edits: tuple[Edit, ...] | None = None,
    ) -> None:
        if edits is None:
            edits = (self.module.replace(value, "False"),)
        message = f"{shown} has cuDNN pick its kernels by timing them"
        self.report(node, message, advice=_ADVICE, edits=edits)

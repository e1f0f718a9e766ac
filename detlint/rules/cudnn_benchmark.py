"""DET301 cudnn-benchmark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.dataflow.arguments.by_default import ByDefault
from detlint.dataflow.arguments.settings import flags_at, is_turned_on, options_at
from detlint.documents.options import is_trainer
from detlint.documents.settings import OfCudnn, report_setting
from detlint.documents.training import switched
from detlint.models.settings import BENCHMARK, TRAINER
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.arguments.settings import Setting
    from detlint.dataflow.ir import Op
    from detlint.documents.document import Command
    from detlint.finding import Finding

_OPTIONS = frozenset({"cudnn_benchmark", "CUDNN_BENCHMARK"})
_FLAGS = frozenset({BENCHMARK, f"{TRAINER}.benchmark"})
_ADVICE = "set it to False"
_BY_DEFAULT = ", which is on unless an option turns it off"


class CudnnBenchmark(OfCudnn, Rule):
    """Why runs differ: With benchmark on, cuDNN times several kernels for each new shape of input,
    and keeps the fastest. Timings differ between runs, so the kernel can differ. With it, the order
    of additions and the rounding differ. `cudnn.deterministic = True` does not replace this: it
    only limits which kernels are timed.

    Reported:
    - `torch.backends.cudnn.benchmark = True`, and every other way to say it, as
      `cudnn.flags(benchmark=True)`
    - `Trainer(benchmark=True)` of Lightning, also in a `Namespace` of its options, and
      `cudnn_benchmark=True` of mmengine
    - the same in configurations and on command lines
    - the same left to an option that the project has and that turns it on by default

    Lowers the confidence:
    - the name of a program that is launched says that it does not train
    - *possible*: a setting in capitals (yacs) that the project declares and nothing reads. So is a
      line whose programs show all their models, with no convolution, recurrent layer or CTC. So is
      code that no program runs which has its file

    Not reported:
    - values that are not literals
    - `if cfg.fast: …benchmark = True`, where `cfg.fast` is off by default, or not known to be on

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
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
    crosses_files = True
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

    @classmethod
    def rests_on_others(cls, finding: Finding) -> bool:
        """Only what a parameter decides, which is left until they are open."""
        return _BY_DEFAULT in finding.message

    def visit_Command(self, node: Command) -> None:
        for option, sure in switched(self.document, node):
            if option.on and (option.name == "cudnn_benchmark" or is_trainer(option, "benchmark")):
                message = f"{option.shown} has cuDNN pick its kernels by timing them"
                self.report(
                    option.word,
                    message,
                    advice=_ADVICE,
                    edits=option.turned("false"),
                    confidence=sure,
                )

    visit_Entry = report_setting  # noqa: N815 - named as its node

    def examine(self, offsets: Sequence[int]) -> None:
        for each in flags_at(self.unit, offsets):
            if each.name in _FLAGS:
                self._check(each, each.shown("True"))
        for each in options_at(self.unit, offsets, _OPTIONS):
            self._check(each, f"{each.name}=True")

    def _check(self, setting: Setting, shown: str) -> None:
        message = f"{shown} has cuDNN pick its kernels by timing them"
        if is_turned_on(setting):
            edits = setting.replaced("False")
            self.report(setting.node, message, advice=_ADVICE, edits=edits)
        elif setting.value is not None and setting.constant in (True, ...):
            self._check_default(setting, setting.value, f"{message}{_BY_DEFAULT}")

    def _check_default(self, setting: Setting, value: Op, message: str) -> None:
        by_default = ByDefault(self.unit, self.all_callers)
        known = by_default.value(value)
        on = known is True and by_default.runs(setting.op)
        if on or (known is ... and by_default.may_be_left(value)):
            edits = setting.replaced("False") if setting.constant is True else ()
            sure = None if on else Confidence.POSSIBLE
            self.report(setting.node, message, advice=_ADVICE, edits=edits, confidence=sure)
        elif by_default.open and self.others is None:
            self.leave(setting.node)

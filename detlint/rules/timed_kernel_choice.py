"""DET307 timed-kernel-choice."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import enables, is_left_open, options_at
from detlint.dataflow.calls import said
from detlint.dataflow.kernels.compiling import is_trial, timings
from detlint.dataflow.kernels.tuners import spoken_count, tuned
from detlint.documents.document import Word
from detlint.documents.launches import started
from detlint.documents.options import options
from detlint.documents.settings import is_deterministic, report_setting
from detlint.documents.training import asks_for_determinism
from detlint.models.tuning import TIMING_MODE, TIMING_VARIABLES
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.callgraph.program import Program
    from detlint.dataflow.arguments.settings import Setting
    from detlint.documents.document import Command, Entry, Variable
    from detlint.finding import Finding
    from detlint.settings import Settings

# The first release whose use_deterministic_algorithms() keeps inductor from timing.
_DETERMINISTIC_INDUCTOR = (2, 10)
# What stands before the configurations of a tuner, at most so many characters of it.
_XLA_LEVEL = "--xla_gpu_autotune_level="
_XLA_DETERMINISTIC = frozenset(
    f"--xla_gpu_deterministic_ops{value}" for value in ("", "=true", "=1")
)
_XLA_TIMES = "has XLA pick its kernels by timing them"
_XLA_ADVICE = "set --xla_gpu_deterministic_ops=true, which leaves the timing out"
_TORCH_TIMES = "has torch.compile pick its kernels by timing them"
_ADVICE = "leave it out, or call torch.use_deterministic_algorithms(True)"


class TimedKernelChoice(Rule):
    """Why runs differ: `max-autotune`, coordinate descent, `triton.autotune` and XLA's autotuner
    run several kernels and keep the fastest. Timings differ between runs, so the choice can differ.
    With it, the order of additions and the rounding differ. Since torch 2.10,
    `torch.use_deterministic_algorithms(True)` keeps `torch.compile` from timing what changes
    results; it does not reach `triton.autotune`.

    Reported:
    - `torch.compile(mode="max-autotune")`, its options, and inductor's settings and variables for
      the same
    - `triton.autotune` with several configurations, once for each file; also a project's own
      decorator by that name
    - `--xla_gpu_autotune_level` above 0 in `XLA_FLAGS`

    Lowers the confidence:
    - `torch.compile` in tests and benchmarks

    Not reported:
    - kernels and compiled functions that add nothing up
    - kernels whose configurations visibly leave alone what they add up
    - one configuration, or a number of them that is not certain
    - values that are not literals

    What to do: Call `torch.use_deterministic_algorithms(True)`, or leave the mode out. Give a
    Triton kernel one configuration, or choose it by a rule. For XLA, add
    `--xla_gpu_deterministic_ops=true` to `XLA_FLAGS`.
    """

    code = "DET307"
    summary = "kernels are picked by timing them"
    triggers = (
        *("max-autotune", "max_autotune", "coordinate_descent_tuning", "autotune(", "autotune as"),
        *("configs=", "configs =", "Autotuner(", "TORCHINDUCTOR_MAX_AUTOTUNE"),
        *("TORCHINDUCTOR_COORDINATE_DESCENT_TUNING", "XLA_FLAGS"),
    )
    mentions = (
        "max-autotune",
        "AUTOTUNE",
        "_TUNING",
        "xla_gpu_autotune_level",
        "max_autotune",
        "coordinate_descent_tuning",
    )
    source = (
        "https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"
    )
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
    examples = (
        Example(
            bad="""
                import torch

                def prepare(model):
                    return torch.compile(model, mode="max-autotune")  # DET307
            """,
            good="""
                import torch

                torch.use_deterministic_algorithms(True)

                def prepare(model):
                    return torch.compile(model, mode="max-autotune")
            """,
        ),
        Example(
            bad="""
                import triton
                import triton.language as tl

                @triton.autotune(  # DET307
                    [triton.Config({"BLOCK": size}) for size in (128, 256, 512)], key=["n"]
                )
                @triton.jit
                def total(x, out, n, BLOCK: tl.constexpr):
                    value = 0.0
                    for start in range(0, n, BLOCK):
                        value += tl.sum(tl.load(x + start + tl.arange(0, BLOCK)))
                    tl.store(out, value)
            """,
        ),
        Example(
            bad="""
                import os

                os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=4"  # DET307
            """,
            good="""
                import os

                os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true"
            """,
        ),
    )

    @cached_property
    def _inductor_is_told(self) -> bool:
        """Whether the file keeps inductor from timing."""
        return self.settings.target_torch >= _DETERMINISTIC_INDUCTOR and enables(self.unit)

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:
        """Another file of the program keeps inductor from timing."""
        if finding.advice != _ADVICE or settings.target_torch < _DETERMINISTIC_INDUCTOR:
            return False
        return any("False" not in each.fact.text for each in program.facts("enables", "torch"))

    def visit_Entry(self, node: Entry) -> None:
        known = self.settings.target_torch >= _DETERMINISTIC_INDUCTOR
        report_setting(self, node, lambda all_: known and is_deterministic(all_))

    def examine(self, offsets: Sequence[int]) -> None:
        self._check_timings(offsets)
        for each in options_at(self.unit, offsets, ("XLA_FLAGS",)):
            self._check_xla(each)
        if "autotune" in self.unit.text.casefold():
            self._check_kernels(offsets)

    # Scripts

    def visit_Variable(self, node: Variable) -> None:
        if node.name == "XLA_FLAGS":
            # A part that is not known, as $XLA_FLAGS, leaves the rest of the value as it is.
            raw = self.document.source.text[node.value_start : node.value_end]
            if level := _timing_level(raw.strip("\"'")):
                self.report(node, f"{level} {_XLA_TIMES}", advice=_XLA_ADVICE)
        elif node.name in TIMING_VARIABLES and node.value == "1":
            self.report(node, f"{node.name}=1 {_TORCH_TIMES}", advice=_ADVICE)

    def visit_Command(self, node: Command) -> None:
        launch = started(node)
        if launch is None or asks_for_determinism(self.document, launch):
            return
        for option in options(self.document.source, launch.arguments):
            if "compile" in ".".join(option.keys) and (option.value or "").startswith(TIMING_MODE):
                message = f"{option.shown} {_TORCH_TIMES}"
                self.report(Word(option.start, option.end, None), message, advice=_ADVICE)

    def _check_timings(self, offsets: Sequence[int]) -> None:
        for each in timings(self.unit, offsets):
            if not self._inductor_is_told:
                sure = Confidence.POSSIBLE if is_trial(each.op) else self.confidence
                message = f"{each.shown} {_TORCH_TIMES}"
                self.report(each.node, message, advice=_ADVICE, confidence=sure)

    def _check_xla(self, setting: Setting) -> None:
        level = _timing_level(setting.known_text)
        if level and not is_left_open(setting.op):
            self.report(setting.node, f"{level} {_XLA_TIMES}", advice=_XLA_ADVICE)

    # triton.autotune

    def _check_kernels(self, offsets: Sequence[int]) -> None:
        found = list(tuned(self.unit, offsets))
        if found:
            others = f" ({len(found)} kernels of this file are tuned so)" if found[1:] else ""
            self.report(
                found[0].node,
                f"{said(found[0])}() picks among {spoken_count(found[0])} configurations "
                f"by timing them{others}",
                advice="give one configuration, or choose it by a rule",
            )


def _timing_level(flags: str) -> str:
    """The flag of XLA that has it time kernels, if nothing beside it keeps it from that."""
    words = flags.split()
    level = next((each for each in words if each.startswith(_XLA_LEVEL)), "")
    times = level.removeprefix(_XLA_LEVEL).lstrip("0").isdigit()
    return level if times and _XLA_DETERMINISTIC.isdisjoint(words) else ""

"""DET307 timed-kernel-choice."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis.autotuning import Kernels
from detlint.analysis.branches import behind_setting
from detlint.analysis.command_options import options
from detlint.analysis.config_findings import report_setting
from detlint.analysis.config_keys import is_deterministic
from detlint.analysis.environments import variables
from detlint.analysis.inductor import is_trial, timings
from detlint.analysis.kernel_configurations import Configurations
from detlint.analysis.launches import asks_for_determinism, started
from detlint.analysis.seeding import uncommented
from detlint.analysis.switches import code
from detlint.analysis.triton_names import AUTOTUNE, called
from detlint.analysis.uses import last_name
from detlint.documents.document import Word
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from detlint.callgraph.program import Program
    from detlint.documents.document import Command, Entry, Variable
    from detlint.finding import Finding
    from detlint.settings import Settings

# The first release whose use_deterministic_algorithms() keeps inductor from timing.
_DETERMINISTIC_INDUCTOR = (2, 10)
_DETERMINISM = re.compile(
    r"\buse_deterministic_algorithms\(\s*(?:mode\s*=\s*)?True"
    r"|\bset_deterministic_debug_mode\(\s*(?:\"(?:warn|error)\"|[12]\b)"
    r"|\b_?inductor(?:\.|_)config\.deterministic\s*=\s*True"
    r"|\bTORCHINDUCTOR_DETERMINISTIC\b\W+1"
    r"|(?<!def )\b(?:enable_full_determinism|guard\.enable|guard\.deterministic)\("
    r"|\b(?:Trainer|Fabric)\((?:[^()]|\([^()]*\))*\bdeterministic\s*=\s*True"
    r"|\bimport guard\.auto\b"
)
# What stands before the configurations of a tuner, at most so many characters of it.
_TUNER = re.compile(r"@[\w.]*autotune\w*\(\s*$", re.IGNORECASE)
_NEAR = 100
_XLA_LEVEL = re.compile(r"--xla_gpu_autotune_level=(\d+)")
_XLA_DETERMINISTIC = re.compile(r"--xla_gpu_deterministic_ops(?:=(?:true|1))?(?![\w=])")
_XLA_TIMES = "has XLA pick its kernels by timing them"
_XLA_ADVICE = "set --xla_gpu_deterministic_ops=true, which leaves the timing out"
_TORCH_TIMES = "has torch.compile pick its kernels by timing them"
_MODE = "max-autotune"
_SWITCHES = frozenset(
    {
        "TORCHINDUCTOR_MAX_AUTOTUNE",
        "TORCHINDUCTOR_MAX_AUTOTUNE_GEMM",
        "TORCHINDUCTOR_MAX_AUTOTUNE_POINTWISE",
        "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING",
    }
)
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

    Not reported:
    - kernels and compiled functions that add nothing up
    - kernels whose configurations visibly leave alone what they add up
    - one configuration, or a number of them that is not certain
    - values that are not literals
    - `torch.compile` in tests and benchmarks

    What to do: Call `torch.use_deterministic_algorithms(True)`, or leave the mode out. Give a
    Triton kernel one configuration, or choose it by a rule. For XLA, add
    `--xla_gpu_deterministic_ops=true` to `XLA_FLAGS`.
    """

    code = "DET307"
    summary = "kernels are picked by timing them"
    triggers = (
        "max-autotune",
        "max_autotune",
        "coordinate_descent_tuning",
        "autotune(",
        "autotune as",
        "configs=",
        "configs =",
        "Autotuner(",
        "TORCHINDUCTOR_MAX_AUTOTUNE",
        "TORCHINDUCTOR_COORDINATE_DESCENT_TUNING",
        "XLA_FLAGS",
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
    confidence = Confidence.LIKELY
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

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Configurations matter as the first argument of a tuner, also of a project's own."""
        return (
            not text.startswith("configs", offset)
            or _TUNER.search(text, max(offset - _NEAR, 0), offset) is not None
        )

    @cached_property
    def _inductor_is_told(self) -> bool:
        """Whether the file keeps inductor from timing."""
        known = self.settings.target_torch >= _DETERMINISTIC_INDUCTOR
        return known and bool(_DETERMINISM.search(uncommented(self.module.source.text)))

    @classmethod
    def cleared(cls, finding: Finding, program: Program, settings: Settings) -> bool:
        """Another file of the program keeps inductor from timing."""
        if finding.advice != _ADVICE or settings.target_torch < _DETERMINISTIC_INDUCTOR:
            return False
        return any("False" not in each.fact.text for each in program.facts("enables", "torch"))

    def visit_Entry(self, node: Entry) -> None:
        known = self.settings.target_torch >= _DETERMINISTIC_INDUCTOR
        report_setting(self, node, lambda all_: known and is_deterministic(all_))

    def visit_Module(self, node: cst.Module) -> None:
        if "autotune" in self.module.source.text.casefold():
            self._check_kernels(node)

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check_settings(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check_settings(node)

    def visit_DictElement(self, node: cst.DictElement) -> None:
        self._check_settings(node)

    def visit_Dict(self, node: cst.Dict) -> None:
        self._check_settings(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check_settings(node)

    # Scripts

    def visit_Variable(self, node: Variable) -> None:
        if node.name == "XLA_FLAGS":
            # A part that is not known, as $XLA_FLAGS, leaves the rest of the value as it is.
            raw = self.document.source.text[node.value_start : node.value_end]
            level = _XLA_LEVEL.search(raw)
            if level and int(level[1]) and not _XLA_DETERMINISTIC.search(raw):
                self.report(node, f"{level[0]} {_XLA_TIMES}", advice=_XLA_ADVICE)
        elif node.name in _SWITCHES and node.value == "1":
            self.report(node, f"{node.name}=1 {_TORCH_TIMES}", advice=_ADVICE)

    def visit_Command(self, node: Command) -> None:
        launch = started(node)
        if launch is None or asks_for_determinism(self.document, launch):
            return
        for option in options(self.document.source, launch.arguments):
            if "compile" in ".".join(option.keys) and (option.value or "").startswith(_MODE):
                message = f"{option.shown} {_TORCH_TIMES}"
                self.report(Word(option.start, option.end, None), message, advice=_ADVICE)

    def _check_settings(self, node: cst.CSTNode) -> None:
        for timing in timings(self.module, node):
            if not self._inductor_is_told and not is_trial(self.module, node):
                message = f"{timing.shown} {_TORCH_TIMES}"
                self.report(timing.node, message, advice=_ADVICE)
        for variable in variables(self.module, node, "XLA_FLAGS"):
            level = _XLA_LEVEL.search(variable.text)
            told = _XLA_DETERMINISTIC.search(variable.text)
            if level and int(level[1]) and not told and not behind_setting(self.module, node):
                self.report(variable.node, f"{level[0]} {_XLA_TIMES}", advice=_XLA_ADVICE)

    # triton.autotune

    def _check_kernels(self, tree: cst.Module) -> None:
        configurations, kernels = Configurations(self.module), Kernels(self.module)
        found: list[cst.Call] = []
        for node in self.module.tree.descendants(tree):
            if isinstance(node, cst.Call):
                configs = self.module.argument(node, "configs", 0)
                if configs is None or not self._tunes(node, configs):
                    continue
                count = configurations.count(configs)
                if count is None or count < 2:
                    continue
                if kernels.add_up(self._kernel(node), configurations.varied(configs)):
                    found.append(node)
        if found:
            others = f" ({len(found)} kernels of this file are tuned so)" if found[1:] else ""
            self.report(
                found[0],
                f"{code(found[0].func)}() picks among {self._number(found[0])} configurations "
                f"by timing them{others}",
                advice="give one configuration, or choose it by a rule",
            )

    def _tunes(self, call: cst.Call, configs: cst.BaseExpression) -> bool:
        """Whether a call tunes a kernel, also one of a project's own by that name."""
        if called(self.module, call) in AUTOTUNE:
            return True
        own = "autotune" in last_name(call.func).lower()
        decorates = isinstance(self.module.parent(call), cst.Decorator)
        return own and decorates and Configurations(self.module).are_triton(configs)

    def _number(self, call: cst.Call) -> str:
        """How many configurations a tuner has, as far as source shows."""
        configs = self.module.argument(call, "configs", 0)
        least = Configurations(self.module).count(configs)
        most = Configurations(self.module, max).count(configs)
        if self.module.argument(call, "prune_configs_by") is not None:
            return f"up to {most}"
        return f"{least}" if least == most else f"at least {least}"

    def _kernel(self, call: cst.Call) -> cst.CSTNode | None:
        """What a tuner is put on: the function that it decorates, or is called with."""
        parent = self.module.parent(call)
        if isinstance(parent, cst.Decorator):
            return self.module.parent(parent)
        if isinstance(parent, cst.Call) and parent.func is call:
            return parent
        return None

"""DET308 reduced-precision."""

from __future__ import annotations

from detlint.analysis.branches import behind_setting
from detlint.analysis.switches import CUBLAS_TF32, CUDNN_TF32, code, switches
from detlint.rule import Confidence, Example, Rule, cst

_MATMUL = "torch.backends.cuda.matmul"
_REDUCTIONS = (
    "allow_fp16_reduced_precision_reduction",
    "allow_bf16_reduced_precision_reduction",
    "allow_fp16_accumulation",
)
_TF32 = "multiplies float32 in TF32, on GPUs that have it"
_REDUCED = "lets half-precision products be added up in half precision"
_BFLOAT16 = "multiplies float32 in bfloat16, on machines that have it"
_FLAGS = {
    CUBLAS_TF32: _TF32,
    CUDNN_TF32: _TF32,
    **{f"{_MATMUL}.{name}": _REDUCED for name in _REDUCTIONS},
}
# What took the place of allow_tf32 in torch 2.9.
_PRECISIONS = {
    f"torch.backends.{owner}fp32_precision"
    for owner in (
        "",
        "cuda.matmul.",
        *(f"{library}.{part}" for library in ("cudnn", "mkldnn") for part in ("", "conv.", "rnn.")),
        "mkldnn.matmul.",
    )
}
_EFFECTS = {"tf32": _TF32, "bf16": _BFLOAT16, "high": _TF32, "medium": _BFLOAT16}
# Calls that set a precision or a flag, with the name of their parameter.
_SETTERS = {
    "torch.set_float32_matmul_precision": "precision",
    "torch._C._set_float32_matmul_precision": "",
    "tensorflow.config.experimental.enable_tensor_float_32_execution": "enabled",
}
_ARGUMENTS = frozenset({"transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"})
_ADVICE = "switch it off where results have to agree across machines"


class ReducedPrecision(Rule):
    """Why runs differ: On one machine, two runs agree. Another GPU may have no TF32, which rounds
    the factors of a float32 product to 10 bits. Or it splits a half-precision sum in other places,
    and reduced-precision reductions add that up in half precision. Results then differ by far more
    than float32 rounds.

    Reported:
    - `allow_tf32 = True`, `fp32_precision = "tf32"` or `"bf16"`, and
      `torch.set_float32_matmul_precision("high")` or `"medium"`
    - `allow_fp16_reduced_precision_reduction = True` and similar flags
    - `TrainingArguments(tf32=True)`, and TensorFlow's `enable_tensor_float_32_execution(True)`

    Not reported:
    - by default, none of this: select `DET308` where runs on different machines are compared
    - values that are not literals
    - `if cfg.tf32: …allow_tf32 = True`, which leaves it to a setting

    What to do: Switch it off: `torch.backends.cuda.matmul.allow_tf32 = False`,
    `torch.set_float32_matmul_precision("highest")`.
    """

    code = "DET308"
    summary = "reduced precision gives other results on other machines"
    triggers = (
        "allow_tf32",
        "_allow_tf32",
        "float32_matmul_precision",
        "set_float32_matmul_precision",
        "_set_float32_matmul_precision",
        "_set_cublas_allow_tf32",
        "_set_cudnn_allow_tf32",
        "reduced_precision_reduction",
        "allow_fp16_",
        "allow_bf16_",
        "fp32_precision",
        "enable_tensor_float_32_execution",
        "tf32",
    )
    source = "https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html"
    default = False
    confidence = Confidence.LIKELY
    examples = (
        Example(
            bad="""
                import torch

                torch.backends.cuda.matmul.allow_tf32 = True  # DET308
            """,
            good="""
                import torch

                torch.backends.cuda.matmul.allow_tf32 = False
            """,
        ),
        Example(
            bad="""
                import torch

                torch.set_float32_matmul_precision("high")  # DET308
            """,
            good="""
                import torch

                torch.set_float32_matmul_precision("highest")
            """,
        ),
    )

    def visit_Assign(self, node: cst.Assign) -> None:
        self._check_switches(node)

    def visit_AnnAssign(self, node: cst.AnnAssign) -> None:
        self._check_switches(node)

    def visit_Call(self, node: cst.Call) -> None:
        self._check_switches(node)
        name = self.module.called(node)
        value = None
        if name in _SETTERS:
            value = self.module.argument(node, _SETTERS[name], 0)
        elif name in _ARGUMENTS:
            value = self.module.argument(node, "tf32")
        if value is None:
            return
        setting = self.module.literal(value)
        effect = _TF32 if setting is True else self._effect(setting)
        if effect:
            written = self.module.tree.text(value)
            shown = f"tf32={written}" if name in _ARGUMENTS else written
            self._report(node, f"{code(node.func)}({shown})", effect)

    def _check_switches(self, node: cst.CSTNode) -> None:
        for switch in switches(self.module, node):
            value = self.module.literal(switch.value)
            effect = ""
            # (allow, allow_splitk): since torch 2.10
            if switch.flag in _FLAGS and (value is True or value == (True, True)):
                effect = _FLAGS[switch.flag]
            elif switch.flag in _PRECISIONS:
                effect = self._effect(value)
            if effect:
                shown = switch.shown(self.module.tree.text(switch.value))
                self._report(switch.node, shown, effect)

    @staticmethod
    def _effect(value: object) -> str:
        return _EFFECTS.get(value, "") if isinstance(value, str) else ""

    def _report(self, node: cst.CSTNode, shown: str, effect: str) -> None:
        if not behind_setting(self.module, node):
            self.report(node, f"{shown} {effect}", advice=_ADVICE)

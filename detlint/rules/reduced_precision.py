"""DET308 reduced-precision."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import flags_at, is_left_open
from detlint.models.settings import (
    CUBLAS_TF32,
    CUDNN_TF32,
    MATMUL_PRECISION,
    TENSORFLOW_TF32,
    TRAINING_TF32,
)
from detlint.rule import Example, Rule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from detlint.dataflow.arguments.settings import Setting

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
    TENSORFLOW_TF32: _TF32,
    TRAINING_TF32: _TF32,
    **{f"{_MATMUL}.{name}": _REDUCED for name in _REDUCTIONS},
}
# What took the place of allow_tf32 in torch 2.9.
_PRECISIONS = {MATMUL_PRECISION} | {
    f"torch.backends.{owner}fp32_precision"
    for owner in (
        "",
        "cuda.matmul.",
        *(f"{library}.{part}" for library in ("cudnn", "mkldnn") for part in ("", "conv.", "rnn.")),
        "mkldnn.matmul.",
    )
}
_EFFECTS = {"tf32": _TF32, "bf16": _BFLOAT16, "high": _TF32, "medium": _BFLOAT16}
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
        *("allow_tf32", "_allow_tf32", "float32_matmul_precision", "set_float32_matmul_precision"),
        *("_set_float32_matmul_precision", "_set_cublas_allow_tf32", "_set_cudnn_allow_tf32"),
        *("reduced_precision_reduction", "allow_fp16_", "allow_bf16_", "fp32_precision"),
        *("enable_tensor_float_32_execution", "tf32"),
    )
    source = "https://docs.pytorch.org/docs/stable/notes/numerical_accuracy.html"
    default = False
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

    def examine(self, offsets: Sequence[int]) -> None:
        for each in flags_at(self.unit, offsets):
            effect = _effect(each)
            if effect and not is_left_open(each.op):
                shown = each.shown(ast.unparse(each.written) if each.written else "True")
                self.report(each.node, f"{shown} {effect}", advice=_ADVICE)


def _effect(setting: Setting) -> str:
    value = setting.constant if setting.name in _FLAGS or setting.name in _PRECISIONS else ...
    if setting.name in _PRECISIONS:
        return _EFFECTS.get(value, "") if isinstance(value, str) else ""
    # (allow, allow_splitk): since torch 2.10
    return _FLAGS[setting.name] if value is True or value == (True, True) else ""

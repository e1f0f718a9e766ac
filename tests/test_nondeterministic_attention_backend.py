"""DET602: what elsewhere in a file makes a kernel for attention deterministic, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.rule import Confidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

ASKED = """
import torch
{line}

def attend(q, k, v):
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.{backend}):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v)
"""
SPARSE = """
import torch
from deepspeed.ops.sparse_attention import SparseSelfAttention
{line}
layer = SparseSelfAttention()
"""


@pytest.mark.parametrize(
    "line",
    [
        "torch.use_deterministic_algorithms(True)",
        "torch.use_deterministic_algorithms(mode=True)",
        "import guard; guard.enable(seed=0)",
        "import guard.auto",
        "enable_full_determinism(0)",
        "from lightning import Trainer; t = Trainer(devices=1, deterministic=True)",
        'torch.set_deterministic_debug_mode("error")',
    ],
)
def test_is_silent_where_the_switch_is_on(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(ASKED.format(line=line, backend="FLASH_ATTENTION"), "DET602") == []
    assert findings(SPARSE.format(line=line), "DET602") != []


@pytest.mark.parametrize(
    "line",
    [
        "torch.use_deterministic_algorithms(True, warn_only=True)",
        "torch.use_deterministic_algorithms(on)",
        "# torch.use_deterministic_algorithms(True)",
        "torch.backends.cudnn.deterministic = True",
        'from lightning import Trainer; t = Trainer(deterministic="warn")',
        "def enable_full_determinism(seed): ...",
    ],
)
def test_is_not_silent_where_it_is_not_strictly(
    line: str, findings: Callable[..., list[Finding]]
) -> None:
    assert len(findings(ASKED.format(line=line, backend="FLASH_ATTENTION"), "DET602")) == 1


@pytest.mark.parametrize(
    ("backend", "message", "advice"),
    [
        (
            "FLASH_ATTENTION",
            "sdpa_kernel() asks for FlashAttention, whose backward adds up gradients",
            "torch.use_deterministic_algorithms(True) makes its backward deterministic",
        ),
        (
            "EFFICIENT_ATTENTION",
            "sdpa_kernel() asks for memory-efficient attention, whose backward adds up gradients",
            "torch.use_deterministic_algorithms(True) makes its backward deterministic",
        ),
        (
            "CUDNN_ATTENTION",
            "sdpa_kernel() asks for cuDNN's attention, whose backward is not deterministic",
            "use SDPBackend.MATH",
        ),
    ],
)
def test_says_what_is_true_of_each(
    backend: str, message: str, advice: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(ASKED.format(line="", backend=backend), "DET602")
    assert found.message.startswith(message)
    assert found.advice.startswith(advice)


@pytest.mark.parametrize(
    ("lines", "confidence"),
    [
        ("def attend(q, k, v):", Confidence.LIKELY),
        ("def generate(q, k, v):", Confidence.POSSIBLE),
        ("def test_attention(q, k, v):", Confidence.LIKELY),
        ("@registry.register\ndef attend(q, k, v):", Confidence.POSSIBLE),
        ("def attend(q, kv_cache, v):", Confidence.LIKELY),
    ],
)
def test_names_lower_the_confidence(
    lines: str, confidence: Confidence, findings: Callable[..., list[Finding]]
) -> None:
    call = "xops.memory_efficient_attention(q, v, v)"
    text = f"import xformers.ops as xops\n{lines}\n    return {call}"
    (found,) = findings(text, "DET602")
    assert found.confidence is confidence

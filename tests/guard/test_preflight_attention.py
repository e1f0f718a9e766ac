"""Which kernel attention takes on a GPU, beside the rules of torch that decide it."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")

import torch

from guard.rehearsal import gate
from guard.rehearsal.kernels import GPUS, Call, capability, choose

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)
HALF, BRAIN, SINGLE, DOUBLE = torch.float16, torch.bfloat16, torch.float32, torch.float64


def call(  # noqa: PLR0913 - a value of each kind that decides
    dtype: torch.dtype = HALF,
    gpu: str = "h100",
    *,
    head: int = 64,
    keys: int = 16,
    has_mask: bool = False,
    dropout: float = 0.0,
    is_causal: bool = False,
    heads: int = 4,
    grouped: bool = False,
) -> Call:
    query = torch.empty(2, 4, 16, head, dtype=dtype, device="meta", requires_grad=True)
    key = torch.empty(2, heads, keys, head, dtype=dtype, device="meta")
    found = capability(gpu)
    return Call(query, key, key, dtype, has_mask, dropout, is_causal, grouped, found)


@pytest.mark.parametrize(
    ("given", "backend", "why"),
    [
        (call(), "flash", ""),
        (call(BRAIN, "a100", is_causal=True), "flash", ""),
        (call(SINGLE), "efficient", "takes half precision alone, not float32"),
        (call(DOUBLE), "math", "does not take float64 on this GPU"),
        (call(has_mask=True), "efficient", "not flash: there is a mask"),
        (call(head=260), "math", "of multiples of 8"),
        (call(head=264), "efficient", "up to 256"),
        (call(gpu="t4"), "efficient", "older than Ampere"),
        (call(BRAIN, "v100"), "math", "does not take bfloat16 on this GPU"),
        (call(gpu="rtx4090", head=224), "efficient", "heads of size 224 cannot be trained"),
        (call(gpu="rtx4090", head=256), "flash", ""),
        (call(gpu="rtx4090", head=256, dropout=0.1), "efficient", "cannot be trained"),
        (call(gpu="h100", head=224), "flash", ""),
        (call(keys=8, is_causal=True), "efficient", "not equally many"),
        (call(heads=2), "math", "the numbers of heads differ"),
        (call(heads=2, grouped=True), "flash", ""),
    ],
)
def test_the_kernel_that_torch_takes(given: Call, backend: str, why: str) -> None:
    found, reason = choose(given)
    assert found == backend
    assert why in reason
    assert bool(reason) == bool(why)


def test_a_kernel_that_is_switched_off_is_not_taken() -> None:
    with torch.nn.attention.sdpa_kernel([torch.nn.attention.SDPBackend.MATH]):
        assert choose(call()) == (
            "math",
            "not flash: it is switched off; not efficient: it is switched off",
        )


def test_gpus_are_in_the_order_of_their_age() -> None:
    assert list(GPUS.values()) == sorted(GPUS.values())

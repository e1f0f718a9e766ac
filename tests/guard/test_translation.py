"""What torch says is translated: every alert of torch 2.13 to a text of its own."""

from __future__ import annotations

import re

import pytest

from detlint.operations import OPERATIONS, Alternative
from guard.observe.places import Place
from guard.refusals import translation

# The texts of the alert sites in libtorch_cuda and libtorch_cpu 2.13.0: 42 and 4 sites, of
# which some share a text.
ALERTS = """
_bincount_cuda
_histc_cuda with floating point input
adaptive_avg_pool2d_backward_cuda
adaptive_avg_pool2d_backward_out_cuda
adaptive_avg_pool3d_backward_cuda
adaptive_avg_pool3d_backward_out_cuda
adaptive_max_pool2d_backward_cuda
avg_pool3d_backward_cuda
ctc_loss_backward_gpu
cudnn_grid_sampler_backward
embedding_bag_backward_cuda_max
fractional_max_pool2d_backward_cuda
fractional_max_pool3d_backward_cuda
fractional_max_pool3d_backward_out_cuda
grid_sampler_2d_backward_cuda
grid_sampler_3d_backward_cuda
index_reduce_cuda
max_pool3d_with_indices_backward_cuda
max_pool3d_with_indices_backward_out_cuda
max_unpooling2d_forward_out
max_unpooling3d_forward_out
median CUDA with indices output
nll_loss2d_forward_out_cuda_template
put_
quantized_resize_cpu_
reflection_pad1d_backward_out_cuda
reflection_pad3d_backward_out_cuda
replication_pad1d_backward_cuda
replication_pad2d_backward_cuda
replication_pad2d_backward_out_cuda
replication_pad3d_backward_cuda
replication_pad3d_backward_out_cuda
scatter_cuda_
scatter_reduce_cuda_kernel
scatter_reduce_cuda_prod_
upsample_bicubic2d_aa_backward_out_cuda
upsample_bicubic2d_backward_out_cuda
upsample_bilinear2d_aa_backward_out_cuda
upsample_bilinear2d_backward_out_cuda
upsample_linear1d_backward_out_cuda
upsample_trilinear3d_backward_out_cuda
""".strip().splitlines()

STRICT = (
    "{} does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True)'. You can turn off determinism just for this "
    "operation, or you can use the 'warn_only=True' option, if that's acceptable for your "
    "application. You can also file an issue at https://github.com/pytorch/pytorch/issues to help "
    "us prioritize adding deterministic support for this operation."
)
WARNING = (
    "{} does not have a deterministic implementation, but you set "
    "'torch.use_deterministic_algorithms(True, warn_only=True)'. You can file an issue at "
    "https://github.com/pytorch/pytorch/issues to help us prioritize adding deterministic support "
    "for this operation. (Triggered internally at /pytorch/aten/src/ATen/Context.cpp:186.)"
)
HERE = Place("train.py", 12, "forward", "encoder.pool", "Pool")
THERE = Place("train.py", 40, "<module>")

# Refusals of other kinds, as recorded in public reports and in the sources that raise them.
OTHERS = {
    "cublas": (
        (
            "Deterministic behavior was enabled with either "
            "`torch.use_deterministic_algorithms(True)` or "
            "`at::Context::setDeterministicAlgorithms(true)`, but this operation is not "
            "deterministic because it uses CuBLAS and you have CUDA >= 10.2."
        ),
        "export CUBLAS_WORKSPACE_CONFIG=:4096:8",
    ),
    "inductor": (
        (
            "This compiled backward function is being run with "
            "torch.use_deterministic_algorithms(True), but it was previously generated during the "
            "forward function while torch.use_deterministic_algorithms(False) was set."
        ),
        "torch.compiler.reset()",
    ),
    "cudnn": ("GET was unable to find an engine to execute this computation", "enabled=False"),
    "flash-attn 3": ("Deterministic backward not supported for hdim 256.", "sdpa"),
    "flash-attn 4": ("deterministic backward not supported on SM 12.0", "sdpa"),
    "flex attention": (
        (
            "Deterministic backward for flex_attention with block_mask and BACKEND='FLASH' "
            "requires SM100+ (compute capability >= 10.0)."
        ),
        "TRITON",
    ),
    "transformer engine": (
        (
            "No dot product attention backend is available for the provided inputs. Please "
            "run with NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 to find out the reasons for "
            "disabling all backends."
        ),
        "NVTE_UNFUSED_ATTN=1",
    ),
}


def rendered(message: str) -> str:
    explanation = translation.explain(message)
    assert explanation is not None
    return translation.render(explanation, HERE, THERE, message)


@pytest.mark.parametrize("template", [STRICT, WARNING], ids=["strict", "warn_only"])
@pytest.mark.parametrize("alert", ALERTS)
def test_every_alert_has_a_row_a_reason_and_advice(alert: str, template: str) -> None:
    message = template.format(alert)
    row = translation.find(message)
    assert row is not None
    assert alert in row.alerts
    explanation = translation.explain(message)
    assert explanation is not None
    assert row.name in explanation.title
    assert explanation.reason
    assert explanation.alternatives


def test_texts_differ_wherever_rows_do() -> None:
    texts = {rendered(STRICT.format(row.alerts[0])) for row in OPERATIONS if row.alerts}
    assert len(texts) == sum(1 for row in OPERATIONS if row.alerts)


def test_the_whole_text() -> None:
    text = rendered(STRICT.format("adaptive_avg_pool2d_backward_cuda"))
    lines = text.splitlines()
    assert lines[0] == (
        "The backward of torch.nn.functional.adaptive_avg_pool2d has no deterministic "
        "implementation on CUDA."
    )
    assert lines[1] == "  forward:     train.py, line 12, in forward"
    assert lines[2] == "  module:      encoder.pool (Pool)"
    assert lines[3] == "  backward:    train.py, line 40"
    assert any(line.startswith("  why:         ") for line in lines)
    assert any(line.startswith("  instead:     1. ") for line in lines)
    name = "_adaptive_avg_pool2d_backward"
    ways = f'allow=["{name}"] where guard is switched on, guard run --allow {name}'
    assert f"  or allow it: {ways}, or GUARD_ALLOW={name}" in lines
    assert lines[-1] == (
        "  torch says:  adaptive_avg_pool2d_backward_cuda does not have a deterministic "
        "implementation"
    )


def test_torchs_own_advice_is_not_repeated() -> None:
    for alert in ALERTS:
        assert "turn off determinism just for this operation" not in rendered(STRICT.format(alert))


def test_a_backward_whose_forward_nothing_saw_says_what_to_look_for() -> None:
    explanation = translation.explain(STRICT.format("grid_sampler_2d_backward_cuda"))
    assert explanation is not None
    text = translation.render(explanation, None, THERE)
    assert re.search(r"forward: +not recorded \(look for .*grid_sample", text)
    assert "set_detect_anomaly(True, check_nan=False)" in text


def test_an_operator_of_another_library_is_said_to_be_one() -> None:
    text = rendered(STRICT.format("ms_deform_attn_backward"))
    assert text.startswith("ms_deform_attn_backward has no deterministic implementation.")
    assert "not in guard's table" in text


@pytest.mark.parametrize(("message", "advice"), OTHERS.values(), ids=OTHERS)
def test_other_refusals(message: str, advice: str) -> None:
    assert translation.find(message) is None
    text = rendered(message)
    assert advice in text
    assert "  why:" in text


@pytest.mark.parametrize(
    "message", ["CUDA out of memory.", "mat1 and mat2 shapes cannot be multiplied", ""]
)
def test_what_is_about_something_else_is_left_alone(message: str) -> None:
    assert translation.explain(message) is None


def test_the_rank_is_named() -> None:
    explanation = translation.Explanation(None, "x", "y", (Alternative("z"),))
    assert "  rank:        3" in translation.render(explanation, HERE, rank="3")

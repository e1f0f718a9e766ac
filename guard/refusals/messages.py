"""Refusals that are not an operator of torch's: cuBLAS, cuDNN, compiled code, attention."""

from __future__ import annotations

from typing import NamedTuple

from detlint.operations import Alternative


class Refusal(NamedTuple):
    """A message that is not an alert of an operator: a pattern and what it means."""

    pattern: str
    title: str
    reason: str
    alternatives: tuple[Alternative, ...]


REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        r"not deterministic because it uses CuBLAS",
        "a matrix product by cuBLAS was refused: CUBLAS_WORKSPACE_CONFIG is not set",
        "Releases of torch before 2.13 ask for a fixed workspace, because cuBLAS may add up in "
        "varying order when several streams share one.",
        (
            Alternative(
                "set it before CUDA starts: in the launcher, by `python -m guard run`, or by "
                "calling guard.enable before anything uses a GPU",
                "export CUBLAS_WORKSPACE_CONFIG=:4096:8",
            ),
        ),
    ),
    Refusal(
        r"compiled backward function is being run with[\s\S]*use_deterministic_algor",
        "a compiled backward was generated before determinism was turned on",
        "torch.compile made the backward together with the forward, under other settings.",
        (
            Alternative("call guard.enable before the model is first run"),
            Alternative("compile again", "torch.compiler.reset()"),
        ),
    ),
    Refusal(
        r"GET was unable to find an engine|Unable to find a valid cuDNN algorithm"
        r"|CUDNN_STATUS_NOT_SUPPORTED",
        "cuDNN has no kernel for this call under the present settings",
        "With determinism on, cuDNN may use deterministic kernels only, and none takes these "
        "shapes, types and strides.",
        (
            Alternative("make the input contiguous, or use another dtype", "x = x.contiguous()"),
            Alternative(
                "run this layer without cuDNN",
                "with torch.backends.cudnn.flags(enabled=False):\n    y = layer(x)",
            ),
        ),
    ),
    Refusal(
        r"No available kernel\. Aborting execution|No viable backend for scaled_dot",
        "no backend of scaled_dot_product_attention is left",
        "The backends that were chosen have no deterministic form for these inputs.",
        (
            Alternative(
                "allow the math backend, which is deterministic",
                "from torch.nn.attention import SDPBackend, sdpa_kernel\n"
                "with sdpa_kernel([SDPBackend.FLASH_ATTENTION, SDPBackend.MATH]):\n"
                "    y = F.scaled_dot_product_attention(q, k, v)",
            ),
        ),
    ),
    Refusal(
        # flash-attn 3: "Deterministic backward not supported for hdim 256."; 4: "… on SM 12.0".
        r"[Dd]eterministic backward not (?:yet )?supported",
        "an attention library has no deterministic backward for this call",
        "Its kernel adds up gradients with atomics, and the deterministic variant does not cover "
        "this GPU, head size or option.",
        (
            Alternative(
                "let PyTorch choose the attention",
                'model = AutoModel.from_pretrained(name, attn_implementation="sdpa")',
            ),
            Alternative("leave out the option that the message names"),
        ),
    ),
    Refusal(
        r"Deterministic backward for flex_attention",
        "flex_attention has no deterministic backward on the FLASH backend for this call",
        "The order in which it adds up the gradient of the queries is fixed on newer GPUs only, "
        "and with a block mask that says so.",
        (
            Alternative(
                "use the Triton backend",
                'flex_attention(q, k, v, block_mask=mask, kernel_options={"BACKEND": "TRITON"})',
            ),
        ),
    ),
    Refusal(
        r"No dot product attention (?:backend|support)",
        "Transformer Engine has no attention backend left for this call",
        "With NVTE_ALLOW_NONDETERMINISTIC_ALGO=0 it leaves out those whose backward is not "
        "deterministic for these inputs; NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 shows whether that is it.",
        (
            Alternative("let it use its unfused attention", "export NVTE_UNFUSED_ATTN=1"),
            Alternative("update Transformer Engine and cuDNN: newer ones cover more inputs"),
        ),
    ),
)

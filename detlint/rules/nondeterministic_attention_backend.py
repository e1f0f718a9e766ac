"""DET602 nondeterministic-attention-backend."""

from __future__ import annotations

import ast
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.dataflow.arguments.settings import enables_strictly
from detlint.dataflow.calls import word_of
from detlint.dataflow.ir import LISTS
from detlint.dataflow.kernels.flash_requests import calls_for_answers
from detlint.dataflow.learning.inference import has_no_backward
from detlint.rule import Confidence, Example, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.dataflow.ir import Op

_EFFECTS = {
    "FLASH_ATTENTION": "FlashAttention, whose backward adds up gradients in varying order",
    "EFFICIENT_ATTENTION": "memory-efficient attention, whose backward adds up gradients in "
    "varying order",
    "CUDNN_ATTENTION": "cuDNN's attention, whose backward is not deterministic",
}
_ADVICE = (
    "torch.use_deterministic_algorithms(True) makes its backward deterministic, or use "
    "SDPBackend.MATH"
)
# Under the switch torch passes it over, and stops where it is the only one allowed.
_CUDNN_ADVICE = "use SDPBackend.MATH, or FLASH_ATTENTION with torch.use_deterministic_algorithms"
_XFORMERS = "xformers may pick a kernel whose backward adds up gradients in varying order"
_XFORMERS_ADVICE = (
    "under torch.use_deterministic_algorithms(True) it leaves out the kernels that differ; or use "
    "scaled_dot_product_attention"
)
_SPARSE = "adds up partial products in the order in which blocks take a lock"
_SPARSE_ADVICE = "use scaled_dot_product_attention with a mask; no switch reaches this one"

# The parameters of sdp_kernel, by position.
_SDP_KERNEL = {
    ("enable_flash", 0): "FLASH_ATTENTION",
    ("enable_mem_efficient", 2): "EFFICIENT_ATTENTION",
    ("enable_cudnn", 3): "CUDNN_ATTENTION",
}
_WITHOUT_MATH = ("enable_math", 1)
_KERNELS = frozenset({"torch.nn.attention.sdpa_kernel", "torch.nn.attention._sdpa_kernel"})
_MEMORY_EFFICIENT = frozenset(
    f"xformers.ops.{place}memory_efficient_attention" for place in ("", "fmha.")
)
_SPARSE_LAYERS = frozenset({"SparseSelfAttention", "BertSparseSelfAttention"})
_DIFFUSERS = "enable_xformers_memory_efficient_attention"


class NondeterministicAttentionBackend(Rule):
    """Why runs differ: The forward pass of fast attention kernels is deterministic, their backward
    is not. Blocks add their share of a gradient in the order in which they finish. Left alone,
    `scaled_dot_product_attention` may choose such a kernel; code that asks for one by name always
    gets it. DeepSpeed's sparse attention adds up under locks, in the forward pass too.

    Reported:
    - `sdpa_kernel(…)` with the flash, memory-efficient or cuDNN backend, and its older forms that
      turn the plain kernel off: `enable_math_sdp(False)`
    - `memory_efficient_attention` of xformers, and `enable_xformers_memory_efficient_attention()`
    - DeepSpeed's sparse attention

    Lowers the confidence:
    - names around it say inference, preprocessing or a test, or that a pipeline is set up
    - a decorator registers the function, which leaves the choice to others

    Not reported:
    - code that records no gradient, or only tries whether a kernel is there
    - `enable_flash_sdp(True)` and the like, which say what torch does from the start
    - files that turn deterministic algorithms on, but for DeepSpeed's, which no switch reaches

    What to do: Call `torch.use_deterministic_algorithms(True)`: the flash and memory-efficient
    backends and xformers then take deterministic kernels. Do not pass `warn_only=True`, which
    leaves these out. cuDNN's backend has no such kernel: torch passes it over, and raises if no
    other is allowed. `sdpa_kernel(SDPBackend.MATH)` is deterministic anywhere.
    """

    code = "DET602"
    summary = "an attention kernel is asked for whose backward differs from run to run"
    triggers = (
        "sdpa_kernel",
        "_sdpa_kernel",
        "sdp_kernel",
        "enable_math_sdp",
        "memory_efficient_attention",
        "enable_xformers_memory_efficient_attention",
        "SparseSelfAttention",
        "BertSparseSelfAttention",
    )
    source = (
        "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/transformers/cuda/"
        "attention_backward.cu"
    )
    shown = "CUDA (H100, torch 2.11.0, 2026-11-26)"
    lowered_by = (*Rule.lowered_by, "test")
    examples = (
        Example(
            bad="""
                import torch.nn.functional as F
                from torch.nn.attention import SDPBackend, sdpa_kernel

                def attend(q, k, v):
                    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):  # DET602
                        return F.scaled_dot_product_attention(q, k, v)
            """,
            good="""
                import torch.nn.functional as F
                from torch.nn.attention import SDPBackend, sdpa_kernel

                def attend(q, k, v):
                    with sdpa_kernel(SDPBackend.MATH):
                        return F.scaled_dot_product_attention(q, k, v)
            """,
        ),
        Example(
            bad="""
                import xformers.ops as xops

                def attend(q, k, v):
                    return xops.memory_efficient_attention(q, k, v)  # DET602
            """,
        ),
        Example(
            bad="""
                from deepspeed.ops.sparse_attention import SparseSelfAttention

                attention = SparseSelfAttention()  # DET602
            """,
        ),
    )

    @cached_property
    def _is_switched_on(self) -> bool:
        return enables_strictly(self.unit)

    def examine(self, offsets: Sequence[int]) -> None:
        for op in self.unit.ops_at(offsets):
            if not has_no_backward(op):
                self._check(op)

    def _check(self, call: Op) -> None:
        for name in self.unit.values.called(call):
            if name in _KERNELS:
                self._check_backends(call, list(self._backends(call)))
            elif name == "torch.backends.cuda.sdp_kernel":
                self._check_backends(call, list(self._enabled(call)))
            elif name == "torch.backends.cuda.enable_math_sdp":
                self._check_switch(call)
            elif name in _MEMORY_EFFICIENT and not _is_probe(call):
                self._tell(call, f"{_shown(call)}(): {_XFORMERS}", _XFORMERS_ADVICE)
            elif name.startswith("deepspeed.ops.sparse_attention."):
                self._check_sparse(call, name.rpartition(".")[2])
        self._check_method(call)

    def _check_sparse(self, call: Op, layer: str) -> None:
        if layer in _SPARSE_LAYERS:
            self.report(call.node, f"DeepSpeed's {layer} {_SPARSE}", advice=_SPARSE_ADVICE)

    # PyTorch's

    def _backends(self, call: Op) -> Iterator[str]:
        """The names of the backends that a call allows, of those that differ."""
        given = call.given("backends", 0)
        if given is None:
            return
        value = self.unit.values.bound_to(given)
        for member in value.args if value.code in LISTS else (value,):
            for name in self.unit.values.qualified(member):
                owner, _, backend = name.rpartition(".")
                if owner.endswith("SDPBackend") and backend in _EFFECTS:
                    yield backend

    def _enabled(self, call: Op) -> Iterator[str]:
        """What ``sdp_kernel(enable_flash=True, enable_math=False)`` names: with all that is allowed
        from the start, it asks for nothing."""
        if self._constant(call, *_WITHOUT_MATH) is not False:
            return
        for (keyword, position), backend in _SDP_KERNEL.items():
            if self._constant(call, keyword, position) is True:
                yield backend

    def _constant(self, call: Op, keyword: str, position: int) -> object:
        given = call.given(keyword, position)
        return ... if given is None else self.unit.values.constant(given)

    def _check_switch(self, call: Op) -> None:
        if self._constant(call, "enabled", 0) is False:
            effect = "attention to kernels whose backward adds up gradients in varying order"
            self._tell(call, f"enable_math_sdp(False) leaves {effect}", _ADVICE)

    def _check_backends(self, call: Op, backends: list[str]) -> None:
        if backends:
            advice = _CUDNN_ADVICE if backends == ["CUDNN_ATTENTION"] else _ADVICE
            self._tell(call, f"{word_of(call)}() asks for {_EFFECTS[backends[0]]}", advice)

    # xformers

    def _check_method(self, call: Op) -> None:
        """``unet.enable_xformers_memory_efficient_attention()``, of models of diffusers; not where
        a model only hands it on to its parts."""
        handed_on = call.function.name.rpartition(".")[2] == _DIFFUSERS
        if call.args[0].code == "attr" and call.args[0].name == _DIFFUSERS and not handed_on:
            shown = _shown(call)
            self._tell(call, f"{shown}(): {_XFORMERS}", _XFORMERS_ADVICE, aside="pipe" in shown)

    def _tell(self, call: Op, message: str, advice: str, *, aside: bool = False) -> None:
        sure = Confidence.POSSIBLE if aside or calls_for_answers(call) else self.confidence
        if self.wants(sure) and not self._is_switched_on:
            self.report(call.node, message, advice=advice, confidence=sure)


def _shown(call: Op) -> str:
    return ast.unparse(call.node.func) if isinstance(call.node, ast.Call) else word_of(call)


def _is_probe(call: Op) -> bool:
    """``_ = memory_efficient_attention(q, q, q)``: whether it works here at all."""
    names = call.function.names_of(call)
    return names == ["_"] or (not names and call.is_dropped)

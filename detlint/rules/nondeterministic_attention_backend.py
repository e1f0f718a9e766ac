"""DET602 nondeterministic-attention-backend."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis import answering, attention, gradients
from detlint.analysis.enabling import turns_on
from detlint.rule import Confidence, Example, Rule, cst

if TYPE_CHECKING:
    from collections.abc import Iterator

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
_SWITCHES = {
    "torch.backends.cuda.enable_flash_sdp": "FLASH_ATTENTION",
    "torch.backends.cuda.enable_mem_efficient_sdp": "EFFICIENT_ATTENTION",
    "torch.backends.cuda.enable_cudnn_sdp": "CUDNN_ATTENTION",
}
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
    - `sdpa_kernel(…)` and its older forms, with the flash, memory-efficient or cuDNN backend
    - `memory_efficient_attention` of xformers, and `enable_xformers_memory_efficient_attention()`
    - DeepSpeed's sparse attention

    Lowers the confidence:
    - names around it say inference or preprocessing: reported as *possible*

    Not reported:
    - inference: gradients are off, or nothing else is done
    - functions that register a backend for others to choose
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
        "enable_flash_sdp",
        "enable_mem_efficient_sdp",
        "enable_cudnn_sdp",
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
    confidence = Confidence.LIKELY
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

    @classmethod
    def concerns(cls, text: str, offset: int) -> bool:
        """Not where the name is only defined or imported as it is."""
        line = text[text.rfind("\n", 0, offset) + 1 : offset].lstrip()
        return not line.startswith(("def ", "class "))

    @cached_property
    def _is_switched_on(self) -> bool:
        return turns_on(self.module)

    def visit_Call(self, node: cst.Call) -> None:
        name = self.module.called(node)
        if name is None:
            self._check_method(node)
        elif name in _KERNELS:
            self._check_backends(node, list(self._backends(node)))
        elif name == "torch.backends.cuda.sdp_kernel":
            self._check_backends(node, list(self._enabled(node)))
        elif name.startswith("torch.backends.cuda.enable_"):
            self._check_switch(node, name)
        elif name in _MEMORY_EFFICIENT:
            if not self._is_probe(node):
                shown = f"{self.module.tree.text(node.func)}(): {_XFORMERS}"
                self._report(node, shown, _XFORMERS_ADVICE)
        elif name.startswith("deepspeed.ops.sparse_attention."):
            last = name.rpartition(".")[2]
            if last in _SPARSE_LAYERS and not attention.has_no_backward(self.module, node):
                self.report(node, f"DeepSpeed's {last} {_SPARSE}", advice=_SPARSE_ADVICE)

    # PyTorch's

    def _backends(self, call: cst.Call) -> Iterator[str]:
        """The names of the backends that a call allows, of those that differ."""
        given = self.module.argument(call, "backends", 0)
        value = self.module.names.value_of(given) if given is not None else None
        if isinstance(value, (cst.List, cst.Tuple, cst.Set)):
            nodes = [each.value for each in value.elements]
        else:
            nodes = [given] if given is not None else []
        for each in nodes:
            owner, _, backend = (self.module.qualified_name(each) or "").rpartition(".")
            if owner.endswith("SDPBackend") and backend in _EFFECTS:
                yield backend

    def _enabled(self, call: cst.Call) -> Iterator[str]:
        """What ``sdp_kernel(enable_flash=True)`` names."""
        for (keyword, position), backend in _SDP_KERNEL.items():
            if self.module.literal(self.module.argument(call, keyword, position)) is True:
                yield backend

    def _check_switch(self, call: cst.Call, name: str) -> None:
        enabled = self.module.literal(self.module.argument(call, "enabled", 0))
        if name in _SWITCHES and enabled is True:
            self._check_backends(call, [_SWITCHES[name]])
        elif name == "torch.backends.cuda.enable_math_sdp" and enabled is False:
            effect = "attention to kernels whose backward adds up gradients in varying order"
            self._report(call, f"enable_math_sdp(False) leaves {effect}", _ADVICE)

    def _check_backends(self, call: cst.Call, backends: list[str]) -> None:
        if not backends:
            return
        advice = _CUDNN_ADVICE if backends == ["CUDNN_ATTENTION"] else _ADVICE
        last = call.func.attr if isinstance(call.func, cst.Attribute) else call.func
        shown = self.module.tree.text(last)
        self._report(call, f"{shown}() asks for {_EFFECTS[backends[0]]}", advice)

    # xformers

    def _check_method(self, call: cst.Call) -> None:
        """``unet.enable_xformers_memory_efficient_attention()``, of models of diffusers."""
        if not isinstance(call.func, cst.Attribute) or call.func.attr.value != _DIFFUSERS:
            return
        owner = self.module.tree.text(call.func.value)
        function = self.module.enclosing_function(call)
        forwards = isinstance(function, cst.FunctionDef) and function.name.value == _DIFFUSERS
        if "pipe" in owner.lower() or forwards or answering.only_infers(self.module.source):
            return
        self._report(call, f"{owner}.{_DIFFUSERS}(): {_XFORMERS}", _XFORMERS_ADVICE)

    def _is_probe(self, call: cst.Call) -> bool:
        """``_ = memory_efficient_attention(q, q, q)``: whether it works here at all."""
        above = self.module.parent(call)
        if isinstance(above, cst.Expr):
            return True
        if not isinstance(above, cst.Assign):
            return False
        return all(
            isinstance(each.target, cst.Name) and each.target.value == "_" for each in above.targets
        )

    def _report(self, call: cst.Call, message: str, advice: str) -> None:
        module = self.module
        apart = gradients.are_unlikely(module, call)
        sure = Confidence.POSSIBLE if apart else self.confidence
        if not self.wants(sure) or attention.has_no_backward(module, call):
            return
        if not (attention.registers_backend(module, call) or self._is_switched_on):
            self.report(call, message, advice=advice, confidence=sure)

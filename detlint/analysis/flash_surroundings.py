"""What of a file tells that FlashAttention is deterministic in it, or has no backward."""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING

from detlint.analysis import answering, attention
from detlint.analysis.flash_advice import MAY_READ, READS

if TYPE_CHECKING:
    from detlint.module import Module
    from detlint.rule import cst

_TRANSFORMERS = re.compile(r"^[ \t]*(?:from|import)[ \t]+(?:transformers|trl|peft)\b", re.MULTILINE)
# Whose classes have models that read the variable.
_HUGGING_FACE = frozenset({"transformers", "trl", "peft", "unsloth", "builtins", "functools"})
_JAX = re.compile(r"^(?:from|import)[ \t]+(?:jax|flax|haliax|equinox)\b", re.MULTILINE)
_FULL_DETERMINISM = r"(?<!def )\benable_full_determinism\(|\bfull_determinism\s*=\s*True"
_MEGATRON = r"--deterministic-mode|\bdeterministic_mode\s*=\s*True"


class Surroundings:
    """Answers about a file. Each looks through the whole text, so only once there is something
    to report."""

    def __init__(self, module: Module) -> None:
        self._module = module

    @cached_property
    def is_library(self) -> bool:
        """Whether it defines FlashAttention's own functions, or Hugging Face's around them."""
        return attention.defines_library(self._module)

    @cached_property
    def serves(self) -> bool:
        """Whether it runs or measures a model, and trains none."""
        return answering.serves(self._module) or answering.is_for_answers(self._module)

    @cached_property
    def _imports_transformers(self) -> bool:
        return _TRANSFORMERS.search(self._module.source.text) is not None

    def advice(self, asking: cst.CSTNode | None) -> str:
        """What to do about an implementation that some code asks for: whose models it makes."""
        called = self._module.called(asking) or ""
        foreign = called and called.partition(".")[0] not in _HUGGING_FACE
        return READS if self._imports_transformers and not foreign else MAY_READ

    @cached_property
    def settles_hugging_face(self) -> bool:
        """Whether nothing that it asks Hugging Face for makes runs differ."""
        module = self._module
        return (
            self.is_library
            or answering.only_infers(module)
            or answering.is_for_answers(module)
            or attention.sets(module, "FLASH_ATTENTION_DETERMINISTIC", "1")
            or attention.says(module, _FULL_DETERMINISM)
        )

    @cached_property
    def settles(self) -> bool:
        """Whether nothing that it asks any library for does."""
        return (
            self.settles_hugging_face
            or _JAX.search(self._module.source.text) is not None  # which has another
            or attention.sets(self._module, "NVTE_ALLOW_NONDETERMINISTIC_ALGO", "0")
            or attention.says(self._module, _MEGATRON)
        )

"""Libraries that take another way when they see fake tensors, as if a compiler were at work."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from guard.dependencies import loaded
from guard.observe.patching import replace

if TYPE_CHECKING:
    from contextlib import ExitStack

# Hugging Face builds masks for a compiler that it leaves out otherwise.
_QUESTIONS = (
    ("transformers.utils.generic", "is_fake_tensor"),
    ("transformers.utils.import_utils", "is_fake_tensor"),
    ("transformers.utils.import_utils", "is_tracing"),
    ("transformers.utils", "is_tracing"),
    ("transformers.masking_utils", "is_tracing"),
    ("transformers.modeling_attn_mask_utils", "is_tracing"),
)


def teach(stack: ExitStack) -> None:
    """Have those that are imported take the way that they take on a GPU."""
    for name, question in _QUESTIONS:
        module: Any = loaded(name)
        if module is not None and getattr(module, question, _no) is not _no:
            replace(stack, module, question, _no)


def _no(*_: object, **__: object) -> bool:
    return False

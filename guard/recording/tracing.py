"""Whether the program runs, or is only looked at: by a compiler, an exporter or a tracer."""

from __future__ import annotations

import torch

modes = torch._C._len_torch_dispatch_stack  # noqa: SLF001 - no other way
state = torch._C._get_tracing_state  # noqa: SLF001 - of torch.jit.trace
_mode = torch._C._get_dispatch_mode  # noqa: SLF001
_keys = torch._C._TorchDispatchModeKey  # noqa: SLF001


def is_traced() -> bool:
    """Whether the tensors at hand may hold nothing."""
    if state() is not None:
        return True
    if not modes():
        return False
    return any(_mode(each) is not None for each in (_keys.FAKE, _keys.PROXY, _keys.FUNCTIONAL))

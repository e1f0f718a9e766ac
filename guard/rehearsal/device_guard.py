"""A device guard for CUDA where there is none, or no driver.

The CPU build of torch has none, and the first operator that records a gradient on a CUDA tensor
ends the process. torch's own stand-in takes the place of a guard that is there and has no
devices; so the guard of another type of devices, which has none either, is put there first.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch

from guard.rehearsal import gate

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def installed() -> Iterator[None]:
    """Have a guard for CUDA; what was there before is put back."""
    kinds: Any = torch._C._autograd.DeviceType  # noqa: SLF001
    cuda, lazy = int(kinds.CUDA), int(kinds.Lazy)
    slots = gate.slots()
    found = slots[cuda] if slots is not None else None
    if slots is not None and not found:
        gate.register(cuda, slots[lazy])
    torch._C._ensureCUDADeviceGuardSet()  # noqa: SLF001
    try:
        yield
    finally:
        if slots is not None:
            slots[cuda] = found

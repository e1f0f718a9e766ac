"""What the process holds and any statement may change unseen: its generators, torch's threads."""

from __future__ import annotations

import random
import sys
from typing import Any

from guard import state_memory
from guard.statements.hashing import hashed

NAMES = ("python", "numpy", "torch.cpu", "threads")
NONE: tuple[int, ...] = (0, 0, 0, 0)


def look() -> tuple[int, ...]:
    """A number for the state of each; 0 for what is not there yet. Done after each statement that
    calls anything, so as cheaply as can be."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy.random")
    python = state_memory.of_python()
    held = state_memory.of_numpy(numpy) if hasattr(numpy, "mtrand") else None
    drawn = threads = 0
    generator = getattr(torch, "default_generator", None)
    if generator is not None and hasattr(torch, "get_num_threads"):
        drawn = hashed(generator.get_state().numpy().data)
        threads = int(torch.get_num_threads())
    return (
        hashed(python[0]) if python else hashed(repr(random.getstate()).encode()),
        0 if held is None else hashed(held),
        drawn,
        threads,
    )

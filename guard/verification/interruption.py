"""A process that ends in the middle of training, as one that is killed does."""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from guard.trace import TraceWriter

if TYPE_CHECKING:
    from guard.trace import Status


def leave() -> None:
    """End this process as soon as a step begins that is not recorded any more.

    Not at the end of the last recorded one: what a program saves of a step, it saves after the
    optimizer has done it. Evaluations in between are part of that, and end nothing.
    """
    ended = TraceWriter.end

    def end(self: TraceWriter, status: Status, message: str = "") -> None:
        ended(self, status, message)
        if status == "stopped":
            _leave_at_next_step()

    TraceWriter.end = end  # type: ignore[method-assign]


def _leave_at_next_step() -> None:
    torch: Any = sys.modules.get("torch")
    if torch is None:
        return
    modules: Any = import_module("torch.nn.modules.module")
    modules.register_module_forward_pre_hook(
        lambda module, _: _end() if module.training and torch.is_grad_enabled() else None
    )
    optimizers: Any = import_module("torch.optim.optimizer")  # torch.optim hides its name
    optimizers.register_optimizer_step_pre_hook(lambda *_: _end())


def _end() -> None:
    """Without finally, atexit and a last checkpoint."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)

"""Seeing optimizers: that one is made, and that its steps begin and end."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch.optim.optimizer import (
    register_optimizer_step_post_hook,
    register_optimizer_step_pre_hook,
)

from guard.observe.patching import around

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack


def follow_steps(
    stack: ExitStack, before: Callable[..., Any], after: Callable[..., None] | None = None
) -> None:
    """Have functions called around each step of every optimizer, until the stack is closed.

    before  with the optimizer and its arguments; it may give others, as torch's own hooks may
    after   with the optimizer
    """
    stack.callback(register_optimizer_step_pre_hook(before).remove)
    if after is not None:
        stack.callback(register_optimizer_step_post_hook(after).remove)


def follow_making(stack: ExitStack, made: Callable[[Any], None]) -> None:
    """Have a function called with each optimizer that is made, before it is filled."""

    @around(stack, torch.optim.Optimizer, "__init__")
    def _(init: Callable[..., None], optimizer: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        made(optimizer)
        init(optimizer, *args, **kwargs)

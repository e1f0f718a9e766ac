"""Putting something of ours in the place of a function of torch's, and taking it away again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from contextlib import ExitStack


def replace(stack: ExitStack, owner: Any, name: str, new: Any) -> None:  # noqa: ANN401
    """Set an attribute until the stack is closed; one that was inherited is taken away again."""
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, new)
    undo = functools.partial(setattr, owner, name, before) if own else None
    stack.callback(undo or functools.partial(delattr, owner, name))

"""Loops over epochs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_EPOCH = re.compile(r"(?:^|_)(?:epochs?|ep)(?:_|$|\d)|[a-z]Epoch|^e$", re.IGNORECASE)


def is_loop(module: Module, loop: cst.For | cst.While) -> bool:
    """Whether a loop goes over epochs, by the names that it counts with."""
    if isinstance(loop, cst.While):
        return any(map(_EPOCH.search, _names(module, loop.test)))
    return any(map(_EPOCH.search, _names(module, loop.target))) and not _runs_once(module, loop)


def _runs_once(module: Module, loop: cst.For) -> bool:
    """``for epoch in range(1):``."""
    call = loop.iter
    if not isinstance(call, cst.Call) or module.called(call) != "builtins.range":
        return False
    return len(call.args) == 1 and module.literal(call.args[0].value) in (0, 1)


def _names(module: Module, node: cst.CSTNode) -> list[str]:
    """The names that an expression mentions, and keys: ``state["epoch"]``."""
    below = module.tree.descendants(node)
    keys = (each.raw_value for each in below if isinstance(each, cst.SimpleString))
    return [*(each.value for each in below if isinstance(each, cst.Name)), *keys]

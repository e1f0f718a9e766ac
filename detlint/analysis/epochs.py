"""Loops over epochs, and what runs inside them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.analysis.own_calls import OwnCalls
    from detlint.module import Module

_EPOCH = re.compile(r"(?:^|_)(?:epochs?|ep)(?:_|$|\d)|[a-z]Epoch|^e$", re.IGNORECASE)


class Epochs:
    """Answers for one file."""

    def __init__(self, module: Module, own: OwnCalls) -> None:
        self._module = module
        self._own = own

    def around(self, node: cst.CSTNode) -> cst.For | cst.While | None:
        """The loop over epochs in which a node runs, itself or through calls in this file."""
        pending, seen = [node], set()
        while pending:
            current = pending.pop()
            for each in self._module.ancestors(current):
                if isinstance(each, (cst.For, cst.While)) and is_loop(self._module, each):
                    return each
                if isinstance(each, cst.FunctionDef):
                    if each not in seen:
                        seen.add(each)
                        pending += self._own.calls_of(each)
                    break
        return None

    def hands_out_self(self, loop: cst.CSTNode) -> bool:
        """Whether a loop gives the object itself to other code: ``callback.on_epoch(self)``."""
        for each in self._module.tree.descendants(loop):
            if isinstance(each, cst.Arg) and isinstance(each.value, cst.Name):
                call = self._module.parent(each)
                known = isinstance(call, cst.Call) and self._own.called(call) is not None
                if each.value.value == "self" and not known:
                    return True
        return False


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

"""What Lightning is told of ranks: how many there are, and whether workers know theirs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.lightning import trainer_argument
from detlint.facts.vocabulary import LIGHTNING

if TYPE_CHECKING:
    from detlint.module import Module

_WORKERS = 1  # the place of the argument
_SEVERAL = ("ddp", "fsdp", "deepspeed")  # how strategies of several processes are called


def worker_seeds(module: Module, call: cst.Call) -> str | None:
    """Of ``seed_everything(0)``, whether workers are "given" or "left out": Fabric gives them."""
    name = module.called(call) or ""
    owner, _, last = name.rpartition(".")
    if last != "seed_everything" or not name.startswith(LIGHTNING):
        return None
    fabric = owner.rpartition(".")[2] == "Fabric"
    given = fabric or module.has_unpacking(call) or module.argument(call, "workers", _WORKERS)
    return "given" if given else "left out"


def several_ranks(module: Module, call: cst.Call) -> str | None:
    """Lightning, where a trainer is told to start several processes."""
    named = (trainer_argument(module, call, name) for name in ("devices", "gpus", "num_nodes"))
    counts = any(each is not None and _is_several(module, each.value) for each in named)
    strategy = trainer_argument(module, call, "strategy")
    spread = strategy is not None and _is_of_several(module, strategy.value)
    return "lightning" if counts or spread else None


def _is_several(module: Module, node: cst.BaseExpression) -> bool:
    if isinstance(node, (cst.List, cst.Tuple)):
        return len(node.elements) > 1
    value = module.literal(node)
    if isinstance(value, str) and value.lstrip("-").isdigit():
        value = int(value)
    return type(value) is int and (value > 1 or value == -1)


def _is_of_several(module: Module, node: cst.BaseExpression) -> bool:
    value = module.literal(node)
    made = module.called(node) if isinstance(node, cst.Call) else None
    name = value if isinstance(value, str) else (made or "").rpartition(".")[2]
    return name.lower().startswith(_SEVERAL)

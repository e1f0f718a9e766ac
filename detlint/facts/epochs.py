"""How facts about epochs are told from syntax: samplers that have to know them, loops over them,
and code that tells a sampler."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from detlint.analysis.distributed_samplers import evaluates, has_unknown_base, shuffling_sampler
from detlint.analysis.epochs import is_loop
from detlint.analysis.uses import last_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from detlint.module import Module

_SEED = 4
_TRAINS = re.compile(r"train|fit|step|backward|epoch|update", re.IGNORECASE)


def samplers(module: Module) -> Iterator[tuple[cst.Call, str]]:
    """Samplers that shuffle for training and are made once, each with its class."""
    for node in module.tree.nodes:
        if isinstance(node, cst.Call):
            kind = shuffling_sampler(module, node)
            if kind and not _is_apart(module, node):
                yield node, kind


def _is_apart(module: Module, call: cst.Call) -> bool:
    """Whether a sampler may be another's business: it has a seed that may change, is evaluated
    with, or stands in a hook that code out of sight calls."""
    seed = module.argument(call, "seed", _SEED)
    if seed is not None and not isinstance(module.literal(seed), int):
        return True
    owner = module.enclosing_class(call)
    if owner is not None and has_unknown_base(module, owner):
        return True
    return any(map(evaluates, _names_around(module, call)))


def _names_around(module: Module, call: cst.Call) -> Iterator[str]:
    """What is bound to it, and the functions that it stands in."""
    for above in module.ancestors(call):
        if isinstance(above, cst.Assign):
            yield from (last_name(each.target) for each in above.targets)
        elif isinstance(above, (cst.FunctionDef, cst.ClassDef)):
            yield above.name.value


def rounds(module: Module) -> Iterator[cst.For]:
    """Loops over epochs in which something is trained."""
    for node in module.tree.nodes:
        if isinstance(node, cst.For) and is_loop(module, node):
            inside = module.tree.descendants(node.body)
            calls = (last_name(each.func) for each in inside if isinstance(each, cst.Call))
            if any(map(_TRAINS.search, calls)):
                yield node


def tells(module: Module) -> Iterator[cst.CSTNode]:
    """``loader.sampler.set_epoch(epoch)``, ``hasattr(sampler, "set_epoch")``,
    ``sampler.epoch = epoch``."""
    for node in module.tree.nodes:
        if isinstance(node, cst.Attribute):
            told = node.attr.value == "epoch" and isinstance(module.parent(node), cst.AssignTarget)
            if node.attr.value == "set_epoch" or (told and "sampler" in last_name(node.value)):
                yield node
        elif isinstance(node, cst.SimpleString) and node.evaluated_value == "set_epoch":
            yield node

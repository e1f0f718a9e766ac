"""Calls that make a ``DistributedSampler``, and whether it shuffles what a model is trained on."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from detlint.analysis.uses import words
from detlint.models.names import words_of
from detlint.rule import cst

if TYPE_CHECKING:
    from detlint.module import Module

_SAMPLERS = re.compile(
    r"torch\.utils\.data\.(?:distributed\.)?DistributedSampler"
    r"|torchdata\.stateful_dataloader\.sampler\.StatefulDistributedSampler"
)
_SHUFFLE = 3
_EVALUATION = words("dev eval evaluation infer inference predict test testing val valid validation")
_HARMLESS_BASES = ("builtins.object", "abc.ABC", "torch.nn.Module", "typing.Generic")


def shuffling_sampler(module: Module, call: cst.Call) -> str:
    """The class of a sampler that shuffles for training, as far as the call tells; else ""."""
    name = module.called(call)
    if name is None or not _SAMPLERS.fullmatch(name):
        return ""
    known = _shuffles(module, call) and not _is_for_evaluation(module, call)
    return name.rpartition(".")[2] if known else ""


def _shuffles(module: Module, call: cst.Call) -> bool:
    if module.has_unpacking(call):
        return False
    shuffle = module.argument(call, "shuffle", _SHUFFLE)
    return shuffle is None or module.literal(shuffle) is True


def _is_for_evaluation(module: Module, call: cst.Call) -> bool:
    """``DistributedSampler(val_dataset)``."""
    data = module.argument(call, "dataset", 0)
    named = module.tree.descendants(data) if data is not None else []
    return any(evaluates(each.value) for each in named if isinstance(each, cst.Name))


def evaluates(name: str) -> bool:
    """Whether a name says that something is evaluated on: ``val_loader``."""
    return not _EVALUATION.isdisjoint(words_of(name))


def has_unknown_base(module: Module, owner: cst.ClassDef) -> bool:
    """Whether a class has a base out of sight, which may do anything with what it holds."""
    for base in owner.bases:
        known = isinstance(module.names.definition(base.value), cst.ClassDef)
        if not known and module.qualified_name(base.value) not in _HARMLESS_BASES:
            return True
    return False

"""Which calls draw from a global generator, also for the weights of what they make."""

from __future__ import annotations

import re
from itertools import dropwhile
from typing import TYPE_CHECKING

import libcst as cst

from detlint.facts.idle import is_idle
from detlint.facts.vocabulary import FIXED_INITS, IN_PLACE, LAYERS, NUMPY, RANDOM, TORCH
from detlint.scope import dotted

if TYPE_CHECKING:
    from detlint.module import Module

_SPELLED = {"random": "random", "np": "numpy", "numpy": "numpy", "torch": "torch", "nn": "torch.nn"}
_STAR = re.compile(r"\bimport[ \t]*\*")
_TENSORS = ("weight", "bias")  # of a layer, all that it draws


def called(module: Module, call: cst.Call) -> str:
    """The function that a call calls. A library that nothing binds comes with ``import *``."""
    known = module.called(call)
    first, _, rest = (dotted(call.func) or "").partition(".")
    if known or not rest or first not in _SPELLED or not _STAR.search(module.source.text):
        return known or ""
    if module.bindings.scope_of(call).lookup(first):
        return ""
    return f"{_SPELLED[first]}.{rest}"


def drawn_from(module: Module, call: cst.Call) -> str | None:
    """The library whose global generator a call draws from."""
    owner, _, last = called(module, call).rpartition(".")
    library = None
    if owner == "random" and last in RANDOM:
        library = "random"
    elif owner in {"numpy.random", "numpy.random.mtrand"} and last in NUMPY:
        library = "numpy"
    elif owner == "torch" and last in TORCH and not _has_generator(call):
        library = "torch"
    return None if library is None or is_idle(module, call) else library


def _has_generator(call: cst.Call) -> bool:
    return any(each.keyword is not None and each.keyword.value == "generator" for each in call.args)


def built_with(module: Module, call: cst.Call) -> str | None:
    """The library whose layers a call makes, or whose weights it draws."""
    owner, _, last = called(module, call).rpartition(".")
    if owner == "torch.nn.init":
        return None if last in FIXED_INITS else "torch"
    if owner.startswith("transformers") and last == "from_config":
        return "torch"
    if owner.startswith("peft") and last == "get_peft_model":
        return "torch"
    if owner.startswith("torch.nn"):
        return "torch" if last in LAYERS and not _is_overwritten(module, call) else None
    method = call.func.attr.value if isinstance(call.func, cst.Attribute) else ""
    return "torch" if not owner and method in IN_PLACE and not _has_generator(call) else None


def _is_overwritten(module: Module, layer: cst.Call) -> bool:
    """``self.out = nn.Linear(4, 1)``, where constants overwrite all of it in the same block."""
    assigned = module.parent(layer)
    if not isinstance(assigned, cst.Assign):
        return False
    place = dotted(assigned.targets[0].target)
    line, block, *_ = module.ancestors(assigned)
    if place is None or not isinstance(block, cst.IndentedBlock):
        return False
    lines = (each for each in block.body if isinstance(each, cst.SimpleStatementLine))
    below = dropwhile(lambda each: each is not line, lines)
    calls = (each.value for line in below for each in line.body if isinstance(each, cst.Expr))
    fixed = {
        dotted(each.args[0].value)
        for each in calls
        if isinstance(each, cst.Call) and each.args and _is_fixed(module, each)
    }
    return all(f"{place}.{each}" in fixed for each in _TENSORS)


def _is_fixed(module: Module, call: cst.Call) -> bool:
    owner, _, last = called(module, call).rpartition(".")
    return owner == "torch.nn.init" and last in FIXED_INITS

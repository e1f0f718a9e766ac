"""The name that a model has for a tensor of which only the optimizer told."""

from __future__ import annotations

import gc

import torch

from guard.replicas.holdings import unwrapped


def name_of(tensor: torch.Tensor) -> str:
    """In the outermost model that holds it; "" where none does.

    It looks at every object of the process: that is for an error's text.
    """
    found = (_name_in(each, tensor) for each in _modules())
    return max(found, key=lambda name: (name.count("."), len(name)), default="")


def _modules() -> list[torch.nn.Module]:
    """Models as they are without what wraps them; by type, as some objects lie about theirs."""
    return [
        each
        for each in gc.get_objects()
        if issubclass(type(each), torch.nn.Module) and unwrapped(each) is each
    ]


def _name_in(module: torch.nn.Module, tensor: torch.Tensor) -> str:
    return next((name for name, each in module.named_parameters() if each is tensor), "")

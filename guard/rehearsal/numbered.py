"""A GPU given by its number alone, which torch takes for the accelerator that is there: none."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import torch

from guard.observe.patching import replace

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

_FACTORIES = (
    "zeros", "ones", "empty", "full", "rand", "randn", "randint", "randperm", "tensor", "as_tensor",
    "arange", "linspace", "eye", "zeros_like", "ones_like", "empty_like", "full_like", "rand_like",
    "randn_like", "empty_strided",
)  # fmt: skip


def install(stack: ExitStack) -> None:
    """Understand such numbers, until the stack is closed."""
    for name in _FACTORIES:
        replace(stack, torch, name, _named(getattr(torch, name)))
    tensor, module = torch.Tensor, torch.nn.Module
    replace(stack, tensor, "to", _named(_moving(tensor.to)))
    replace(stack, module, "to", _named(_moving(module.to)))
    replace(stack, tensor, "cuda", _cuda)
    replace(stack, module, "cuda", lambda self, device=None: self.to(_device(device)))


def _named(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401
        if type(options.get("device")) is int:
            options["device"] = _device(options["device"])
        return function(*args, **options)

    return call


def _moving(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def to(self: Any, *args: Any, **options: Any) -> Any:  # noqa: ANN401
        if args and type(args[0]) is int:
            args = (_device(args[0]), *args[1:])
        return function(self, *args, **options)

    return to


def _cuda(self: torch.Tensor, device: Any = None, *_: Any, **__: Any) -> torch.Tensor:  # noqa: ANN401
    return self.to(_device(device))


def _device(device: Any) -> torch.device:  # noqa: ANN401 - a number, a name, a device, or None
    if device is None:
        return torch.device("cuda", torch.cuda.current_device())
    return torch.device("cuda", device) if isinstance(device, int) else torch.device(device)

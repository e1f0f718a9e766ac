"""``Module.to`` for tensors without memory: parameters move and keep their identity."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor

from guard.observe.patching import replace
from guard.rehearsal import libraries
from guard.rehearsal.swapping import swap

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

    Function = Callable[[torch.Tensor], torch.Tensor]


def install(stack: ExitStack) -> None:
    """Move modules here, and give numbers in texts their format, until the stack is closed."""
    libraries.teach(stack)

    def apply(self: torch.nn.Module, fn: Function, recurse: bool = True) -> torch.nn.Module:
        libraries.teach(stack)  # which the program may have imported meanwhile
        if recurse:
            for module in self.children():
                module._apply(fn)  # type: ignore[no-untyped-call]  # noqa: SLF001 - torch's
        for parameter in self._parameters.values():
            if parameter is not None:
                _move(parameter, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    replace(stack, torch.nn.Module, "_apply", apply)
    replace(stack, FakeTensor, "__format__", _format)
    replace(stack, FakeTensor, "__deepcopy__", _deepcopy)


def _move(parameter: torch.Tensor, fn: Function) -> None:
    with torch.no_grad():
        moved = fn(parameter)
    gradient = parameter.grad
    if moved is not parameter:
        parameter.grad = None
        put(parameter, moved)
        if gradient is not None:
            with torch.no_grad():
                parameter.grad = fn(gradient)


def put(parameter: torch.Tensor, moved: torch.Tensor) -> None:
    """Have a parameter hold what another tensor holds, wherever that is."""
    if isinstance(parameter, FakeTensor) and isinstance(moved, FakeTensor):
        parameter.data = moved
        parameter.fake_device = moved.fake_device
    elif isinstance(moved, FakeTensor):
        moved = moved.detach().requires_grad_(parameter.requires_grad)
        moved._is_param = True  # noqa: SLF001
        swap(parameter, moved)
    else:
        parameter.data = moved


def _format(self: torch.Tensor, specification: str) -> str:
    return format(self.item() if not self.dim() else repr(self), specification)


def _deepcopy(self: Any, memo: dict[int, Any]) -> Any:  # noqa: ANN401
    if id(self) in memo:
        return memo[id(self)]
    with torch.no_grad():
        copied = self.detach().clone().requires_grad_(self.requires_grad)
    if getattr(self, "_is_param", False):
        copied._is_param = True  # noqa: SLF001
    memo[id(self)] = copied
    return copied

"""The tensors that a step works on, for a while without memory and on the fake device.

A tensor keeps its identity, so that whoever holds it (a model, an optimizer, a closure, a list)
holds the fake one meanwhile.
"""

from __future__ import annotations

import gc
from contextlib import ExitStack, contextmanager
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.rehearsal import values

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from torch._subclasses.fake_tensor import FakeTensorMode

_LIMIT = 2_000_000  # objects: a walk that goes on for longer has left the program's own
_SKIPPED = (ModuleType, type, str, bytes, int, float, bool, BuiltinFunctionType, FrameType)


@contextmanager
def on_fake_device(roots: Iterable[Any], mode: FakeTensorMode, device: str) -> Iterator[None]:
    """Have every tensor that can be reached from some objects on the fake device."""
    tensors, owners = _reachable(roots)
    with ExitStack() as stack:
        for owner in owners:
            stack.callback(_restore(owner))
        for tensor in tensors:
            stack.enter_context(_faked(tensor, mode, device))
        yield


@contextmanager
def _faked(tensor: torch.Tensor, mode: FakeTensorMode, device: str) -> Iterator[None]:
    fake = _twin(tensor, mode, device)
    swap(tensor, fake)
    try:
        yield
    finally:
        swap(tensor, fake)


def _twin(tensor: torch.Tensor, mode: FakeTensorMode, device: str) -> torch.Tensor:
    if (
        tensor.device.type == "cpu"
        and not tensor.dim()
        and not isinstance(tensor, torch.nn.Parameter)
    ):
        # Optimizers count their steps on the CPU, to read the number without waiting.
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    with torch.no_grad():
        shape = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta"
        )
    fake = FakeTensor(mode, shape, torch.device(device))
    fake.requires_grad_(tensor.requires_grad)
    if isinstance(tensor, torch.nn.Parameter):
        fake._is_param = True  # noqa: SLF001
    elif tensor.device.type == "cpu" and tensor.numel() <= values.LIMIT:
        values.give(fake, tensor.detach().clone())
    return fake


def swap(first: torch.Tensor, second: torch.Tensor) -> None:
    """As torch.utils.swap_tensors, which spoils graphs that were built before."""
    first.__class__, second.__class__ = second.__class__, first.__class__
    first.__dict__, second.__dict__ = second.__dict__, first.__dict__
    torch._C._swap_tensor_impl(first, second)  # noqa: SLF001


def _reachable(roots: Iterable[Any]) -> tuple[list[torch.Tensor], list[Any]]:
    """The tensors that can be faked, and the optimizers and their like."""
    tensors: list[torch.Tensor] = []
    owners: list[Any] = []
    seen: set[int] = set()
    pending = list(roots)
    kept = []  # so that no identity is used twice
    while pending and len(seen) < _LIMIT:
        each = pending.pop()
        if id(each) in seen or isinstance(each, _SKIPPED):
            continue
        seen.add(id(each))
        kept.append(each)
        if isinstance(each, torch.Tensor):
            if _can_be_faked(each):
                tensors.append(each)
            continue
        if isinstance(each, (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler)):
            owners.append(each)
        pending.extend(_held_by(each))
    return tensors, owners


def _can_be_faked(tensor: torch.Tensor) -> bool:
    composed: bool = is_traceable_wrapper_subclass(tensor)
    if composed or isinstance(tensor, FakeTensor):
        return False
    return tensor.layout is torch.strided and tensor.is_leaf and not tensor.is_quantized


def _held_by(each: Any) -> Iterable[Any]:  # noqa: ANN401
    """What an object holds; of a function its closure, defaults and the globals that it names."""
    if isinstance(each, torch.nn.Module):
        # What ``Module.to`` moves: a tensor that is an attribute and no more stays on the CPU.
        return (each._parameters, each._buffers, each._modules)  # noqa: SLF001
    if isinstance(each, MethodType):
        return (each.__self__, each.__func__)
    if isinstance(each, FunctionType):
        named = (each.__globals__.get(name) for name in _names(each.__code__))
        return (*(each.__closure__ or ()), *(each.__defaults__ or ()), *named)
    return gc.get_referents(each)


def _names(code: Any) -> set[str]:  # noqa: ANN401
    found = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            found |= _names(constant)
    return found


def _restore(owner: Any) -> Any:  # noqa: ANN401 - a function without arguments
    """Puts back what a step changes in an optimizer or a scheduler of learning rates."""
    before = dict(vars(owner))
    groups = [dict(each) for each in getattr(owner, "param_groups", ())]
    state = {key: dict(each) for key, each in getattr(owner, "state", {}).items()}

    def restore() -> None:
        vars(owner).clear()
        vars(owner).update(before)
        for group, found in zip(getattr(owner, "param_groups", ()), groups, strict=False):
            group.clear()
            group.update(found)
        if hasattr(owner, "state"):
            owner.state.clear()
            owner.state.update(state)

    return restore

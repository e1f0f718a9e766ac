"""The tensors that a step works on, for a while without memory and on the fake device.

A tensor keeps its identity, so that whoever holds it (a model, an optimizer, a closure, a list)
holds the fake one meanwhile.
"""

from __future__ import annotations

import copy
import gc
from collections import OrderedDict, defaultdict
from contextlib import ExitStack, contextmanager
from types import BuiltinFunctionType, FrameType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from guard.dependencies import loaded
from guard.observe.patching import replace
from guard.rehearsal import values

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from torch._subclasses.fake_tensor import FakeTensorMode

    Function = Callable[[torch.Tensor], torch.Tensor]

# They keep what they make in a step: counts, averages, a detector its anchors.
_OWNERS = (torch.optim.Optimizer, torch.optim.lr_scheduler.LRScheduler, torch.nn.Module)
_HOLDING = (list, dict, OrderedDict, defaultdict)  # what they keep it in, two deep
_LIMIT = 2_000_000  # objects: a walk that goes on for longer has left the program's own
_SKIPPED = (ModuleType, type, str, bytes, int, float, bool, BuiltinFunctionType, FrameType)
# Hugging Face builds masks for a compiler that it leaves out otherwise.
_QUESTIONS = (
    ("transformers.utils.generic", "is_fake_tensor"),
    ("transformers.utils.import_utils", "is_fake_tensor"),
    ("transformers.utils.import_utils", "is_tracing"),
    ("transformers.utils", "is_tracing"),
    ("transformers.masking_utils", "is_tracing"),
    ("transformers.modeling_attn_mask_utils", "is_tracing"),
)


@contextmanager
def on_fake_device(roots: Iterable[Any], mode: FakeTensorMode, device: str) -> Iterator[None]:
    """Have every tensor that can be reached from some objects on the fake device."""
    tensors, owners = _reachable(roots)
    with ExitStack() as stack:
        for owner in owners:
            stack.callback(_restore(owner))
        for tensor in tensors:
            fake = _twin(tensor, mode, device)
            swap(tensor, fake)
            stack.callback(swap, tensor, fake)
        yield


def _twin(tensor: torch.Tensor, mode: FakeTensorMode, device: str) -> torch.Tensor:
    is_parameter, is_host = isinstance(tensor, torch.nn.Parameter), tensor.device.type == "cpu"
    if is_host and not tensor.dim() and not is_parameter:
        # Optimizers count their steps on the CPU, to read the number without waiting.
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    with torch.no_grad():
        shape = torch.empty_strided(
            tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta"
        )
    fake = FakeTensor(mode, shape, torch.device(device))
    fake.requires_grad_(tensor.requires_grad)
    if is_parameter:
        fake._is_param = True  # noqa: SLF001
    elif is_host and tensor.numel() <= values.LIMIT:
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
        if isinstance(each, _OWNERS):
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
    """Puts back what a step changes in an optimizer, a scheduler of learning rates or a module."""
    before = dict(vars(owner))
    outer = list(_containers(before.values()))
    held = [*outer, *_containers(part for each in outer for part in _parts(each))]
    found = [copy.copy(each) for each in held]

    def restore() -> None:
        vars(owner).clear()
        vars(owner).update(before)
        for each, content in zip(held, found, strict=True):
            each.clear()
            each.extend(content) if isinstance(each, list) else each.update(content)

    return restore


def _containers(values: Iterable[Any]) -> Iterator[Any]:
    return (each for each in values if type(each) in _HOLDING)


def _parts(container: Any) -> Iterable[Any]:  # noqa: ANN401
    return container if isinstance(container, list) else container.values()


def install(stack: ExitStack) -> None:
    """Move modules here, and give numbers in texts their format, until the stack is closed."""
    teach(stack)

    def apply(self: torch.nn.Module, fn: Function, recurse: bool = True) -> torch.nn.Module:
        teach(stack)  # which the program may have imported meanwhile
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


def teach(stack: ExitStack) -> None:
    """Have those that are imported take the way that they take on a GPU."""
    for name, question in _QUESTIONS:
        module: Any = loaded(name)
        if module is not None and getattr(module, question, _no) is not _no:
            replace(stack, module, question, _no)


def _no(*_: object, **__: object) -> bool:
    return False

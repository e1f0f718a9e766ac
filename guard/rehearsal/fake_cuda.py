"""A CUDA device without one: tensors there have a shape and no memory.

Everything on the CPU stays as it is: data is read, decoded and batched for real, and becomes fake
when it is moved.

The CPU build of torch has no device guard for CUDA, without which the first operator that records
a gradient on a CUDA tensor ends the process. torch's own stand-in takes the place of a guard that
is there and has no devices; so the guard of another type of devices, which has none either, is put
there first.
"""

from __future__ import annotations

import logging
import os
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
    unset_fake_temporarily,
)
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils._pytree import tree_map

from guard.errors import GuardError
from guard.observe import places
from guard.observe.modes import Mode, Run, name_of, tensors_in
from guard.rehearsal import checks, gate, values

if TYPE_CHECKING:
    from collections.abc import Iterator

    from torch._ops import OpOverload

    from guard.rehearsal.recorder import Recorder

_LOG = logging.getLogger("torch._subclasses.fake_tensor")
_PATIENCE = 32  # times that a line is given the same guess, before it is given the other once
_ITEMS = (torch.ops.aten._local_scalar_dense.default, torch.ops.aten.item.default)  # noqa: SLF001
_EQUAL = torch.ops.aten.equal.default
_COPY = torch.ops.aten._to_copy.default  # noqa: SLF001
# Between a program's test and what it asks: guard, and torch's way to a mode of Python's.
_BETWEEN = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    *(os.path.join(os.path.dirname(torch.__file__), each) for each in ("_compile.py", "_dynamo")),
)
_OF_TORCH = {"aten", "prims", "prim", "torchvision", "quantized", "c10d", "c10d_functional"}


class UnseenError(GuardError):
    """An operator that nobody can follow without its device, so that nothing after it is seen."""


class _Mode(FakeTensorMode):  # type: ignore[no-untyped-call]  # torch's
    """torch's, on a machine whose CUDA is fake, whatever ``is_available`` has been taught."""

    @property
    def avoid_device_init(self) -> bool:
        return True


class FakeCuda(Mode):
    """Sends operators with fake tensors to these, tells the recorder, and lets all others run."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.mode = _Mode(allow_non_fake_inputs=True, allow_fallback_kernels=False)
        self._recorder = recorder

    def ran(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Its result, with a device that is none."""
        run = Run(func, args, kwargs)
        if not self._is_concerned(run):
            self._recorder.draws.follow(run, self._recorder.here)
            with unset_fake_temporarily():
                return func(*args, **kwargs)
        self._recorder.before(run)
        result = self._result(func, args, kwargs)
        if func not in _ITEMS:
            with unset_fake_temporarily():
                values.follow(run, result)
        self._recorder.after(run, result)
        return result

    def _is_concerned(self, run: Run) -> bool:
        if any(isinstance(each, FakeTensor) for each in run.tensors):
            return True
        device = run.kwargs.get("device")
        return device is not None and torch.device(device).type == "cuda"

    def _result(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        if func in _ITEMS:
            return self._number(args[0])
        if func is _EQUAL:
            return self._guess(func, True)
        if func is _COPY and (known := _read_back(args[0], kwargs)) is not None:
            return known
        if (stand_in := values.find(func)) is not None:
            if name_of(func) in values.GUESSED and values.of(args[0]) is None:
                self._recorder.guessed(f"the size of what {func} gives")
            return stand_in(*args, **kwargs)
        if values.has_mask(func, args):
            self._guess_size(func, args[1])
            args = values.with_indices(args)
        try:
            result = func(*args, **kwargs)
        except UnsupportedOperatorException:
            return self._on_zeros(func, args, kwargs)
        except (DataDependentOutputException, DynamicOutputShapeException) as error:
            raise UnseenError(_unseen(func, "its result depends on values")) from error
        if func is _COPY and not isinstance(args[0], FakeTensor):
            with unset_fake_temporarily():
                values.give(result, args[0].detach().to(result.dtype, copy=True))
        return result

    def _guess_size(self, func: OpOverload, indices: Any) -> None:  # noqa: ANN401
        masks = [each for each in indices if values.is_mask(each)]
        if any(values.of(each) is None for each in masks):
            self._recorder.guessed(f"the size of what {func} gives")

    def _number(self, tensor: torch.Tensor) -> Any:  # noqa: ANN401
        with unset_fake_temporarily():
            number, is_guess = values.number(tensor)
        return self._guess(None, number) if is_guess else number

    def _guess(self, func: OpOverload | None, value: Any) -> Any:  # noqa: ANN401
        what = "a number read from the device" if func is None else f"what {func} gives"
        sound = checks.passing(places.caller(_BETWEEN)) if isinstance(value, bool) else None
        value = value if sound is None else sound
        times = self._recorder.guessed(f"{what} is taken to be {value!r}")
        if sound is not None or not isinstance(value, bool) or times % _PATIENCE:
            return value
        return not value  # a loop that draws again until all fits would never end

    def _on_zeros(self, func: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:  # noqa: ANN401
        """Run torch's kernel for the CPU, for the shape of what it gives."""
        if func.namespace not in _OF_TORCH:
            raise UnseenError(_unseen(func, "its library registers no fake kernel for it"))
        device = next((each.device for each in tensors_in(args)), torch.device("cuda"))
        try:
            with unset_fake_temporarily():
                real = func(*tree_map(_zeros, args), **tree_map(_zeros, kwargs))
        except Exception as error:
            raise UnseenError(_unseen(func, "torch knows no shape for it")) from error

        def fake(value: Any) -> Any:  # noqa: ANN401
            if not isinstance(value, torch.Tensor):
                return value
            return FakeTensor(self.mode, torch.empty_like(value, device="meta"), device)

        with unset_fake_temporarily():
            return tree_map(fake, real)


def _unseen(func: OpOverload, why: str) -> str:
    return (
        f"{name_of(func)} cannot be followed without a GPU: {why}. Nothing after it was seen; to "
        "see that, register a fake kernel for it (torch.library.register_fake), or leave it out "
        "here"
    )


def _read_back(tensor: torch.Tensor, kwargs: dict[str, Any]) -> torch.Tensor | None:
    """What a copy to the CPU gives, if it is known."""
    device = kwargs.get("device")
    if device is None or torch.device(device).type != "cpu" or not isinstance(tensor, FakeTensor):
        return None
    known = values.of(tensor)
    return None if known is None else known.to(kwargs.get("dtype") or known.dtype, copy=True)


def _zeros(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        known = values.of(value) if isinstance(value, FakeTensor) else value
        return torch.zeros(tuple(value.shape), dtype=value.dtype) if known is None else known
    return torch.device("cpu") if isinstance(value, torch.device) else value


@contextmanager
def everything_real() -> Iterator[None]:
    """No tensor is fake, and no operator recorded, until the end."""
    with _disable_current_modes():
        yield


@contextmanager
def fake_device(recorder: Recorder) -> Iterator[FakeCuda]:
    """Have a CUDA device that is none, until the end."""
    with ExitStack() as stack:
        # It logs each error of a shape, which is raised as well.
        stack.callback(setattr, _LOG, "disabled", _LOG.disabled)
        _LOG.disabled = True
        stack.enter_context(installed())
        mode = FakeCuda(recorder)
        stack.enter_context(mode.mode)
        stack.enter_context(mode)
        yield mode


@contextmanager
def installed() -> Iterator[None]:
    """Have a guard for CUDA; what was there before is put back."""
    kinds: Any = torch._C._autograd.DeviceType  # noqa: SLF001
    cuda, lazy = int(kinds.CUDA), int(kinds.Lazy)
    slots = gate.slots()
    found = slots[cuda] if slots is not None else None
    if slots is not None and not found:
        gate.register(cuda, slots[lazy])
    torch._C._ensureCUDADeviceGuardSet()  # noqa: SLF001
    try:
        yield
    finally:
        if slots is not None:
            slots[cuda] = found

"""What small tensors on the fake device hold, as far as that is known.

Lengths, masks and indices come from the CPU, and programs read them back to decide something:
they are computed along, on the CPU, from what came from there.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch
from torch._subclasses.fake_tensor import FakeTensor
from torch.utils._pytree import tree_map

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch._ops import OpOverload

    from guard.observe.modes import Run

_ATEN = torch.ops.aten
LIMIT = 4096  # elements: lengths, masks of a batch; beyond, nobody computes along
# A number that was computed is rarely equal to one that is written: ``if mask.sum() == 0``.
_EXACT = {_ATEN.eq.Scalar: False, _ATEN.ne.Scalar: True}
_LEANING = "_guard_leaning"
_LARGEST = 10_000_000  # elements that all hold the same, and take no memory
_ATTRIBUTE = "_guard_value"
_HOST = torch.device("cpu")
# A number that overflowed or is none: training is rehearsed as it goes well.
_IS_SOUND = {_ATEN.isnan.default: False, _ATEN.isinf.default: False}
_CHECKS_GRADIENTS = "aten::_amp_foreach_non_finite_check_and_unscale_"
_COMPARES = {_ATEN.eq: True, _ATEN.ne: False}


class Value:
    """What a tensor holds, shared by all views of it."""

    def __init__(self, tensor: torch.Tensor, cell: list[bool]) -> None:
        self.tensor = tensor
        self._cell = cell

    @property
    def is_known(self) -> bool:
        return self._cell[0]

    def forget(self) -> None:
        """From here on, nobody knows."""
        self._cell[0] = False

    def of_view(self, tensor: torch.Tensor) -> Value:
        return Value(tensor, self._cell)


def of(tensor: torch.Tensor) -> torch.Tensor | None:
    """What a tensor of the fake device holds, on the CPU; None if that is not known."""
    value: Value | None = getattr(tensor, _ATTRIBUTE, None)
    if value is None or not value.is_known or value.tensor.shape != tensor.shape:
        return None
    return value.tensor


def leaning(tensor: torch.Tensor) -> bool:
    """What a tensor with one truth value rather holds, where that is not known."""
    return bool(getattr(tensor, _LEANING, True))


def give(tensor: torch.Tensor, known: torch.Tensor) -> None:
    """Note what a tensor holds."""
    if known.numel() <= LIMIT:
        setattr(tensor, _ATTRIBUTE, Value(known, [True]))


def follow(run: Run, result: Any) -> None:  # noqa: ANN401
    """Compute along what an operator gives, if all that it takes is known."""
    if run.name.startswith(_CHECKS_GRADIENTS):
        return  # and finds no overflow, so that the step is done
    outputs = [each for each in _flat(result) if isinstance(each, torch.Tensor)]
    if outputs and outputs[0].numel() == 1 and run.func in _EXACT:
        setattr(outputs[0], _LEANING, _EXACT[run.func])
    sound = _sound(run.func, run.args)
    if sound is not None and outputs[0].numel() <= _LARGEST:
        known = torch.full((), sound).expand(outputs[0].shape)
        setattr(outputs[0], _ATTRIBUTE, Value(known, [True]))
        return
    is_large = any(each.numel() > LIMIT for each in outputs)
    if is_large and not run.is_mutable:
        return
    if is_large or not outputs or run.draws:
        _forget(run.written)
        return
    if not all(_is_real(each) or of(each) is not None for each in run.tensors):
        _forget(run.written)
        return
    try:
        known = run.func(*tree_map(_on_host, run.args), **tree_map(_on_host, run.kwargs))
    except Exception:  # noqa: BLE001 - whatever it is, the operator has run without values
        _forget(run.written)
        return
    for output, value in zip(outputs, _flat(known), strict=False):
        _share(output, value, run.tensors)


def _share(output: torch.Tensor, value: Any, given: Iterable[torch.Tensor]) -> None:  # noqa: ANN401
    if not isinstance(value, torch.Tensor) or _is_real(output) or value.layout != torch.strided:
        return
    storage = value.untyped_storage().data_ptr()
    for each in given:
        source: Value | None = getattr(each, _ATTRIBUTE, None)
        if source is not None and source.tensor.untyped_storage().data_ptr() == storage:
            setattr(output, _ATTRIBUTE, source.of_view(value))
            return
    give(output, value)


def _sound(func: OpOverload, args: tuple[Any, ...]) -> bool | None:
    """What a test for overflow gives: x != x, abs(x) == inf and their like."""
    if func in _IS_SOUND:
        return _IS_SOUND[func]
    equal = _COMPARES.get(func.overloadpacket)
    if equal is None or len(args) < 2:
        return None
    if args[0] is args[1] and args[0].is_floating_point():
        return equal
    if isinstance(args[1], float) and math.isinf(args[1]):
        return not equal
    return None


def _on_host(value: Any) -> Any:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        known = of(value)
        return value if known is None else known
    return _HOST if isinstance(value, torch.device) else value


def _is_real(tensor: torch.Tensor) -> bool:
    return not isinstance(tensor, FakeTensor)


def _forget(tensors: Iterable[torch.Tensor]) -> None:
    for each in tensors:
        value: Value | None = getattr(each, _ATTRIBUTE, None)
        if value is not None:
            value.forget()


def _flat(value: Any) -> list[Any]:  # noqa: ANN401
    return list(value) if isinstance(value, (tuple, list)) else [value]

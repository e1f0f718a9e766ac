"""What a tensor's numbers were like: so that two runs can tell by how much they differ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from guard.trace import Summary

_SAMPLE = 64


def summary_of(value: Any) -> Summary | None:  # noqa: ANN401
    """Of a tensor, or of the first one with floating numbers in a structure; None without one.

    It waits for the device. Values of dtypes that do not fit into float64 are rounded.
    """
    tensor = _first(value, 3)
    if tensor is None or not tensor.numel():
        return None
    from guard.fingerprints import plainly

    with plainly():
        try:
            return _summary(tensor)
        except (RuntimeError, NotImplementedError):  # sparse, nested, fake, on meta
            return None


def _summary(tensor: torch.Tensor) -> Summary:
    numbers = tensor.detach()
    if numbers.is_complex():
        numbers = torch.view_as_real(numbers.resolve_conj())
    numbers = numbers.reshape(-1)
    count = numbers.numel()
    places = [index * count // _SAMPLE for index in range(_SAMPLE)] if count > _SAMPLE else None
    sample = numbers if places is None else numbers[torch.tensor(places, device=numbers.device)]
    wide = numbers.double()
    low, high = wide.aminmax()
    rows = torch.cat([torch.stack([low, high, wide.mean(), wide.abs().max()]), sample.double()])
    least, most, mean, absmax, *rest = rows.tolist()
    return Summary(least, most, mean, absmax, tuple(rest))


def _first(value: Any, depth: int) -> torch.Tensor | None:  # noqa: ANN401
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, Mapping):
        value = list(value.values())
    if not isinstance(value, (list, tuple)) or not depth:
        return None
    found = [each for each in (_first(each, depth - 1) for each in value) if each is not None]
    floating = [each for each in found if each.is_floating_point()]
    return next(iter(floating or found), None)

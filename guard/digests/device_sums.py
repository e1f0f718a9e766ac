"""A fingerprint that a GPU works out by itself: a keyed sum of 64-bit integers.

Each word of the tensor is multiplied by an odd key of its place, folded, multiplied by another
key, and all are added up, modulo 2**64. Integers add up to the same in any order, so that the sum
is deterministic, and nothing waits for it. Two tensors that differ by chance have the same sum
once in 2**63: the arithmetic shift takes one bit. The worst differences known, in the highest bits
of two words only (signs), have it once in about 2**33, less often than the 4 bytes that a trace
keeps. It is no protection against forgery.
"""

from __future__ import annotations

import torch

_CHUNK = 1 << 20  # words at a time: 8 MB for each of the intermediate results
_FIRST, _SECOND = 0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F  # odd, of no pattern: the golden ratio's
_INTEGERS = {8: torch.int64, 4: torch.int32, 2: torch.int16, 1: torch.uint8}

_keys: dict[torch.device, tuple[torch.Tensor, torch.Tensor]] = {}


def sum_of(tensor: torch.Tensor) -> torch.Tensor:
    """An int64 scalar on the tensor's device. Call it without grad, and past modes."""
    words = _words(tensor.contiguous())
    if not words.numel():
        return torch.zeros((), dtype=torch.int64, device=tensor.device)
    first, second = _keys_on(tensor.device)
    total: torch.Tensor | None = None
    for index, chunk in enumerate(torch.split(words, _CHUNK)):
        part = _mixed(chunk.to(torch.int64), first, second)
        shifted = part * _signed(_SECOND * (2 * index + 1))
        total = shifted if total is None else total + shifted
    assert total is not None  # noqa: S101 - split gives at least one
    return total


def _mixed(words: torch.Tensor, first: torch.Tensor, second: torch.Tensor) -> torch.Tensor:
    count = words.numel()
    mixed = words * first[:count]
    mixed ^= mixed >> 32  # so that the highest bits, which multiplying leaves there, count below
    mixed *= second[:count]
    return mixed.sum()


def _words(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor's bytes as integers, the widest that divide them."""
    size = tensor.element_size()
    total = tensor.numel() * size
    width = next(each for each in (8, 4, 2, 1) if not total % each)
    flat = tensor.reshape(-1)
    if flat.storage_offset() * size % width:
        flat = flat.clone()
    if width < size:
        return flat.view(torch.uint8)
    return flat.view(_INTEGERS[width])


def _keys_on(device: torch.device) -> tuple[torch.Tensor, torch.Tensor]:
    found = _keys.get(device)
    if found is None:
        places = torch.arange(1, _CHUNK + 1, dtype=torch.int64, device=device)
        found = _keys[device] = (_scrambled(places, _FIRST), _scrambled(places, _SECOND))
    return found


def _scrambled(places: torch.Tensor, key: int) -> torch.Tensor:
    """Odd numbers without a pattern (splitmix64)."""
    mixed = places * _signed(key)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> shift)) * _signed(factor)
    return (mixed ^ (mixed >> 31)) | 1


def _signed(number: int) -> int:
    number &= (1 << 64) - 1
    return number - (1 << 64) if number >> 63 else number

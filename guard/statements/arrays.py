"""Digests of tensors and arrays, by their bytes; of very large ones, by blocks of them."""

from __future__ import annotations

import sys
from typing import Any

from guard.statements.hashing import hashed
from guard.statements.locations import attributes

_ALL = 1 << 22  # bytes of an array that are all read; of larger ones, blocks
_BLOCK = 1 << 14
MOST_NUMBERS = 4_000_000  # of a module


def of_tensor(value: Any) -> int:  # noqa: ANN401
    """Of a tensor; of one that is not plain and in the CPU's memory, by its form alone."""
    form = f"{value.dtype}{tuple(value.shape)}".encode()
    torch: Any = sys.modules["torch"]
    if value.device.type != "cpu" or value.layout != torch.strided or value.is_nested:
        return hashed(form)
    from guard.fingerprints import _bytes_of, plainly, seen

    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return hashed(form)
    if value.numel() * value.element_size() <= _ALL:
        found, _ = seen(value)
        return int.from_bytes(found[:8], "little") if isinstance(found, bytes) else 2
    with plainly():
        return hashed(form + sampled(memoryview(_bytes_of(value.detach().contiguous())).cast("B")))


def of_module(module: Any, left: list[int]) -> list[int]:  # noqa: ANN401
    """Of a module's own tensors and those of its parts, as long as they are not too many.

    left  how many numbers may still be looked at
    """
    found: list[int] = []
    held = attributes(module) or {}
    for part in ("_parameters", "_buffers"):
        for each in (held.get(part) or {}).values():
            if each is not None and left[0] > 0:
                left[0] -= each.numel()
                found.append(of_tensor(each))
    for each in (held.get("_modules") or {}).values():
        found += of_module(each, left) if each is not None else []
    return found


def sampled(content: Any) -> bytes:  # noqa: ANN401 - a buffer of bytes
    """The bytes, or blocks of them spread evenly, where there are very many."""
    size = len(content)
    if size <= _ALL:
        return hashed(content).to_bytes(8, "little")
    stride = size * _BLOCK // _ALL
    blocks = [hashed(content[at : at + _BLOCK]) for at in range(0, size, stride)]
    return b"".join(each.to_bytes(8, "little") for each in blocks)

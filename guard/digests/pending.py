"""Fingerprints whose numbers are still on a device: read together, once, at the end of a step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from guard.digests.hashing import hashed

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


class Pending:
    """A fingerprint over parts of which some are int64 scalars on a device."""

    __slots__ = ("parts", "seed")

    def __init__(self, parts: Sequence[bytes | torch.Tensor | Pending], seed: int) -> None:
        self.parts = parts
        self.seed = seed

    def tensors(self) -> Iterable[torch.Tensor]:
        """The scalars that have to be read."""
        for part in self.parts:
            if isinstance(part, Pending):
                yield from part.tensors()
            elif isinstance(part, torch.Tensor):
                yield part

    def digest(self, known: dict[int, int]) -> bytes:
        """The fingerprint, from the scalars' values by their ids."""
        return hashed(b"".join(_framed(_known(each, known)) for each in self.parts), self.seed)


def _known(part: bytes | torch.Tensor | Pending, known: dict[int, int]) -> bytes:
    if isinstance(part, bytes):
        return part
    if isinstance(part, Pending):
        return part.digest(known)
    return known[id(part)].to_bytes(8, "little", signed=True)


def _framed(part: bytes) -> bytes:
    return len(part).to_bytes(4, "little") + part


def joined(parts: Sequence[bytes | Pending], seed: int) -> bytes | Pending:
    """One fingerprint over several, or over bytes."""
    pending = Pending(parts, seed)
    if any(isinstance(each, Pending) for each in parts):
        return pending
    return pending.digest({})


def read(tensors: Iterable[torch.Tensor]) -> dict[int, int]:
    """The values of int64 scalars, by their ids: one copy for each device."""
    by_device: dict[torch.device, list[torch.Tensor]] = {}
    for each in tensors:
        by_device.setdefault(each.device, []).append(each)
    found: dict[int, int] = {}
    for group in by_device.values():
        values: list[Any] = torch.stack(group).tolist()
        found.update(zip(map(id, group), values, strict=True))
    return found

"""A fingerprint of a batch in which the order of its samples does not count: they are added up.

So the sums of several batches add up as well, to the same number wherever a sample stood.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch

from guard.fingerprints import form_of, hashed, plainly

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 8  # bytes of it, the lowest first: any number of them adds up by itself
_LONG = 512  # bytes of a sample's part, from which it is hashed by itself; below, all at once
_PLAIN = frozenset((int, float, bool, str, bytes))
_FIRST, _SECOND = -0x61C8864680B583EB, -0x3D4D51C2D82B14B1  # odd, of no pattern: the golden ratio's
_MASK = (1 << 64) - 1


class _NoSamplesError(Exception):
    """What it holds is not one thing for each sample."""


def of_samples(value: object) -> bytes | None:
    """Over the samples of a batch in memory: what stands at the same place of the first dimension
    of its tensors, and of its lists of numbers and texts. None where it holds anything else."""
    try:
        parts = list(_parts(value))
        if not parts or len(set(map(len, parts))) > 1 or not len(parts[0]):
            return None
        with plainly():
            total: Any = None
            for each in parts:
                rows = _rows(each)
                total = rows if total is None else _mixed(total) + rows
            return (int(_mixed(total).sum()) & _MASK).to_bytes(SIZE, "little")
    except _NoSamplesError:
        return None


def _parts(value: Any) -> Iterator[Any]:  # noqa: ANN401
    if type(value) is torch.Tensor:
        in_memory = value.is_cpu and value.layout == torch.strided and not value.is_nested
        if not in_memory or not value.dim() or form_of(value).array is None:
            raise _NoSamplesError
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _parts(each)
    elif isinstance(value, (list, tuple)) and value:
        if all(type(each) in _PLAIN for each in value):
            yield value
        else:
            for each in value:
                yield from _parts(each)
    else:
        raise _NoSamplesError


def _rows(part: Any) -> torch.Tensor:  # noqa: ANN401
    """A number for each sample."""
    if type(part) is not torch.Tensor:
        return _numbers([hashed(f"{type(each)} {each!r}".encode(), 0) for each in part])
    dense = part.detach().resolve_neg().contiguous()
    size = dense.numel() // len(dense) * dense.element_size()
    seed = form_of(dense[0]).seed
    if size < _LONG:
        return _short_rows(dense, size) + (seed & (_MASK >> 1))
    kind, begin = ctypes.c_char * size, dense.data_ptr()
    places = range(begin, begin + len(dense) * size, size)
    return _numbers([hashed(kind.from_address(each), seed) for each in places])


def _numbers(digests: list[bytes]) -> torch.Tensor:
    held = torch.frombuffer(bytearray(b"".join(digests)), dtype=torch.int64)
    return held.view(len(digests), -1)[:, 0].clone()


def _short_rows(dense: torch.Tensor, size: int) -> torch.Tensor:
    """Keyed sums of the words of each row, so that a batch of many small samples is cheap."""
    count = len(dense)
    if not size:
        return torch.zeros(count, dtype=torch.int64)
    held = dense.view(count, -1).view(torch.uint8)
    if size % 8:
        held = torch.nn.functional.pad(held, (0, -size % 8))
    words = held.view(torch.int64)
    keys = _mixed(torch.arange(1, words.shape[1] + 1)) | 1
    return (_mixed(words * keys) * keys).sum(1)


def _mixed(numbers: torch.Tensor) -> torch.Tensor:
    """Each bit of a number changes half of those of what it becomes."""
    found = (numbers ^ (numbers >> 32)) * _FIRST
    found = (found ^ (found >> 29)) * _SECOND
    return found ^ (found >> 32)

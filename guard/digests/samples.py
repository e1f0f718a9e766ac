"""A fingerprint of a batch in which the order of its samples does not count: they are added up.

So the sums of several batches add up as well, to the same number wherever a sample stood.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, Any

import torch

from guard.digests.hashing import hashed
from guard.digests.tensors import form_of
from guard.observe.modes import plainly

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZE = 8  # bytes of it, the lowest first: any number of them adds up by itself
MOST = 1024  # samples: each takes about a microsecond
_PLAIN = frozenset((int, float, bool, str, bytes))


def of_samples(value: object) -> bytes | None:
    """Over the samples of a batch in memory: what stands at the same place of the first dimension
    of its tensors, and of its lists of numbers and texts. None where it holds anything else, or
    too many."""
    parts: list[Any] = []
    if not _take(value, parts) or not parts or not 0 < len(parts[0]) <= MOST:
        return None
    if any(len(each) != len(parts[0]) for each in parts):
        return None
    try:
        rows = [_rows(each) for each in parts]
    except RuntimeError:  # wrapped by a transformation
        return None
    joined = (
        rows[0]
        if len(rows) == 1
        else (hashed(b"".join(each), 0) for each in zip(*rows, strict=True))
    )
    total = sum(int.from_bytes(each[:SIZE], "little") for each in joined)
    return (total & ((1 << 8 * SIZE) - 1)).to_bytes(SIZE, "little")


def _take(value: Any, parts: list[Any]) -> bool:  # noqa: ANN401
    """Collect what has one thing for each sample; whether that is all."""
    if type(value) is torch.Tensor:
        parts.append(value)
        in_memory = value.is_cpu and value.layout == torch.strided and not value.is_nested
        return in_memory and value.dim() > 0 and form_of(value).at is not None
    if isinstance(value, Mapping):
        return all(_take(each, parts) for each in value.values())
    if not isinstance(value, (list, tuple)) or not value:
        return False
    if all(type(each) in _PLAIN for each in value):
        parts.append(value)
        return True
    return all(_take(each, parts) for each in value)


def _rows(part: Any) -> Iterator[bytes]:  # noqa: ANN401
    """A fingerprint of each sample."""
    if type(part) is not torch.Tensor:
        return (
            hashed(f"{type(each)} {each!r}".encode("utf-8", "surrogatepass"), 0) for each in part
        )
    if not part.is_contiguous() or part.is_neg():
        with plainly():
            part = part.detach().resolve_neg().contiguous()
    count = part.shape[0]
    size = part.numel() // count * part.element_size()
    seed = form_of(part).seed_of_parts
    if not size:
        return repeat(hashed(b"", seed), count)
    rows = _array(size, count).from_address(part.data_ptr())
    return iter(list(map(hashed, rows, repeat(seed, count))))


@functools.lru_cache(maxsize=256)
def _array(size: int, count: int) -> Any:  # noqa: ANN401 - a class
    """Making one takes longer than reading a batch with it."""
    return ctypes.c_char * size * count

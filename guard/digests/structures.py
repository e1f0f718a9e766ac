"""Fingerprints of anything in a batch: tensors in structures, arrays, texts, numbers, objects.

And one in which the order of a batch's samples does not count: they are added up. So the sums of
several batches add up as well, to the same number wherever a sample stood.
"""

from __future__ import annotations

import ctypes
import dataclasses
import datetime as dt
import enum
import functools
import os
import types
from collections.abc import Mapping
from itertools import islice, repeat
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter

from guard.dependencies import loaded
from guard.digests.device_sums import Pending, joined
from guard.digests.hashing import hashed
from guard.digests.tensors import form_of, seen
from guard.observe.modes import plainly
from guard.trace import Summary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PRINTED = frozenset((int, float, bool, complex, str, bytes, type(None)))  # whose repr is exact
_NAMED = (type, types.FunctionType, types.BuiltinFunctionType, types.ModuleType, torch.nn.Module)
_TEXTS = (dt.date, dt.time, dt.timedelta, torch.dtype, torch.device, slice, range)
_STORAGES = (torch.UntypedStorage, torch.TypedStorage)
_DEPTH = 20
_DETAIL = 160  # characters
_SAMPLE = 64


class Fingerprint(NamedTuple):
    """Of a structure: its digest, and what it is made of: "(float32[2, 3], int64[2])"."""

    digest: bytes | Pending
    detail: str


def fingerprint(value: object) -> Fingerprint:
    """Of any value. Order counts, in sequences and in dictionaries; it does not in sets.

    Objects of classes that say nothing of themselves are taken by their attributes, functions
    and modules by their names.
    """
    if isinstance(value, torch.Tensor) and not _is_uninitialised(value):
        digest, form = seen(value)
        return Fingerprint(digest, form.detail)
    found = _of(value, ())
    detail = found.detail
    return found if len(detail) <= _DETAIL else found._replace(detail=detail[:_DETAIL] + "…")


def _is_uninitialised(value: torch.Tensor) -> bool:
    return isinstance(value, (UninitializedBuffer, UninitializedParameter))


def _of(value: Any, around: tuple[int, ...]) -> Fingerprint:  # noqa: ANN401, PLR0911 - a kind each
    kind = type(value)
    if kind in _PRINTED:
        return _printed(kind.__name__, repr(value))
    if isinstance(value, torch.Tensor):
        if _is_uninitialised(value):
            return _printed(kind.__name__, "")
        digest, form = seen(value)
        return Fingerprint(digest, form.detail)
    if id(value) in around or len(around) > _DEPTH:
        return _printed("cycle", "")
    around = (*around, id(value))
    if isinstance(value, Mapping):
        return _mapping(value.items(), around)
    if isinstance(value, (list, tuple)):
        return _sequence(value, around)
    if isinstance(value, (set, frozenset)):
        return _set(value, around)
    if isinstance(value, _STORAGES):
        return _storage(value)
    return _array(value, around) or _object(value, around)


def _printed(kind: str, text: str) -> Fingerprint:
    return Fingerprint(hashed(f"{kind} {text}".encode("utf-8", "surrogatepass"), 0), kind)


def _sequence(value: list[Any] | tuple[Any, ...], around: tuple[int, ...]) -> Fingerprint:
    left, right = "()" if isinstance(value, tuple) else "[]"
    kinds = set(map(type, value))
    if value and kinds <= _PRINTED:
        names = "|".join(sorted(each.__name__ for each in kinds))
        printed = _printed(left, repr(list(value)))
        return printed._replace(detail=f"{left}{len(value)} {names}{right}")
    found = [_of(each, around) for each in value]
    digest = joined([left.encode(), *(each.digest for each in found)], 0)
    return Fingerprint(digest, left + _listed(each.detail for each in found) + right)


def _mapping(items: Iterable[tuple[Any, Any]], around: tuple[int, ...]) -> Fingerprint:
    parts: list[bytes | Pending] = [b"{"]
    details = []
    for key, value in items:
        found = _of(value, around)
        parts += [_of(key, around).digest, found.digest]
        details.append(f"{key}: {found.detail}" if isinstance(key, str) else found.detail)
    return Fingerprint(joined(parts, 0), "{" + _listed(details) + "}")


def _set(value: Iterable[Any], around: tuple[int, ...]) -> Fingerprint:
    digests = [_of(each, around).digest for each in value]
    known = sorted(each for each in digests if isinstance(each, bytes))
    digest = joined([b"set", *known, *(each for each in digests if isinstance(each, Pending))], 0)
    return Fingerprint(digest, f"set of {len(digests)}")


def _array(value: Any, around: tuple[int, ...]) -> Fingerprint | None:  # noqa: ANN401
    """NumPy's arrays and scalars."""
    numpy: Any = loaded("numpy")
    if numpy is None or not isinstance(value, (numpy.ndarray, numpy.generic)):
        return None
    detail = f"numpy {value.dtype}{list(value.shape)}"
    if value.dtype.hasobject:
        return Fingerprint(_of(value.tolist(), around).digest, detail)
    dense = numpy.ascontiguousarray(value)
    content = hashed(dense.reshape(-1).view(numpy.uint8) if dense.nbytes else b"", 0)
    return Fingerprint(joined([detail.encode(), content], 0), detail)


def _storage(value: Any) -> Fingerprint:  # noqa: ANN401
    """The bytes that tensors are made of, as a file gives them."""
    with plainly():
        held = torch.empty(0, dtype=torch.uint8, device=value.device).set_(value.untyped())
        return Fingerprint(seen(held)[0], f"{type(value).__name__} of {held.numel()} bytes")


def _object(value: Any, around: tuple[int, ...]) -> Fingerprint:  # noqa: ANN401
    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if isinstance(value, _NAMED):
        return _printed(kind.__name__, str(getattr(value, "__qualname__", name)))
    if isinstance(value, (enum.Enum, os.PathLike, *_TEXTS)):
        return _printed(kind.__name__, str(value))
    if isinstance(value, (str, bytes, int, float, complex, bytearray)):  # classes made of these
        return _printed(name, repr(value))
    if hasattr(value, "tobytes"):  # Pillow's images, and arrays of the standard library
        content = [str(getattr(value, name, "")).encode() for name in ("mode", "size")]
        return Fingerprint(joined([*content, bytes(value.tobytes())], 0), kind.__name__)
    held = _attributes(value)
    if held is None:
        return _printed(name, "")
    found = _mapping(held, around)
    digest = joined([name.encode(), found.digest], 0)
    return Fingerprint(digest, f"{kind.__name__}{found.detail}")


def _attributes(value: Any) -> Iterable[tuple[str, Any]] | None:  # noqa: ANN401
    if dataclasses.is_dataclass(value):
        names = [each.name for each in dataclasses.fields(value)]
        return [(name, getattr(value, name, None)) for name in names]
    if hasattr(value, "__dict__"):
        return list(vars(value).items())
    slots = getattr(type(value), "__slots__", None)
    if not slots or isinstance(slots, str):
        return None
    return [(name, getattr(value, name, None)) for name in slots if not name.startswith("__")]


def _listed(details: Iterable[str]) -> str:
    found = list(islice(details, 9))
    return ", ".join(found[:8]) + (", …" if len(found) == 9 else "")


def summary_of(value: Any) -> Summary | None:  # noqa: ANN401
    """Of a tensor, or of the first one with floating numbers in a structure; None without one.

    It waits for the device. Values of dtypes that do not fit into float64 are rounded.
    """
    tensor = _first(value, 3)
    if tensor is None or not tensor.numel():
        return None
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


SIZE = 8  # bytes of it, the lowest first: any number of them adds up by itself
MOST = 1024  # samples: each takes about a microsecond
_ATOMS = frozenset((int, float, bool, str, bytes))


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
    samples = (
        rows[0]
        if len(rows) == 1
        else (hashed(b"".join(each), 0) for each in zip(*rows, strict=True))
    )
    total = sum(int.from_bytes(each[:SIZE], "little") for each in samples)
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
    if all(type(each) in _ATOMS for each in value):
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
    rows = _memory_of(size, count).from_address(part.data_ptr())
    return iter(list(map(hashed, rows, repeat(seed, count))))


@functools.lru_cache(maxsize=256)
def _memory_of(size: int, count: int) -> Any:  # noqa: ANN401 - a class
    """Making one takes longer than reading a batch with it."""
    return ctypes.c_char * size * count

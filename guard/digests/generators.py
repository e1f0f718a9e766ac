"""What the process holds and any statement may change unseen: its generators, torch's threads."""

from __future__ import annotations

import ctypes
import functools
import random
import struct
import sys
from typing import Any

from guard.digests.hashing import short

NAMES = ("python", "numpy", "torch.cpu", "threads")
NONE: tuple[int, ...] = (0, 0, 0, 0)
_Words = ctypes.c_uint32 * 625  # its key and its position
_Bytes = ctypes.c_char * ctypes.sizeof(_Words)
_HEAD = 128  # bytes of torch's before its key, at most: less than it has in all
_BEFORE, _AFTER = 20, 24  # bytes: its position; the second normal numbers that it keeps back


@functools.cache
def _python_lies() -> int:
    """Where Python's global generator has its position and its key, after the object's head; 0
    where they are not to be found there."""
    generator: Any = random._inst  # noqa: SLF001 - no other way
    if sys.implementation.name != "cpython" or type(generator) is not random.Random:
        return 0
    place = id(generator) + object.__basicsize__
    *key, position = generator.getstate()[1]
    held = list(_Words.from_address(place))
    return place if held == [position, *key] else 0


def of_python() -> tuple[Any, float | None] | None:
    """The memory, and a second normal number that is kept back: a copy of the state by Python
    takes 15 µs and more. None where it is not to be found."""
    place = _python_lies()
    if not place:
        return None
    generator: Any = random._inst  # noqa: SLF001 - no other way
    return _Bytes.from_address(place), generator.gauss_next


def of_numpy(numpy: Any) -> Any:  # noqa: ANN401 - numpy.random, and a ctypes array
    """The memory of NumPy's: a copy of the state by NumPy takes 20 µs and more. None if unknown."""
    bits = numpy.mtrand._rand._bit_generator  # noqa: SLF001 - no other way
    if type(bits).__name__ != "MT19937":
        return None
    return _Bytes.from_address(bits.ctypes.state_address)


@functools.cache
def of_torch() -> Any:  # noqa: ANN401 - a ctypes array
    """The memory of torch's on the CPU, with all that moves when somebody draws: a copy of the
    state by torch takes ten times as long as to look there. None where it is not to be found."""
    import torch

    generator: Any = torch.default_generator
    words = generator.get_state()[24 : 24 + 8 * 624].view(torch.int64)  # of 32 bits, each in 64
    key = struct.pack("<624I", *(each & 0xFFFFFFFF for each in words.tolist()))
    start = generator._cdata  # noqa: SLF001 - no other way
    at = bytes((ctypes.c_char * (_HEAD + len(key))).from_address(start)).find(key)
    if at < _BEFORE:
        return None
    return (ctypes.c_char * (_BEFORE + len(key) + _AFTER)).from_address(start + at - _BEFORE)


def look() -> tuple[int, ...]:
    """A number for the state of each; 0 for what is not there yet. Done after each statement that
    calls anything, so as cheaply as can be."""
    torch: Any = sys.modules.get("torch")
    numpy: Any = sys.modules.get("numpy.random")
    python = of_python()
    held = of_numpy(numpy) if hasattr(numpy, "mtrand") else None
    drawn = threads = 0
    generator = getattr(torch, "default_generator", None)
    if generator is not None and hasattr(torch, "get_num_threads"):
        drawn = short(generator.get_state().numpy().data)
        threads = int(torch.get_num_threads())
    return (
        short(python[0]) if python else short(repr(random.getstate()).encode()),
        0 if held is None else short(held),
        drawn,
        threads,
    )

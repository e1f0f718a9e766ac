"""The seed of ``hash(str)``, by which sets of strings are ordered: chosen when Python starts."""

from __future__ import annotations

import os
import sys
from functools import cache

_SECRET_BYTES = 24  # _Py_HashSecret_t


def hash_seed() -> int | None:
    """The ``PYTHONHASHSEED`` that this interpreter runs with, or None if it drew one.

    The variable itself does not tell: a program may have set it after the start, which
    changes nothing (https://docs.python.org/3/using/cmdline.html#envvar-PYTHONHASHSEED).
    """
    if not sys.flags.hash_randomization:
        return 0
    text = os.environ.get("PYTHONHASHSEED", "")
    if not (text.isascii() and text.isdigit()):
        return None
    return int(text) if _secret() in (b"", expanded(int(text))) else None


@cache
def _secret() -> bytes:
    """What the interpreter hashes with; empty where it does not say, as outside CPython."""
    try:
        import ctypes

        return bytes((ctypes.c_ubyte * _SECRET_BYTES).in_dll(ctypes.pythonapi, "_Py_HashSecret"))
    except (ImportError, AttributeError, ValueError):
        return b""


def expanded(seed: int) -> bytes:
    """The secret that CPython makes of a seed, by a linear congruential generator."""
    secret = bytearray()
    for _ in range(_SECRET_BYTES):
        seed = (seed * 214013 + 2531011) & 0xFFFFFFFF
        secret.append(seed >> 16 & 0xFF)
    return bytes(secret)

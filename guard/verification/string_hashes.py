"""What CPython's ``hash`` gives for a string under a ``PYTHONHASHSEED``, without starting Python.

SipHash-1-3 since Python 3.11, SipHash-2-4 before; see Python/pyhash.c.
"""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

from guard.hash_seed import expanded

if TYPE_CHECKING:
    from collections.abc import Iterable

_MASK = (1 << 64) - 1
_BEGIN = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_ROUNDS = {"siphash13": (1, 3), "siphash24": (2, 4)}  # for each word, and at the end


def is_known() -> bool:
    """Whether this Python hashes as is computed here."""
    found = sys.hash_info
    return found.algorithm in _ROUNDS and found.width == 64 and not found.cutoff


def hashes(strings: Iterable[str], seed: int) -> list[int]:
    """As ``hash`` gives them in a process with this seed, from 0 to 4294967295."""
    secret = expanded(seed) if seed else bytes(16)
    keys = int.from_bytes(secret[:8], "little"), int.from_bytes(secret[8:16], "little")
    return [_hash(_content(each), keys) for each in strings]


@cache
def _content(string: str) -> bytes:
    """The characters as they lie in memory: of 1, 2 or 4 bytes each, by the widest."""
    widest = ord(max(string, default="\0"))
    name = "latin-1" if widest < 1 << 8 else "utf-16-le" if widest < 1 << 16 else "utf-32-le"
    return string.encode(name, "surrogatepass") if widest >= 1 << 8 else string.encode(name)


def _hash(content: bytes, keys: tuple[int, int]) -> int:
    if not content:
        return 0
    each, last = _ROUNDS[sys.hash_info.algorithm]
    number = _siphash(content, keys, each, last)
    signed = number - (1 << 64) if number >> 63 else number
    return -2 if signed == -1 else signed


_State = tuple[int, int, int, int]


def _siphash(content: bytes, keys: tuple[int, int], each: int, last: int) -> int:
    first, second = keys
    state = first ^ _BEGIN[0], second ^ _BEGIN[1], first ^ _BEGIN[2], second ^ _BEGIN[3]
    whole = len(content) // 8 * 8
    words = [int.from_bytes(content[at : at + 8], "little") for at in range(0, whole, 8)]
    words.append((len(content) & 0xFF) << 56 | int.from_bytes(content[whole:], "little"))
    for word in words:
        state = (state[0], state[1], state[2], state[3] ^ word)
        for _ in range(each):
            state = _turned(state)
        state = (state[0] ^ word, state[1], state[2], state[3])
    state = (state[0], state[1], state[2] ^ 0xFF, state[3])
    for _ in range(last):
        state = _turned(state)
    return state[0] ^ state[1] ^ state[2] ^ state[3]


def _turned(state: _State) -> _State:
    a, b, c, d = state
    a = a + b & _MASK
    b = (b << 13 | b >> 51) & _MASK ^ a
    a = (a << 32 | a >> 32) & _MASK
    c = c + d & _MASK
    d = (d << 16 | d >> 48) & _MASK ^ c
    a = a + d & _MASK
    d = (d << 21 | d >> 43) & _MASK ^ a
    c = c + b & _MASK
    b = (b << 17 | b >> 47) & _MASK ^ c
    c = (c << 32 | c >> 32) & _MASK
    return a, b, c, d

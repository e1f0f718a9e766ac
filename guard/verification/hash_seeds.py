"""Hash seeds under which small sets of strings come in another order, and not by luck.

Of a set of two strings, two seeds taken at random give the same order half of the time; and of a
set of five, a given string has the same place in both once in five. So the strings are taken from
the program's own text, which is read and never executed, and what ``hash`` gives for them under a
``PYTHONHASHSEED`` is computed without starting Python.

CPython hashes by SipHash-1-3 since Python 3.11, by SipHash-2-4 before; see Python/pyhash.c.
"""

from __future__ import annotations

import sys
from functools import cache, cached_property
from typing import TYPE_CHECKING, NamedTuple

from detlint.dataflow.orders.string_sets import string_sets
from guard.setup.variables import expanded

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from guard.verification.texts import Text

    Strings = tuple[str, ...]

FIRST = 1  # of run 0
_TRIED = 400  # seeds for a run
# What programs commonly read from elsewhere.
COMMON: tuple[Strings, ...] = (
    ("train", "test"),
    ("train", "val"),
    ("train", "val", "test"),
    ("input", "target"),
    ("image", "label"),
    ("source", "target"),
    ("weight", "bias"),
    ("x", "y"),
    ("0", "1"),
    ("cat", "dog"),
    ("a", "b", "c"),
)
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


class _Score(NamedTuple):
    """The more groups, the better; what is told first counts first."""

    another: int = 0  # how many come in another order
    moved: int = 0  # in how many of these no element has kept its place


class HashSeeds:
    """Of the runs of a program: that of each is chosen against that of the first."""

    def __init__(self, text: Text) -> None:
        self._text = text
        self._chosen: dict[int, int] = {0: FIRST}

    def of(self, run: int) -> int:
        """That of a run, from 0: another one for each."""
        if run not in self._chosen:
            first = FIRST + 1 + (run - 1) * _TRIED
            self._chosen[run] = best(range(first, first + _TRIED), self._groups)
        return self._chosen[run]

    @cached_property
    def _groups(self) -> tuple[Sequence[Strings], ...]:
        """By how much they count."""
        if not is_known():
            return ()
        found = string_sets(self._text.trees.values())
        return found.sets, (*found.others, *COMMON)


def best(seeds: range, groups: Sequence[Sequence[Strings]]) -> int:
    """The seed under which most of the groups come in another order than under the first."""
    wanted = [{each: orders(each, FIRST) for each in some} for some in groups]
    perfect = [_Score(len(some), len(some)) for some in wanted]
    found, scores = seeds[0], [_Score(-1)]
    for seed in seeds:
        reached: list[_Score] = []
        for some in wanted:
            reached.append(_score(some, seed))
            if reached < scores[: len(reached)]:
                break
        if reached > scores:
            found, scores = seed, reached
        if reached == perfect:
            break
    return found


def _score(groups: dict[Strings, tuple[Strings, ...]], seed: int) -> _Score:
    another = moved = 0
    for strings, before in groups.items():
        pairs = list(zip(before, orders(strings, seed), strict=True))
        another += all(one != other for one, other in pairs)
        moved += all(a != b for one, other in pairs for a, b in zip(one, other, strict=True))
    return _Score(another, moved)


def orders(strings: Strings, seed: int) -> tuple[Strings, ...]:
    """In which a set of them is gone through: filled one by one; and from a constant, as what is
    written with braces is, which the compiler makes once or makes anew."""
    elements = list(map(_Element, strings, hashes(strings, seed)))
    filled = frozenset(elements)
    anew = frozenset(list(filled))
    copies = [set[_Element]() for _ in range(2)]
    for copy, constant in zip(copies, (filled, anew), strict=True):
        copy.update(constant)
    return tuple(tuple(each.string for each in found) for found in (filled, anew, *copies))


class _Element:
    """Stands in a set where its string would."""

    __slots__ = ("hash", "string")

    def __init__(self, string: str, number: int) -> None:
        self.string = string
        self.hash = number

    def __hash__(self) -> int:
        return self.hash

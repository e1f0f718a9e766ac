"""What values are made of that digests do not tell: bits, joined over all that is looked at.

Two runs hold equal sets of equal objects, and give them in another order: which order that is,
hangs on what is in the set.
"""

from __future__ import annotations

import os
from collections import deque
from itertools import islice, zip_longest
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

SETS = 1  # a set, whose order hangs on the hashes of its items
STRINGS = 2  # whose hashes PYTHONHASHSEED decides
OBJECTS = 4  # whose hashes are their addresses
SHARED = 32  # what other processes write as well: a store of torch.distributed, a Value
SHOWN = 16  # whose text has their address: the default of __repr__
HANDED = 64  # a queue or a pipe, into which others put
MEASURED = 128  # a file in which the system tells of itself
ASKED = 256  # what asked the system for random numbers, or the file of these
FILES = {
    **dict.fromkeys(("/dev/random", "/dev/urandom", "/proc/sys/kernel/random/"), ASKED),
    **dict.fromkeys(("/proc/", "/sys/"), MEASURED),
}
DRAWN = 8  # a name that was drawn anew in each run, and is told as the same in both
_LOOKED_AT = 8  # items of a container
_DEEP = 3
_SETS = (set, frozenset)
_HOLDING: tuple[type, ...] = (
    list,
    tuple,
    dict,
    deque,
    type({}.keys()),
    type({}.values()),
    type({}.items()),
)
_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)
_BY_ADDRESS: Any = object.__hash__
_SHARING = {"multiprocessing.sharedctypes", "multiprocessing.managers"}
_QUEUES = {
    *("queue", "_queue", "asyncio.queues", "multiprocessing.queues", "multiprocessing.connection"),
}
_WEAK = {"WeakSet", "WeakKeyDictionary"}


class Traits(NamedTuple):
    """Of a statement, over all times that it ran: of what it read, and of what it gave.

    paths  of each path that it reads, one by one
    """

    read: int = 0
    gave: int = 0
    paths: tuple[int, ...] = ()

    def joined(self, other: Traits) -> Traits:
        """Of both."""
        pairs = zip_longest(self.paths, other.paths, fillvalue=0)
        paths = tuple(one | two for one, two in pairs)
        return Traits(self.read | other.read, self.gave | other.gave, paths)


def traits_of(values: Iterable[Any], deep: int = _DEEP) -> int:
    """Of values, and of the first items of what holds some; no code of theirs is run."""
    found = 0
    for value in values:
        kind = type(value)
        if kind in (str, bytes) or issubclass(kind, os.PathLike):
            found |= STRINGS
        elif kind in (*_SETS, *_HOLDING):
            found |= SETS if kind in _SETS else 0
            found |= traits_of(_first(value), deep - 1) if deep else 0
        elif kind.__module__ == "_io":
            found |= of_file(getattr(value, "name", ""))
        elif kind.__name__ in _WEAK and kind.__module__ in ("_weakrefset", "weakref"):
            found |= SETS | OBJECTS
        else:
            found |= _of_object(kind)
    return found


def _of_object(kind: type) -> int:
    """Whether its hash, and its text, are by its address."""
    if issubclass(kind, _NAMED):
        return SHOWN * issubclass(kind, (FunctionType, MethodType))
    if kind.__module__ in _QUEUES:
        return HANDED
    if _is_shared(kind):
        return SHARED
    by_hash = getattr(kind, "__hash__", None) is _BY_ADDRESS
    return OBJECTS * by_hash | SHOWN * (getattr(kind, "__repr__", None) is object.__repr__)


def of_file(name: object) -> int:
    """Whether a file is one of the system's, by the first that its name begins with."""
    found = (bits for start, bits in FILES.items() if str(name).startswith(start))
    return next(found, 0)


def _is_shared(kind: type) -> bool:
    stores = kind.__module__.endswith("distributed_c10d") and kind.__name__.endswith("Store")
    return stores or kind.__module__ in _SHARING


def _first(held: Any) -> list[Any]:  # noqa: ANN401 - of a container of Python's own
    try:
        return list(islice(held, _LOOKED_AT))
    except RuntimeError:  # another thread changes it meanwhile
        return []

"""What values are made of that digests do not tell: bits, joined over all that is looked at.

Two runs hold equal sets of equal objects, and give them in another order: which order that is,
hangs on what is in the set.
"""

from __future__ import annotations

import datetime as dt
import os
import pathlib
import sys
import threading
import weakref
from collections import deque
from itertools import islice, zip_longest
from mmap import mmap
from multiprocessing.process import parent_process
from types import (
    BuiltinFunctionType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any, NamedTuple

from detlint.models import differing
from detlint.models.randomness import DRAWS_IN_QUERY, SELECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from guard.observe.statements import Path


SETS = 1  # a set, whose order hangs on the hashes of its items
STRINGS = 2  # whose hashes PYTHONHASHSEED decides
OBJECTS = 4  # whose hashes are their addresses
SHARED = 32  # what other processes write as well: a store of torch.distributed, a Value
SHOWN = 16  # whose text has their address: the default of __repr__
HANDED = 64  # a queue or a pipe, into which others put
MEASURED = 128  # a file in which the system tells of itself
DRAWING = 512  # a query of which the database draws: order by random()
TURNS = 1024  # a generator that comes through the same states, and meets them with other tasks
ASKED = 256  # what asked the system for random numbers, or the file of these
NAMED = 32768  # a class or a function, which as an item of a set is hashed by its address
DRAWS = 16384  # an object that draws: a generator of Python's, NumPy's or torch's
MOVES = 262144  # what draws from a generator of the process by itself, and not another thread
LEFT = 8192  # what an earlier run has left: a file, or what a folder holds
IN_MEMORY = 4096  # tensors and arrays in memory that several processes share
LENT = 131072  # what lies there as well, as all does that a loader's workers hand over
WEAK = 2048  # what holds objects weakly: they are gone when they have been collected
TIMED = 4194304  # a file that tells the time
NUMBERED = 524288  # one that tells the numbers of processes
LAID = 1048576  # one that tells where memory lies
STARTED = 2097152  # another program
UNFINISHED = 8388608  # what is not over, in another process, when the file that it writes is read
LATEST = 16777216  # the time of a file, where several other processes write some
ALONE = 65536  # what one thread writes, and others only read meanwhile
DRAWN = 8  # a name that was drawn anew in each run, and is told as the same in both
# By what it tells that is another in each run: a file of the system, or an object.
TOLD = {
    "LOAD": MEASURED,
    "ENTROPY": ASKED,
    "CLOCK": TIMED,
    "PROCESS": NUMBERED,
    "OBJECT_ADDRESS": LAID,
    "PROGRAM": STARTED,
}
OF_SYSTEM = MEASURED | ASKED | TIMED | NUMBERED | LAID
_LONGEST_QUERY = 10_000  # characters
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
_CONTAINERS = (*_SETS, *_HOLDING)
# datetime hashes the bytes of what it holds, timedelta numbers.
_HASHED_AS_TEXT = (str, bytes, os.PathLike, dt.date, dt.time)
_NAMING = (str, pathlib.PosixPath, pathlib.PurePosixPath)  # files, without code of the program's
_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType, ModuleType)
_BY_ADDRESS: Any = object.__hash__
_SHARING = {f"multiprocessing.{each}" for each in ("sharedctypes", "managers", "shared_memory")}
_GENERATORS = {"Generator", "Random", "RandomState"}
_OF_GENERATORS = ("random", "numpy.random", "torch._C")
_QUEUES = {
    *("queue", "_queue", "asyncio.queues", "multiprocessing.queues", "multiprocessing.connection"),
}
_WEAK_SETS = (weakref.WeakSet, weakref.WeakKeyDictionary)
_WEAK: Any = (*_WEAK_SETS, weakref.WeakValueDictionary, weakref.ref, *weakref.ProxyTypes)


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
        holding = next((each for each in _CONTAINERS if issubclass(kind, each)), None)
        if issubclass(kind, _HASHED_AS_TEXT):
            found |= STRINGS | DRAWING * (kind is str and draws_in_query(value))
            found |= told_by(value) if kind in _NAMING else 0
        elif holding is not None:
            found |= SETS if holding in _SETS else 0
            within = traits_of(_first(value, holding), deep - 1) if deep else 0
            found |= within | OBJECTS * bool(within & NAMED)
        elif kind.__module__ == "_io":
            found |= told_by(getattr(value, "name", ""))
        elif issubclass(kind, _WEAK):
            found |= WEAK | (SETS | OBJECTS) * issubclass(kind, _WEAK_SETS)
        elif deep and (sets := _gone_through(value)):
            found |= (_of_object(kind) & ~OBJECTS) | traits_of(sets, deep - 1)
        else:
            found |= _of_object(kind) | _in_shared_memory(value)
            if deep and _hashes_by_itself(kind):
                found |= traits_of(_parts(value), deep - 1) & STRINGS
    return found


def _gone_through(value: Any) -> list[Any]:  # noqa: ANN401 - of any class
    """The sets that an object holds whose class has an ``__iter__`` of the program's own: going
    through it may go through these."""
    is_own = isinstance(getattr(type(value), "__iter__", None), FunctionType)
    return [each for each in _parts(value) if type(each) in _SETS and each] if is_own else []


def _hashes_by_itself(kind: type) -> bool:
    """Whether it is a class of Python's, whose hash is of what its objects hold: a dataclass, an
    enumeration, one with a ``__hash__``."""
    by_hash = getattr(kind, "__hash__", None)
    return isinstance(by_hash, FunctionType)


def _parts(value: Any) -> list[Any]:  # noqa: ANN401 - of any class
    held = attributes(value) or of_slots(value, lambda _: True)
    return list(held.values())[:_LOOKED_AT]


def _of_object(kind: type) -> int:
    """Whether its hash, and its text, are by its address; what it is for."""
    if issubclass(kind, _NAMED):
        by_address = getattr(kind, "__hash__", None) is _BY_ADDRESS
        return NAMED * by_address | SHOWN * issubclass(kind, (FunctionType, MethodType))
    if kind.__module__ in _QUEUES:
        return HANDED
    if _is_shared(kind):
        return SHARED
    draws = DRAWS * (kind.__name__ in _GENERATORS and kind.__module__.startswith(_OF_GENERATORS))
    by_hash = getattr(kind, "__hash__", None)
    by_hash = by_hash is _BY_ADDRESS or _asks_address(by_hash)
    draws |= TOLD.get(differing.OBJECTS.get(f"{kind.__module__}.{kind.__qualname__}", ""), 0)
    return draws | OBJECTS * by_hash | SHOWN * (getattr(kind, "__repr__", None) is object.__repr__)


def _asks_address(function: Any) -> bool:  # noqa: ANN401
    """Whether it is a ``__hash__`` in Python that asks for ``id()``, as that of tensors does."""
    return isinstance(function, FunctionType) and "id" in function.__code__.co_names


def draws_in_query(text: str) -> bool:
    """Whether a text is a query in which the database draws."""
    if len(text) > _LONGEST_QUERY:
        return False
    return bool(DRAWS_IN_QUERY.search(text) and SELECTS.search(text))


def told_by(name: object) -> int:
    """What a text tells: the file of the system that it names, or a word in it."""
    text = f"{str(name)[:_LONGEST_QUERY]} "  # a text may be all that a file holds
    if text.startswith("/"):
        found = (told for start, told in differing.FILES.items() if text.startswith(start))
    else:
        found = (told for word, told in differing.TEXTS.items() if word in text)
    return TOLD.get(next(found, ""), 0)


def _is_shared(kind: type) -> bool:
    stores = kind.__module__.endswith("distributed_c10d") and kind.__name__.endswith("Store")
    return stores or kind.__module__ in _SHARING


def _in_shared_memory(value: Any) -> int:  # noqa: ANN401
    """Whether an array, a parameter, or the first of a module's, lies in memory that processes
    share; or any tensor of such a process, beside which others are lent by a loader's workers."""
    torch: Any = sys.modules.get("torch")
    if not hasattr(torch, "nn") or type(value).__module__ == "numpy":
        return IN_MEMORY * _is_mapped(value)
    if issubclass(type(value), torch.nn.Module):
        value = next(_parameters(value), None)
    is_one = type(value) is torch.nn.Parameter or parent_process() is not None
    is_tensor = type(value) in (torch.nn.Parameter, torch.Tensor)
    if not is_tensor or value.device.type != "cpu" or value.layout != torch.strided:
        return 0
    from guard.observe.modes import plainly

    with plainly():
        return (IN_MEMORY if is_one else LENT) * bool(value.untyped_storage().is_shared())


def _is_mapped(value: Any) -> bool:  # noqa: ANN401
    """Whether it is an array of memory that others may write: of a map, or a shared array's."""
    array = getattr(sys.modules.get("numpy"), "ndarray", ())
    while issubclass(type(value), array) and value.flags.writeable:
        value = value.base
    value = value.obj if type(value) is memoryview else value
    return type(value) is mmap or _is_shared(type(value))


def _parameters(module: Any) -> Iterator[Any]:  # noqa: ANN401
    held = attributes(module) or {}
    yield from (each for each in (held.get("_parameters") or {}).values() if each is not None)
    for each in (held.get("_modules") or {}).values():
        yield from _parameters(each)


def _first(held: Any, kind: Any) -> list[Any]:  # noqa: ANN401 - of a container of Python's own
    try:
        return list(islice(kind.__iter__(held), _LOOKED_AT))
    except RuntimeError:  # another thread changes it meanwhile
        return []


class _Begun(threading.local):
    """Of this thread, the objects of it whose ``__init__`` has run, where they have one: to ask
    another for what it holds would run that."""

    def __init__(self) -> None:
        self.ids: set[int] = set()


_begun = _Begun()
_of_thread = threading.local.__getattribute__


def begins(value: Any) -> None:  # noqa: ANN401
    """The ``__init__`` of an object begins, in this thread."""
    if issubclass(type(value), threading.local):
        _begun.ids.add(id(value))


MISSING = object()
_COMPUTING = {"datetime", "pathlib", "uuid", "decimal", "fractions"}
_CONTENTS = {"T", "mT", "H", "mH", "data", "flat", "imag", "real", "values"}  # of arrays
# Of a class, without asking its own class for them.
_classes_of = type.__dict__["__mro__"].__get__
_held_by = type.__dict__["__dict__"].__get__
_PARTS = ("_parameters", "_buffers", "_modules")  # of a torch.nn.Module


def value_of(path: Path, held: dict[str, Any], around: dict[str, Any]) -> Any:  # noqa: ANN401
    """The value of a path, given a frame's locals and globals; MISSING where there is none."""
    name = path[0]
    if name in held:
        value = held[name]
    elif name in around:
        value = around[name]
    else:
        return MISSING
    for part in path[1:]:
        whole = value
        value = _item(value, part[1:-1]) if part[0] == "[" else attribute(value, part)
        if value is MISSING:
            return whole if _is_told_whole(whole, part) or _is_shared(type(whole)) else MISSING
    return value


def _is_told_whole(value: Any, name: str) -> bool:  # noqa: ANN401
    """Whether what a value computes of itself hangs on nothing but what it is."""
    start = type(value).__module__.partition(".")[0]
    return start in _COMPUTING or (name in _CONTENTS and start in ("torch", "numpy", "pandas"))


def _item(value: Any, key: str) -> Any:  # noqa: ANN401
    """An item of a container of Python's own; of another kind, all of it."""
    kind = type(value)
    number = int(key) if key.removeprefix("-").isdecimal() else None
    if issubclass(kind, dict):
        for each in (key, number):
            if dict.__contains__(value, each):
                return dict.__getitem__(value, each)
        return MISSING
    if kind in (list, tuple) and number is not None:
        return value[number] if -len(value) <= number < len(value) else MISSING
    return value


def attribute(value: Any, name: str) -> Any:  # noqa: ANN401
    """An attribute that lies in the object or its class; no property is asked."""
    if issubclass(type(value), type):
        return _of_bases(value, name)
    held = attributes(value)
    if held is not None:
        if name in held:
            return held[name]
        torch: Any = sys.modules.get("torch")
        if issubclass(type(value), getattr(getattr(torch, "nn", None), "Module", ())):
            for part in (held.get(each) or {} for each in _PARTS):
                if name in part:
                    return part[name]
    return _of_class(value, name)


def _of_bases(kind: type, name: str) -> Any:  # noqa: ANN401
    """What a class holds: not its methods, nor what is computed."""
    held = next((held for e in _classes_of(kind) if name in (held := _held_by(e))), {name: MISSING})
    asked = any("__get__" in _held_by(each) for each in _classes_of(type(held[name])))
    return MISSING if asked else held[name]


def _of_class(value: Any, name: str) -> Any:  # noqa: ANN401
    for each in _classes_of(type(value)):
        held = _held_by(each)
        if name in held:
            found = held[name]
            if type(found) is MemberDescriptorType:
                try:
                    return found.__get__(value)
                except AttributeError:
                    return MISSING
            asked = any("__get__" in _held_by(each) for each in _classes_of(type(found)))
            return MISSING if asked else found
    return MISSING


def of_slots(value: Any, counts: Callable[[type], bool]) -> dict[str, Any]:  # noqa: ANN401
    """What an object holds in ``__slots__`` of those of its classes that count."""
    found: dict[str, Any] = {}
    for each in _classes_of(type(value)):
        named = _held_by(each)
        if "__slots__" in named and counts(each):
            slots = [name for name, what in named.items() if type(what) is MemberDescriptorType]
            held = {name: _of_class(value, name) for name in slots}
            found.update((name, part) for name, part in held.items() if part is not MISSING)
    return found


def attributes(value: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """What an object holds, without asking it."""
    if issubclass(type(value), threading.local):  # its own class answers, for this thread
        is_there = type(value).__init__ is object.__init__ or id(value) in _begun.ids
        return _of_thread(value, "__dict__") if is_there else None
    for each in _classes_of(type(value)):
        named = _held_by(each).get("__dict__")
        if named is not None:
            is_plain = type(named) in (GetSetDescriptorType, MemberDescriptorType)
            found = named.__get__(value) if is_plain else None
            return found if type(found) is dict else None
    return None

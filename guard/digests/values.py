"""Digests of a program's values: equal for equal contents, without running any of its code.

A digest is a number. An odd one is of a value that hardly comes about by chance; an even one of
True, a small number or the like, of which two that agree say nothing. 0 stands for what cannot be
told apart: it never differs.

Objects that are neither data nor of the program's own classes (futures, queues, samplers) are
told by where they were first seen, and as which: so an object that comes before another in one
run only differs there.

The run's own folder, names that ``tempfile`` draws, and UUIDs: each is numbered as it came.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
import tempfile
import weakref
from collections import Counter
from itertools import islice
from multiprocessing.process import BaseProcess
from threading import Thread
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

from guard.digests.hashing import combined, short
from guard.digests.traits import DRAWN, attributes, of_slots
from guard.observe.patching import around

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack

_SIMPLE = frozenset((int, float, complex, str, bytes, bool, type(None)))
_NUMBERS = (int, float, bool, type(None))
_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType)
_SMALL = 1000
_DEPTH = 6  # a part of a data set made of tensors is five deep
_ITEMS = 64  # of a container that are looked at where they are not all simple
_BUDGET = 400  # values within one
_LISTS = 20_000  # simple items
_SETS = 10_000  # items of a set: a larger one, or one beyond the budget, is told by its size
_JOINT = "\0"
_LOOSE = ("utf-8", "surrogatepass")
_SKIPPED = 0
OPAQUE = 2  # the bit of what is told by its identity: what it holds may differ all the same
_qualified = type.__dict__["__qualname__"].__get__  # of a class, whatever its own class says
_RANGES = (slice, range)
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_ALL = 1 << 22  # bytes of an array that are all read; of larger ones, blocks
_BLOCK = 1 << 14
MOST_NUMBERS = 4_000_000  # of a module
_NOTED = {
    base: frozenset(
        name
        for each in (base.__init__, base.start)
        for name in each.__code__.co_names
        if name.startswith("_")
    )
    for base in (Thread, BaseProcess)
}
_UUID = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27})(?![0-9a-f])")
_SHORTEST = 32  # characters of a text that may hold one


class Names:
    """Of one process.

    drawn  names that were drawn for files, and what stands for each
    """

    def __init__(self, folder: str = "") -> None:
        self._folder = folder
        self.drawn: dict[str, str] = {}
        self._named: dict[str, str] = {}

    def renamed(self, text: str, longest: int = 0) -> str:
        """A text with the names that are drawn anew in each run numbered in their place.

        longest  of what it is joined from, if it is
        """
        if self._folder and self._folder in text:
            text = text.replace(self._folder, "")
        for token, number in list(self.drawn.items()):
            if token in text:
                text = text.replace(token, number)
        return _UUID.sub(self._numbered, text) if (longest or len(text)) >= _SHORTEST else text

    def _numbered(self, match: re.Match[str]) -> str:
        return self._named.setdefault(match[0], f"#{len(self._named)}")

    def follow(self, stack: ExitStack) -> None:
        """Number each name that is drawn for a file, until the stack is closed."""
        sequence: Any = tempfile._RandomNameSequence  # type: ignore[attr-defined]  # noqa: SLF001
        drawn = self.drawn

        @around(stack, sequence, "__next__")
        def _(original: Callable[[Any], str], this: Any) -> str:  # noqa: ANN401
            name = original(this)
            drawn.setdefault(name, f"#{len(drawn)}")
            return name


def of_tensor(value: Any) -> int:  # noqa: ANN401
    """Of a tensor; of one that is not plain and in the CPU's memory, by its form alone."""
    form = f"{value.dtype}{tuple(value.shape)}".encode()
    torch: Any = sys.modules["torch"]
    if value.device.type != "cpu" or value.layout != torch.strided or value.is_nested:
        return short(form)
    from guard.digests.tensors import _bytes_of, seen
    from guard.observe.modes import plainly

    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return short(form)
    if value.numel() * value.element_size() <= _ALL:
        found, _ = seen(value)
        return int.from_bytes(found[:8], "little") if isinstance(found, bytes) else 2
    with plainly():
        return short(form + sampled(memoryview(_bytes_of(value.detach().contiguous())).cast("B")))


def of_module(module: Any, left: list[int]) -> list[int]:  # noqa: ANN401
    """Of a module's own tensors and those of its parts, as long as they are not too many.

    left  how many numbers may still be looked at
    """
    found: list[int] = []
    held = attributes(module) or {}
    for part in ("_parameters", "_buffers"):
        for each in (held.get(part) or {}).values():
            if each is not None and left[0] > 0:
                left[0] -= each.numel()
                found.append(of_tensor(each))
    for each in (held.get("_modules") or {}).values():
        found += of_module(each, left) if each is not None else []
    return found


def sampled(content: Any) -> bytes:  # noqa: ANN401 - a buffer of bytes
    """The bytes, or blocks of them spread evenly, where there are very many."""
    size = len(content)
    if size <= _ALL:
        return short(content).to_bytes(8, "little")
    stride = size * _BLOCK // _ALL
    blocks = [short(content[at : at + _BLOCK]) for at in range(0, size, stride)]
    return b"".join(each.to_bytes(8, "little") for each in blocks)


class Digests:
    """Of one process.

    names  that are others in each run
    place  where the program is: objects that are seen for the first time are told by it
    traits  DRAWN, where a drawn name was looked at since they were last set to 0
    parts  what each of the values that were looked at last is made of, as who asks notes it

    A copy knows the same objects, and is another thread's.
    """

    def __init__(self, folder: str = "") -> None:
        self.place: object = ""
        self.traits = 0
        self.parts: tuple[int, ...] = ()
        self.names = Names(folder)
        self._own: dict[type, bool] = {}
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._counted: Counter[object] = Counter()
        self._left = 0
        self._identified = 0  # the digest of the object that was told by its identity last

    def of(self, value: Any) -> int:  # noqa: ANN401
        """The digest of any value."""
        kind = type(value)
        if kind in _SIMPLE:
            return self._simple(kind, value) & ~OPAQUE
        self._left = _BUDGET
        try:
            found = self._content(value, 0)
        except Exception:  # noqa: BLE001 - an object that is half made, or of a strange kind
            return _SKIPPED
        if found == self._identified:
            return found
        return found and (found & ~OPAQUE) | 1

    def of_whole(self, value: Any) -> int:  # noqa: ANN401
        """The digest of a value; of a module, by its parameters and buffers as well."""
        found = self.of(value)
        torch: Any = sys.modules.get("torch")
        if not issubclass(type(value), getattr(getattr(torch, "nn", None), "Module", ())):
            return found
        try:
            return combined(str(found), of_module(value, [MOST_NUMBERS])) & ~OPAQUE | 1
        except Exception:  # noqa: BLE001 - a module that is half made
            return found

    def _simple(self, kind: type, value: Any) -> int:  # noqa: ANN401
        if value is None or kind is bool:
            return 4 if value is None else 8 if value else 12
        if kind is str:
            value = self._renamed(value)
            found = short(value.encode(*_LOOSE))
            return found | 1 if len(value) > 3 else found & ~3 or 4
        text = hex(value) if kind is int else repr(value)  # of large numbers only hex prints all
        found = short(f"{kind.__name__}{text}".encode())
        is_small = kind is int and -_SMALL < value < _SMALL
        return found & ~3 or 4 if is_small or value in (0.0, 1.0) else found | 1

    def _renamed(self, text: str, longest: int = 0) -> str:
        found = self.names.renamed(text, longest)
        if found != text:
            self.traits |= DRAWN
        return found

    def _content(self, value: Any, depth: int) -> int:  # noqa: ANN401, PLR0911 - a kind each
        kind = type(value)
        if kind in _SIMPLE:
            return self._simple(kind, value)
        self._left -= 1
        if self._left < 0 or depth > _DEPTH:
            return 2
        if kind in _VIEWS:
            return self._sequence(list(value), depth)
        if kind in _RANGES:
            parts = (kind.__name__, value.start, value.stop, value.step)
            return combined("range", [self._content(each, depth + 1) for each in parts])
        if issubclass(kind, (list, tuple, bytearray, memoryview)):
            return self._sequence(_plain(value), depth)
        if issubclass(kind, dict):
            return self._mapping(value, depth)
        if issubclass(kind, (set, frozenset)):
            return self._set(value, depth)
        if issubclass(kind, _NAMED):
            name = _qualified(value) if issubclass(kind, type) else value.__qualname__
            return short(str(name).encode())
        if issubclass(kind, ModuleType):
            return _SKIPPED
        return self._of_library(value, kind, depth)

    def _of_library(self, value: Any, kind: type, depth: int) -> int:  # noqa: ANN401, PLR0911, C901
        module = kind.__module__
        start = module.partition(".")[0]
        if start == "torch":
            return self._of_torch(value, depth)
        if start == "numpy":
            return self._of_numpy(value, depth)
        if start == "pathlib" or kind is os.DirEntry:
            return short(self._renamed(os.fspath(value)).encode(*_LOOSE))
        if kind.__name__ == "deque" and module == "collections":
            return self._sequence(list(value), depth)
        if module == "random" and kind.__name__ == "Random":
            return short(repr(value.getstate()).encode())
        if module == "_io" and isinstance(getattr(value, "name", None), str):
            return short(self._renamed(value.name).encode(*_LOOSE))
        if module == "datetime":
            if self.is_own(type(getattr(value, "tzinfo", None))):
                value = value.replace(tzinfo=None)
            return short(repr(value).encode())
        if start == "pandas" and hasattr(value, "to_numpy") and value.size < _SMALL * 100:
            return self._of_numpy(value.to_numpy(), depth)
        if module == "collections" and kind.__name__ == "UserDict":
            return self._content(value.data, depth + 1)
        if issubclass(kind, (int, float, str, bytes)):
            return self._of_subclass(value, kind)
        if self.is_own(kind):
            return self._attributes(value, depth)
        return self.identity(value)

    def _of_subclass(self, value: Any, kind: type) -> int:  # noqa: ANN401
        """A number or a text of a class of its own: as what it is made of prints it."""
        plain: Any = next(each for each in kind.__mro__ if each in _SIMPLE)
        return short(f"{kind.__name__}{plain.__repr__(value)}".encode(*_LOOSE))

    def _set(self, value: Any, depth: int) -> int:  # noqa: ANN401
        base: Any = set if issubclass(type(value), set) else frozenset
        size = base.__len__(value)
        is_simple = all(type(each) in _SIMPLE for each in islice(base.__iter__(value), _SETS))
        share = self._left // max(size, 1)
        if size > _SETS or not (is_simple or share):
            return short(f"set{size}".encode())
        found, left = [], self._left
        for each in base.__iter__(value):
            self._left = share  # whichever comes first
            found.append(self._content(each, depth + 1))
            left -= share - max(self._left, 0)
        self._left = left
        return combined("set", sorted(found))

    def _sequence(self, value: Any, depth: int) -> int:  # noqa: ANN401
        if isinstance(value, bytes):
            return short(value)
        kind = "list" if isinstance(value, list) else "tuple"
        size = len(value)
        first = type(value[0]) if size else None
        if first is str and size <= _LISTS:
            try:
                text, longest = _JOINT.join(value), max(map(str.__len__, value))
                return short(f"{kind}{size}{self._renamed(text, longest)}".encode(*_LOOSE))
            except TypeError:
                pass
        elif first in _NUMBERS and size <= _LISTS and set(map(type, value)) <= _SIMPLE:
            try:
                return short(marshal.dumps(list(value), 2))
            except ValueError:
                pass
        if size > _ITEMS:
            stride = size / _ITEMS
            picked = [value[int(at * stride)] for at in range(_ITEMS)]
            found = [self._content(each, depth + 1) for each in (*picked, value[-1])]
        else:
            found = [self._content(each, depth + 1) for each in list(value)]
        return combined(f"{kind}{size}", found)

    def _mapping(self, whole: dict[Any, Any], depth: int) -> int:
        size = dict.__len__(whole)
        if size > _ITEMS:
            parts = list(dict.keys(whole)), list(dict.values(whole))
            return combined(f"dict{size}", [self._sequence(each, depth + 1) for each in parts])
        found = []
        for key, value in list(dict.items(whole)):
            found += [self._content(key, depth + 1), self._content(value, depth + 1)]
        return combined(f"dict{size}", found)

    def _of_torch(self, value: Any, depth: int) -> int:  # noqa: ANN401
        torch: Any = sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            return of_tensor(value)
        if isinstance(value, torch.Generator):
            return short(value.get_state().numpy().data) if value.device.type == "cpu" else 0
        if isinstance(value, torch.nn.Module):
            return self._of_module(value)
        if type(value).__module__.startswith("torch.utils.data.dataset"):
            return self._attributes(value, depth)
        if isinstance(value, (torch.dtype, torch.device, torch.Size)):
            return short(str(value).encode())
        return self.identity(value)

    def _of_numpy(self, value: Any, depth: int) -> int:  # noqa: ANN401
        numpy: Any = sys.modules["numpy"]
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.hasobject:
                return self._content(value.tolist(), depth + 1)
            array = numpy.ascontiguousarray(value)
            seed = f"{array.dtype}{array.shape}".encode()
            return short(seed + sampled(array.reshape(-1).view(numpy.uint8).data))
        if type(value).__name__ == "Generator":
            return short(repr(value.bit_generator.state).encode())
        if type(value).__name__ == "RandomState":
            state = value.get_state(legacy=False)["state"]
            return short(repr((state["pos"], state["key"][:8])).encode())
        # What streams are made of: a seed that the system gave differs where it was taken.
        random = sys.modules.get("numpy.random")
        if random is not None and isinstance(value, (random.SeedSequence, random.BitGenerator)):
            return short(repr(value.state).encode())
        return self.identity(value)

    def _attributes(self, value: Any, depth: int) -> int:  # noqa: ANN401
        torch: Any = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "nn") and issubclass(type(value), torch.nn.Module):
            return self._of_module(value)
        held = attributes(value)
        slots = of_slots(value, self.is_own)
        if held is None and not slots:
            return self.identity(value)
        given = {**(held or {}), **slots}
        system = (names for base, names in _NOTED.items() if isinstance(value, base))
        for name in next(system, frozenset()):
            given.pop(name, None)  # what a thread or a process notes of itself: its number
        return self._mapping(given, depth + 1) or 2

    def _of_module(self, value: Any) -> int:  # noqa: ANN401
        """A module by its identity; its parts by theirs in it, whichever is met first later."""
        is_new = id(value) not in self._known
        found = self.identity(value)
        if is_new:
            self._name_parts(value, found)
            self._identified = found
        return found

    def _name_parts(self, module: Any, whole: int) -> None:  # noqa: ANN401
        for name, part in ((attributes(module) or {}).get("_modules") or {}).items():
            if part is not None and id(part) not in self._known:
                digest = short(f"{whole}{name}".encode()) | 1 | OPAQUE
                self._known[id(part)] = (weakref.ref(part), digest)
                self._name_parts(part, digest)

    def is_own(self, kind: type) -> bool:
        """Whether a class is of the program's own files."""
        found = self._own.get(kind)
        if found is None:
            from guard.observe import places

            module = sys.modules.get(kind.__module__)
            name = getattr(module, "__file__", None) or ""
            found = bool(name) and places.is_own(name)
            self._own[kind] = found
        return found

    def identity(self, value: Any) -> int:  # noqa: ANN401
        """An object told by where it was first seen, and as which."""
        key = id(value)
        known = self._known.get(key)
        if known is not None and known[0]() is value:
            self._identified = known[1]
            return known[1]
        kind = type(value).__qualname__
        try:
            reference = weakref.ref(value)
        except TypeError:  # many iterators: they are told by their kind alone
            self._identified = short(kind.encode()) | 1 | OPAQUE
            return self._identified
        at = (kind, self.place)  # not as which of all kinds: a set may have them in any order
        self._counted[at] += 1
        found = short(f"{kind}{self.place}{self._counted[at]}".encode()) | 1 | OPAQUE
        self._identified = found
        self._known[key] = (reference, found)
        return found


def _plain(value: Any) -> Any:  # noqa: ANN401
    """A sequence as one of Python's own, as which it is gone through without asking its class."""
    kind = type(value)
    if kind is list or kind is tuple:
        return value
    if kind is memoryview:
        return bytes(value)
    base: Any = next(each for each in (list, tuple, bytearray) if issubclass(kind, each))
    found = base.__getitem__(value, slice(None))
    return bytes(found) if base is bytearray else found

"""Digests of a program's values: equal for equal contents, without running any of its code.

A digest is a number. An odd one is of a value that hardly comes about by chance; an even one of
True, a small number or the like, of which two that agree say nothing. 0 stands for what cannot be
told apart: it never differs.

Objects that are neither data nor of the program's own classes (futures, queues, samplers) are
told by where they were first seen, and as which: so an object that comes before another in one
run only differs there.
"""

from __future__ import annotations

import marshal
import os
import re
import sys
import weakref
from collections import Counter
from contextlib import suppress
from itertools import islice
from types import (
    BuiltinFunctionType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
)
from typing import Any

from guard.statements.hashing import hashed

_SIMPLE = frozenset((int, float, complex, str, bytes, bool, type(None)))
_NAMED = (type, FunctionType, BuiltinFunctionType, MethodType, range)  # by what prints
_SMALL = 1000
_DEPTH = 4
_ITEMS = 64  # of a container that are looked at where they are not all simple
_BUDGET = 400  # values within one
_ALL = 1 << 22  # bytes of an array that are all read; of larger ones, blocks
_BLOCK = 1 << 14
_LISTS = 20_000  # simple items
_JOINT = "\0"
_LOOSE = ("utf-8", "surrogatepass")
_UUID = re.compile(r"(?<![0-9a-f])(?:[0-9a-f]{32}|[0-9a-f]{8}-[0-9a-f-]{27})(?![0-9a-f])")
_SHORTEST = 32  # characters of a text that may hold one

_MOST_NUMBERS = 4_000_000  # of a module
_SKIPPED = 0
OPAQUE = 2  # the bit of what is told by its identity: what it holds may differ all the same
_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))


class Digests:
    """Of one process.

    place  where the program is: objects that are seen for the first time are told by it
    drawn  names that were drawn for files, and what stands for each
    """

    def __init__(self, folder: str = "") -> None:
        self.place: object = ""
        self._folder = folder
        self._own: dict[type, bool] = {}
        self._known: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._counted: Counter[object] = Counter()
        self.drawn: dict[str, str] = {}
        self._named: dict[str, str] = {}
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
        if not isinstance(value, getattr(getattr(torch, "nn", None), "Module", ())):
            return found
        try:
            return _combined(str(found), _tensors(value, [_MOST_NUMBERS])) & ~OPAQUE | 1
        except Exception:  # noqa: BLE001 - a module that is half made
            return found

    def _simple(self, kind: type, value: Any) -> int:  # noqa: ANN401
        if value is None or kind is bool:
            return 4 if value is None else 8 if value else 12
        if kind is str:
            value = self._renamed(value)
            found = hashed(value.encode(*_LOOSE))
            return found | 1 if len(value) > 3 else found & ~3 or 4
        found = hashed(kind.__name__.encode() + repr(value).encode())
        is_small = kind is int and -_SMALL < value < _SMALL
        return found & ~3 or 4 if is_small or value in (0.0, 1.0) else found | 1

    def _renamed(self, text: str, longest: int = 0) -> str:
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

    def _content(self, value: Any, depth: int) -> int:  # noqa: ANN401, PLR0911 - a kind each
        kind = type(value)
        if kind in _SIMPLE:
            return self._simple(kind, value)
        self._left -= 1
        if self._left < 0 or depth > _DEPTH:
            return 2
        if kind in _VIEWS:
            return self._sequence(list(value), depth)
        if isinstance(value, (bytearray, memoryview)):
            return hashed(bytes(value))
        if isinstance(value, (list, tuple)):
            return self._sequence(value, depth)
        if isinstance(value, dict):
            return self._mapping(dict.items(value), len(value), depth)
        if isinstance(value, (set, frozenset)):
            return self._set(value, depth)
        if isinstance(value, _NAMED):
            name = value if kind is range else getattr(value, "__qualname__", "")
            return hashed(str(name).encode())
        if isinstance(value, ModuleType):
            return _SKIPPED
        return self._of_library(value, kind, depth)

    def _of_library(self, value: Any, kind: type, depth: int) -> int:  # noqa: ANN401, PLR0911, C901
        module = kind.__module__
        start = module.partition(".")[0]
        if start == "torch":
            return self._of_torch(value, depth)
        if start == "numpy":
            return self._of_numpy(value, depth)
        if isinstance(value, os.PathLike):
            return hashed(self._renamed(os.fspath(value)).encode())
        if kind.__name__ == "deque" and module == "collections":
            return self._sequence(list(value), depth)
        if module == "random" and kind.__name__ == "Random":
            return hashed(repr(value.getstate()).encode())
        if module == "_io" and isinstance(getattr(value, "name", None), str):
            return hashed(self._renamed(value.name).encode(*_LOOSE))
        if module == "datetime":
            return hashed(repr(value).encode())
        if start == "pandas" and hasattr(value, "to_numpy") and value.size < _SMALL * 100:
            return self._of_numpy(value.to_numpy(), depth)
        if module == "collections" and kind.__name__ == "UserDict":
            return self._content(value.data, depth + 1)
        if isinstance(value, (int, float, str, bytes)):
            return self._of_subclass(value, kind)
        if self.is_own(kind):
            return self._attributes(value, depth)
        return self.identity(value)

    def _of_subclass(self, value: Any, kind: type) -> int:  # noqa: ANN401
        """A number or a text of a class of its own: as what it is made of prints it."""
        plain: Any = next(each for each in kind.__mro__ if each in _SIMPLE)
        return hashed(f"{kind.__name__}{plain.__repr__(value)}".encode(*_LOOSE))

    def _sequence(self, value: Any, depth: int) -> int:  # noqa: ANN401
        kind = "list" if isinstance(value, list) else "tuple"
        size = len(value)
        first = type(value[0]) if size else None
        if first is str and size <= _LISTS:
            try:
                text, longest = _JOINT.join(value), max(map(len, value))
                return hashed(f"{kind}{size}{self._renamed(text, longest)}".encode(*_LOOSE))
            except TypeError:
                pass
        elif first in (int, float, bool, type(None)) and size <= _LISTS:
            try:
                return hashed(marshal.dumps(list(value), 2))
            except ValueError:
                pass
        if size > _ITEMS:
            stride = size / _ITEMS
            picked = [value[int(at * stride)] for at in range(_ITEMS)]
            found = [self._content(each, depth + 1) for each in (*picked, value[-1])]
        else:
            found = [self._content(each, depth + 1) for each in list(value)]
        return _combined(f"{kind}{size}", found)

    def _mapping(self, items: Any, size: int, depth: int) -> int:  # noqa: ANN401
        found = []
        for key, value in list(islice(items, _ITEMS)):
            found += [self._content(key, depth + 1), self._content(value, depth + 1)]
        return _combined(f"dict{size}", found)

    def _set(self, value: Any, depth: int) -> int:  # noqa: ANN401
        """By what it holds; by how many there are where too many would have to be looked at, as
        which come first differs."""
        found = sorted(self._content(each, depth + 1) for each in islice(value, 10_000))
        if self._left < 0 or len(value) > len(found):
            found = [len(value)]
        return _combined("set", found)

    def _of_torch(self, value: Any, depth: int) -> int:  # noqa: ANN401
        torch: Any = sys.modules["torch"]
        if isinstance(value, torch.Tensor):
            return _tensor(value)
        if isinstance(value, torch.Generator):
            return hashed(value.get_state().numpy().data) if value.device.type == "cpu" else 0
        if isinstance(value, torch.nn.Module):
            return self.identity(value)
        if type(value).__module__.startswith("torch.utils.data.dataset"):
            return self._attributes(value, depth)
        if isinstance(value, (torch.dtype, torch.device, torch.Size)):
            return hashed(str(value).encode())
        return self.identity(value)

    def _of_numpy(self, value: Any, depth: int) -> int:  # noqa: ANN401
        numpy: Any = sys.modules["numpy"]
        if isinstance(value, (numpy.ndarray, numpy.generic)):
            if value.dtype.hasobject:
                return self._content(value.tolist(), depth + 1)
            array = numpy.ascontiguousarray(value)
            seed = f"{array.dtype}{array.shape}".encode()
            return hashed(seed + _sampled(array.reshape(-1).view(numpy.uint8).data))
        if type(value).__name__ == "Generator":
            return hashed(repr(value.bit_generator.state).encode())
        if type(value).__name__ == "RandomState":
            return hashed(repr(value.get_state(legacy=False)["state"]["key"][:8]).encode())
        return self.identity(value)

    def _attributes(self, value: Any, depth: int) -> int:  # noqa: ANN401
        torch: Any = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "nn") and isinstance(value, torch.nn.Module):
            return self.identity(value)
        held = attributes(value)
        if held is None:
            return self.identity(value)
        return self._mapping(held.items(), len(held), depth + 1) or 2

    def is_own(self, kind: type) -> bool:
        """Whether a class is of the program's own files."""
        found = self._own.get(kind)
        if found is None:
            from guard.places import is_installed, is_library

            module = sys.modules.get(kind.__module__)
            name = getattr(module, "__file__", None) or ""
            found = bool(name) and not is_library(name) and not is_installed(name)
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
            self._identified = hashed(kind.encode()) | 1 | OPAQUE
            return self._identified
        self._counted[self.place] += 1
        found = hashed(f"{kind}{self.place}{self._counted[self.place]}".encode()) | 1 | OPAQUE
        self._identified = found
        self._known[key] = (reference, found)
        return found


def attributes(value: Any) -> dict[str, Any] | None:  # noqa: ANN401
    """What an object holds, without asking it; in slots as well."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return _slots(value)
    return found if isinstance(found, dict) else None


def _slots(value: Any) -> dict[str, Any] | None:  # noqa: ANN401
    found: dict[str, Any] = {}
    for kind in type(value).__mro__:
        for name, each in kind.__dict__.items():
            if type(each) is MemberDescriptorType:
                with suppress(AttributeError):
                    found[name] = each.__get__(value)
    return found or None


def _tensors(module: Any, left: list[int]) -> list[int]:  # noqa: ANN401
    """Of a module's own tensors and those of its parts, as long as they are not too many.

    left  how many numbers may still be looked at
    """
    found: list[int] = []
    held = attributes(module) or {}
    for part in ("_parameters", "_buffers"):
        for each in (held.get(part) or {}).values():
            if each is not None and left[0] > 0:
                left[0] -= each.numel()
                found.append(_tensor(each))
    for each in (held.get("_modules") or {}).values():
        found += _tensors(each, left) if each is not None else []
    return found


def _combined(kind: str, digests: list[int]) -> int:
    return hashed(kind.encode() + b"".join(each.to_bytes(8, "little") for each in digests))


def _tensor(value: Any) -> int:  # noqa: ANN401
    form = f"{value.dtype}{tuple(value.shape)}".encode()
    torch: Any = sys.modules["torch"]
    if value.device.type != "cpu" or value.layout != torch.strided or value.is_nested:
        return hashed(form)
    from guard.fingerprints import _bytes_of, form_of, of_tensor, plainly

    if type(value) not in (torch.Tensor, torch.nn.Parameter):
        return hashed(form)
    if value.numel() * value.element_size() <= _ALL:
        found = of_tensor(value, form_of(value))
        return int.from_bytes(found[:8], "little") if isinstance(found, bytes) else 2
    with plainly():
        return hashed(form + _sampled(memoryview(_bytes_of(value.detach().contiguous())).cast("B")))


def _sampled(content: Any) -> bytes:  # noqa: ANN401 - a buffer of bytes
    """The bytes, or blocks of them spread evenly, where there are very many."""
    size = len(content)
    if size <= _ALL:
        return hashed(content).to_bytes(8, "little")
    stride = size * _BLOCK // _ALL
    blocks = [hashed(content[at : at + _BLOCK]) for at in range(0, size, stride)]
    return b"".join(each.to_bytes(8, "little") for each in blocks)

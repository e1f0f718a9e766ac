"""The values of paths in a frame, found without asking an object for anything."""

from __future__ import annotations

import sys
import threading
from types import GetSetDescriptorType, MemberDescriptorType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.observe.statements import Path

MISSING = object()
_COMPUTING = {"datetime", "pathlib", "uuid", "decimal", "fractions"}
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
            return whole if _is_told_whole(whole) else MISSING
    return value


def _is_told_whole(value: Any) -> bool:  # noqa: ANN401
    """Whether what a value computes of itself hangs on nothing but what it is."""
    return type(value).__module__.partition(".")[0] in _COMPUTING


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
    held = attributes(value)
    if held is not None:
        if name in held:
            return held[name]
        torch: Any = sys.modules.get("torch")
        if issubclass(type(value), getattr(getattr(torch, "nn", None), "Module", ())):
            parts = (held.get(part) or {} for part in _PARTS)
            return next((part[name] for part in parts if name in part), MISSING)
    return _of_class(value, name)


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
    if type(value) is threading.local:  # its own class answers, for this thread
        return value.__dict__
    for each in _classes_of(type(value)):
        named = _held_by(each).get("__dict__")
        if named is not None:
            is_plain = type(named) in (GetSetDescriptorType, MemberDescriptorType)
            found = named.__get__(value) if is_plain else None
            return found if type(found) is dict else None
    return None

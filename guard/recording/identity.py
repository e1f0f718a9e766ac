"""Something kept for each of the program's objects, as long as the object is there."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Iterator

Value = TypeVar("Value")


class ByIdentity(Generic[Value]):
    """Like a WeakKeyDictionary, for objects that compare and hash as they like."""

    def __init__(self) -> None:
        self._held: dict[int, tuple[weakref.ref[Any], Value]] = {}

    def get(self, owner: Any) -> Value | None:  # noqa: ANN401
        """What is kept for an object."""
        found = self._held.get(id(owner))
        return None if found is None else found[1]

    def set(self, owner: Any, value: Value) -> None:  # noqa: ANN401
        """Keep something for an object."""
        key, held = id(owner), self._held
        found = held.get(key)
        reference = found[0] if found else weakref.ref(owner, lambda _: held.pop(key, None))
        held[key] = (reference, value)

    def owners(self) -> Iterator[Any]:
        """The objects that are still there."""
        for reference, _ in list(self._held.values()):
            owner = reference()
            if owner is not None:
                yield owner

    def values(self) -> list[Value]:
        """What is kept for them."""
        return [value for _, value in self._held.values()]

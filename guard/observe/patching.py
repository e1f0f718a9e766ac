"""Putting something of ours in the place of a function of torch's, and taking it away again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import ExitStack


def replace(stack: ExitStack, owner: Any, name: str, new: Any) -> None:  # noqa: ANN401
    """Set an attribute until the stack is closed; one that was inherited is taken away again."""
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, new)
    undo = functools.partial(setattr, owner, name, before) if own else None
    stack.callback(undo or functools.partial(delattr, owner, name))


def around(stack: ExitStack, owner: Any, name: str) -> Callable[[Callable[..., Any]], Any]:  # noqa: ANN401
    """Until the stack is closed, have a function called in the place of an attribute, with that as
    its first argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        original = getattr(owner, name)

        @functools.wraps(original)
        def call(*args: Any, **options: Any) -> Any:  # noqa: ANN401
            return function(original, *args, **options)

        replace(stack, owner, name, call)
        return call

    return decorate


def kind_of(original: Any) -> Any:  # noqa: ANN401 - a class of classes
    """A metaclass for what stands in the place of a class made in C: every instance of that is one
    of it, also those made before."""

    class Kind(type(original)):  # type: ignore[misc]  # known when it runs
        def __instancecheck__(cls, instance: object) -> bool:
            return isinstance(instance, original)

    return Kind


class Scan:
    """What ``os.scandir`` gives: an iterator that can be closed."""

    def __init__(self, entries: list[Any]) -> None:
        self._entries = iter(entries)

    def __iter__(self) -> Iterator[Any]:
        return self._entries

    def __next__(self) -> Any:  # noqa: ANN401 - an os.DirEntry, which has no public maker
        return next(self._entries)

    def __enter__(self) -> Any:  # noqa: ANN401 - Self, from Python 3.11 on
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Give no more."""
        self._entries = iter(())

"""Putting something of ours in the place of a function of torch's, and taking it away again."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import ExitStack


def replace(stack: ExitStack, owner: Any, name: str, new: Any) -> None:  # noqa: ANN401
    """Set an attribute until the stack is closed; one that was inherited is taken away again."""
    own = name in vars(owner)
    before = getattr(owner, name)
    setattr(owner, name, new)
    undo = functools.partial(setattr, owner, name, before) if own else None
    stack.callback(undo or functools.partial(delattr, owner, name))


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

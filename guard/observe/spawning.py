"""Processes that multiprocessing starts afresh: what is called in each, before its own program.

``spawn`` and ``forkserver`` (the default from Python 3.14 on) start an interpreter that inherits
the environment and nothing else. The data with which it is prepared carries the call.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from guard.observe.patching import around

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import ExitStack


def send_along(stack: ExitStack, name: str, then: Callable[..., None], *given: object) -> None:
    """Have a function of a module's called in such processes, until the stack is closed.

    It is called before the program's main module is imported, and before torch gives a worker of
    a ``DataLoader`` its own seed.

    name  of the call among the data
    """
    from multiprocessing import spawn

    @around(stack, spawn, "get_preparation_data")
    def _(original: Callable[[str], dict[str, Any]], child: str) -> dict[str, Any]:
        data = original(child)
        return {**data, name: _Sent(then, given, data.get("sys_path", sys.path))}


class _Sent:
    """Pickled here, and in the child the call."""

    def __init__(
        self, then: Callable[..., None], given: tuple[object, ...], path: list[str]
    ) -> None:
        self.arguments = then, given, path

    def __reduce__(self) -> tuple[object, ...]:
        return _begin, self.arguments


def _begin(then: Callable[..., None], given: tuple[object, ...], path: list[str]) -> None:
    sys.path[:] = path  # as multiprocessing does next: packages are where the parent found them
    then(*given)

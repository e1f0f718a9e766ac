"""Room for recursion: libcst's native parser and its code generator recurse once a level."""

from __future__ import annotations

import sys
import threading
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

# Only the pages of a stack that are touched take memory.
STACK_BYTES = 256 * 1024 * 1024
RECURSION = 50_000
NAME = "detlint-deep-stack"


def in_deep_stack(function: Callable[[], T]) -> T:
    """Call a function in a thread with a large stack, and return or raise what it does.

    Within such a call it is called as it is: a new stack takes as long as parsing a function.
    """
    if threading.current_thread().name == NAME:
        return function()
    outcome: list[T] = []
    failure: list[BaseException] = []

    def call() -> None:
        try:
            outcome.append(function())
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            failure.append(error)

    limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
    sys.setrecursionlimit(max(limit, RECURSION))
    try:
        thread = threading.Thread(target=call, name=NAME, daemon=True)
        thread.start()
        thread.join()
    finally:
        threading.stack_size(size)
        sys.setrecursionlimit(limit)
    if failure:
        raise failure[0]
    return outcome[0]

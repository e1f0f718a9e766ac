"""Who asks the operating system for random numbers: a generator that is made without a seed does,
in whatever library, and so does a UUID."""

from __future__ import annotations

import functools
import os
import random
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Entropy:
    """Of one process: how often each thread has asked, as far as that is done in Python."""

    def __init__(self) -> None:
        self._local = threading.local()

    @property
    def taken(self) -> int:
        """How often this thread has asked."""
        found: int = getattr(self._local, "taken", 0)
        return found

    def follow(self) -> Callable[[], None]:
        """Count from here on; what this returns, ends it."""
        holders: tuple[tuple[Any, str], ...] = ((os, "urandom"), (random, "_urandom"))
        asked = os.urandom

        @functools.wraps(asked)
        def counted(size: int, /) -> bytes:
            self._local.taken = self.taken + 1
            return asked(size)

        for holder, name in holders:
            setattr(holder, name, counted)

        def undo() -> None:
            for holder, name in holders:
                setattr(holder, name, asked)

        return undo

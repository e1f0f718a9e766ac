"""Processes that multiprocessing starts afresh: they begin under guard as well.

``spawn`` and ``forkserver`` (the default from Python 3.14 on) start an interpreter that
inherits the environment and nothing else. The data with which it is prepared carries the
settings, and unpickling them there switches guard on, before the program's main module is
imported and before torch gives a ``DataLoader`` worker its own seed.
"""

from __future__ import annotations

import dataclasses
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Send the settings along with each process that multiprocessing spawns."""
    from multiprocessing import spawn

    found = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        data = found(name)
        return {**data, "guard": _Joining(settings, data.get("sys_path", sys.path))}

    spawn.get_preparation_data = get_preparation_data
    try:
        yield
    finally:
        spawn.get_preparation_data = found


class _Joining:
    """Pickled here, and in the child the call that switches guard on."""

    def __init__(self, settings: Settings, path: list[str]) -> None:
        self.settings = settings
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return join, (dataclasses.asdict(self.settings), self.path)


def join(settings: dict[str, Any], path: list[str]) -> None:
    """Switch guard on in a child, where its parent would find torch.

    The program may switch it on once more, with the same settings, as in its parent.
    """
    from guard.activation import enable

    sys.path[:] = path  # as multiprocessing does next
    enable(**settings)

"""Processes that multiprocessing starts afresh: they begin under guard as well."""

from __future__ import annotations

import dataclasses
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

from guard.observe.patching import send_along

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Send the settings along with each process that multiprocessing spawns."""
    with ExitStack() as stack:
        send_along(stack, "guard", join, dataclasses.asdict(settings))
        yield


def join(settings: dict[str, Any]) -> None:
    """Switch guard on in a child.

    The program may switch it on once more, with the same settings, as in its parent.
    """
    from guard.setup.activation import enable

    enable(**settings)

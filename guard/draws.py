"""The stage for comparing runs: without dropout, or with random tensors drawn on the CPU."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Enter what the settings ask for; by default nothing, which costs nothing."""
    with ExitStack() as stack:
        if not settings.dropout:
            from guard.dropout import without_dropout

            stack.enter_context(without_dropout())
        if settings.rng == "cpu":
            from guard.cpu_draws import DrawnOnCpu, unfused_attention

            if settings.dropout:
                stack.enter_context(unfused_attention())
            stack.enter_context(DrawnOnCpu())
        yield

"""The stage for comparing runs: without dropout, or with random tensors drawn on the CPU."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.settings import Settings
    from guard.setup.cpu_draws import DrawnOnCpu
    from guard.setup.dropout import WithoutDropout

_modes: list[WithoutDropout | DrawnOnCpu] = []  # of the blocks that are open


@contextmanager
def applied(settings: Settings) -> Iterator[None]:
    """Enter what the settings ask for; by default nothing, which costs nothing.

    The modes of blocks around this one rest meanwhile: the innermost settings hold.
    """
    with ExitStack() as stack:
        for outer in _modes:
            stack.callback(setattr, outer, "on", outer.on)
            outer.on = False
        if not settings.dropout:
            from guard.setup.dropout import without_dropout

            _keep(stack.enter_context(without_dropout()), stack)
        if settings.rng == "cpu":
            from guard.setup.cpu_draws import DrawnOnCpu, unfused_attention

            if settings.dropout:
                stack.enter_context(unfused_attention())
            _keep(stack.enter_context(DrawnOnCpu()), stack)
        yield


def _keep(mode: WithoutDropout | DrawnOnCpu, stack: ExitStack) -> None:
    _modes.append(mode)
    stack.callback(_modes.remove, mode)

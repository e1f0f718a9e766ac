"""A progress bar."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# It is worth its import, and a person's glance, from about this many files.
_LONG = 200


class Progress:
    """A bar on standard error, if that is a terminal and the work is long."""

    def __init__(self, files: int) -> None:
        self._shown = files >= _LONG and sys.stderr.isatty()

    def __enter__(self) -> Callable[[int, int], None]:
        if not self._shown:
            return lambda _done, _total: None
        from rich.console import Console
        from rich.progress import Progress as Bar

        # Its refresh thread would stand in the way of forking workers.
        self._bar = Bar(console=Console(stderr=True), transient=True, auto_refresh=False)
        self._task = self._bar.add_task("Linting", total=None)
        self._bar.start()
        return self._update

    def _update(self, done: int, total: int) -> None:
        self._bar.update(self._task, completed=done, total=total, refresh=True)

    def __exit__(self, *_: object) -> None:
        if self._shown:
            self._bar.stop()

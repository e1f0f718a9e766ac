"""What a person sees of runs that are under way: a bar, and a table of what runs where."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ROWS = 20  # of runs, those under way first
_RUNNING = "running"


class Row(NamedTuple):
    """A run. ``told`` is what is known of it: its result, how far it is."""

    name: str
    state: str
    place: str = ""
    seconds: float = 0.0
    told: str = ""


class Board:
    """Shown on a terminal alone, and gone when it is closed; lines are written anywhere."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._live: Any = None

    def show(self, rows: Sequence[Row], done: int) -> None:
        """Show this instead of what was shown before."""
        if not sys.stderr.isatty():
            return
        if self._live is None:
            from rich.console import Console
            from rich.live import Live

            console = Console(stderr=True)
            self._live = Live(console=console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(_drawn(rows, done, self._count), refresh=True)

    def tell(self, line: str) -> None:
        """Write a line, above what is shown."""
        if self._live is None:
            sys.stderr.write(f"{line}\n")
        else:
            self._live.console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        """Take away what is shown."""
        if self._live is not None:
            self._live.stop()
            self._live = None


@contextmanager
def preparing(name: str) -> Iterator[None]:
    """Say on a terminal that something takes a while: a cluster of Ray needs ten seconds."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(f"{name}: making ready"):
        yield


def _drawn(rows: Sequence[Row], done: int, count: int) -> Any:  # noqa: ANN401 - rich's
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for heading in ("run", "state", "where", "time", ""):
        table.add_column(heading, justify="right" if heading == "time" else "left", no_wrap=True)
    first = sorted(rows, key=lambda row: row.state != _RUNNING)
    for row in first[:_ROWS]:
        time = f"{row.seconds:.0f} s" if row.seconds else ""
        table.add_row(*map(Text, (row.name, row.state, row.place, time, row.told)))
    left = len(rows) - _ROWS
    more = [Text(f"and {left} more")] if left > 0 else []
    bar = Table.grid(padding=(0, 1))
    bar.add_row(ProgressBar(total=count, completed=done, width=40), f"{done} of {count}")
    return Group(table, *more, bar)

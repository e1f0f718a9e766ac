"""How commands show things: text that any terminal, pipe and encoding takes."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType
    from rich.text import Text

_ENDLESS = 10_000  # columns, where nothing is to be wrapped


def write(text: str) -> None:
    """Write to standard output, in its encoding, unless its reader has gone."""
    stream = sys.stdout
    encoding = stream.encoding or "utf-8"  # a path may not fit it
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:  # `| head` has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def console_of(stream: TextIO) -> Console:
    """A console with the stream's colours, that wraps on a terminal only."""
    from rich.console import Console

    console = Console(file=stream, highlight=False)
    if not console.is_terminal:
        console.width = _ENDLESS
    return console


def rendered(parts: Iterable[RenderableType], stream: TextIO) -> str:
    """What a stream would show of these, without blanks at the ends; nothing is written to it."""
    console = console_of(stream)
    with console.capture() as captured:
        for each in parts:
            console.print(each)
    return "".join(line.rstrip() + "\n" for line in captured.get().splitlines())


def heading(text: str) -> RenderableType:
    """The head of a part of a report."""
    from rich.text import Text

    return Text(visible(text), style="bold underline")


def grid(rows: Iterable[Sequence[str | tuple[str, str] | Text]], least: int = 0) -> RenderableType:
    """Rows of texts, or of texts with their styles, in columns.

    least  characters of the first column, which is not wrapped
    """
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=least)
    for row in rows:
        told = ((each, "") if isinstance(each, str) else each for each in row)
        shown = (
            each if isinstance(each, Text) else Text(visible(each[0]), each[1]) for each in told
        )
        table.add_row(*shown)
    return table


def counted(number: int, what: str) -> str:
    """So many of something: "1 step", "12 steps"."""
    return f"{number} {what}{'' if number == 1 else 's'}"


def visible(text: str) -> str:
    """The text without what would steer the terminal: a path or variable can hold anything."""
    return "".join(each if each.isprintable() else ascii(each)[1:-1] for each in text)

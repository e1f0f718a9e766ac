"""The report for a person: coloured and wrapped on a terminal, an entry a line elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from guard.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, word
from guard.terminal import console_of, trimmed, visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.table import Table
    from rich.text import Text

    from guard.reports import Entry, Level, Report

_STYLES: dict[Level, str] = {
    OK: "green",
    DIFFERS: "bold red",
    MAY_DIFFER: "yellow",
    UNKNOWN: "cyan",
    NOT_APPLICABLE: "dim",
}
_NOTHING = "none that guard knows of"


def render(report: Report, stream: TextIO) -> str:
    """The sections, then how many entries have each verdict, then the digest.

    Colours follow the stream, and NO_COLOR, FORCE_COLOR and TERM, as rich reads them.
    """
    from rich.text import Text

    console = console_of(stream)
    with console.capture() as captured:
        for section in report.sections:
            console.print(Text(section.name, style="bold underline"))
            console.print(_table(section.entries) if section.entries else _NOTHING)
        console.print(_summary(report))
        console.print(Text(report.digest), soft_wrap=True)  # whole, to be copied
    return trimmed(captured.get())


def _table(entries: Iterable[Entry]) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True, min_width=max(map(len, _STYLES)))
    table.add_column()
    for entry in entries:
        table.add_row(Text(entry.verdict, style=_STYLES[entry.verdict]), _told(entry))
    return table


def _told(entry: Entry) -> Text:
    from rich.text import Text

    value = "none" if entry.value is None else visible(_shown(entry.value))
    meaning = f" ({visible(entry.meaning)})"
    return Text.assemble((visible(entry.name), "bold"), f": {value}", (meaning, "dim"))


def _shown(value: str | float) -> str:
    return word(value) if isinstance(value, bool) else str(value)


def _summary(report: Report) -> Text:
    from rich.text import Text

    counted = [(level, count) for level, count in report.counts().items() if count]
    parts = [Text(f"{count} {level}", style=_STYLES[level]) for level, count in counted]
    return Text(", ").join(parts)

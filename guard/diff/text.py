"""The report for a person: coloured and wrapped on a terminal, plain elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING, TextIO

from guard.diff import phrases
from guard.terminal import grid, rendered, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from rich.console import RenderableType

    from guard.diff.differences import Comparison


def text(comparison: Comparison, stream: TextIO) -> str:
    """The verdict first, then why and what to do, then what followed and what was not compared.

    Colours follow the stream; nothing is written to it.
    """
    return rendered(_parts(comparison), stream)


def _parts(comparison: Comparison) -> Iterator[RenderableType]:
    from rich.text import Text

    difference = comparison.difference
    style = "bold green" if difference is None and comparison.steps else "bold red"
    yield Text(visible(phrases.verdict(comparison)), style=style)
    rows = list(_told(comparison))
    if difference is None:
        rows.append(("compared", phrases.extent(comparison)))
    elif comparison.steps:
        rows.append(("then", phrases.aftermath(comparison)))
        rows.append(("compared", phrases.extent(comparison)))
    rows += [("around", f"{e.name} is {e.first} and {e.second}") for e in comparison.changes]
    rows += [("note", each) for each in (*comparison.notes, *comparison.limits)]
    yield grid(_rows((name, told) for name, told in rows if told))


def _told(comparison: Comparison) -> Iterator[tuple[str, str]]:
    """What is known of the difference, a line each: what is asked first stands first."""
    difference = comparison.difference
    if difference is None:
        return
    explanation = comparison.explanation
    if explanation is None:
        yield "cause", difference.cause.value
    else:
        yield "cause", explanation.words
        yield "shows as", difference.cause.value
        yield from (("excluded", each) for each in explanation.excluded)
    yield "where", phrases.placed(difference.place)
    if explanation is not None:
        yield from (("slice", phrases.link(each)) for each in phrases.shortened(explanation.slice))
    yield "why", difference.why
    for each in comparison.operators:
        yield "operator", ": ".join(filter(None, phrases.operator(each)))
    for suspect in comparison.suspects:
        yield "suspect", ": ".join(phrases.suspect(suspect))
    yield "next", difference.advice
    for parted in difference.parted:
        yield "only in one", parted
    yield "apart", phrases.sized(difference.size)
    yield "agreed", "; ".join(difference.agreed) or "nothing was recorded before it"


def _rows(told: Iterable[tuple[str, str]]) -> Iterator[tuple[tuple[str, str], str]]:
    """A name that stands above is not told again."""
    last = ""
    for name, text in told:
        yield ("" if name == last else name, "bold"), text
        last = name

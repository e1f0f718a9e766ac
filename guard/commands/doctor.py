"""``python -m guard doctor``: what is set here, what is not, what it means."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, TextIO

from guard.commands.options import FOUND, parser_of
from guard.inventory import report
from guard.inventory.reports import DIFFERS, MAY_DIFFER, NOT_APPLICABLE, OK, UNKNOWN, Report, word
from guard.terminal import grid, heading, rendered, visible, write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.text import Text

    from guard.inventory.reports import Entry, Level

_EPILOG = """\
It looks at the process it runs in. To see what a program finds under guard:

  python -m guard run -m guard doctor

exit status: 0; 1 with --strict if something differs; 2 for wrong usage
"""
_STYLES: dict[Level, str] = {
    OK: "green",
    DIFFERS: "bold red",
    MAY_DIFFER: "yellow",
    UNKNOWN: "cyan",
    NOT_APPLICABLE: "dim",
}
_WIDEST = max(map(len, _STYLES))
_REFUSING = ("guard", "environment")  # where what differs keeps guard from starting
_HASHES = "PYTHONHASHSEED"  # guard starts all the same
_TOLD_TWICE = "hash_seed"  # the variable's own row says it, with what to do
_ENABLED = "guard.enable sets it to "
_NOTHING = "none that guard knows of"


def main(arguments: Sequence[str]) -> int:
    """Print the report; the status to exit with. Wrong usage raises SystemExit(2)."""
    options = _parser().parse_args(arguments)
    found = report()
    write(_text(found, options))
    return FOUND if options.strict and found.counts()[DIFFERS] else 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "doctor",
        "Say what is set here, what is not, and what that means for two runs.",
        _EPILOG,
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: see docs/doctor.md")
    form.add_argument("--digest", action="store_true", help="one line, to log beside a run")
    parser.add_argument("--all", action="store_true", help="also what is in order, or not here")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if something differs")
    return parser


def _text(found: Report, options: argparse.Namespace) -> str:
    if options.json:
        return json.dumps(found.as_dict(), indent=2) + "\n"
    if options.digest:
        return found.digest + "\n"
    return render(found, sys.stdout, everything=options.all)


def render(report: Report, stream: TextIO, *, everything: bool = False) -> str:
    """What matters here, one next step, how many entries have each verdict, and the digest.

    everything  also what is in order, and what nothing here reads
    Colours follow the stream, and NO_COLOR, FORCE_COLOR and TERM, as rich reads them.
    """
    told = rendered(_parts(report, everything=everything), stream)
    return f"{told}{report.digest}\n"  # whole, to be copied


def _parts(report: Report, *, everything: bool) -> Iterator[RenderableType]:
    from rich.text import Text

    for section in report.sections:
        shown = [each for each in section.entries if everything or _matters(each)]
        if everything or shown:
            yield heading(section.name)
            yield grid(_rows(shown, folds=not everything), _WIDEST) if shown else Text(_NOTHING)
    yield Text.assemble(("next: ", "bold"), visible(_next(report)))
    yield _summary(report, everything=everything)


def _matters(entry: Entry) -> bool:
    return entry.verdict not in (OK, NOT_APPLICABLE) and entry.name != _TOLD_TWICE


def _next(report: Report) -> str:
    """The one thing to do first."""
    torch, active = report.find("torch", "torch"), report.find("guard", "active")
    if torch is None or torch.value is None:
        return torch.meaning if torch is not None else "install torch"
    differing = [
        (section.name, each)
        for section in report.sections
        for each in section.entries
        if each.verdict == DIFFERS
    ]
    refused = [each for section, each in differing if section in _REFUSING and each.name != _HASHES]
    for each in [*refused, *([active] if active and not active.value else [])]:
        return each.meaning
    for _, each in differing:
        return f"{each.name}: {each.meaning}"
    return "compare two runs: `python -m guard verify train.py`"


def _rows(entries: Iterable[Entry], *, folds: bool) -> Iterator[tuple[Text | str, ...]]:
    enabled = []
    for entry in entries:
        if folds and entry.meaning.startswith(_ENABLED):
            enabled.append(entry.name)
        else:
            yield _verdict(entry.verdict), _told(entry)
    if enabled:
        yield _verdict(MAY_DIFFER), f"guard.enable sets {', '.join(enabled)}"


def _verdict(level: Level) -> Text:
    from rich.text import Text

    return Text(level, style=_STYLES[level])


def _told(entry: Entry) -> Text:
    from rich.text import Text

    value = "none" if entry.value is None else visible(_shown(entry.value))
    meaning = f" ({visible(entry.meaning)})"
    return Text.assemble((visible(entry.name), "bold"), f": {value}", (meaning, "dim"))


def _shown(value: str | float) -> str:
    return word(value) if isinstance(value, bool) else str(value)


def _summary(report: Report, *, everything: bool) -> Text:
    from rich.text import Text

    counts = report.counts()
    again = report.find("interpreter", _TOLD_TWICE)
    if again is not None and again.verdict == DIFFERS and not everything:
        counts[DIFFERS] -= 1
    counted = [(level, count) for level, count in counts.items() if count]
    parts = [Text(f"{count} {level}", style=_STYLES[level]) for level, count in counted]
    summary = Text(", ").join(parts)
    return summary if everything else summary.append(" (--all shows each)")

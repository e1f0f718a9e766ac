"""``python -m guard doctor`` and ``guard.report``: what is set here, what is not, what it means."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from guard.reports import DIFFERS, Report
from guard.terminal import write

if TYPE_CHECKING:
    from collections.abc import Sequence

FOUND = 1
_EPILOG = """\
It looks at the process it runs in. To see what a program finds under guard:

  python -m guard run -m guard doctor

exit status: 0; 1 with --strict if something differs; 2 for wrong usage
"""


def report() -> Report:
    """How things stand in this process, with a verdict on each.

    Imports torch where it is installed. Changes nothing, starts no device, and raises
    nothing for what is missing: the report says so. ``report().digest`` is a line to log
    beside a run.
    """
    from guard import inventory

    return Report(inventory.sections())


def main(arguments: Sequence[str]) -> int:
    """Print the report; the status to exit with. Wrong usage raises SystemExit(2)."""
    options = _parser().parse_args(arguments)
    found = report()
    write(_text(found, options))
    return FOUND if options.strict and found.counts()[DIFFERS] else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m guard doctor",
        description="Say what is set here, what is not, and what that means for two runs.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
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
    from guard.doctor_text import render

    return render(found, sys.stdout, everything=options.all)

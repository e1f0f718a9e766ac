"""``python -m guard compare``: two recorded runs, and where they part first."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from guard.commands.options import FOUND, parser_of, write_page
from guard.errors import GuardError
from guard.terminal import write

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from guard.diff.differences import Comparison

_EPILOG = """\
A run is the folder that `python -m guard record --out` wrote, or one file in it.

exit status: 0 if the runs are identical, as far as both were recorded; 1 if they differ; 2 for
wrong usage, and where there is nothing to compare or it cannot be read
"""


def main(arguments: Sequence[str]) -> int:
    """Compare two runs and print the report; the status to exit with. Raises GuardError."""
    options = _parser().parse_args(arguments)
    comparison = _compare(options)
    if options.html:
        write_page(comparison, options.html)
    write(_text(comparison, options))
    return FOUND if comparison.difference else 0


def _compare(options: argparse.Namespace) -> Comparison:
    from guard.diff.comparer import examine
    from guard.trace import open_run

    runs = [open_run(each) for each in (options.first, options.second)]
    for name, run in zip((options.first, options.second), runs, strict=True):
        if not any(len(trace) for trace in run):
            raise GuardError(f"{name} holds no step: the run ended before its first one")
    comparison = examine(runs[0], runs[1], _names(options))
    if not comparison.steps and comparison.difference is None:
        raise GuardError(f"{options.first} and {options.second} have no step in common")
    return comparison


def _names(options: argparse.Namespace) -> tuple[str, str]:
    first, second = options.first.rstrip(os.sep), options.second.rstrip(os.sep)
    return (first, second) if first != second else (first, f"{second} (again)")


def _text(comparison: Comparison, options: argparse.Namespace) -> str:
    if options.json:
        from guard.diff.report import as_json

        return json.dumps(as_json(comparison), indent=2) + "\n"
    from guard.diff.report import text

    return text(comparison, sys.stdout)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "compare",
        "Say where two recorded runs part first, and why.",
        _EPILOG,
    )
    parser.add_argument("first", metavar="run1", help="folder of a run, or one trace")
    parser.add_argument("second", metavar="run2", help="the other one")
    parser.add_argument(
        "--json", action="store_true", help="for programs: see docs/verify-compare.md"
    )
    parser.add_argument("--html", metavar="FILE", help="write a page to look at in a browser")
    return parser

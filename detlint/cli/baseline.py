"""``detlint baseline``: keep the findings of now as known."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from detlint.cli import parts
from detlint.cli.report import decoded
from detlint.cli.said import counted, say, tell_failures
from detlint.cli.status import CLEAN, FAILED
from detlint.configuration import shown
from detlint.settings import BASELINE, project_root
from detlint.suppression.baseline import Baseline

if TYPE_CHECKING:
    import argparse

    from detlint.cli.arguments import Parser


def parser() -> Parser:
    """Takes what linting takes."""
    from detlint.cli import arguments

    made = arguments.parser()
    made.prog = "detlint baseline"
    made.description = "Keep the findings of now as known, so that only new ones are reported."
    made.epilog = "The file belongs into the repository."
    made.add_argument(
        "--prune", action="store_true", help="only drop what is mended, and add nothing"
    )
    return made


def run(arguments: list[str]) -> int:
    """Write the baselines of the projects that are named."""
    options = parser().parse_args(arguments)
    parts.check(options)
    statuses = [_written(options, part) for part in parts.found(options)]
    return max(statuses, default=CLEAN)


def _written(options: argparse.Namespace, part: parts.Part) -> int:
    """Write the baseline of one project; the exit status."""
    root = project_root(part.settings)
    file = options.baseline or os.path.join(root, BASELINE)
    known = Baseline.load(root, file) if os.path.isfile(file) else Baseline(root)
    linted = part.lint(options)
    tell_failures(linted.failures)
    if linted.failures:
        return FAILED
    still, kept, gone = known.sifted(linted.findings, part, decoded)
    found = still if options.prune else Baseline.of(root, linted.findings, decoded)
    made = found.joined(kept)
    made.save(file)
    say(
        f"{shown(file)}: {counted(len(made), 'known finding')}, of which "
        f"{len(found) - len(still)} new; {len(gone)} gone"
    )
    return CLEAN

"""``detlint init``: add what a repository lacks to use detlint."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from detlint.cli import adoption
from detlint.cli.said import counted, say
from detlint.cli.status import CLEAN, FAILED
from detlint.cli.streams import write
from detlint.configuration import shown
from detlint.errors import UsageError
from detlint.fixes.applying import diff
from detlint.settings import BASELINE
from detlint.sources.paths import repository_of
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from detlint.cli.arguments import Parser


def parser() -> Parser:
    """Its options."""
    from detlint.cli.arguments import Parser

    made = Parser(
        prog="detlint init",
        description="Add what this repository lacks to use detlint: the configuration, an entry "
        "for pre-commit where that is used, and a step of its CI. What is to be added is shown "
        "first, and nothing that is there is overwritten.",
        allow_abbrev=False,
    )
    add = made.add_argument
    add("folder", nargs="?", default=os.curdir, metavar="FOLDER", help="in it (default: here)")
    add("-y", "--yes", action="store_true", help="add it without asking")
    add("--pre-commit", action="store_true", help="set up pre-commit where it is not used yet")
    add("--ci", choices=("github", "gitlab"), help="add a step for this one")
    return made


def run(arguments: list[str]) -> int:
    """Show what is to be added, ask, and add it."""
    options = parser().parse_args(arguments)
    if not os.path.isdir(options.folder):
        raise UsageError(f"{options.folder}: no such folder")
    folder = os.path.realpath(options.folder)
    root = repository_of(folder) or folder
    plan = adoption.plan(root, pre_commit=options.pre_commit, server=options.ci or "")
    say(*(line for note in plan.notes for line in note.split("\n")))
    write(sys.stdout, _patches(plan.additions))
    if plan.additions and not options.yes:
        if not (sys.stdin and sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("no terminal to ask on, so that nothing is written: --yes adds this")
        if not _agreed():
            say("nothing is written")
            return CLEAN
    failures = list(_written(plan.additions))
    say(*failures)
    if failures:
        return FAILED
    _tell_findings(root)
    return CLEAN


def _patches(additions: Sequence[adoption.Addition]) -> Iterator[bytes]:
    for each in additions:
        path = shown(each.path)
        patch = diff(path, Source(path, each.before or ""), Source(path, each.after))
        yield patch if each.before is not None else b"--- /dev/null\n" + patch.partition(b"\n")[2]


def _agreed() -> bool:
    write(sys.stdout, ["Add this? [y/N] "])
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


def _written(additions: Sequence[adoption.Addition]) -> Iterator[str]:
    """Write them; yields what could not be written, and why."""
    for each in additions:
        path = shown(each.path)
        try:
            adoption.write(each)
        except OSError as error:
            yield f"{path}: left as it was: {(error.strerror or str(error)).lower()}"
        else:
            say(f"{path}: {'written' if each.before is None else 'extended'}")


def _tell_findings(root: str) -> None:
    """What is found now, and how to begin with what is new."""
    from detlint.cli import parts
    from detlint.cli.arguments import parse
    from detlint.cli.report import decoded

    here = shown(root)
    options = parse([here])
    found = 0
    for part in parts.found(options, lambda _: None):
        linted = part.lint(options)
        new = part.novelty(options, linted.findings)
        found += len(new.of(linted.findings, decoded))
    if not found:
        say(f"nothing is found: `detlint {here}` ends with status 0")
        return
    say(
        f"`detlint {here}` finds {counted(found, 'finding')} now. To begin with what is new:",
        f"  detlint baseline {here}    # keeps them as known in {BASELINE}, which you commit",
    )

"""The options of the command line, and what of them lies over the configuration."""

from __future__ import annotations

import argparse
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from detlint import __version__
from detlint.cli.streams import tell, write
from detlint.reporters import FORMATS, STYLES
from detlint.reporters.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

    from _typeshed import SupportsWrite

_CONFIGURABLE = (
    "select",
    "extend_select",
    "ignore",
    "exclude",
    "extend_exclude",
    "force_exclude",
    "respect_gitignore",
    "target_torch",
    "min_confidence",
    "strict",
)
_HELP = frozenset({"-h", "--help"})
# argparse imports shutil to learn that of the terminal: a twentieth of a run over a clean file.
_WIDTH = 78
_EPILOG = """\
other commands:
  detlint init           add the configuration, hook and CI step that a repository lacks
  detlint explain CODE   what a rule finds, why, and what to do instead
  detlint rules          all rules
  detlint server         findings in an editor, as one types
  detlint baseline PATH  keep what is found now as known; --prune only drops what is mended
  detlint completion     a script that has bash, zsh or fish complete our options

exit status: 0 clean, 1 findings, 2 wrong usage or internal error
"""


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Read the options. Exits with status 2 and a message when they make no sense."""
    asked = not _HELP.isdisjoint(arguments)
    made = parser(None if asked else _WIDTH)
    options = made.parse_args(arguments)
    options.outputs = _outputs(made, options)
    return options


def _outputs(made: Parser, options: argparse.Namespace) -> list[tuple[str, str]]:
    """The formats, each with its file, "" for standard output."""
    usual = "github" if os.environ.get("GITHUB_ACTIONS") == "true" else "text"
    outputs: list[tuple[str, str]] = options.outputs or [(usual, "")]
    if options.output_file:
        if len(outputs) > 1 or outputs[0][1]:
            made.error("--output-file is for one format: give others as FORMAT=FILE")
        outputs = [(outputs[0][0], options.output_file)]
    if sum(not file for _, file in outputs) > 1:
        made.error("two formats for standard output: write all but one to a file, FORMAT=FILE")
    return outputs


def overrides(options: argparse.Namespace) -> dict[str, object]:
    """The options that were given and that a configuration file can hold as well."""
    given = {key: getattr(options, key) for key in _CONFIGURABLE}
    return {key: value for key, value in given.items() if value is not None}


def _codes(text: str) -> tuple[str, ...]:
    return tuple(code.strip() for code in text.split(",") if code.strip())


def _output(text: str) -> tuple[str, str]:
    name, _, file = text.partition("=")
    if name not in FORMATS and name not in STYLES:
        legal = ", ".join((*STYLES, *FORMATS))
        raise argparse.ArgumentTypeError(f"no such format: {name!r}; there are {legal}")
    return name, file


def _jobs(text: str) -> int:
    jobs = int(text) if text.isdigit() else 0
    if jobs < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of processes, 1 or more")
    return jobs


def _cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)  # what a container or a cpuset leaves
    return len(affinity(0)) if affinity else os.cpu_count() or 1


class Parser(argparse.ArgumentParser):
    """One that writes as we do: what is asked for to standard output, and nothing unseen."""

    def error(self, message: str) -> NoReturn:
        super().error(visible(message))

    def _print_message(self, message: str, file: SupportsWrite[str] | None = None) -> None:
        is_asked_for = file is sys.stdout  # argparse does not look whether it arrives
        if is_asked_for:
            write(sys.stdout, [message])
        else:
            tell(message.splitlines())


def parser(width: int | None = None) -> Parser:
    """That of linting, and the beginning of those of commands that lint."""
    made = Parser(
        prog="detlint",
        description="Find what makes two runs of the same training code differ.",
        epilog=_EPILOG,
        formatter_class=lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=width),
        allow_abbrev=False,
    )
    made.add_argument("paths", nargs="*", metavar="PATH", help="files and folders; - for stdin")
    made.add_argument("--version", action="version", version=f"detlint {__version__}")
    _add_fixes(made.add_argument_group("fixes"))
    _add_rules(made.add_argument_group("rules"))
    _add_files(made.add_argument_group("files"))
    _add_output(made.add_argument_group("output"))
    _add_running(made.add_argument_group("running"))
    return made


def _add_fixes(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--fix", action="store_true", help="fix what changes nothing but run-to-run variation")
    add("--unsafe-fixes", action="store_true", help="also fix what a person must look over")
    add("--add-ignore", metavar="REASON", help="write comments that silence what is found")
    add("--diff", action="store_true", help="print what would change, and change nothing")


def _add_rules(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    codes = {"metavar": "CODES", "type": _codes, "action": "extend"}
    add("--select", **codes, help="only these codes or prefixes (DET2), comma-separated")  # type: ignore[arg-type]
    add("--extend-select", **codes, help="these too")  # type: ignore[arg-type]
    add("--ignore", **codes, help="not these")  # type: ignore[arg-type]
    add(
        "--min-confidence",
        metavar="LEVEL",
        help="report what is at least possible, likely or certain (default: likely);"
        " possible also runs the rules that are off by default",
    )
    add("--strict", action="store_true", default=None, help=argparse.SUPPRESS)  # says what to write
    add("--target-torch", metavar="X.Y", help="the torch release that the code runs on")
    add("--config", metavar="FILE", help="read this file instead of the nearest")
    add("--isolated", action="store_true", help="read no configuration file")


def _add_files(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--exclude", metavar="PATTERN", action="append", help="leave out, instead of the defaults")
    add("--extend-exclude", metavar="PATTERN", action="append", help="leave out too")
    add(
        "--force-exclude",
        action="store_true",
        default=None,
        help="leave out also files that are named on the command line, as pre-commit does",
    )
    add(
        "--no-respect-gitignore",
        dest="respect_gitignore",
        action="store_false",
        default=None,
        help="read files that git ignores",
    )
    add("--baseline", metavar="FILE", help="what is known (default: detlint-baseline.json)")
    add("--no-baseline", action="store_true", help="report known findings too")
    group = group.add_mutually_exclusive_group()
    group.add_argument(
        "--diff-base", metavar="COMMIT", help="report only what a branch adds to one: origin/main"
    )
    group.add_argument(
        "--staged", action="store_true", help="report only what is added since the last commit"
    )
    add("--stdin-filename", metavar="PATH", help="the name to give to standard input")


def _add_output(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--output-format",
        type=_output,
        action="append",
        dest="outputs",
        metavar="FORMAT[=FILE]",
        help=f"{', '.join((*STYLES, *FORMATS))}; may be repeated (default: text, of which "
        "terminals, CI jobs and hooks show the full one; under GitHub Actions github)",
    )
    add("--output-file", metavar="FILE", help="write the report there")
    add(
        "--show-source",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="show the source and the way out below each finding (default: on a terminal, in CI "
        "and under pre-commit)",
    )
    add("--statistics", action="store_true", help="count findings by rule")
    add("--exit-zero", action="store_true", help="exit 0 also with findings")
    group = group.add_mutually_exclusive_group()
    add = group.add_argument
    add("-q", "--quiet", action="store_true", help="print nothing but findings and errors")
    add(
        "-v",
        "--verbose",
        action="store_true",
        help="say what is read by which configuration, the time of each rule, and where a search "
        "ended by its budget",
    )


def _add_running(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--jobs", type=_jobs, default=_cores(), metavar="N", help="processes (default: cores)")
    add("--no-cache", action="store_true", help="lint everything anew, and keep no findings")
    add("--watch", action="store_true", help="lint again whenever a file of the project changes")
    add("--show-files", action="store_true", help="print the files that would be linted, and end")
    add("--show-settings", action="store_true", help="print the settings of each, and end")
    add("--cache-dir", metavar="FOLDER", help="where the cache lies (default: the user's)")

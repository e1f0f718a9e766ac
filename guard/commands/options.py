"""What the commands share: their exit statuses, and the options that mean the same in each."""

from __future__ import annotations

import argparse
import os
import sys
from argparse import ArgumentParser
from contextlib import contextmanager
from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.executors import NAMES
from guard.program import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from guard.diff import Comparison

# 0 says that nothing was found. 1 says that two runs differ, or that something was found by which
# they would; nothing else ends with 1. 2 says that the question could not be answered.
FOUND, FAILED, INTERRUPTED = 1, 2, 130
_READING = ("argv",)  # what a program names that may read any option, and is content
_OF_ARGUMENTS = 2  # what a program ends with whose arguments are wrong
SEED = "seed of every generator, before the program begins"


def parser_of(command: str, description: str, epilog: str, takes: str = "") -> ArgumentParser:
    """The parser of a command.

    takes  what it takes besides options, as the usage has it; "" for what argparse makes of it
    """
    name = f"python -m guard {command}"
    return ArgumentParser(
        prog=name,
        usage=f"{name} {takes}" if takes else None,
        description=description,
        epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )


def parsed(parser: ArgumentParser, arguments: Sequence[str]) -> argparse.Namespace:
    """What stands before the program, and the program; what follows it is left as it is.

    An option and its value are made one word: a value that begins with a dash, such as arguments
    for the program, argparse takes for an option. Of what follows, it would take a ``--`` away.
    """
    known = parser._option_string_actions  # noqa: SLF001 - there is no other way
    found: list[str] = []
    rest = list(arguments)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        each = rest.pop(0)
        takes = each.startswith("--") and each in known and known[each].nargs is None
        found.append(f"{each}={rest.pop(0)}" if takes and rest else each)
    before = 1 + (rest[:1] == ["--"])
    options = parser.parse_args([*found, *rest[:before]])
    options.arguments = rest[before:]
    names = (each.partition("=")[0] for each in options.arguments)
    options.behind = [each for each in names if each in known and each.startswith("--")]
    return options


@contextmanager
def with_hint(options: argparse.Namespace, command: str) -> Iterator[None]:
    """Say so behind the run of a program that came to its end, or found fault with its arguments,
    if an option of the command's stands among these and nothing in the program names it."""
    try:
        yield
    except SystemExit as error:
        if error.code in (None, 0, _OF_ARGUMENTS):
            _hint(options, command, *() if error.code else _READING)
        raise
    _hint(options, command, *_READING)


def _hint(options: argparse.Namespace, command: str, *reading: str) -> None:
    from guard.verification.plan import VARIABLE

    if not options.behind or VARIABLE in os.environ:  # for a run of verify's, verify says it
        return
    from guard.verification.program_files import program_files

    files = program_files(options.program, module=options.module)
    if not files:  # it is installed, and takes what it takes
        return
    text = "".join(map(text_of, files)).lower()
    for each in dict.fromkeys(options.behind):
        names = (each[2:], each[2:].replace("-", "_"), *reading)
        if not any(name in text for name in names):
            sys.stderr.write(
                f"guard {command}: {each} stands behind {options.program}, so that the program was "
                f"given it. As an option of guard {command} it stands before: "
                f"python -m guard {command} {each} ... {options.program}\n"
            )


def write_page(comparison: Comparison, path: str) -> None:
    """Write the report of a comparison as a page. Raises GuardError."""
    from guard.diff.page import page

    try:
        with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(page(comparison))
    except OSError as error:
        raise GuardError(f"cannot write {path!r}: {error.strerror}") from None


def add_program(parser: argparse.ArgumentParser, *, optional: bool = False) -> None:
    """A script or a module, and its arguments."""
    add = parser.add_argument
    add("-m", dest="module", action="store_true", help="what follows is a module, not a script")
    what = "what to run, as Python itself would take it"
    add("program", metavar="script.py", help=what, nargs="?" if optional else None)
    add("arguments", nargs=argparse.REMAINDER, help="of the program, passed on untouched")


def add_replicas(parser: argparse.ArgumentParser) -> None:
    """How often ranks compare what they hold."""
    parser.add_argument(
        "--replicas",
        type=at_least(1),
        metavar="K",
        help="have data-parallel ranks compare their parameters and data every K steps",
    )


def add_executor(parser: argparse.ArgumentParser) -> None:
    """Where runs are, and what is kept of them."""
    add = parser.add_argument
    told = "where the runs are: as processes here, as jobs of Slurm, as tasks of Ray"
    add("--executor", choices=NAMES, default="local", help=f"{told} (default: local)")
    add(
        "--executor-option",
        action="append",
        type=_option,
        default=[],
        metavar="NAME=VALUE",
        help="as submitit or ray.remote name it: timeout_min=60, num_gpus=1; repeatable",
    )
    add(
        "--continue",
        dest="goes_on",
        action="store_true",
        help="make only the runs that the folder of --keep lacks",
    )


def kept_folder(folder: str, *, goes_on: bool) -> str:
    """The folder of --keep, made; one that holds something only if it is to be gone on with. Raises
    GuardError."""
    try:
        os.makedirs(folder, exist_ok=True)
        if os.listdir(folder) and not goes_on:
            raise GuardError(
                f"--keep: {folder!r} is not empty; --continue makes the runs that it lacks"
            )
    except OSError as error:
        raise GuardError(f"--keep: cannot use {folder!r}: {error.strerror}") from None
    return os.path.realpath(folder)


def check_executor(options: argparse.Namespace) -> None:
    """Raise GuardError for what does not go together."""
    if options.goes_on and not options.keep:
        raise GuardError("--continue goes on with the folder of an earlier --keep: name it")
    if options.executor != "local" and not options.keep:
        raise GuardError(
            f"--executor {options.executor} needs --keep FOLDER: one that all machines see, "
            "where the runs leave what they write"
        )


def _option(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def at_least(least: int) -> Callable[[str], int]:
    """The type of a whole number from ``least`` on."""

    def number(text: str) -> int:
        value = int(text) if text.isascii() and text.isdigit() else -1
        if value < least:
            raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {least} on")
        return value

    return number

"""What is said on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

from detlint.cli.streams import tell
from detlint.reporters.terminal import leading, visible

if TYPE_CHECKING:
    from collections.abc import Mapping

_ENDS = 30  # lines of a traceback


def say(*lines: str) -> None:
    """Lines with our name before them."""
    tell(f"detlint: {visible(line)}" for line in lines)


def say_failed(traceback: str, where: str = "") -> None:
    """An internal error, with where to report it."""
    from detlint.addresses import address

    lines = traceback.strip().split("\n")
    tell(map(leading, _shortened(lines)))
    say(
        f"internal error{where}: {lines[-1]}. Please report it, with the lines above",
        *filter(None, [address("Issues")]),
    )


def _shortened(lines: list[str]) -> list[str]:
    """A traceback's lines, of which a recursion makes thousands."""
    if len(lines) <= 2 * _ENDS:
        return lines
    return [*lines[:_ENDS], f"  … {len(lines) - 2 * _ENDS} lines …", *lines[-_ENDS:]]


def tell_failures(failures: Mapping[str, str]) -> None:
    """The files at which linting failed, with the tracebacks."""
    for path, failure in failures.items():
        say_failed(failure, f" at {path}, of which findings may be missing")


def counted(number: int, noun: str) -> str:
    """``1 finding``, ``2 findings``."""
    return f"{number} {noun}{'s' * (number != 1)}"

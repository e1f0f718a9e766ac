"""``detlint``: the command line, and the only place that maps outcomes to exit codes.

0 clean · 1 findings · 2 wrong usage, unreadable configuration or internal error · 130 interrupted
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING, NoReturn

from detlint.cli.said import say, say_failed
from detlint.cli.status import CLEAN, FAILED, FOUND, INTERRUPTED
from detlint.cli.streams import open_closed
from detlint.errors import DetlintError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["CLEAN", "COMMANDS", "FAILED", "FOUND", "INTERRUPTED", "main", "run"]

# A module each; what is none of them lints.
COMMANDS = ("baseline", "completion", "explain", "init", "rules", "server")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; the status to exit with. Usage errors raise SystemExit(2)."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    open_closed()
    try:
        if arguments and arguments[0] in COMMANDS:
            return _command(arguments[0])(arguments[1:])
        return _command("lint")(arguments)
    except DetlintError as error:
        say(*error.args)
        return FAILED
    except KeyboardInterrupt:
        say("interrupted; every file is as it was or fixed whole")
        return INTERRUPTED
    except Exception:  # noqa: BLE001 - the one place that turns a crash into exit 2
        import traceback

        say_failed(traceback.format_exc())
        return FAILED


def _command(name: str) -> Callable[[list[str]], int]:
    command: Callable[[list[str]], int] = import_module(f"{__name__}.{name}").run
    return command


def run() -> NoReturn:
    """``detlint``: run the command line and leave."""
    status = main()
    if status in (CLEAN, FOUND):
        os._exit(status)  # taking a hundred megabytes of objects apart takes a tenth of a second
    sys.exit(status)

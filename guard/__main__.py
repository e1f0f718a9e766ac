"""``python -m guard``: run a program under guard, or say how things stand."""

from __future__ import annotations

import sys
from importlib import import_module

from guard.errors import GuardError

_COMMANDS = {
    "run": "guard.commands.run",
    "doctor": "guard.commands.doctor",
    "preflight": "guard.commands.preflight",
    "record": "guard.commands.record",
    "compare": "guard.commands.compare",
    "verify": "guard.commands.verify",
    "spread": "guard.commands.spread",
}
_EPILOG = """\
commands:
  run [options] script.py [arguments]    run an unmodified program under guard
  run [options] -m module [arguments]    the same, as python -m
  doctor                                 what is set here, what is not, and what that means
  preflight [options] script.py [args]   what would fail or differ on a GPU, without one
  record --out FOLDER [options] script.py [args]
                                         fingerprints of what the program computes
  compare [options] run1 run2            where two recorded runs part first, and why
  verify [options] script.py [args]      whether two runs agree bit for bit, and if not, why
  spread [options] script.py [arguments] how far a metric varies from seed to seed

`python -m guard COMMAND --help` says more.
"""


def main(arguments: list[str]) -> int:
    """Do as the command line says; the status to exit with. Wrong usage raises SystemExit(2).

    What guard cannot do is told in a line. What the program raises passes through, SystemExit too,
    so that Python ends as it would without guard.
    """
    name = "guard"
    try:  # Ctrl-C may come while we import what parses the command line
        command, given = _parsed(arguments)
        name = f"guard {command}"
        status: int = import_module(_COMMANDS[command]).main(given)
    except (KeyboardInterrupt, GuardError) as error:
        from guard.commands.options import FAILED, INTERRUPTED
        from guard.program import begun

        if begun:  # it ends as Python would end it
            raise
        is_guards = isinstance(error, GuardError)
        sys.stderr.write(f"{name}: {error if is_guards else 'interrupted'}\n")
        return FAILED if is_guards else INTERRUPTED
    return status


def _parsed(arguments: list[str]) -> tuple[str, list[str]]:
    import argparse

    parser = argparse.ArgumentParser(
        prog="python -m guard",
        usage="python -m guard [-h] {run,doctor,preflight,record,compare,verify,spread} ...",
        description="Make a training run deterministic, or say what stands in the way.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=_COMMANDS, help=argparse.SUPPRESS)
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    return options.command, options.arguments


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

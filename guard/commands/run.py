"""``python -m guard run``: an unmodified program under guard."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import nullcontext
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from guard.commands.options import (
    SEED,
    add_program,
    add_replicas,
    parsed,
    parser_of,
    with_hint,
)
from guard.program import Program
from guard.repairs.accounts import at_the_end
from guard.repairs.table import check_names
from guard.settings import Settings, load
from guard.setup import environment
from guard.setup.variables import hash_seed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager

_STARTED_ANEW = "_GUARD_STARTED_ANEW"  # so that it happens once, whatever comes of it
_SWITCHES = {
    "fill": "fill memory that nothing has written",
    "strict": "let operators raise that are known to differ silently",
    "rank_offset": "add the rank to the seed",
    "reduced_precision": "leave TF32 and reduced-precision sums as the program sets them",
    "cudnn": "leave cuDNN on",
    "dropout": "leave dropout in",
}


def main(arguments: list[str]) -> int:
    """Run the program; 0 when it has ended. Raises GuardError when it could not begin, and what
    the program raises.

    To fix the order of sets, Python is started anew before the program is. torch is
    imported before the program begins: what it reads then, as OMP_NUM_THREADS, has to be in
    the environment, and cannot be set by the program.
    """
    options = parsed(_parser(), arguments)
    given = _given(options)
    program = Program(options.program, options.arguments, module=options.module)
    program.check()
    check_names(load(**given))
    environment.check(os.environ)
    _fix_hashes()
    program.prepare()
    # Imports torch, for which the program is now prepared.
    import_module("guard.setup.activation").enable(**given)
    with with_hint(options, "run"), at_the_end(), _replicas_watched(options.replicas):
        program.run()
    return 0


def _replicas_watched(every: int | None) -> AbstractContextManager[None]:
    if every is None:
        return nullcontext()
    from guard.replicas.watch import watch_replicas

    return watch_replicas(every=every)


def _fix_hashes() -> None:
    """Start Python anew with a fixed hash seed, unless it has one."""
    if os.environ.pop(_STARTED_ANEW, None):
        environment.claim("PYTHONHASHSEED")
    elif hash_seed() is None and not sys.flags.ignore_environment and sys.executable:
        _start_anew(os.environ | {"PYTHONHASHSEED": "0", _STARTED_ANEW: "1"})
    elif hash_seed() is None:
        environment.warn_of("PYTHONHASHSEED")  # Python was told to ignore the environment


def _start_anew(environ: Mapping[str, str]) -> NoReturn:
    command = [sys.executable, *sys.orig_argv[1:]]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name == "nt":  # where exec returns to the caller at once, and leaves the new one alone
        sys.exit(_wait(command, environ))
    os.execve(sys.executable, command, environ)  # noqa: S606 - this very command, again


def _wait(command: list[str], environ: Mapping[str, str]) -> int:
    import signal
    import subprocess

    process = subprocess.Popen(command, env=dict(environ))  # noqa: S603 - as above
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the console sends it to the program as well
    status = process.wait()
    return status - (1 << 32) if status >= 1 << 31 else status  # sys.exit takes 32 signed bits


def _given(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that the command line gives; the others come from where they always do."""
    given = {name: getattr(options, name) for name in Settings.__dataclass_fields__}
    given["repair"] = options.repair_only or options.repair
    return {name: value for name, value in given.items() if value is not None}


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "run",
        "Run an unmodified program under guard. Options that are left out come from "
        "GUARD_* variables, then from [tool.guard] in pyproject.toml.",
        "exit status: the program's; 2 when it could not begin",
        "[options] (script.py | -m module) [arguments ...]",
    )
    add = parser.add_argument
    add("--seed", type=_integer, metavar="N", help=f"{SEED} (default: 0)")
    for name, text in _SWITCHES.items():
        action = argparse.BooleanOptionalAction
        add(f"--{name.replace('_', '-')}", action=action, default=None, help=text)
    add("--allow", action="append", metavar="NAME", help="let an operator through; repeatable")
    text = "let operators that refuse, or differ, run a deterministic replacement"
    add("--repair", action=argparse.BooleanOptionalAction, default=None, help=text)
    add("--repair-only", action="append", metavar="NAME", help="only this one's; repeatable")
    add("--rng", choices=("device", "cpu"), help="where random tensors are drawn")
    add_replicas(parser)
    add_program(parser)
    return parser


def _integer(text: str) -> int | str:
    """An int if it is one; else the text, which Settings refuses with the legal values."""
    try:
        return int(text)
    except ValueError:
        return text

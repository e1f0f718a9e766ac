"""``python -m guard preflight``: an unmodified training script on a GPU that is not there."""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from guard.commands.options import (
    FAILED,
    FOUND,
    INTERRUPTED,
    add_program,
    at_least,
    parsed,
    parser_of,
    with_hint,
)
from guard.errors import GuardError
from guard.executors import ended_by_signals
from guard.program import Program, beside_guard, flags
from guard.rehearsal.findings import GPUS, UNKNOWN
from guard.terminal import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.rehearsal.findings import Report

_GRACE = 120  # seconds on top of the program's own: to import torch, and to end by itself
_LAST = 5  # seconds that a program has to write its report once it is interrupted
_EPILOG = """\
The script runs in a process of its own until its first optimizer steps are done: with its own
arguments, its own data, and tensors on the GPU that have a shape and no memory. Files that it
writes go to a folder that is deleted, and Weights & Biases, MLflow, Comet, Neptune and Trackio
are told to stay off.

exit status: 0 if nothing was found; 1 if something was that raises, or by which runs differ; 2 for
wrong usage, and where nothing was found and not all of it was seen or is known; 130 after Ctrl-C
or SIGTERM, and then what was seen by then is told
"""


def main(arguments: Sequence[str]) -> int:
    """Rehearse a program and print the report; the status to exit with. Raises GuardError."""
    options = parsed(_parser(), arguments)
    if options.explain is not None:
        from guard.rehearsal.verdicts import explanation

        write(explanation(options.explain))
        return 0
    if options.program is None:
        _parser().error("a script is needed: python -m guard preflight train.py")
    program = Program(options.program, options.arguments, module=options.module)
    program.check()
    program.check_text()
    with ended_by_signals():
        report, interrupted = _judged(options)
    with with_hint(options, "preflight"):
        write(_text(report, options))
    if interrupted:
        sys.stderr.write("guard preflight: interrupted; this is what was seen until then\n")
    return INTERRUPTED if interrupted else _status(report)


def _status(report: Report) -> int:
    """An operator that nobody has looked at is no finding, and leaves the question open."""
    known = any(each.verdict != UNKNOWN for each in report.found)
    if known or any(each.counts for each in report.sources):
        return FOUND
    return 0 if report.is_clean else FAILED


def _judged(options: argparse.Namespace) -> tuple[Report, bool]:
    """The report of the run, with what the linter says of the text meanwhile; and whether it was
    interrupted."""
    from concurrent.futures import ThreadPoolExecutor

    from guard.rehearsal import reports

    with ThreadPoolExecutor(1) as pool:
        reads = pool.submit(reports.read_sources, options.program, module=options.module)
        report, interrupted = _rehearsed(options)
        error = reads.exception()
        read = error if isinstance(error, GuardError) else reads.result()
        return reports.joined(report, read), interrupted


def _rehearsed(options: argparse.Namespace) -> tuple[Report, bool]:
    from guard.rehearsal.findings import from_dict

    with tempfile.TemporaryDirectory(prefix="guard-preflight-") as folder:
        told = _told(options, folder)
        command = [sys.executable, *flags(), "-m", "guard.rehearsal.script", json.dumps(told)]
        environ = _environment(options, told["scratch"])
        with _uninterrupted():
            child = subprocess.Popen(command, stdout=sys.stderr, env=environ)  # noqa: S603 - this Python
        interrupted = False
        with child:
            try:
                child.wait(options.seconds + _GRACE)
            except KeyboardInterrupt:
                interrupted = True
                child.send_signal(signal.SIGINT)  # which a terminal has sent to it as well
                with suppress(subprocess.TimeoutExpired):
                    child.wait(_LAST)
            except subprocess.TimeoutExpired:
                pass
            finally:
                child.kill()
        if not os.path.exists(told["target"]):
            if interrupted:
                raise KeyboardInterrupt
            raise GuardError(_died(child.returncode, options))
        with open(told["target"], encoding="utf-8") as file:
            return from_dict(json.load(file)), interrupted


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let what is started inside ignore Ctrl-C until it has a report to give."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)


def _told(options: argparse.Namespace, folder: str) -> dict[str, Any]:
    """What the process of the program is told; it may write into the folder."""
    scratch = os.path.join(folder, "written")
    os.mkdir(scratch)
    return {
        "target": os.path.join(folder, "report.json"),
        "scratch": scratch,
        "steps": options.steps,
        "seconds": options.seconds,
        "gpu": options.gpu.lower(),
        "ranks": options.ranks,
        "repair": options.repair,
        "module": options.module,
        "program": options.program,
        "arguments": options.arguments,
    }


def _died(status: int, options: argparse.Namespace) -> str:
    return (
        f"{options.program} ended with status {status} before it had a report: what it wrote "
        "above says why. If it hung outside of torch, --seconds gives it more time"
    )


def _environment(options: argparse.Namespace, scratch: str) -> dict[str, str]:
    from guard.rehearsal.side_effects import QUIET

    environ = beside_guard({**os.environ, **QUIET})
    environ |= dict.fromkeys(("TMPDIR", "TEMP", "TMP"), scratch)
    if options.ranks > 1:
        environ |= {
            "RANK": "0",
            "LOCAL_RANK": "0",
            "WORLD_SIZE": str(options.ranks),
            "LOCAL_WORLD_SIZE": str(options.ranks),
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": "29500",
        }
    return environ


def _text(report: Report, options: argparse.Namespace) -> str:
    if options.json:
        return json.dumps(report.as_dict(), indent=2) + "\n"
    if options.sarif:
        from guard.rehearsal.reports import log

        return json.dumps(log(report), indent=2) + "\n"
    from guard.rehearsal.reports import render

    return render(report, sys.stdout, verbose=options.verbose)


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "preflight",
        "List what would fail on a GPU, or differ from run to run, without one.",
        _EPILOG,
        "[options] (script.py | -m module) [arguments ...]",
    )
    add = parser.add_argument
    add("--steps", type=at_least(1), default=1, metavar="N", help="optimizer steps (default: 1)")
    add("--seconds", type=at_least(1), default=300, metavar="S", help="at most (default: 300)")
    add("--gpu", type=_gpu, default="h100", metavar="NAME", help=f"one of {', '.join(GPUS)}")
    add("--repair", action="store_true", help="as under guard.enable(repair=True)")
    add("--ranks", type=at_least(1), default=1, metavar="N", help="be rank 0 of N, as of torchrun")
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="for programs: see docs/preflight.md")
    form.add_argument("--sarif", action="store_true", help="SARIF 2.1.0, for code scanning")
    add("--verbose", action="store_true", help="each line by itself, where many say the same")
    add("--explain", metavar="OP", help="say what is known of an operator, and run nothing")
    add_program(parser, optional=True)
    return parser


def _gpu(text: str) -> str:
    if text.lower() not in GPUS:
        raise argparse.ArgumentTypeError(f"{text!r} is not known; legal: {', '.join(GPUS)}")
    return text

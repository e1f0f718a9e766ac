"""``python -m guard verify``: do runs of a program agree bit for bit, and if not, why?"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
import tempfile
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING

from guard.commands.options import (
    INTERRUPTED,
    SEED,
    add_executor,
    add_program,
    add_replicas,
    at_least,
    check_executor,
    kept_folder,
    parsed,
    parser_of,
    with_hint,
    write_page,
)
from guard.executors import ended_by_signals
from guard.program import Program
from guard.terminal import write
from guard.verification.plan import CIRCUMSTANCES, NAMES, Plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from guard.verification.verdicts import Verdict

_EPILOG = """\
Each run is a fresh process, in other circumstances than the others:
{circumstances}
It works in a copy of the working folder if that is small; else in the folder itself, and then it
writes to files once the runs before it have ended. Experiment trackers are told to stay off.

exit status: 0 if the runs are identical, bit for bit; 1 if they differ; 2 for wrong usage, and
where the program could not be run to its end; 130 after Ctrl-C or SIGTERM, and then what is known
by then is told
"""
_INTERRUPTED = "guard verify: interrupted; all that it had started has been ended\n"


def main(arguments: Sequence[str]) -> int:
    """Verify a program and print the verdict; the status to exit with. Raises GuardError."""
    parser = _parser()
    options = parsed(parser, arguments)
    _check(parser, options)
    try:
        program = Program(options.program, options.arguments, module=options.module)
        program.check()
        program.check_text()
        check_executor(options)
        with _scratch(options.keep, goes_on=options.goes_on) as folder, ended_by_signals():
            verdict = _verdict(options, folder)
            with with_hint(options, "verify"):
                _report(verdict, options)
            status = verdict.status
        if verdict.interrupted:
            sys.stderr.write(_INTERRUPTED)
    except KeyboardInterrupt:
        sys.stderr.write(_INTERRUPTED)
        return INTERRUPTED
    return status


def _verdict(options: argparse.Namespace, folder: str) -> Verdict:
    given = vars(options)
    plan = Plan(
        **{each.name: given[each.name] for each in fields(Plan) if each.name in given}
        | {
            "arguments": tuple(options.arguments),
            "runs": options.runs or 2,
            "at_ease": options.runs is None,
            "values": options.values or bool(options.html),
            "vary": tuple(name for name in NAMES if name not in options.same),
            "ranks": options.nproc_per_node,
            "executor_options": tuple(options.executor_option),
        }
    )
    tell = _progress()
    try:
        if options.resume_at is None:
            from guard.verification.inquiry import verify

            return verify(plan, folder, tell)
        from guard.verification.resumption import Interruption, verify_resumed

        how = Interruption(options.resume_at, options.resume_args, options.stop_args)
        return verify_resumed(plan, how, folder)
    finally:
        tell(-1)


def _progress() -> Callable[[int], None]:
    """Shows on a terminal how many steps agree so far; -1 clears it."""
    shown = [-1]

    def tell(steps: int) -> None:
        if steps == shown[0] or not sys.stderr.isatty():
            return
        shown[0] = steps
        text = "" if steps < 0 else f"{steps} steps, identical so far"
        sys.stderr.write(f"\r\x1b[K{text}")
        sys.stderr.flush()

    return tell


def _report(verdict: Verdict, options: argparse.Namespace) -> None:
    if options.html and verdict.comparison is not None:
        write_page(verdict.comparison, options.html)
    if options.json:
        write(json.dumps(verdict.as_dict(), indent=2) + "\n")
    else:
        write(verdict.as_text(sys.stdout))


@contextmanager
def _scratch(keep: str | None, *, goes_on: bool) -> Iterator[str]:
    """A folder for traces and copies: one that is deleted, or the user's, which must be empty."""
    if keep is None:
        with tempfile.TemporaryDirectory(prefix="guard-verify-", ignore_cleanup_errors=True) as own:
            yield os.path.realpath(own)
        return
    yield kept_folder(keep, goes_on=goes_on)


def _check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse what does not go together."""
    if options.resume_at is None:
        if options.resume_args is not None or options.stop_args is not None:
            parser.error("--resume-args and --stop-args belong to --resume-at")
        return
    if options.goes_on:
        parser.error("--continue makes runs that are missing, and --resume-at one that goes on")
    if options.resume_args is None:
        parser.error(
            "--resume-at needs --resume-args: the arguments with which the program resumes, as in "
            '--resume-args "--resume checkpoint.pt"'
        )
    try:
        shlex.split(f"{options.resume_args}\n{options.stop_args or ''}")
    except ValueError as error:
        parser.error(f"--resume-args cannot be taken apart as a shell would: {error}")
    if options.until is not None and options.until < options.resume_at:
        parser.error("--until is below --resume-at: nothing would be left to compare")


def _parser() -> argparse.ArgumentParser:
    width = max(map(len, NAMES))
    told = "\n".join(f"  {each.name:{width}}  {each.what}" for each in CIRCUMSTANCES)
    parser = parser_of(
        "verify",
        "Say whether runs of a program agree bit for bit; if not, name the first "
        "thing that differs, where it entered, and why.",
        _EPILOG.format(circumstances=told),
        "[options] (script.py | -m module) [arguments ...]",
    )
    _add_runs(parser)
    _add_resume(parser)
    add = parser.add_argument
    add("--json", action="store_true", help="for programs: see docs/verify.md")
    add("--html", metavar="FILE", help="write the report as a page, too")
    add("--values", action="store_true", help="record how far apart numbers are, not only whether")
    add("--keep", metavar="FOLDER", help="keep traces, outputs and working folders there")
    add_executor(parser)
    add_program(parser)
    return parser


def _add_runs(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    told = "how many (default: 2, and a third where they agree and may do so by luck)"
    add("--runs", type=at_least(2), metavar="N", help=told)
    add("--until", type=at_least(0), metavar="STEP", help="compare up to this step, from 0")
    add("--seed", type=at_least(0), metavar="N", help=SEED)
    add("--guard", action="store_true", help="run it under guard, as `python -m guard run` does")
    add(
        "--same",
        action="append",
        default=[],
        choices=NAMES,
        metavar="NAME",
        help="do not vary this circumstance; repeatable",
    )
    add(
        "--isolate",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="each run in a copy of the working folder (default: if that is small)",
    )
    add(
        "--nproc-per-node",
        type=at_least(1),
        default=1,
        metavar="N",
        help="ranks of each run, started as torchrun does (default: 1, without torchrun)",
    )
    add_replicas(parser)
    add("--one-by-one", action="store_true", help="not side by side: takes less memory")
    add(
        "--seconds",
        type=at_least(1),
        default=900,
        metavar="S",
        help="give up when no run has done a step for so long (default: 900)",
    )
    add(
        "--budget",
        type=at_least(0),
        default=12,
        metavar="N",
        help="further runs at most, to name operator, line and circumstance (default: 12)",
    )
    add("--trackers", action="store_true", help="leave experiment trackers on")


def _add_resume(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--resume-at",
        type=at_least(1),
        metavar="K",
        help="interrupt a run after K training steps, resume it, and compare with one that is not",
    )
    add("--resume-args", metavar="ARGS", help="with which the program resumes, in one string")
    add(
        "--stop-args",
        metavar="ARGS",
        help="with which it stops after K steps by itself (default: it is ended as step K begins)",
    )

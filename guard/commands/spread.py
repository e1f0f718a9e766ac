"""``python -m guard spread``: a program with several seeds, or two programs, or two results."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
import tempfile
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

from guard.commands.options import (
    FAILED,
    INTERRUPTED,
    add_executor,
    add_program,
    at_least,
    check_executor,
    kept_folder,
    parsed,
    parser_of,
    with_hint,
)
from guard.errors import GuardError
from guard.executors import ended_by_signals, executor
from guard.executors.board import Board
from guard.settings import LARGEST_SEED
from guard.spread import text
from guard.spread.runs import PLACEHOLDER, Kept, Plan, Runs
from guard.spread.text import Arm, document, load, marks_for
from guard.terminal import write

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_EPILOG = """\
The program runs under guard, which seeds everything: python -m guard run --seed K. One that sets
a seed of its own is given it with --seed-arg --seed (its arguments then end with `--seed K`; with
--seed-arg seed= it is `seed=K`), and runs without guard. {seed} in an argument, or in --from,
stands for the seed: --out runs/{seed}.

  python -m guard spread --metric val_loss train.py --epochs 3
  python -m guard spread --metric val_loss --against "train.py --epochs 3 --new" train.py --epochs 3
  python -m guard spread compare old.json new.json
  python -m guard spread --metric val_loss --executor slurm --executor-option timeout_min=60
      --executor-option gpus_per_node=1 --keep runs train.py

exit status: 0; 2 for wrong usage, and where a run failed or gave no number
"""


def main(arguments: Sequence[str]) -> int:
    """Run, print the report; the status to exit with. Raises GuardError."""
    if arguments[:1] == ["compare"]:
        return _compare(arguments[1:])
    parser = _parser()
    options = parsed(parser, arguments)
    try:
        check_executor(options)
        plans = _plans(options)
        for plan in plans:
            plan.check()
        with ended_by_signals():
            arms = _run(plans, options)
    except KeyboardInterrupt:
        left = "--continue makes the runs that are missing" if options.keep else "nothing is kept"
        sys.stderr.write(f"guard spread: interrupted; its runs have been ended, and {left}\n")
        return INTERRUPTED
    with with_hint(options, "spread"):
        return _report(arms, as_json=options.json)


def _plans(options: argparse.Namespace) -> list[Plan]:
    module = ("-m",) if options.module else ()
    programs = [(*module, options.program, *options.arguments)]
    if options.against is not None:
        programs.append(tuple(_words(options.against)))
    if options.source and _at_a_time(options) != 1 and PLACEHOLDER not in options.source:
        raise GuardError(
            "several runs at a time would write the file of --from at once: "
            f"have {PLACEHOLDER} in its name and in an argument of the program"
        )
    logs = options.logs or options.keep
    return [
        Plan(
            program,
            options.metric,
            source=options.source,
            seed_arg=options.seed_arg,
            as_is=options.as_is,
            logs=logs and os.path.join(logs, "ab"[index]),
        )
        for index, program in enumerate(programs)
    ]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, posix=os.name != "nt")
    except ValueError as error:
        raise GuardError(f"--against {line!r}: {error}") from None


def _run(plans: Sequence[Plan], options: argparse.Namespace) -> list[Arm]:
    board = Board(len(plans) * len(options.seeds))
    with closing(board), _runs(options) as runs:
        outcomes = runs.all(plans, options.seeds, board)
    return [
        Arm(str(plan), plan.seeding, plan.metric, tuple(each))
        for plan, each in zip(plans, outcomes, strict=True)
    ]


@contextmanager
def _runs(options: argparse.Namespace) -> Iterator[Runs]:
    keep = options.keep and kept_folder(options.keep, goes_on=options.goes_on)
    kept = Kept(keep) if keep else None
    with tempfile.TemporaryDirectory(prefix="guard-spread-") as own:
        folder = os.path.abspath(options.keep or own)
        with closing(executor(options.executor, dict(options.executor_option), folder)) as used:
            yield Runs(used, _at_a_time(options), folder, kept)


def _at_a_time(options: argparse.Namespace) -> int | None:
    """How many runs; None leaves it to Slurm or Ray."""
    jobs: int | None = options.jobs
    return 1 if jobs is None and options.executor == "local" else jobs


def _compare(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m guard spread compare",
        description="Say whether two results of `spread --json` differ by more than chance.",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("first", metavar="A.json")
    parser.add_argument("second", metavar="B.json")
    options = parser.parse_args(arguments)
    arms = [load(options.first), load(options.second)]
    if arms[0].metric != arms[1].metric:
        raise GuardError(f"one is of {arms[0].metric!r}, the other of {arms[1].metric!r}")
    return _report(arms, as_json=options.json)


def _report(arms: list[Arm], *, as_json: bool) -> int:
    if as_json:
        told = json.dumps(document(arms, text.verdict(arms)), indent=2)
    else:
        told = text.render(arms, marks_for(sys.stdout.encoding))
    failed = text.failures(arms)
    write(told + "\n")
    if failed:
        sys.stderr.write(failed + "\n")
    return FAILED if failed or any(arm.mean is None for arm in arms) else 0


def _parser() -> argparse.ArgumentParser:
    parser = parser_of(
        "spread",
        "Run a program with several seeds, and say how far a metric varies; with "
        "--against, whether another differs by more than that.",
        _EPILOG,
        "[options] (script.py | -m module) [arguments ...]\n"
        "       python -m guard spread compare A.json B.json",
    )
    add = parser.add_argument
    add("--seeds", type=_seeds, default=_seeds("5"), metavar="N", help="how many, or 3,7,11 (5)")
    add("--metric", required=True, metavar="NAME", help="as it is printed: val_loss")
    add("--from", dest="source", metavar="FILE", help="read it there: CSV, JSON, JSON Lines, a log")
    add("--against", metavar="PROGRAM", help="another program, with its arguments, as one text")
    seeding = parser.add_mutually_exclusive_group()
    seeding.add_argument("--seed-arg", metavar="OPTION", help="by which the program takes its seed")
    seeding.add_argument("--as-is", action="store_true", help="set no seed, run it without guard")
    told = "runs at a time (default: 1; with Slurm and Ray all, which they queue)"
    add("--jobs", type=at_least(1), metavar="N", help=told)
    add("--logs", metavar="FOLDER", help="keep the output of each run there")
    add("--keep", metavar="FOLDER", help="keep results and outputs there")
    add_executor(parser)
    add("--json", action="store_true", help="for programs, and for `spread compare`")
    add_program(parser)
    return parser


def _seeds(given: str) -> tuple[int, ...]:
    """``5`` is five seeds, from 0; ``3,7`` are these two."""
    if not re.fullmatch(r"\d+(,\d+)*,?", given):
        raise argparse.ArgumentTypeError(f"{given!r} is neither a number nor a list of seeds")
    numbers = [int(each) for each in given.rstrip(",").split(",")]
    seeds = numbers if "," in given else range(numbers[0])
    if len(seeds) < 2 or len(set(seeds)) < len(seeds):
        raise argparse.ArgumentTypeError("a spread needs two seeds or more, each another one")
    if max(seeds) > LARGEST_SEED:
        raise argparse.ArgumentTypeError(f"a seed is at most {LARGEST_SEED}")
    return tuple(seeds)

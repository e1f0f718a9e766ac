"""``python -m guard spread``: a program with several seeds, or two programs, or two results."""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import sys
from typing import TYPE_CHECKING

from guard.commands.options import FAILED, add_program, at_least
from guard.errors import GuardError
from guard.settings import LARGEST_SEED
from guard.spread import text
from guard.spread.plans import PLACEHOLDER, Plan
from guard.spread.plot import marks_for
from guard.spread.results import Arm, document, load
from guard.spread.runs import run_all

if TYPE_CHECKING:
    from collections.abc import Sequence

    from guard.spread.runs import Outcome

_SWITCHES = ("--help", "--as-is", "--json")
_EPILOG = """\
The program runs under guard, which seeds everything: python -m guard run --seed K. One that sets
a seed of its own is given it with --seed-arg --seed (its arguments then end with `--seed K`; with
--seed-arg seed= it is `seed=K`), and runs without guard. {seed} in an argument, or in --from,
stands for the seed: --out runs/{seed}.

  python -m guard spread --metric val_loss train.py --epochs 3
  python -m guard spread --metric val_loss --against "train.py --epochs 3 --new" train.py --epochs 3
  python -m guard spread compare old.json new.json

exit status: 0; 2 for wrong usage, and where a run failed or gave no number
"""


def main(arguments: Sequence[str]) -> int:
    """Run, print the report; the status to exit with."""
    if arguments[:1] == ["compare"]:
        return _compare(arguments[1:])
    parser = _parser()
    options = parser.parse_args(_joined(arguments))
    try:
        plans = _plans(options)
        for plan in plans:
            plan.check()
        arms = _run(plans, options)
    except GuardError as error:
        sys.stderr.write(f"guard spread: {error}\n")
        return FAILED
    return _report(arms, as_json=options.json)


def _joined(arguments: Sequence[str]) -> list[str]:
    """Values that begin with a dash, which argparse takes for options: --seed-arg --seed."""
    joined, rest = [], list(arguments)
    while rest and rest[0].startswith("-"):
        option = rest.pop(0)
        if option.startswith("--") and "=" not in option and option not in _SWITCHES and rest:
            option = f"{option}={rest.pop(0)}"
        joined.append(option)
    return joined + rest


def _plans(options: argparse.Namespace) -> list[Plan]:
    module = ("-m",) if options.module else ()
    programs = [(*module, options.program, *options.arguments)]
    if options.against is not None:
        programs.append(tuple(_words(options.against)))
    if options.source and options.jobs > 1 and PLACEHOLDER not in options.source:
        raise GuardError(
            "with --jobs, several runs would write the file of --from at once: "
            f"have {PLACEHOLDER} in its name and in an argument of the program"
        )
    return [
        Plan(
            program,
            options.metric,
            source=options.source,
            seed_arg=options.seed_arg,
            as_is=options.as_is,
            logs=options.logs and os.path.join(options.logs, "ab"[index]),
        )
        for index, program in enumerate(programs)
    ]


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line, posix=os.name != "nt")
    except ValueError as error:
        raise GuardError(f"--against {line!r}: {error}") from None


def _run(plans: Sequence[Plan], options: argparse.Namespace) -> list[Arm]:
    count = len(plans) * len(options.seeds)
    done = 0

    def tell(plan: Plan, outcome: Outcome) -> None:
        nonlocal done
        done += 1
        result = outcome.problem or outcome.matched
        sys.stderr.write(
            f"[{done}/{count}] {plan}, seed {outcome.seed}, {outcome.seconds:.0f} s: {result}\n"
        )

    outcomes = run_all(plans, options.seeds, options.jobs, tell)
    return [
        Arm(str(plan), plan.seeding, plan.metric, tuple(each))
        for plan, each in zip(plans, outcomes, strict=True)
    ]


def _compare(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m guard spread compare",
        description="Say whether two results of `spread --json` differ by more than chance.",
    )
    parser.add_argument("--json", action="store_true", help="for programs")
    parser.add_argument("first", metavar="A.json")
    parser.add_argument("second", metavar="B.json")
    options = parser.parse_args(arguments)
    try:
        arms = [load(options.first), load(options.second)]
        if arms[0].metric != arms[1].metric:
            raise GuardError(f"one is of {arms[0].metric!r}, the other of {arms[1].metric!r}")  # noqa: TRY301
    except GuardError as error:
        sys.stderr.write(f"guard spread: {error}\n")
        return FAILED
    return _report(arms, as_json=options.json)


def _report(arms: list[Arm], *, as_json: bool) -> int:
    if as_json:
        told = json.dumps(document(arms, text.verdict(arms)), indent=2)
    else:
        told = text.render(arms, marks_for(sys.stdout.encoding))
    failed = text.failures(arms)
    _write(told + "\n")
    if failed:
        sys.stderr.write(failed + "\n")
    return FAILED if failed or any(arm.mean is None for arm in arms) else 0


def _write(told: str) -> None:
    encoding = sys.stdout.encoding or "utf-8"  # ± may not fit it
    sys.stdout.write(told.encode(encoding, "backslashreplace").decode(encoding))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m guard spread",
        usage="python -m guard spread [options] (script.py | -m module) [arguments ...]\n"
        "       python -m guard spread compare A.json B.json",
        description="Run a program with several seeds, and say how far a metric varies; with "
        "--against, whether another differs by more than that.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--seeds", type=_seeds, default=_seeds("5"), metavar="N", help="how many, or 3,7,11 (5)")
    add("--metric", required=True, metavar="NAME", help="as it is printed: val_loss")
    add("--from", dest="source", metavar="FILE", help="read it there: CSV, JSON, JSON Lines, a log")
    add("--against", metavar="PROGRAM", help="another program, with its arguments, as one text")
    seeding = parser.add_mutually_exclusive_group()
    seeding.add_argument("--seed-arg", metavar="OPTION", help="by which the program takes its seed")
    seeding.add_argument("--as-is", action="store_true", help="set no seed, run it without guard")
    add("--jobs", type=at_least(1), default=1, metavar="N", help="runs at a time (default: 1)")
    add("--logs", metavar="FOLDER", help="keep the output of each run there")
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

"""Running a program once for each seed, and reading its metric."""

from __future__ import annotations

import math
import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GuardError
from guard.spread import plans

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from guard.spread.plans import Plan

_TAIL = 20  # lines of a run that failed


class Outcome(NamedTuple):
    """One run.

    value    of the metric; None where there is a problem
    matched  the text in which it was found
    problem  why there is no value, or ""
    tail     the last lines of the output, where there is a problem
    """

    seed: int
    value: float | None
    seconds: float
    matched: str = ""
    problem: str = ""
    tail: str = ""


def run_all(
    plans: Sequence[Plan],
    seeds: Sequence[int],
    jobs: int,
    tell: Callable[[Plan, Outcome], None],
) -> list[list[Outcome]]:
    """Outcomes of each plan in the order of the seeds; ``tell`` hears of each when it is there.

    Programs take turns, so that what changes on the machine meanwhile meets both alike.
    """
    done: dict[tuple[int, int], Outcome] = {}
    with ThreadPoolExecutor(jobs) as pool:
        waiting = {
            pool.submit(_run, plan, seed): (index, seed)
            for seed in seeds
            for index, plan in enumerate(plans)
        }
        try:
            for future in as_completed(waiting):
                index, seed = waiting[future]
                done[index, seed] = future.result()
                tell(plans[index], done[index, seed])
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
    return [[done[index, seed] for seed in seeds] for index in range(len(plans))]


def _run(plan: Plan, seed: int) -> Outcome:
    before = plans.look(plan, seed)
    start = time.monotonic()
    done = subprocess.run(  # noqa: S603 - this Python, and the program that was asked for
        plan.command(seed),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=_environment(plan, seed),
        check=False,
    )
    seconds = time.monotonic() - start
    text = done.stdout.decode(errors="replace")
    _keep(text, plan, seed)
    try:
        if done.returncode:
            raise GuardError(_ended(done.returncode))  # noqa: TRY301 - one way to a problem
        match = plans.read(plan, seed, text, before)
    except GuardError as error:
        return Outcome(seed, None, seconds, problem=str(error), tail=_tail(text))
    if not math.isfinite(match.value):
        problem = f"{plan.metric} is {match.value}, with which no mean can be taken"
        return Outcome(seed, None, seconds, match.text, problem, _tail(text))
    return Outcome(seed, match.value, seconds, match.text)


def _ended(status: int) -> str:
    return f"it ended with status {status}" if status > 0 else f"signal {-status} ended it"


def _environment(plan: Plan, seed: int) -> dict[str, str]:
    environ = dict(os.environ)
    if plan.seed_arg is None and not plan.as_is:
        environ.setdefault("PYTHONHASHSEED", str(seed))  # the order of sets is chance as well
        folder = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        paths = (environ.get("PYTHONPATH"), folder)
        environ["PYTHONPATH"] = os.pathsep.join(each for each in paths if each)
    return environ


def _keep(text: str, plan: Plan, seed: int) -> None:
    if plan.logs is not None:
        os.makedirs(plan.logs, exist_ok=True)
        with open(os.path.join(plan.logs, f"seed{seed}.log"), "w", encoding="utf-8") as file:
            file.write(text)


def _tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-_TAIL:])

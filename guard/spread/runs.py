"""Running a program once for each seed, and reading its metric.

Results outlive an interruption: a file for each run that gave a value.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from guard.errors import GuardError
from guard.executors import Task, stop
from guard.executors.board import Row
from guard.program import beside_guard, text_of, write_whole
from guard.spread import plans
from guard.verification.program_files import digest_of, program_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.executors import Executor, Job
    from guard.executors.board import Board
    from guard.spread.plans import Plan

_TAIL = 20  # lines of a run that failed
_PAUSE, _PAUSE_AWAY = 0.02, 0.2  # seconds between two looks, here and at a cluster


class Outcome(NamedTuple):
    """One run."""

    seed: int
    value: float | None  # of the metric; None where there is a problem
    seconds: float
    matched: str = ""  # the text in which it was found
    problem: str = ""  # why there is no value, or ""
    tail: str = ""  # the last lines of the output, where there is a problem
    place: str = ""  # where it ran, "" for this machine


@dataclass
class _Run:
    """One that is under way."""

    plan: Plan
    seed: int
    job: Job
    output: str
    before: plans.Before
    begun: float

    @property
    def row(self) -> Row:
        """As the table has it; the time counts from where it was handed over."""
        place = self.job.place
        return Row(
            f"{self.plan}, seed {self.seed}",
            "running" if place else "waiting",
            place,
            time.monotonic() - self.begun,
        )


class Runs:
    """The runs of several programs with several seeds.

    most   runs at a time; None leaves that to what runs them
    folder for outputs where no plan names one; other machines have to see it
    kept   results of an earlier time, or None
    """

    def __init__(
        self, executor: Executor, most: int | None, folder: str, kept: Kept | None
    ) -> None:
        self._executor = executor
        self._most = most
        self._folder = folder
        self._kept = kept
        self._running: dict[tuple[int, int], _Run] = {}

    def all(
        self,
        programs: Sequence[Plan],
        seeds: Sequence[int],
        board: Board,
    ) -> list[list[Outcome]]:
        """Outcomes of each plan in the order of the seeds; the board shows each when it is there.

        Programs take turns, so that what changes on the machine meanwhile meets both alike.
        """
        waiting = [(index, seed) for seed in seeds for index in range(len(programs))]
        done = {key: found for key in waiting if (found := self._known(programs[key[0]], key))}
        count = len(waiting)
        waiting = [key for key in waiting if key not in done]
        if done:
            board.tell(f"{len(done)} of {count} runs are kept from before")
        try:
            while waiting or self._running:
                while waiting and (self._most is None or len(self._running) < self._most):
                    index, seed = key = waiting.pop(0)
                    self._running[key] = self._start(programs[index], index, seed)
                for key, outcome in self._ended():
                    done[key] = outcome
                    board.tell(f"[{len(done)}/{count}] {programs[key[0]]}, {_told(outcome)}")
                board.show(self._rows(programs, waiting), len(done))
                time.sleep(_PAUSE if self._executor.is_local else _PAUSE_AWAY)
        finally:
            stop([each.job for each in self._running.values()])
        return [[done[index, seed] for seed in seeds] for index in range(len(programs))]

    def _rows(self, programs: Sequence[Plan], waiting: Sequence[tuple[int, int]]) -> list[Row]:
        rows = [each.row for each in self._running.values()]
        return rows + [Row(f"{programs[i]}, seed {seed}", "waiting") for i, seed in waiting]

    def _known(self, plan: Plan, key: tuple[int, int]) -> Outcome | None:
        return self._kept.load(plan, *key) if self._kept else None

    def _start(self, plan: Plan, index: int, seed: int) -> _Run:
        folder = plan.logs or os.path.join(self._folder, "ab"[index])
        os.makedirs(folder, exist_ok=True)
        output = os.path.abspath(os.path.join(folder, f"seed{seed}.log"))
        before = plans.look(plan, seed)
        task = Task(tuple(plan.command(seed)), _environment(plan, seed), os.getcwd(), output)
        return _Run(plan, seed, self._executor.start(task), output, before, time.monotonic())

    def _ended(self) -> Iterator[tuple[tuple[int, int], Outcome]]:
        for key, run in list(self._running.items()):
            status = run.job.poll()
            if status is not None:
                place = "" if self._executor.is_local else run.job.place
                outcome = _outcome(run, status)._replace(place=place)
                del self._running[key]
                if self._kept:
                    self._kept.save(run.plan, *key, outcome)
                yield key, outcome


def _outcome(run: _Run, status: int) -> Outcome:
    plan, seed = run.plan, run.seed
    seconds = time.monotonic() - run.begun
    text = text_of(run.output)  # nothing where it was called off before it began
    try:
        if status:
            raise GuardError(_status(status))  # noqa: TRY301 - one way to a problem
        match = plans.read(plan, seed, text, run.before)
    except GuardError as error:
        return Outcome(seed, None, seconds, problem=str(error), tail=_tail(text))
    if not math.isfinite(match.value):
        problem = f"{plan.metric} is {match.value}, with which no mean can be taken"
        return Outcome(seed, None, seconds, match.text, problem, _tail(text))
    return Outcome(seed, match.value, seconds, match.text)


def _told(outcome: Outcome) -> str:
    where = f", {outcome.place}" if outcome.place else ""
    result = outcome.problem or outcome.matched
    return f"seed {outcome.seed}, {outcome.seconds:.0f} s{where}: {result}"


def _status(status: int) -> str:
    return f"it ended with status {status}" if status > 0 else f"signal {-status} ended it"


def _environment(plan: Plan, seed: int) -> dict[str, str]:
    environ = dict(os.environ)
    if plan.seed_arg is None and not plan.as_is:
        environ.setdefault("PYTHONHASHSEED", str(seed))  # the order of sets is chance as well
        return beside_guard(environ)
    return environ


def _tail(text: str) -> str:
    return "\n".join(text.rstrip().splitlines()[-_TAIL:])


class Kept:
    """The results of a folder. One holds for the same program, as its files now are."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def load(self, plan: Plan, index: int, seed: int) -> Outcome | None:
        """The result of that run, if it is there."""
        with suppress(OSError, ValueError, KeyError, TypeError):
            with open(self._path(index, seed), encoding="utf-8") as file:
                read = json.load(file)
            if read["key"] == _key(plan, seed):
                return Outcome(**read["outcome"])
        return None

    def save(self, plan: Plan, index: int, seed: int, outcome: Outcome) -> None:
        """Keep a result; a run without one is to be made again."""
        if outcome.value is None:
            return
        path = self._path(index, seed)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        told = {"key": _key(plan, seed), "outcome": outcome._asdict()}
        write_whole(path, json.dumps(told, indent=2))

    def _path(self, index: int, seed: int) -> str:
        return os.path.join(self._folder, "ab"[index], f"seed{seed}.json")


def _key(plan: Plan, seed: int) -> str:
    """A digest of what a result depends on, as far as it is known."""
    is_module = plan.program[0] == "-m"
    told: list[object] = [plan.command(seed), plan.metric, plan.source, plan.seeding]
    told.append(sorted(each for each in os.environ.items() if each[0].startswith("GUARD_")))
    files = digest_of(program_files(plan.program[is_module], module=is_module))
    return hashlib.sha256(json.dumps(told).encode() + files).hexdigest()

"""How a program is run with a seed."""

from __future__ import annotations

import glob
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from guard.errors import GuardError
from guard.program import Program, flags
from guard.spread import metrics

if TYPE_CHECKING:
    from collections.abc import Iterable

    Before = dict[str, tuple[int, int, int]]  # path -> when and what

PLACEHOLDER = "{seed}"


@dataclass(frozen=True)
class Plan:
    """How a program is run, and where its metric is read.

    program   script and arguments, or -m, module and arguments; ``{seed}`` stands for the seed
    metric    its name
    source    the file to read it from, or None for the output
    seed_arg  the program's own option for the seed: ``--seed``, ``seed=``; None for none
    as_is     the program gets no seed; with neither, it runs under guard, which seeds
    logs      folder for the outputs, or None
    """

    program: tuple[str, ...]
    metric: str
    source: str | None = None
    seed_arg: str | None = None
    as_is: bool = False
    logs: str | None = None

    def __str__(self) -> str:
        return " ".join(self.program)

    @property
    def seeding(self) -> str:
        """Who seeds, in words."""
        if self.seed_arg is not None:
            return f"seed given as {self.seed_arg}"
        return "run as it is" if self.as_is else "seeded by guard"

    def check(self) -> None:
        """Raise GuardError for a program that cannot be run so."""
        module = self.program[0] == "-m"
        words = self.program[1:] if module else self.program
        if not words or words[0].startswith("-"):
            raise GuardError(f"{str(self)!r} names no program: a script, or -m and a module")
        if self.seed_arg is None and not self.as_is:
            _check_guarded(Program(words[0], list(words[1:]), module=module))
        elif not module and not os.path.exists(words[0]):
            raise GuardError(f"cannot open {words[0]!r}: there is no such file")

    def command(self, seed: int) -> list[str]:
        """The command line of a run."""
        program = [each.replace(PLACEHOLDER, str(seed)) for each in self.program]
        start = [sys.executable, *flags()]
        if self.seed_arg is not None:
            return [*start, *program, *_option(self.seed_arg, seed)]
        return [*start, *([] if self.as_is else _under_guard(seed)), *program]


def _check_guarded(program: Program) -> None:
    if program.launcher:
        raise GuardError(
            f"{program.launcher} starts its ranks by itself; guard goes inside: --as-is "
            f"-m torch.distributed.run … -m guard run --seed {PLACEHOLDER} train.py"
        )
    program.check()


def _option(name: str, seed: int) -> list[str]:
    return [f"{name}{seed}"] if name.endswith("=") else [name, str(seed)]


def _under_guard(seed: int) -> list[str]:
    return ["-m", "guard", "run", "--seed", str(seed)]


def read(plan: Plan, seed: int, text: str, before: Before) -> metrics.Match:
    """The metric of a run that printed a text. Raises GuardError where there is none."""
    if plan.source is None:
        return _printed(text, plan.metric)
    path = _written(plan, seed, before)
    try:
        match = metrics.in_file(path, plan.metric)
    except (GuardError, OSError) as error:
        raise GuardError(f"{path}: {error}") from None
    if match is None:
        raise GuardError(f"{path} holds no number for {plan.metric!r}")
    return metrics.Match(match.value, f"{path}: {match.text}")


def _printed(text: str, name: str) -> metrics.Match:
    match = metrics.in_output(text, name)
    if match is None:
        names = ", ".join(metrics.names_in(text))
        also = f"; numbers that it names: {names}" if names else ""
        raise GuardError(f"it printed no number for {name!r}{also}")
    return match


def _written(plan: Plan, seed: int, before: Before) -> str:
    """The file that this run wrote; one of an earlier run would give that run's value."""
    after = look(plan, seed)
    written = [path for path in after if after[path] != before.get(path)]
    if not written:
        told = "it is there, but this run did not write it" if after else "there is no such file"
        raise GuardError(f"{_path(plan, seed)}: {told}")
    if len(written) > 1:
        raise GuardError(f"it wrote several files of that name: {', '.join(sorted(written))}")
    return written[0]


def _path(plan: Plan, seed: int) -> str:
    return (plan.source or "").replace(PLACEHOLDER, str(seed))


def look(plan: Plan, seed: int) -> Before:
    """The files of ``--from`` as they are now: one that stays so is not from the next run."""
    if plan.source is None:
        return {}
    path = _path(plan, seed)
    found: Iterable[str] = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
    stats = {each: os.stat(each) for each in found if os.path.isfile(each)}
    return {each: (stat.st_mtime_ns, stat.st_size, stat.st_ino) for each, stat in stats.items()}

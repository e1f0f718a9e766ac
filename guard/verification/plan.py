"""What is to be verified, and how: the command line, as data. And what may differ between two runs
without changing what the program computes.

That is made to differ on purpose, from run to run, so that luck does not hide a difference.
Nothing of it needs a ``sitecustomize``: the hash seed and malloc's filling are in the
environment, and the rest is done by ``vary`` before the program begins, in processes that
multiprocessing starts for it as well.
"""

from __future__ import annotations

import json
import os
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.observe.patching import send_along

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

VARIABLE = "_GUARD_CIRCUMSTANCES"  # one that begins with GUARD_ would be taken for a setting

_varied: list[int] = []  # the number of this process's run, once it has been varied


class Circumstance(NamedTuple):
    """One thing that is varied."""

    name: str  # by which it is switched off
    what: str  # in words that follow "under another"
    means: str  # what it means that a program depends on it


HASHES = Circumstance(
    "hashes",
    "order of sets and hashes of strings (PYTHONHASHSEED)",
    "something takes its order from a set of strings, or its value from hash()",
)
MEMORY = Circumstance(
    "memory",
    "content of memory that nothing has written (MALLOC_PERTURB_)",
    "something reads memory that nothing has written, as of torch.empty or numpy.empty",
)
TIMING = Circumstance(
    "timing",
    "timing of threads",
    "something depends on which thread or process is first, or on how far it has come",
)
LISTINGS = Circumstance(
    "listings",
    "order of directory listings",
    "something takes its order from os.listdir, os.walk, glob, Path.iterdir or their like",
)
ADDRESSES = Circumstance(
    "addresses",
    "addresses of objects",
    "something takes its order or its value from id(), or from the default hash of objects",
)
CLOCK = Circumstance(
    "clock",
    "date, time of day and times that pass, as the program's own files read them",
    "something depends on when the program is started, or on how long something takes",
)
CIRCUMSTANCES = (HASHES, MEMORY, TIMING, LISTINGS, ADDRESSES, CLOCK)
NAMES = tuple(each.name for each in CIRCUMSTANCES)


def circumstance_named(name: str) -> Circumstance:
    """The circumstance of a name."""
    return CIRCUMSTANCES[NAMES.index(name)]


def variables_of(
    runs: Mapping[str, int],
    environ: Mapping[str, str],
    hash_seed: Callable[[int], int] = lambda run: run + 1,
    **told: Any,
) -> dict[str, str]:
    """The variables of a process whose circumstances are each those of a run, from 0.

    Those of run 0 are Python's and the file system's own, but for what differs by itself: the
    hash seed and the memory are fixed. A circumstance that is not in ``runs`` is left as it is.
    What the user has set stays. ``hash_seed`` gives that of a run; ``told`` goes to the process
    as well (see ``told``).
    """
    free = {name: run for name, run in runs.items() if name not in given(environ)}
    found = {VARIABLE: json.dumps({"runs": free, **told})}
    if HASHES.name in free:
        found["PYTHONHASHSEED"] = str(hash_seed(free[HASHES.name]))
    if MEMORY.name in free:
        found["MALLOC_PERTURB_"] = str(_perturbation(free[MEMORY.name]))
    return found


def _perturbation(run: int) -> int:
    """What has glibc fill memory with 0x3d, 0x3e…: floats of moderate size in each width.

    glibc writes the complement. It covers torch's CPU allocator at all sizes, and NumPy from
    1 KiB on, below which NumPy keeps a cache of its own; not the GPU's memory.
    """
    return 0xFF - (0x3D + run % 8)


def given(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Those of the circumstances that the user has set."""
    seed = environ.get("PYTHONHASHSEED", "")
    found = (
        (HASHES.name, seed.isascii() and seed.isdigit()),
        (MEMORY.name, bool(environ.get("MALLOC_PERTURB_"))),
    )
    return tuple(name for name, is_set in found if is_set)


def told_by_parent() -> dict[str, Any]:
    """What the parent told this process: "runs", and what else it gave ``variables``."""
    text = os.environ.get(VARIABLE)
    found: dict[str, Any] = json.loads(text) if text else {}
    return found


def vary() -> None:
    """Vary this process, if it was told to, before its program begins; done once."""
    runs = told_by_parent().get("runs", {})
    if _varied or not runs:
        return
    _varied.append(max(runs.values()))
    if HASHES.name in runs:  # Python has read it, and the environment is the user's again
        os.environ.pop("PYTHONHASHSEED", None)
    from guard.verification import perturbations

    if LISTINGS.name in runs:
        perturbations.permute(runs[LISTINGS.name])
    if TIMING.name in runs:
        perturbations.disturb(runs[TIMING.name])
    if ADDRESSES.name in runs:
        perturbations.scatter(runs[ADDRESSES.name])
    if CLOCK.name in runs:
        perturbations.shift(runs[CLOCK.name])
    # Forks are varied anyway.
    send_along(ExitStack(), "guard_circumstances", vary)


@dataclass(frozen=True, slots=True)
class Plan:
    """A program and how its runs are to be."""

    program: str
    arguments: tuple[str, ...] = ()
    module: bool = False
    runs: int = 2
    # whether there may be one run more, where the program's text makes it worth while
    at_ease: bool = False
    until: int | None = None  # number of the last step, from 0; None: to the end
    seed: int | None = None
    guard: bool = False
    values: bool = False
    vary: tuple[str, ...] = NAMES  # names of circumstances that are another in each run
    # whether each run works in a copy of the working folder; None: if that is small
    isolate: bool | None = None
    one_by_one: bool = False  # whether a run begins when the one before has ended
    seconds: int = 900  # without a new step, after which a run counts as hung
    ranks: int = 1  # processes of a run, started as torchrun does; 1: the program alone
    # steps after which ranks compare their parameters and data; None: never
    replicas: int | None = None
    budget: int = 12  # runs on top, to name the operator, the line and the circumstance
    trackers: bool = False  # whether experiment trackers stay on
    executor: str = "local"  # where the runs are, with its options
    executor_options: tuple[tuple[str, str], ...] = ()
    # whether runs that ended in the folder at an earlier time are taken as they are
    goes_on: bool = False

    def circumstances(self, run: int) -> dict[str, int]:
        """Of which run each circumstance is, in a run; with guard, it fixes hashes itself."""
        found = {name: run if name in self.vary else 0 for name in NAMES}
        if self.guard:
            del found["hashes"]
        return found


def recording(
    until: int | None = None,
    operators: int | None = None,
    first_step: int = 0,
    held: int | None = None,
    lane: str = "",
) -> tuple[str, ...]:
    """Options of ``record``: the numbers of the last step, of that in detail, of the first, of
    that before which it is told what the program holds; the task whose steps these are."""
    found = [] if until is None else ["--until", str(until)]
    found += [] if operators is None else ["--operators", str(operators)]
    found += ["--first-step", str(first_step)] if first_step else []
    found += [] if held is None else ["--held", str(held)]
    found += ["--lane", lane] if lane else []
    return tuple(found)

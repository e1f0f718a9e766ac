"""What is to be verified, and how: the command line, as data."""

from __future__ import annotations

from dataclasses import dataclass

from guard.verification.circumstances import NAMES


@dataclass(frozen=True, slots=True)
class Plan:
    """A program and how its runs are to be.

    at_ease     whether there may be one run more, where the program's text makes it worth while
    until       number of the last step, from 0; None: to the end
    vary        names of circumstances that are another in each run
    isolate     whether each run works in a copy of the working folder; None: if that is small
    one_by_one  whether a run begins when the one before has ended
    seconds     without a new step, after which a run counts as hung
    ranks       processes of a run, started as torchrun does; 1: the program alone
    replicas    steps after which ranks compare their parameters and data; None: never
    budget      runs on top, to name the operator, the line and the circumstance
    executor    where the runs are, with its options
    goes_on     whether runs that ended in the folder at an earlier time are taken as they are
    trackers    whether experiment trackers stay on
    """

    program: str
    arguments: tuple[str, ...] = ()
    module: bool = False
    runs: int = 2
    at_ease: bool = False
    until: int | None = None
    seed: int | None = None
    guard: bool = False
    values: bool = False
    vary: tuple[str, ...] = NAMES
    isolate: bool | None = None
    one_by_one: bool = False
    seconds: int = 900
    ranks: int = 1
    replicas: int | None = None
    budget: int = 10
    trackers: bool = False
    executor: str = "local"
    executor_options: tuple[tuple[str, str], ...] = ()
    goes_on: bool = False

    def circumstances(self, run: int) -> dict[str, int]:
        """Of which run each circumstance is, in a run; with guard, it fixes hashes itself."""
        found = {name: run if name in self.vary else 0 for name in NAMES}
        if self.guard:
            del found["hashes"]
        return found


def recording(
    until: int | None = None, operators: int | None = None, first_step: int = 0
) -> tuple[str, ...]:
    """Options of ``record``: the numbers of the last step, of that in detail, of the first."""
    found = [] if until is None else ["--until", str(until)]
    found += [] if operators is None else ["--operators", str(operators)]
    found += ["--first-step", str(first_step)] if first_step else []
    return tuple(found)

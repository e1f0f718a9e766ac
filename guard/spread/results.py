"""The result of a spread as JSON: what ``--json`` writes, and ``spread compare`` reads."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from guard.errors import GuardError
from guard.spread.estimates import (
    CONFIDENCE,
    Estimate,
    mean_of,
    needed_paired,
    needed_welch,
    paired,
    welch,
)
from guard.spread.runs import Outcome

FORMAT = 1


@dataclass(frozen=True)
class Arm:
    """A program with its runs, in the order of their seeds."""

    command: str
    seeding: str
    metric: str
    outcomes: tuple[Outcome, ...]

    @property
    def values(self) -> dict[int, float]:
        """The metric by seed, of the runs that gave one."""
        return {each.seed: each.value for each in self.outcomes if each.value is not None}

    @property
    def mean(self) -> Estimate | None:
        """None for fewer than two values."""
        return mean_of(list(self.values.values())) if len(self.values) > 1 else None

    @property
    def problems(self) -> list[Outcome]:
        """The runs without a value."""
        return [each for each in self.outcomes if each.value is None]

    @property
    def is_constant(self) -> bool:
        """Whether each seed gave the very same value."""
        return len(self.values) > 1 and len(set(self.values.values())) == 1

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it; docs/spread.md describes the keys."""
        return {
            "command": self.command,
            "seeding": self.seeding,
            "runs": [each._asdict() for each in self.outcomes],
            "mean": _as_dict(self.mean),
        }


@dataclass(frozen=True)
class Difference:
    """The second program's metric minus the first's.

    paired, by which the verdict goes where both ran with the same seeds: it holds whatever a
    seed does to both. The choice is made before the values are known.
    """

    welch: Estimate
    paired: Estimate | None
    seeds_needed: int | None

    @property
    def method(self) -> str:
        """By which the verdict goes."""
        return "welch" if self.paired is None else "paired"

    @property
    def deciding(self) -> Estimate:
        """The estimate by which the verdict goes."""
        return self.welch if self.paired is None else self.paired

    def as_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "method": self.method,
            "outside_the_spread": self.deciding.is_told_from_zero,
            "welch": _as_dict(self.welch),
            "paired": _as_dict(self.paired),
            "seeds_needed": self.seeds_needed,
        }


def difference(first: Arm, second: Arm) -> Difference | None:
    """None where one of the two has fewer than two values."""
    before, after = first.values, second.values
    if min(len(before), len(after)) < 2:
        return None
    values = list(before.values()), list(after.values())
    unpaired = welch(*values)
    if before.keys() != after.keys():
        return Difference(unpaired, None, needed_welch(unpaired, *values))
    by_seed = paired([before[seed] for seed in before], [after[seed] for seed in before])
    return Difference(unpaired, by_seed, needed_paired(by_seed))


def document(arms: list[Arm], verdict: str) -> dict[str, Any]:
    """All of it as JSON has it."""
    told = difference(*arms) if len(arms) == 2 else None
    return {
        "format": FORMAT,
        "metric": arms[0].metric,
        "confidence": CONFIDENCE,
        "programs": [arm.as_dict() for arm in arms],
        "difference": None if told is None else told.as_dict(),
        "verdict": verdict,
    }


def load(path: str) -> Arm:
    """The program of an earlier result. Raises GuardError for a file that is not one."""
    try:
        with open(path, encoding="utf-8") as file:
            read = json.load(file)
        programs = read["programs"]
        if read["format"] != FORMAT or len(programs) != 1:
            raise GuardError(f"{path}: a result of one program is needed, in format {FORMAT}")
        (program,) = programs
        outcomes = tuple(Outcome(**run) for run in program["runs"])
        return Arm(program["command"], program["seeding"], read["metric"], outcomes)
    except OSError as error:
        raise GuardError(f"cannot open {path!r}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise GuardError(f"{path} is not what `spread --json` wrote: {error!r}") from None


def _as_dict(estimate: Estimate | None) -> dict[str, float] | None:
    if estimate is None:
        return None
    return {
        "value": estimate.value,
        "deviation": estimate.deviation,
        "low": estimate.low,
        "high": estimate.high,
        "degrees_of_freedom": estimate.degrees,
    }

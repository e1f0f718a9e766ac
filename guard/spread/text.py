"""The report of a spread: for a person, and as JSON, which ``spread compare`` reads."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from guard.errors import GuardError
from guard.spread.estimates import (
    CONFIDENCE,
    MOST_SEEDS,
    Estimate,
    detectable,
    mean_of,
    needed_paired,
    needed_welch,
    paired,
    welch,
)
from guard.spread.runs import Outcome
from guard.terminal import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Shown = Callable[[float], str]


_ASSUMED = (
    "The intervals hold 95% and are Student's t: the runs are taken for independent, their values\n"
    "for roughly normally distributed."
)
_ROUNDING = 1e-9  # what is left of equal differences, relative to the values
_METHODS = {
    "paired": "paired by seed",
    "welch": "Welch's t, for runs with different seeds",
}


def render(arms: Sequence[Arm], marks: Marks) -> str:
    """The runs, the means, the plot, and what they tell."""
    shown = _scale(arms)
    parts = [_told_of(arm, _name(arm, arms), shown) for arm in arms]
    rows = [row for arm in arms for row in _rows(arm, arms)]
    vary = len({value for arm in arms for value in arm.values.values()}) > 1
    plot = "\n".join(draw(rows, shown, marks)) if vary else ""
    heading = f"{arms[0].metric} of " + " and of ".join(_name(arm, arms) for arm in arms)
    assumed = _ASSUMED if any(arm.mean and not arm.is_constant for arm in arms) else ""
    return "\n\n".join(each for each in (heading, plot, *parts, verdict(arms), assumed) if each)


def verdict(arms: Sequence[Arm]) -> str:
    """The answer in a sentence or two; of one program, what could be told apart."""
    if len(arms) == 2:
        told = difference(*arms)
        return "" if told is None else _compared(arms[0], arms[1], told)
    mean = arms[0].mean
    if mean is None or arms[0].is_constant:
        return ""
    count = len(arms[0].values)
    reach = _format(_decimals(mean.deviation))(detectable(mean.deviation, count))
    return (
        f"Another program with this spread is told apart with {count} seeds, in four of five "
        f"tries, where its mean differs by {reach} or more."
    )


def failures(arms: Sequence[Arm]) -> str:
    """The runs that gave no value, with the ends of their outputs."""
    parts = []
    for arm in arms:
        for each in arm.problems:
            parts.append(f"seed {each.seed} of {arm.command}: {each.problem}")
            parts.extend(f"    {line}" for line in each.tail.splitlines())
    return "\n".join(parts)


def _rows(arm: Arm, arms: Sequence[Arm]) -> list[Row]:
    letter = _letter(arm, arms)
    prefix = f"{letter} " if letter else ""
    rows = [Row(f"{prefix}seed {seed}", value) for seed, value in arm.values.items()]
    if arm.mean is not None:
        rows.append(Row(f"{prefix}mean", arm.mean.value, (arm.mean.low, arm.mean.high)))
    return rows


def _letter(arm: Arm, arms: Sequence[Arm]) -> str:
    return "" if len(arms) == 1 else "AB"[next(i for i, each in enumerate(arms) if each is arm)]


def _name(arm: Arm, arms: Sequence[Arm]) -> str:
    """The command; of two programs with the letter that stands for it."""
    letter = _letter(arm, arms)
    return f"{arm.command} ({letter})" if letter else arm.command


def _told_of(arm: Arm, name: str, shown: Shown) -> str:
    count, mean = len(arm.values), arm.mean
    if mean is None:
        return f"{name}: {counted(count, 'value')}, and two are needed for a spread"
    if arm.is_constant:
        return _constant(arm, name)
    return (
        f"{name}, {counted(count, 'seed')}, {arm.seeding}:\n"
        f"  mean {shown(mean.value)} ± {shown(mean.half)} ({shown(mean.low)} to "
        f"{shown(mean.high)}; {mean.degrees:g} degrees of freedom)\n"
        f"  standard deviation {shown(mean.deviation)}, values from "
        f"{shown(min(arm.values.values()))} to {shown(max(arm.values.values()))}"
    )


def _constant(arm: Arm, name: str) -> str:
    """No spread at all is most often a seed that does not arrive."""
    value = next(iter(arm.values.values()))
    told = f"{name}, {arm.seeding}: all {len(arm.values)} runs gave {value!r} exactly."
    if arm.seeding == "run as it is":
        return f"{told} They repeat, so there is nothing to measure without another seed."
    return (
        f"{told} That is no spread, but most likely a program that sets a seed of its own, or "
        "draws nothing: give it the seed with --seed-arg --seed (or as its own option is called)."
    )


def _compared(first: Arm, second: Arm, told: Difference) -> str:
    found = told.deciding
    if found.deviation <= _ROUNDING * max(map(abs, [*first.values.values(), found.value])):
        return _alike(first, second, found.value)
    shown = _format(_decimals(found.half))
    seeds = _seeds(first, second)
    how = _METHODS[told.method]
    if found.is_told_from_zero:
        side = "lower" if found.value < 0 else "higher"
        text = (
            f"B is {side} by {shown(abs(found.value))} ± {shown(found.half)} ({how}): with "
            f"{seeds} that lies outside the spread."
        )
    else:
        text = (
            f"With {seeds} the difference {shown(found.value)} ± {shown(found.half)} ({how}) "
            f"cannot be told from chance. {_more(told)}"
        )
    return text + _other(told)


def _alike(first: Arm, second: Arm, value: float) -> str:
    """A difference that no seed moves."""
    if not value:
        return "The two do not differ, with any of the seeds."
    side = "lower" if value < 0 else "higher"
    if first.is_constant and second.is_constant:
        told = "Neither varies with the seed, so that the seeds say nothing of chance"
        return f"{told}; B is {side} by {abs(value):.6g}."
    return f"B is {side} by {abs(value):.6g} with each seed: that lies outside the spread."


def _more(told: Difference) -> str:
    if not told.deciding.value:
        return "The means are equal."
    if told.seeds_needed is None:
        return f"A difference of this size takes more than {MOST_SEEDS:,} seeds."
    return (
        f"Were it real, about {told.seeds_needed:,} seeds for each would tell it, in four of five "
        "tries."
    )


def _other(told: Difference) -> str:
    """The method that does not decide, where the two would."""
    if told.paired is None:
        return ""
    shown = _format(_decimals(told.welch.half))
    agrees = told.welch.is_told_from_zero == told.paired.is_told_from_zero
    tells = "" if agrees else ", which would say otherwise"
    return f"\nNot paired: {shown(told.welch.value)} ± {shown(told.welch.half)} (Welch's t){tells}."


def _seeds(first: Arm, second: Arm) -> str:
    counts = len(first.values), len(second.values)
    if counts[0] == counts[1]:
        return counted(counts[0], "seed")
    return f"{counts[0]} and {counts[1]} seeds"


def _scale(arms: Sequence[Arm]) -> Shown:
    """So many decimals that the least standard deviation has two digits."""
    spreads = [arm.mean.deviation for arm in arms if arm.mean and arm.mean.deviation]
    return _format(_decimals(min(spreads, default=0.0)))


def _decimals(spread: float) -> int | None:
    """None where there is nothing to go by, or it is far from one."""
    if not spread or not 1e-9 < spread < 1e9:
        return None
    return max(0, 1 - math.floor(math.log10(spread)))


def _format(decimals: int | None) -> Shown:
    if decimals is None:
        return lambda number: f"{number:.6g}"
    return lambda number: f"{number:.{decimals}f}"


WIDTH = 41  # an odd number has a middle


class Row(NamedTuple):
    """What a line shows: a value, and the ends of its interval, if it has one."""

    label: str
    value: float
    ends: tuple[float, float] | None = None


class Marks(NamedTuple):
    """The characters of a plot."""

    border: str = "│"
    run: str = "●"
    mean: str = "◆"
    left: str = "├"
    line: str = "─"
    right: str = "┤"


ASCII = Marks("|", "o", "#", "[", "-", "]")


def marks_for(encoding: str | None) -> Marks:
    """Those that a stream can show."""
    try:
        "".join(Marks()).encode(encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return Marks()


def draw(rows: Sequence[Row], shown: Callable[[float], str], marks: Marks) -> list[str]:
    """The lines of a plot, with an axis below."""
    points = [each for row in rows for each in (row.value, *(row.ends or ()))]
    low, high = min(points), max(points)
    labels = max(len(row.label) for row in rows)
    numbers = max(len(shown(row.value)) for row in rows)
    lines = [
        f"  {row.label:<{labels}}  {shown(row.value):>{numbers}}  "
        f"{marks.border}{_strip(row, low, high, marks)}{marks.border}"
        for row in rows
    ]
    if low == high:
        return lines
    left, right = shown(low), shown(high)
    axis = left + right.rjust(WIDTH + 2 - len(left))
    return [*lines, " " * (labels + numbers + 6) + axis]


def _strip(row: Row, low: float, high: float, marks: Marks) -> str:
    cells = [" "] * WIDTH
    if row.ends is not None:
        first, last = (_column(end, low, high) for end in row.ends)
        cells[first : last + 1] = marks.line * (last + 1 - first)
        cells[first], cells[last] = marks.left, marks.right
    cells[_column(row.value, low, high)] = marks.run if row.ends is None else marks.mean
    return "".join(cells)


def _column(value: float, low: float, high: float) -> int:
    if low == high:
        return WIDTH // 2
    return round((value - low) / (high - low) * (WIDTH - 1))


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

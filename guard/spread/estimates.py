"""What a few runs tell: the mean with its interval, and what could be told apart.

The tail of Student's t is half the regularised incomplete beta function, I_x(df/2, 1/2) at x =
df/(df + t²): NIST Digital Library of Mathematical Functions, 8.17; the continued fraction is
8.17.22 there, evaluated from the front by Lentz's method. Degrees of freedom need not be whole:
Welch's are not.
"""

from __future__ import annotations

import math
import statistics
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

CONFIDENCE = 0.95
POWER = 0.8  # the customary one: a difference that is there is found in four of five tries
MOST_SEEDS = 100_000  # beyond this nobody wants to know
_TINY = 1e-300
_CLOSE = 1e-15
_TERMS = 100_000  # about the square root of the degrees of freedom are needed


class Estimate(NamedTuple):
    """A mean, or a difference of means, and how far it can be trusted."""

    value: float  # the mean, or the difference
    deviation: float  # standard deviation of the values (of the differences where they are paired)
    half: float  # half the width of the interval of confidence
    degrees: float  # of freedom, of Student's t

    @property
    def low(self) -> float:
        """The lower end of the interval."""
        return self.value - self.half

    @property
    def high(self) -> float:
        """The upper end of the interval."""
        return self.value + self.half

    @property
    def is_told_from_zero(self) -> bool:
        """Whether zero lies outside the interval."""
        return abs(self.value) > self.half


def mean_of(values: Sequence[float]) -> Estimate:
    """The mean of two values or more, with the interval of Student's t."""
    count = len(values)
    deviation = statistics.stdev(values)
    half = _critical(count - 1) * deviation / math.sqrt(count)
    return Estimate(statistics.mean(values), deviation, half, count - 1)


def paired(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Second minus first, seed by seed: what a seed does to both alike falls out."""
    return mean_of([after - before for before, after in zip(first, second, strict=True)])


def welch(first: Sequence[float], second: Sequence[float]) -> Estimate:
    """Second minus first, of runs that have nothing in common, whose spreads may differ.

    B. L. Welch, The generalization of "Student's" problem when several different population
    variances are involved, Biometrika 34 (1947). The deviation is that of the difference of a
    run from each.
    """
    parts = [(statistics.variance(each), len(each)) for each in (first, second)]
    error = sum(variance / count for variance, count in parts)
    degrees = _welch_degrees(parts)
    return Estimate(
        statistics.mean(second) - statistics.mean(first),
        math.sqrt(sum(variance for variance, _ in parts)),
        _critical(degrees) * math.sqrt(error),
        degrees,
    )


def _welch_degrees(parts: Sequence[tuple[float, int]]) -> float:
    largest = max(variance for variance, _ in parts)
    if not largest:
        return sum(count - 1 for _, count in parts)
    scaled = [(variance / largest, count) for variance, count in parts]  # squares may underflow
    below = sum((variance / count) ** 2 / (count - 1) for variance, count in scaled)
    return sum(variance / count for variance, count in scaled) ** 2 / below


def detectable(deviation: float, count: int) -> float:
    """The difference that ``count`` runs of each of two programs of this spread would tell."""
    return _reach(2 * (count - 1)) * deviation * math.sqrt(2 / count)


def needed_paired(difference: Estimate) -> int | None:
    """How many seeds would tell a paired difference of this size; None for too many."""
    return _fewest(difference, ((count, count - 1) for count in _counts(difference)))


def needed_welch(
    difference: Estimate, first: Sequence[float], second: Sequence[float]
) -> int | None:
    """How many seeds for each of the two would tell a difference of this size."""
    variances = [statistics.variance(each) for each in (first, second)]
    degrees = (
        (count, _welch_degrees([(variance, count) for variance in variances]))
        for count in _counts(difference)
    )
    return _fewest(difference, degrees)


def _fewest(difference: Estimate, degrees: Iterator[tuple[int, float]]) -> int | None:
    for count, freedom in degrees:
        if _reach(freedom) * difference.deviation / math.sqrt(count) <= abs(difference.value):
            return count
    return None


def _counts(difference: Estimate) -> range:
    """Where to look: from what normal values would need, which is a little too few."""
    if not difference.value:
        return range(0)
    normal = statistics.NormalDist()
    reach = normal.inv_cdf((1 + CONFIDENCE) / 2) + normal.inv_cdf(POWER)
    start = (reach * difference.deviation / difference.value) ** 2
    return range(max(2, math.floor(min(start, MOST_SEEDS + 1))), MOST_SEEDS)


@cache
def _critical(degrees: float) -> float:
    return quantile((1 + CONFIDENCE) / 2, degrees)


def _reach(degrees: float) -> float:
    """In standard errors: the difference that is told from zero with the probability POWER."""
    return _critical(degrees) + quantile(POWER, degrees)


def tail(t: float, degrees: float) -> float:
    """The probability of a value above ``t``; ``degrees`` is above 0."""
    if t < 0:
        return 1 - tail(-t, degrees)
    whole = degrees + t * t
    return _incomplete_beta(degrees / whole, t * t / whole, degrees / 2, 0.5) / 2


def quantile(probability: float, degrees: float) -> float:
    """The value that a variable stays below with a probability, in ]0, 1[."""
    if probability < 0.5:
        return -quantile(1 - probability, degrees)
    low, high = 0.0, 1.0
    while tail(high, degrees) > 1 - probability:
        low, high = high, high * 2
    while low < (middle := (low + high) / 2) < high:  # until there is no number between
        if tail(middle, degrees) > 1 - probability:
            low = middle
        else:
            high = middle
    return high


def _incomplete_beta(x: float, rest: float, a: float, b: float) -> float:
    """I_x(a, b), with ``rest`` = 1 - x, which the caller knows without cancellation."""
    if x <= 0 or rest <= 0:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):  # the fraction converges slowly there
        return 1 - _incomplete_beta(rest, x, b, a)
    log_beta = math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    return math.exp(a * math.log(x) + b * math.log(rest) - log_beta) / a * _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    above, below, value = 1.0, 0.0, 1.0
    for term in range(_TERMS):
        m = term // 2
        if term == 0:
            part = 1.0
        elif term % 2:
            part = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            part = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        below = 1 / _nonzero(1 + part * below)
        above = _nonzero(1 + part / above)
        value *= above * below
        if abs(above * below - 1) < _CLOSE:
            break
    return value - 1


def _nonzero(number: float) -> float:
    return number if abs(number) > _TINY else _TINY

"""The numbers of ``guard spread``, against published tables and worked examples."""

from __future__ import annotations

import random

import pytest

from guard.spread.estimates import (
    Estimate,
    detectable,
    mean_of,
    needed_paired,
    needed_welch,
    paired,
    quantile,
    tail,
    welch,
)

# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2: upper critical values of Student's
# t distribution, at 0.90, 0.95, 0.975, 0.99 and 0.995.
TABLE = {
    1: (3.078, 6.314, 12.706, 31.821, 63.657),
    2: (1.886, 2.920, 4.303, 6.965, 9.925),
    3: (1.638, 2.353, 3.182, 4.541, 5.841),
    4: (1.533, 2.132, 2.776, 3.747, 4.604),
    5: (1.476, 2.015, 2.571, 3.365, 4.032),
    9: (1.383, 1.833, 2.262, 2.821, 3.250),
    10: (1.372, 1.812, 2.228, 2.764, 3.169),
    19: (1.328, 1.729, 2.093, 2.539, 2.861),
    30: (1.310, 1.697, 2.042, 2.457, 2.750),
    100: (1.290, 1.660, 1.984, 2.364, 2.626),
}
# W. S. Gosset ("Student"), The probable error of a mean, Biometrika 6 (1908): hours of sleep
# gained by ten patients with each of two drugs. R's help of t.test has these results of them.
FIRST = (0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0)
SECOND = (1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4)


@pytest.mark.parametrize("degrees", TABLE)
def test_quantiles_are_the_published_ones(degrees: int) -> None:
    probabilities = (0.90, 0.95, 0.975, 0.99, 0.995)
    found = [round(quantile(each, degrees), 3) for each in probabilities]
    assert found == list(TABLE[degrees])


def test_quantiles_and_tails_are_those_of_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    for degrees in (1, 1.5, 2, 3.7, 4, 8, 9.89, 30, 1e3, 1e5):
        for probability in (0.025, 0.2, 0.6, 0.8, 0.975, 0.9999):
            expected = stats.t.ppf(probability, degrees)
            assert quantile(probability, degrees) == pytest.approx(expected, rel=1e-9)
            assert tail(expected, degrees) == pytest.approx(1 - probability, rel=1e-9)


def test_half_lies_below_the_middle() -> None:
    assert quantile(0.5, 4) == pytest.approx(0, abs=1e-9)
    assert tail(0, 4) == 0.5
    assert tail(-2.776, 4) == pytest.approx(0.975, abs=1e-4)


def test_welchs_interval_is_that_of_the_textbook() -> None:
    found = welch(FIRST, SECOND)
    assert found.degrees == pytest.approx(17.776, abs=1e-3)
    assert (found.low, found.high) == pytest.approx((-0.2054832, 3.3654832), abs=1e-7)
    assert not found.is_told_from_zero


def test_the_paired_interval_is_that_of_the_textbook() -> None:
    found = paired(FIRST, SECOND)
    assert found.degrees == 9
    assert (found.low, found.high) == pytest.approx((0.7001142, 2.4598858), abs=1e-7)
    assert found.is_told_from_zero


def test_a_mean_of_equal_values_has_no_width() -> None:
    assert mean_of([0.1, 0.1, 0.1]) == Estimate(0.1, 0.0, 0.0, 2)
    assert welch([0.1] * 3, [0.3] * 3)[1:] == (0.0, 0.0, 4)


def test_intervals_hold_the_mean_as_often_as_they_say() -> None:
    generator = random.Random(0)
    draws = ([generator.gauss(5, 2) for _ in range(4)] for _ in range(1000))
    means = map(mean_of, draws)
    held = sum(each.low <= 5 <= each.high for each in means)
    assert 930 <= held <= 970  # 950 ± three standard deviations


def test_as_many_seeds_as_are_said_to_be_needed_tell_the_difference_four_times_in_five() -> None:
    stats = pytest.importorskip("scipy.stats")

    def power(size: float, count: int) -> float:
        return float(stats.nct.sf(stats.t.ppf(0.975, count - 1), count - 1, size * count**0.5))

    for size in (0.2, 0.4, 1.0, 2.0):
        count = needed_paired(Estimate(size, 1.0, 9.9, 4))
        assert count is not None
        assert power(size, count) > 0.798
        assert power(size, count - 1) < 0.802


def test_the_detectable_difference_and_the_seeds_needed_agree() -> None:
    values = [0.1 * each for each in range(8)]
    deviation = mean_of(values).deviation
    shifted = [each + detectable(deviation, 8) * 1.001 for each in values]
    assert needed_welch(welch(values, shifted), values, shifted) == 8


def test_no_number_of_seeds_tells_what_is_not_there() -> None:
    assert needed_paired(Estimate(0.0, 1.0, 1.0, 4)) is None
    assert needed_paired(Estimate(1e-9, 1.0, 1.0, 4)) is None
    assert needed_paired(Estimate(-1e9, 1.0, 1.0, 4)) == 2

"""Student's t distribution, which neither the standard library nor NumPy has.

Its tail is half the regularised incomplete beta function, I_x(df/2, 1/2) at x = df/(df + t²):
NIST Digital Library of Mathematical Functions, 8.17; the continued fraction is 8.17.22 there,
evaluated from the front by Lentz's method. Degrees of freedom need not be whole: Welch's are not.
"""

from __future__ import annotations

import math

_TINY = 1e-300
_CLOSE = 1e-15
_TERMS = 100_000  # about the square root of the degrees of freedom are needed


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

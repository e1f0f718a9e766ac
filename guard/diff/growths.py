"""How far apart the values of two events are: absolutely, and in units in the last place."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from guard.diff.differences import Size

if TYPE_CHECKING:
    from guard.trace import Event

# Bits of the significand (the leading one counted) and the smallest normal exponent, by type.
_PRECISIONS = {
    "float16": (11, -14),
    "bfloat16": (8, -126),
    "float32": (24, -126),
    "float64": (53, -1022),
    "complex64": (24, -126),
    "complex128": (53, -1022),
}


def apart(first: Event, second: Event) -> Size | None:
    """The largest differences of all recorded values; None where there are none.

    NaN and infinities on one side alone count as infinitely far.
    """
    pairs = _values(first, second)
    if not pairs:
        return None
    kind = first.detail.partition("[")[0]
    absolute = max(_distance(a, b) for a, b in pairs)
    if not kind:
        return Size(absolute, None)
    ulps = max(_distance(a, b) / _unit(max(abs(a), abs(b)), kind) for a, b in pairs)
    return Size(absolute, ulps)


def _values(first: Event, second: Event) -> list[tuple[float, float]]:
    if first.summary is not None and second.summary is not None:
        ones, others = (
            (each.min, each.max, *each.sample) for each in (first.summary, second.summary)
        )
        return list(zip(ones, others, strict=False))
    if first.kind == "operator":  # its value went in
        return []
    if first.value is not None and second.value is not None:
        return [(first.value, second.value)]
    return []


def _distance(one: float, other: float) -> float:
    if one == other or (math.isnan(one) and math.isnan(other)):
        return 0.0
    distance = abs(one - other)
    return math.inf if math.isnan(distance) else distance


def _unit(size: float, kind: str) -> float:
    """What one unit in the last place is worth at a size; 1 for whole numbers."""
    if kind not in _PRECISIONS:
        return 1.0
    bits, smallest = _PRECISIONS[kind]
    exponent = smallest if size == 0 or not math.isfinite(size) else math.frexp(size)[1] - 1
    return math.ldexp(1.0, max(exponent, smallest) - bits + 1)

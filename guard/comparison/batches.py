"""Whether batches that differ are the same ones in another order."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from guard.comparison.pairs import Pair

_LOOKED = 20_000  # steps, at most
_ENOUGH = 0.5  # of those that differ and have come in the other run's steps as well


def is_reordered(pair: Pair, position: int, name: str) -> bool:
    """Whether most batches from a step on come in the other run too, in other steps.

    ``name`` is that of the part which differs: labels can be the same in all batches. A batch
    counts as a whole: samples that are shuffled into other batches are other content. An epoch
    need not be over, so that some may still be to come.
    """
    found = [_batches(pair, run, position, name) for run in (0, 1)]
    fewest = min(sum(each.values()) for each in found)
    shared = sum((found[0] & found[1]).values())
    return fewest > 1 and shared >= _ENOUGH * fewest


def _batches(pair: Pair, run: int, start: int, name: str) -> Counter[bytes]:
    trace, layouts = pair.traces[run], pair.layouts[run]
    size = min(each.header.digest_size for each in pair.traces)
    counted: Counter[bytes] = Counter()
    for position in range(start, min(len(pair), start + _LOOKED)):
        index = pair.places(position)[run]
        raw = trace.raw(index)
        layout = layouts.of(index, raw)
        for at, (kind, its_name, _) in enumerate(layout.keys):
            if kind == "batch" and its_name == name:
                counted[layout.digest(raw, at)[:size]] += 1
    return counted

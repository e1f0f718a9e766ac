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
    apart = [
        at for at in range(position, min(len(pair), position + _LOOKED)) if _is_other(pair, at)
    ]
    found = [_batches(pair, run, apart, name) for run in (0, 1)]
    fewest = min(sum(each.values()) for each in found)
    shared = sum((found[0] & found[1]).values())
    return fewest > 1 and shared >= _ENOUGH * fewest


def _is_other(pair: Pair, position: int) -> bool:
    """Whether a step's batches are not those of the other run."""
    held = [_of_step(pair, run, position) for run in (0, 1)]
    return held[0] != held[1]


def _of_step(pair: Pair, run: int, position: int) -> list[tuple[str, bytes]]:
    index = pair.places(position)[run]
    raw = pair.traces[run].raw(index)
    layout = pair.layouts[run].of(index, raw)
    size = min(each.header.digest_size for each in pair.traces)
    return [
        (name, layout.digest(raw, at)[:size])
        for at, (kind, name, _) in enumerate(layout.keys)
        if kind == "batch"
    ]


def _batches(pair: Pair, run: int, positions: list[int], name: str) -> Counter[bytes]:
    held = (each for position in positions for each in _of_step(pair, run, position))
    return Counter(digest for its_name, digest in held if its_name == name)

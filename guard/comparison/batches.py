"""Whether batches that differ are the same ones in another order, or hold the same samples."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from guard.comparison.pairs import Pair

_LOOKED = 20_000  # steps, at most
_ENOUGH = 0.5  # of those that differ and have come in the other run's steps as well


class _Batch(NamedTuple):
    digest: bytes
    samples: bytes  # the sum of their fingerprints, b"" where it is not known


class Samples(NamedTuple):
    """What is known of the samples from a step on.

    batches  after how many the runs have had the same samples; 0 if they have not
    compared how many batches of both there are; 0 where samples are not known
    """

    batches: int
    compared: int


def is_reordered(pair: Pair, position: int, name: str) -> bool:
    """Whether most batches from a step on come in the other run too, in other steps.

    ``name`` is that of the part which differs: labels can be the same in all batches. A batch
    counts as a whole. An epoch need not be over, so that some may still be to come.
    """
    found: tuple[Counter[bytes], Counter[bytes]] = (Counter(), Counter())
    for at in range(position, min(len(pair), position + _LOOKED)):
        held = [_of_step(pair, run, at) for run in (0, 1)]
        if held[0] != held[1]:
            for counter, batches in zip(found, held, strict=True):
                counter.update(each.digest for each in batches.get(name, ()))
    fewest = min(each.total() for each in found)
    shared = (found[0] & found[1]).total()
    return fewest > 1 and shared >= _ENOUGH * fewest


def samples(pair: Pair, position: int, name: str) -> Samples:
    """Whether the runs have had the same samples at some time after a step, as at the end of an
    epoch: the sums over all their batches since then are the same."""
    size = 8 * min(each.header.digest_size for each in pair.traces)
    totals, compared = [0, 0], 0
    for at in range(position, min(len(pair), position + _LOOKED)):
        held = [_of_step(pair, run, at).get(name, []) for run in (0, 1)]
        if len(held[0]) != len(held[1]) or not all(e.samples for run in held for e in run):
            return Samples(0, 0)
        for run in (0, 1):
            totals[run] += sum(int.from_bytes(each.samples, "little") for each in held[run])
        compared += len(held[0])
        if compared and (totals[0] - totals[1]) % (1 << size) == 0:
            return Samples(compared, compared)
    return Samples(0, compared)


def _of_step(pair: Pair, run: int, position: int) -> dict[str, list[_Batch]]:
    index = pair.places(position)[run]
    raw = pair.traces[run].raw(index)
    layout = pair.layouts[run].of(index, raw)
    size = min(each.header.digest_size for each in pair.traces)
    found: dict[str, list[_Batch]] = {}
    for at, (kind, name, _) in enumerate(layout.keys):
        if kind == "batch":
            batch = _Batch(layout.digest(raw, at)[:size], layout.inputs(raw, at)[:size])
            found.setdefault(name, []).append(batch)
    return found

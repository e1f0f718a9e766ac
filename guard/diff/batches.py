"""Batches that differ: their order, what they hold, or the generator that drew them.

A batch that holds the same samples in another order is another order, and no other content.
"""

from __future__ import annotations

from collections import Counter
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from guard.diff.differences import Cause
from guard.diff.names import INPUT, MADE
from guard.diff.situations import COMMAND, SEED, Verdict
from guard.diff.walks import START, drawn_since, explaining_generators, named_generators

if TYPE_CHECKING:
    from guard.diff.pairs import Pair
    from guard.diff.situations import Situation
    from guard.diff.walks import Draw

# What differs most often, in whatever a difference comes from.
LOOK = (
    "Look at {}: a set or a listing that is not sorted, a generator without a seed, the time, "
    "hash() and id(), a thread or a wait for some seconds, memory that nothing has written, a file "
    "that one run saw and the other did not, or that another program writes."
)
_ORDER = LOOK.format("what the order comes from, and at workers with in_order=False")
_CONTENT = LOOK.format(
    "what it is made from, by a loader, its sampler and transforms or other code"
)
_BETWEEN = LOOK.format("what the program does with the batch before it calls the model")
_DECIDED = LOOK.format("what decides whether it is given")
_NOTHING = "NoneType"
SEEDING = (
    "Seed it before anything draws from it: `python -m guard run` seeds all of them, and "
    "guard.enable(seed=…) does in the program."
)
WRITING = (
    "Write every element before it is read: torch.zeros in the place of torch.empty and of tensors "
    "made by their size alone, as by torch.FloatTensor(n), and out= beside where= of NumPy's "
    "functions. Fill what resize_ adds, or read only as far as has been written. Under `python -m "
    "guard run` torch fills its own memory, and NumPy does not, so that it is at least the same in "
    "each run."
)
_OWN = (
    "Give it a fixed seed where it is made, with its manual_seed(): torch.manual_seed and "
    "`python -m guard run` seed the global generators alone, and its seed() takes one by chance."
)
DRAWING = LOOK.format("what one run draws and the other does not")
_LOOKED = 20_000  # steps, at most
_ENOUGH = 0.5  # of those that differ and have come in the other run's steps as well


def judge_batch(situation: Situation) -> Verdict:
    """Whether a generator explains it, else order or content."""
    explaining = explaining_generators(situation.parting, made_before=True)
    if explaining and not _is_consequence(situation, explaining):
        return drawn(situation, explaining)
    (first, second), given, parting = situation.both, situation.before, situation.parting
    pair, position, name = parting.pair, parting.position, first.name
    cause, advice, is_input = Cause.BATCH_CONTENT, _CONTENT, name.endswith(INPUT)
    shapes = _shapes(situation)
    about = f"{_agreeing(situation)}{shapes}"
    if is_reordered(pair, position, name):
        cause, advice, about = Cause.BATCH_ORDER, _ORDER, _agreeing(situation)
        why = "is another one, and the batches of one run come in the other at other places. "
    elif (found := samples(pair, position, name)).batches:
        cause, advice = Cause.BATCH_ORDER, _ORDER
        why = f"is another one, and {_same(found, is_sized=bool(shapes))}. "
    elif is_input and first.detail.count(_NOTHING) != second.detail.count(_NOTHING):
        cause, advice = Cause.CONTROL_FLOW, _DECIDED
        why = "has None in one run where it has something in the other. "
    elif is_input and any(e.kind == "batch" and not e.name.endswith(INPUT) for e in given):
        advice = _BETWEEN
        why = "holds something else, and the batch that the loader gave agrees. "
    else:
        why = f"holds something else, and everything before it agrees. {_other(found)}"
    told = f"{_upper(situation.what)} {why}{about}".strip()
    return Verdict(cause, told + situation.started(SEED, COMMAND), advice)


def drawn(situation: Situation, explaining: list[Draw]) -> Verdict:
    """The verdict that generators explain a difference."""
    names = named_generators(explaining)
    since = drawn_since(explaining, situation.parting)
    were = "were" if len(explaining) > 1 else "was"
    if all(each.since == START for each in explaining):
        why = (
            f"{names} {were} not in the same state from the beginning: not seeded, or seeded "
            "differently, or drawn from differently before."
        )
        own = all(each.name.startswith(MADE) for each in explaining)
        advice = _OWN if own else SEEDING
    else:
        why = f"{names}, which agreed until then, {were} drawn from differently since {since}."
        advice = DRAWING
    why = f"{_upper(situation.what)} differs, and {why}{situation.started(SEED, COMMAND)}"
    held = tuple(each.name for each in explaining)
    return Verdict(Cause.GENERATOR, why, advice, since=since, generators=held)


def _is_consequence(situation: Situation, explaining: list[Draw]) -> bool:
    """Whether the generators can differ because the batch does: other shapes draw otherwise."""
    first, second = situation.both
    return first.detail != second.detail and all(
        each.since == situation.parting.position for each in explaining
    )


def _same(found: Samples, *, is_sized: bool) -> str:
    """``is_sized``: the batches have other sizes, and the order may be the same."""
    if found.batches == 1:
        return "it holds the same samples in another order"
    together = f"the {found.batches:,} batches from there on, taken together, hold the same samples"
    return f"{together} in {'batches of another size' if is_sized else 'another order'}"


def _other(found: Samples) -> str:
    if not found.compared:
        return ""
    if found.compared == 1:
        return "It holds other samples; whether they come in later batches is not known. "
    return (
        f"The {found.compared:,} batches from there on do not hold the same samples in another "
        "order, as far as they were compared. "
    )


def _agreeing(situation: Situation) -> str:
    parting = situation.parting
    if not any(parting.pair.back(0, "generator", parting.pair.places(parting.position)[0])):
        return "No generator was recorded here. "
    if not situation.generators:
        has_workers = any(each.phase == "workers" for each in parting.steps[0].events)
        more = "; those of the loader's workers are not recorded" if has_workers else ""
        return f"Every recorded generator agrees{more}. "
    return f"Not the same either: {named_generators(situation.generators)}. "


def _shapes(situation: Situation) -> str:
    first, second = (each.detail for each in situation.both)
    if first == second:
        return ""
    return f"It is {first or 'of no shape'} in one run and {second} in the other. "


def _upper(text: str) -> str:
    return text[:1].upper() + text[1:]


class _Batch(NamedTuple):
    digest: bytes
    samples: bytes  # the sum of their fingerprints, b"" where it is not known


class Samples(NamedTuple):
    """What is known of the samples from a step on."""

    batches: int  # after how many the runs have had the same samples; 0 if they have not
    compared: int  # how many batches of both there are; 0 where samples are not known


def is_reordered(pair: Pair, position: int, name: str) -> bool:
    """Whether most batches from a step on come in the other run too, in other steps.

    ``name`` is that of the part which differs: labels can be the same in all batches. A batch
    counts as a whole; one that is the same at its place does not count. An epoch need not be over,
    so that some may still be to come.
    """
    found: tuple[Counter[bytes], Counter[bytes]] = (Counter(), Counter())
    for at in range(position, min(len(pair), position + _LOOKED)):
        held = [_of_step(pair, run, at) for run in (0, 1)]
        pairs = zip_longest(*(batches.get(name, ()) for batches in held))
        for pair_ in (each for each in pairs if each[0] != each[1]):
            for counter, batch in zip(found, pair_, strict=True):
                counter.update([batch.digest] if batch is not None else [])
    fewest = min(each.total() for each in found)
    shared = (found[0] & found[1]).total()
    return fewest > 1 and shared >= _ENOUGH * fewest


def samples(pair: Pair, position: int, name: str) -> Samples:
    """Whether the runs have had the same samples at some time after a step, as at the end of an
    epoch: the sums over all their batches since then are the same."""
    totals, compared = [0, 0], 0
    for at in range(position, min(len(pair), position + _LOOKED)):
        held = [_of_step(pair, run, at).get(name, []) for run in (0, 1)]
        if len(held[0]) != len(held[1]) or not all(e.samples for run in held for e in run):
            return Samples(0, 0)
        for run in (0, 1):
            totals[run] += sum(int.from_bytes(each.samples, "little") for each in held[run])
        compared += len(held[0])
        if compared and (totals[0] - totals[1]) % (1 << 8 * pair.digest_size) == 0:
            return Samples(compared, compared)
    return Samples(0, compared)


def _of_step(pair: Pair, run: int, position: int) -> dict[str, list[_Batch]]:
    index = pair.places(position)[run]
    raw = pair.traces[run].raw(index)
    layout = pair.layouts[run].of(index, raw)
    size = pair.digest_size
    found: dict[str, list[_Batch]] = {}
    for at, (kind, name, _) in enumerate(layout.keys):
        if kind == "batch":
            batch = _Batch(layout.digest(raw, at)[:size], layout.inputs(raw, at)[:size])
            found.setdefault(name, []).append(batch)
    return found

"""All that is to be told of two runs: the first difference, and what became of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from guard.diff.comparer import Comparer, unfinished
from guard.diff.differences import Comparison, Growth, apart
from guard.diff.names import KINDS, describe, generator, listed, several
from guard.diff.timelines import Tally, draw
from guard.diff.walks import START

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from guard.diff.differences import Difference
    from guard.diff.pairs import Pair
    from guard.trace import Trace

_SAMPLED = 120  # steps whose values are compared, in a long run
_ALWAYS = tuple(kind for kind in KINDS if kind != "operator")  # which a whole recording has
_RESUMED = (
    "One run is a resumed one: its training steps were compared with those of the same number, "
    "and evaluation steps were not."
)
_STATES = ("parameter", "buffer", "optimizer")


def examine(
    first: Sequence[Trace],
    second: Sequence[Trace],
    names: tuple[str, str] = ("run 1", "run 2"),
) -> Comparison:
    """Compare two runs to their ends. Pass it on with ``dataclasses.replace`` to add operators,
    suspects and notes for the reports."""
    return examine_further(Comparer(first, second), names)


def examine_further(comparer: Comparer, names: tuple[str, str]) -> Comparison:
    """The same, from where a comparer is: nothing that was compared is compared again."""
    difference = comparer.finish()
    parting = comparer.parting
    tallies = {}
    for rank, walk in comparer.walks.items():
        parted = parting.position if parting else None
        here = parting is not None and parting.pair is walk.pair
        generators = parting.generators if parting and here else walk.generators
        tallies[rank] = Tally(walk.pair, parted, generators)
        tallies[rank].count()
    shown = tallies.get(difference.rank if difference else 0) or next(iter(tallies.values()), None)
    counts = [tally.counts() for tally in tallies.values()] if parting else []
    consequences = sum((each for each, _ in counts), Counter[str]())
    if difference and (event := difference.first or difference.second):
        consequences[event.kind] -= 1
    kinds = {kind for tally in tallies.values() for kind in tally.kinds}
    return Comparison(
        difference=_with(difference, consequences),
        names=names,
        ranks=tuple(tallies),
        steps=min((walk.pair.common for walk in comparer.walks.values()), default=0),
        trainings=shown.trainings if shown else 0,
        kinds=tuple(kind for kind in KINDS if kind in kinds),
        differing=shown.differing_steps if shown else 0,
        changes=comparer.changes,
        limits=tuple(told(comparer, names, kinds)),
        totals=dict(sum((each for _, each in counts), Counter[str]())),
        timeline=draw(shown, parting.mismatch if parting else None) if shown else None,
        growth=_growth(parting.pair, parting.position) if parting else (),
    )


def _with(difference: Difference | None, found: Counter[str]) -> Difference | None:
    if difference is None:
        return None
    counted = {kind: found[kind] for kind in KINDS if found[kind] > 0}
    return replace(difference, consequences=counted)


def _growth(pair: Pair, start: int) -> tuple[Growth, ...]:
    """How far apart the values are, in steps spread evenly from the difference on."""
    stride = max(1, -(-(len(pair) - start) // _SAMPLED))
    found = (_furthest(pair, position) for position in range(start, len(pair), stride))
    return tuple(each for each in found if each is not None)


def _furthest(pair: Pair, position: int) -> Growth | None:
    """The largest difference in a step: of tensors, or of losses where only theirs are there."""
    steps = pair.steps(position)
    others = {(each.kind, each.name, each.call): each for each in steps[1].events}
    best: Growth | None = None
    ulps: float | None = None
    for event in steps[0].events:
        other = others.get((event.kind, event.name, event.call))
        if other is None or (event.value is None and event.summary is None):
            continue
        if event.kind == "hyperparameter" or (size := apart(event, other)) is None:
            continue
        if size.ulps is not None:
            ulps = max(ulps or 0.0, size.ulps)
        if best is None or size.absolute > best.absolute:
            best = Growth(steps[0].number, size.absolute, None, describe(event))
    return best and best._replace(ulps=ulps)


def told(comparer: Comparer, names: tuple[str, str], kinds: set[str]) -> Iterator[str]:
    """Sentences, what matters most first."""
    walks = comparer.walks
    if not walks:
        yield "The runs have no rank in common: nothing was compared."
        return
    for rank, walk in walks.items():
        yield from _ends(walk.pair, rank if len(walks) > 1 else None, names)
        if walk.pair.resumed:
            yield _RESUMED
        elif not walk.pair.strict:
            yield from _options(walk.pair)
    yield from _kinds(kinds)
    first = next(iter(walks.values()))
    every = first.pair.traces[0].header.options.get("state_every")
    if kinds & set(_STATES) and isinstance(every, int) and every > 1:
        yield (
            f"Parameters, buffers and optimizer state are recorded every {every} steps and at the "
            "end; in between, a difference in them shows in what the next steps compute."
        )
    unseeded = sorted({name for walk in walks.values() for name in _unseeded(walk.generators)})
    if unseeded and comparer.parting is None:
        what = listed([generator(name) for name in unseeded])
        yield (
            f"{what[0].upper()}{what[1:]} did not begin in the same state (not seeded), and "
            "nothing that was recorded depends on it."
        )


def _unseeded(generators: dict[str, int]) -> list[str]:
    return [name for name, since in generators.items() if since == START]


def _ends(pair: Pair, rank: int | None, names: tuple[str, str]) -> Iterator[str]:
    of = "" if rank is None else f", rank {rank}"
    for name, trace in zip(names, pair.traces, strict=True):
        if text := unfinished(trace, name + of):
            yield text


def _options(pair: Pair) -> Iterator[str]:
    ones, others = (trace.header.options for trace in pair.traces)
    changed = [name for name in {**ones, **others} if ones.get(name) != others.get(name)]
    what = f" ({listed(changed)})" if changed else ""
    yield (
        f"The runs were recorded with different options{what}: in each step only what both hold "
        "was compared, and not the fingerprint over the whole step."
    )


def _kinds(kinds: set[str]) -> Iterator[str]:
    lacking = [several(kind) for kind in _ALWAYS if kind not in kinds]
    if lacking:
        yield f"The traces hold no {listed(lacking)}: what is only there was not compared."

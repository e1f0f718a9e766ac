"""What a comparison could not see, told beside its verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.comparison.lengths import unfinished
from guard.comparison.names import KINDS, generator, listed, several
from guard.comparison.walks import START

if TYPE_CHECKING:
    from collections.abc import Iterator

    from guard.comparison.comparer import Comparer
    from guard.comparison.pairs import Pair

_ALWAYS = tuple(kind for kind in KINDS if kind != "operator")  # which a whole recording has
_RESUMED = (
    "One run is a resumed one: its training steps were compared with those of the same number, "
    "and evaluation steps were not."
)
_STATES = ("parameter", "buffer", "optimizer")


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

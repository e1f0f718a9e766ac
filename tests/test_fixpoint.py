"""Questions that lead back to themselves: the answers are those of all ways, in little time."""

from __future__ import annotations

import itertools
import random
import time
from typing import TYPE_CHECKING

import pytest

from detlint.analysis.fixpoint import Fixpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding

# Of each thing: by which others, all of them together, it is shown.
Shown = dict[int, list[list[int]]]


def _by_rounds(shown: Shown) -> set[int]:
    """What holds, found by adding what follows until nothing does."""
    found: set[int] = set()
    while True:
        more = {each for each, ways in shown.items() if any(found.issuperset(w) for w in ways)}
        if more == found:
            return found
        found = more


@pytest.mark.parametrize("seed", range(200))
def test_the_answers_are_those_of_the_least_fixed_point(seed: int) -> None:
    rng = random.Random(seed)  # noqa: S311 - cases, not secrets
    things = range(8)
    shown: Shown = {
        each: [rng.sample(things, rng.randint(0, 3)) for _ in range(rng.randint(0, 2))]
        if rng.random() < 0.9
        else [[]]
        for each in things
    }
    # Few things are shown by nothing, else most would hold.
    for each in list(things)[:6]:
        shown[each] = [way for way in shown[each] if way]
    holds: Fixpoint[int] = Fixpoint(
        lambda thing: any(all(holds.holds(each) for each in way) for way in shown[thing])
    )
    asked = rng.sample(things, len(things))
    assert {each for each in asked if holds.holds(each)} == _by_rounds(shown)
    assert {each for each in things if holds.holds(each)} == _by_rounds(shown)


def test_things_that_all_lead_to_each_other_are_asked_once() -> None:
    asked = []

    def question(thing: int) -> bool:
        asked.append(thing)
        return any(holds.holds(each) for each in range(100))

    holds: Fixpoint[int] = Fixpoint(question)
    assert not any(map(holds.holds, range(100)))
    assert len(asked) == 100


def test_a_name_that_is_bound_to_its_own_union_again_and_again(
    findings: Callable[..., list[Finding]],
) -> None:
    steps = "".join(
        f"    batch = batch.union(output{each})\n"
        for each in itertools.islice("abcdefghijklmnopqrst", 20)
    )
    code = f"def step(batch):\n{steps}    return list(batch)\n"
    begun = time.monotonic()
    assert findings(code, "DET204") == []
    assert [each.row for each in findings(f"batch = set(names)\n{code}", "DET204")] == []
    made = code.replace("(batch):", "(names):\n    batch = set(names)", 1)
    assert [each.row for each in findings(made, "DET204")] == [23]
    assert time.monotonic() - begun < 60, "each of the ways through twenty unions was followed"

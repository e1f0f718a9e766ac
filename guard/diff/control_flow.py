"""Runs that do other things: more, fewer, or in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.diff.alignment import find_mismatch
from guard.diff.data import DRAWING
from guard.diff.differences import Cause
from guard.diff.environments import COMMAND, told
from guard.diff.names import describe, generator, listed
from guard.diff.situations import RUNS, Verdict

if TYPE_CHECKING:
    from guard.diff.situations import Situation
    from guard.observe.places import Place
    from guard.trace import Step

_ADVICE = (
    "Look at what decides there whether this runs: a condition on time, on a file that is there "
    "or not, on the order of a set or a listing, on a thread that is done or not."
)
_MADE = (
    "Look at what the order comes from in which layers are made: a set, a listing of files that is "
    "not sorted, a dictionary filled by threads."
)
_HELD = ("parameter", "buffer")


def judge(situation: Situation) -> Verdict:
    """Which events only one run has, and where they come in."""
    mismatch = situation.parting.mismatch
    parted = mismatch.parted if mismatch else ()
    only = [[each[2:] for each in parted if each[0] == sign] for sign in "-+"]
    if situation.parting.steps[0].kind != situation.parting.steps[1].kind:
        kinds = [each.kind for each in situation.parting.steps]
        why = f"The first run has a step of {kinds[0]} where the second has one of {kinds[1]}."
        if drawn := _drawn_between(situation):
            names = listed([generator(each) for each in drawn])
            why += f" Training goes on with the same batch, and by another state of {names}."
            return Verdict(Cause.GENERATOR, why, DRAWING, generators=drawn)
    elif any(only):
        runs = zip(("first", "second"), only, strict=True)
        told_of = [f"only the {run} run has {_few(found)}" for run, found in runs if found]
        why = f"{_after(situation)}{' and '.join(told_of)}."
    elif _is_made_otherwise(situation):
        return _made_otherwise(situation, parted[0])
    else:
        why = f"{_after(situation)}the same things happen in another order: {parted[0]}."
    changed = [each for each in situation.changes if each.name == COMMAND]
    if changed:
        why += f" The runs were started differently: {told(changed)}."
    place = situation.place_of(situation.second if only[1] else situation.first)
    return Verdict(Cause.CONTROL_FLOW, why, _ADVICE, place=place or _near(situation))


def _drawn_between(situation: Situation) -> tuple[str, ...]:
    """Generators from which the evaluations of one run draw, where the training that follows is
    that of the other run but for what it draws."""
    parting = situation.parting
    pair, position, steps = parting.pair, parting.position, parting.steps
    kinds = [each.kind for each in steps]
    if pair.resumed or sorted(kinds) != ["evaluation", "training"]:
        return ()
    run = kinds.index("evaluation")
    further = (pair.step_of(run, at) for at in range(position + 1, pair.lengths()[run]))
    trained = next((each for each in further if each.kind == "training"), None)
    if trained is None:
        return ()
    found = find_mismatch(*pair.events((trained, steps[1 - run])))
    if found is None or found.is_other or found.first is None or found.first.kind not in RUNS:
        return ()
    ones, others = (_states(each) for each in (trained, steps[1 - run]))
    return tuple(name for name, digest in ones.items() if others.get(name, digest) != digest)


def _states(step: Step) -> dict[str, bytes]:
    """The last state of each generator that a step has moved."""
    return {each.name: each.digest for each in step.events if each.kind == "generator"}


def _is_made_otherwise(situation: Situation) -> bool:
    """Whether what is in another order is what the model holds before anything has run."""
    held = (situation.first, situation.second)
    return situation.is_initial and all(each and each.kind in _HELD for each in held)


def _made_otherwise(situation: Situation, order: str) -> Verdict:
    why = (
        "Before anything ran the model holds the same in another order, so that its layers were "
        f"made, and their values drawn, in another order: {order}."
    )
    return Verdict(Cause.INITIALISATION, why, _MADE, place=situation.place_of(situation.first))


def _after(situation: Situation) -> str:
    before = situation.before
    return f"After {describe(before[-1])}, which agrees, " if before else "From there on, "


def _few(found: list[str]) -> str:
    more = len(found) - 3
    return ", ".join(found[:3]) + (f" and {more} more" if more > 0 else "")


def _near(situation: Situation) -> Place | None:
    return next((each.place for each in reversed(situation.before) if each.place), None)

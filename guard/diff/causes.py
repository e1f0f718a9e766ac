"""Why two runs part: read from what still agreed just before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.diff import control_flow, data, numbers, resumptions, states
from guard.diff.differences import Cause, Difference, apart
from guard.diff.situations import Situation

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.diff.differences import Change
    from guard.diff.situations import Verdict
    from guard.diff.walks import Parting

_JUDGES: dict[str, Callable[[Situation], Verdict]] = {
    "batch": data.judge,
    "output": numbers.judge_forward,
    "loss": numbers.judge_forward,
    "gradient": numbers.judge_backward,
    "operator": numbers.judge_operator,
    "parameter": states.judge,
    "buffer": states.judge,
    "optimizer": states.judge,
    "hyperparameter": states.judge_hyperparameter,
}


def judge(parting: Parting, changes: tuple[Change, ...]) -> Difference:
    """The difference that a parting is."""
    situation = Situation(parting, changes)
    verdict = _verdict(situation)
    mismatch = parting.mismatch
    first, second = situation.first, situation.second
    if verdict.cause is Cause.HYPERPARAMETER:
        first, second = states.hyperparameters(situation)
    elif mismatch is None and parting.parted:
        first, second = states.generator_events(situation)
    return Difference(
        rank=parting.pair.rank,
        step=situation.number,
        step_kind=parting.steps[0].kind,
        first=first,
        second=second,
        cause=verdict.cause,
        why=verdict.why,
        agreed=situation.agreed(),
        since=verdict.since,
        place=verdict.place or situation.place_of(first or second),
        advice=verdict.advice,
        parted=mismatch.parted if mismatch else (),
        lost=verdict.lost,
        generators=verdict.generators,
        size=apart(first, second) if first and second else None,
    )


def _verdict(situation: Situation) -> Verdict:
    mismatch = situation.parting.mismatch
    if mismatch is None:
        return states.judge_hidden(situation)
    if situation.is_resumed and (lost := resumptions.judge(situation)):
        return lost
    if states.is_hyperparameter(situation):
        return states.judge_hyperparameter(situation)
    if mismatch.is_other or situation.first is None:
        return control_flow.judge(situation)
    return _JUDGES[situation.first.kind](situation)

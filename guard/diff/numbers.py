"""Outputs, losses, gradients and operators that differ where what went in agrees."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from guard.diff import draws, environments
from guard.diff.data import drawn
from guard.diff.differences import Cause
from guard.diff.gradients import output_of, owner
from guard.diff.names import INPUT, count, describe
from guard.diff.situations import Verdict

if TYPE_CHECKING:
    from guard.diff.situations import Situation
    from guard.observe.places import Place
    from guard.trace import Event

_RANDOM = (
    *("bernoulli", "cauchy", "dropout", "exponential", "geometric", "log_normal", "multinomial"),
    *("normal", "poisson", "rand", "rrelu_with_noise", "uniform"),
)
_HUGE = 1e10  # what unwritten memory often holds, and numbers of a model hardly ever
_REPEAT = (
    "`python -m guard verify` finds the operator. Under `python -m guard run` torch takes kernels "
    "that repeat, and refuses operators that have none."
)
_SAME_ENVIRONMENT = (
    "Record both runs in the same environment, to see whether anything else differs."
)
_WRITE = (
    "Look for torch.empty, new_empty, empty_like, resize_ or numpy.empty of which not every "
    "element "
    "is written before it is read; `python -m guard run` fills such memory with NaN."
)
_FROM_OUTSIDE = (
    "Look at what that number or tensor is computed from: a clock, a draw from a generator without "
    "a seed, a file, an array of NumPy."
)


def judge_forward(situation: Situation) -> Verdict:
    """An output or a loss: random numbers, unwritten memory, the environment or a kernel."""
    explaining = draws.explaining(situation.parting, made_before=False)
    if explaining:
        return drawn(situation, explaining)
    first, second = situation.first, situation.second
    place = situation.place_of(first)
    if first and second and looks_unwritten(first, second):
        return Verdict(Cause.UNWRITTEN_MEMORY, _odd(situation), _WRITE, place=place)
    what = describe(first) if first else "it"
    why = f"Everything recorded before {what} agrees, and {what} does not: {_source(situation)}"
    return kernel(situation, why + _parameters(situation), place)


def judge_backward(situation: Situation) -> Verdict:
    """A gradient, where forward and the loss agree."""
    first, second = situation.first, situation.second
    place = situation.place_of(first) or _of_module(situation)
    if first and second and looks_unwritten(first, second):
        return Verdict(Cause.UNWRITTEN_MEMORY, _odd(situation), _WRITE, place=place)
    pairs = list(zip(*situation.parting.events, strict=False))
    both = [(a, b) for a, b in pairs if a.kind == b.kind == "gradient" and a.name == b.name]
    same = sum(a.digest == b.digest for a, b in both)
    module = owner(first.name) if first else ""
    why = (
        f"Forward agrees, and the gradient of {first.name if first else 'a parameter'} does not "
        f"({count(same, 'gradient')} of {len(both):,} agree). Of those that differ it belongs to "
        "the "
        f"module that ran last, so it entered in the backward of {module or 'the model'}, or of "
        "what "
        "ran between it and the next module with parameters."
    )
    if situation.world_size > 1:
        why += " Gradients are those after the ranks' were added up, so that it can be any rank's."
    return kernel(situation, why, place)


def judge_operator(situation: Situation) -> Verdict:
    """An operator, in a step that was recorded in detail."""
    first, second = situation.first, situation.second
    if first is None or second is None:
        raise AssertionError("an operator that only one run has is control flow")
    what, place = describe(first), situation.place_of(first)
    if first.inputs != second.inputs:
        return _came_from_nowhere(situation, first, what, place)
    if first.name.partition(".")[2].startswith(("empty", "new_empty", "resize")):
        why = f"{what} gives memory that holds something else in each run, and it is compared."
        return Verdict(Cause.UNWRITTEN_MEMORY, why, _WRITE, place=place)
    if _is_random(first.name):
        explaining = situation.generators
        if explaining:
            return drawn(situation, explaining)
        why = f"{what} drew other random numbers, from a generator whose state is not recorded."
        since = "a time that is not known"
        advice = "Give the generator that is passed to it a seed."
        return Verdict(Cause.GENERATOR, why, advice, since=since, place=place)
    why = f"The inputs of {what} agree, and what it gave does not."
    return kernel(situation, why, place)


def kernel(situation: Situation, why: str, place: Place | None) -> Verdict:
    """A kernel, unless the environments differ by what kernels depend on."""
    if situation.environment:
        items = environments.told(situation.environment)
        why += f" The runs were made in different environments, which can explain it: {items}."
        return Verdict(Cause.ENVIRONMENT, why, _SAME_ENVIRONMENT, place=place)
    return Verdict(Cause.KERNEL, why, _REPEAT, place=place)


def looks_unwritten(first: Event, second: Event) -> bool:
    """Whether recorded values look like memory that nobody wrote: NaN or huge in a run alone."""
    if first.summary is None or second.summary is None:
        return False
    ends = [(each.min, each.max, each.mean) for each in (first.summary, second.summary)]
    odd = [any(not math.isfinite(end) or abs(end) > _HUGE for end in each) for each in ends]
    return any(odd) and not (all(odd) and ends[0] == ends[1])


def _odd(situation: Situation) -> str:
    values = [
        f"{each.summary.min:.3g} to {each.summary.max:.3g}"
        for each in (situation.first, situation.second)
        if each and each.summary
    ]
    what = describe(situation.first) if situation.first else "it"
    return (
        f"Everything before {what} agrees, and its values go from {values[0]} in one run and "
        f"from {values[1]} in the other: that looks like memory that was read before it was "
        "written."
    )


def _came_from_nowhere(
    situation: Situation, first: Event, what: str, place: Place | None
) -> Verdict:
    explaining = draws.explaining(situation.parting, made_before=False)
    if explaining:
        return drawn(situation, explaining)
    second = situation.second
    if second is not None and first.value != second.value:
        why = f"{what} was given another number: {first.value!r} and {second.value!r}."
        return Verdict(Cause.OUTSIDE, why, _FROM_OUTSIDE, place=place)
    ran = {each.name.partition(".")[2].partition(".")[0] for each in situation.before}
    why = f"What went into {what} differs, and what every operator before it gave agrees"
    if any("empty" in name for name in ran):
        why += ": it holds memory that was allocated there and not written."
        return Verdict(Cause.UNWRITTEN_MEMORY, why, _WRITE, place=place)
    why += ", so that it comes from outside of the recorded operators: from NumPy, from a file, "
    why += f"or from memory allocated before {'the step' if first.module == '' else 'it'}."
    if situation.environment:
        return kernel(situation, why, place)
    return Verdict(Cause.OUTSIDE, why, _FROM_OUTSIDE, place=place)


def _is_random(name: str) -> bool:
    base = name.partition(".")[2].partition(".")[0].removeprefix("native_").lstrip("_")
    return base.startswith(_RANDOM)


def _source(situation: Situation) -> str:
    """What gave another result, and whether that was for the same input: of an outermost module
    it is recorded, and of what runs within one it is not."""
    first = situation.first
    if first is None or first.kind != "output":
        return "what computes it gave another result, or read something that is not recorded."
    of = first.name or "the model"
    entered = f"{first.name}{INPUT}"
    if any((each.kind, each.name) == ("batch", entered) for each in situation.before):
        return f"{of} gave another result for the same input."
    return (
        f"{of} gave another result, or was given something else: what goes from one module to the "
        "next is recorded only as the output of the one before."
    )


def _parameters(situation: Situation) -> str:
    """What is known of the parameters that it read."""
    if situation.is_first_step:
        held = any(each.kind == "parameter" for each in situation.before)
        return "" if held else " Parameters were not recorded before it: they may differ."
    return ""


def _of_module(situation: Situation) -> Place | None:
    """The line that called the module of a gradient, else the one that called backward."""
    events = situation.parting.events[0]
    module = output_of(events, owner(situation.first.name)) if situation.first else None
    if module is not None and module.place is not None:
        return module.place
    return next((each.place for each in events if each.kind == "loss"), None)

"""What a run holds and differs: parameters, buffers, optimizers, hyperparameters, generators."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

from guard.diff import draws
from guard.diff.data import DRAWING, drawn
from guard.diff.differences import Cause
from guard.diff.environments import COMMAND, SEED, told
from guard.diff.layouts import key
from guard.diff.names import count, describe
from guard.diff.numbers import kernel, looks_unwritten
from guard.diff.situations import RUNS, Verdict

if TYPE_CHECKING:
    from guard.diff.situations import Situation
    from guard.trace import Event

_UNSEEDED = (
    "Seed before the model is made, as `python -m guard run` does, or load the same weights in "
    "both runs."
)
_NOT_THE_SEED = (
    "Look at what else the initial values come from: memory that is never written (torch.empty), a "
    "generator object without a seed, the order of a set or a dictionary, a file, the time."
)


def judge(situation: Situation) -> Verdict:
    """A parameter, buffer or optimizer state: from the start, or after a step."""
    first, second = situation.first, situation.second
    if first is None or second is None:
        raise AssertionError("what only one run has is control flow")
    if situation.is_initial:
        return _judge_initial(situation, first, second)
    explaining = draws.explaining(situation.parting, made_before=False)
    if explaining:
        return drawn(situation, explaining)
    read = "the buffer's module was given" if first.kind == "buffer" else "the optimizer reads"
    if situation.is_of_optimizer(first):
        why = f"All gradients agree, and the parameters as {first.name} left them do not: it did "
        why += "another step with the same gradients."
        return kernel(situation, why, situation.place_of(first))
    where = "at the end" if situation.parting.steps[0].kind == "end" else "there"
    why = (
        f"Everything recorded before agrees, also what {read}, and {describe(first)} {where} does "
        "not."
    )
    return kernel(situation, why, situation.place_of(first))


def _judge_initial(situation: Situation, first: Event, second: Event) -> Verdict:
    before = itertools.takewhile(
        lambda pair: pair[0].kind not in RUNS, zip(*situation.parting.events, strict=False)
    )
    pairs = [
        (a, b)
        for a, b in before
        if a.kind == first.kind and (a.kind, a.name, a.call) == (b.kind, b.name, b.call)
    ]
    differing = sum(a.digest != b.digest for a, b in pairs)
    what = f"{differing} of {count(len(pairs), first.kind)} differ before anything ran"
    if looks_unwritten(first, second):
        why = f"{what}, and {describe(first)} holds what unwritten memory does: NaN or huge values."
        return Verdict(Cause.UNWRITTEN_MEMORY, why, _NOT_THE_SEED, place=situation.place_of(first))
    why = f"{what}, the first of them {describe(first)}."
    started = [each for each in situation.changes if each.name in (SEED, COMMAND)]
    generators = draws.named(situation.generators)
    if started:
        why += f" The runs were started differently: {told(started)}."
    if generators:
        why += f" Not seeded alike: {generators}."
    elif not started and any(e.kind == "generator" for e in situation.parting.steps[0].events):
        why += (
            " Every recorded generator agrees when the model is first called: they were seeded "
            "only after the model was made, or its values come from something else than them."
        )
        advice = f"{_UNSEEDED} If that is done: {_NOT_THE_SEED[0].lower()}{_NOT_THE_SEED[1:]}"
        return Verdict(Cause.INITIALISATION, why, advice, place=situation.place_of(first))
    return Verdict(Cause.INITIALISATION, why, _UNSEEDED, place=situation.place_of(first))


def is_hyperparameter(situation: Situation) -> bool:
    """Whether one differs: after the first step only those that have changed are recorded."""
    return _hyperparameter(situation) is not None


def hyperparameters(situation: Situation) -> tuple[Event | None, Event | None]:
    """The one that differs, in both runs; or in the one that alone has it there."""
    held = (situation.first, situation.second)
    mismatch = situation.parting.mismatch
    if mismatch is None or not mismatch.is_other:
        return held
    first, second = (
        event if event and key(event) not in map(key, others) else None
        for event, others in zip(held, reversed(situation.parting.events), strict=True)
    )
    return first, second


def _hyperparameter(situation: Situation) -> Event | None:
    """One that differs. An optimizer that steps in one run alone is another matter: the other run
    does something else there."""
    at = (situation.first, situation.second)
    if any(each and each.kind != "hyperparameter" for each in at):
        return None
    return next(filter(None, hyperparameters(situation)), None)


def judge_hyperparameter(situation: Situation) -> Verdict:
    """A learning rate, a momentum … and from what to what."""
    event = _hyperparameter(situation)
    if event is None:
        raise AssertionError("no hyperparameter differs")
    values = [_value(situation, run, event.name) for run in (0, 1)]
    if None in values:
        why = f"The hyperparameter {event.name} is not the same."
    else:
        one, other = values
        why = (
            f"The hyperparameter {event.name} is {one!r} in the first run, {other!r} in the second."
        )
    why += " Everything before it agrees."
    started = [each for each in situation.changes if each.name == COMMAND]
    if started:
        why += f" The runs were started differently: {told(started)}."
    advice = (
        "Look at what sets it: an argument, a configuration, a scheduler that counts steps or "
        "epochs, "
        "or one that reads a metric which is not recorded."
    )
    return Verdict(Cause.HYPERPARAMETER, why, advice, place=situation.place_of(event))


def _value(situation: Situation, run: int, name: str) -> float | None:
    """What a hyperparameter is in a step: as it was recorded there, or last before."""
    parting = situation.parting
    for position in range(parting.position, -1, -1):
        step = parting.steps[run] if position == parting.position else None
        step = step or parting.pair.step_of(run, position)
        found = (each for each in reversed(step.events) if each.kind == "hyperparameter")
        event = next((each for each in found if each.name == name), None)
        if event is not None:
            return event.value
    return None


def judge_hidden(situation: Situation) -> Verdict:
    """A generator alone, or what only the fingerprint of the whole step tells."""
    parting = situation.parting
    parted = [each for each in situation.generators if each.name in parting.parted]
    if parted:
        since = draws.since(parted, parting)
        why = (
            f"Everything else in step {situation.number} agrees, and {draws.named(parted)}, which "
            f"agreed before, was drawn from differently since {since}. What is drawn next will "
            "differ."
        )
        held = tuple(each.name for each in parted)
        return Verdict(Cause.GENERATOR, why, DRAWING, since=since, generators=held)
    size = 8 * parting.pair.traces[0].header.digest_size
    why = (
        f"Every event of step {situation.number} has the same fingerprint of {size} bits in both "
        "runs, and the one over their full fingerprints differs: one of them differs by which is "
        "not to be seen in so few bits."
    )
    advice = f"Record the step in detail, with longer fingerprints: --operators {situation.number}."
    return kernel(situation, why, None)._replace(advice=advice)


def generator_events(situation: Situation) -> tuple[Event | None, Event | None]:
    """The last states of a generator that parted, in both runs."""
    name = situation.parting.parted[0]
    first, second = (
        next((e for e in reversed(s.events) if (e.kind, e.name) == ("generator", name)), None)
        for s in situation.parting.steps
    )
    return first, second

"""What a run holds and differs: parameters, buffers, optimizers, hyperparameters, generators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.comparison import draws
from guard.comparison.data import DRAWING, drawn
from guard.comparison.differences import Cause
from guard.comparison.environments import COMMAND, SEED, told
from guard.comparison.names import count, describe, listed, several
from guard.comparison.numbers import kernel, looks_unwritten
from guard.comparison.resumptions import lost
from guard.comparison.situations import STATES, Verdict

if TYPE_CHECKING:
    from guard.comparison.situations import Situation
    from guard.trace import Event

_UNSEEDED = (
    "Seed before the model is made, as `python -m guard run` does, or load the same weights in "
    "both runs."
)
_NOT_THE_SEED = (
    "Look at what else the initial values come from: memory that is never written (torch.empty), a "
    "generator object without a seed, the order of a set or a dictionary, a file, the time."
)
_WHICH_STATE = "Record both runs again with --state-every 1 to see which."
_RESTORE = "Save it with the checkpoint, and load it before the first step"
_KEPT = {
    "batch": "the position in the data (the sampler's epoch, its generator, batches to skip)",
    "hyperparameter": "the scheduler's state",
    "generator": "the generators' states (guard.rng_state() gives all of them)",
    "optimizer": "the optimizer's state_dict()",
    "parameter": "the model's state_dict()",
    "buffer": "the model's state_dict(), buffers that are not persistent as well",
}


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
    why = (
        f"Everything recorded before agrees, also what {read}, and {describe(first)} does not "
        "after "
        f"step {situation.number}."
    )
    return kernel(situation, why, situation.place_of(first))


def _judge_initial(situation: Situation, first: Event, second: Event) -> Verdict:
    pairs = [
        (a, b)
        for a, b in zip(*situation.parting.events, strict=False)
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
        why += f" {generators[0].upper()}{generators[1:]} differs too: it was not seeded alike."
    elif not started and any(e.kind == "generator" for e in situation.parting.steps[0].events):
        why += " Every recorded generator agrees, so that it is not the seed."
        return Verdict(Cause.INITIALISATION, why, _NOT_THE_SEED, place=situation.place_of(first))
    return Verdict(Cause.INITIALISATION, why, _UNSEEDED, place=situation.place_of(first))


def judge_hyperparameter(situation: Situation) -> Verdict:
    """A learning rate, a momentum … and from what to what."""
    first, second = situation.first, situation.second
    values = [each.value if each else None for each in (first, second)]
    name = first.name if first else ""
    if None in values:
        why = f"The hyperparameter {name} is not the same."
    else:
        one, other = values
        why = f"The hyperparameter {name} is {one!r} in the first run, {other!r} in the second."
    why += " Everything before it agrees."
    started = [each for each in situation.changes if each.name == COMMAND]
    if started:
        why += f" The runs were started differently: {told(started)}."
    advice = (
        "Look at what sets it: an argument, a configuration, a scheduler that counts steps or "
        "epochs, "
        "or one that reads a metric which is not recorded."
    )
    return Verdict(Cause.HYPERPARAMETER, why, advice, place=situation.place_of(first))


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
        return Verdict(Cause.GENERATOR, why, DRAWING, since=since)
    held = {each.kind for each in parting.steps[0].events}
    kinds = listed([several(kind) for kind in STATES if kind not in held])
    among = (
        f"It is among what is not stored singly there: {kinds}"
        if kinds
        else "It is in an event whose short fingerprints are equal by chance"
    )
    why = (
        f"All that is stored singly of step {situation.number} agrees, and the fingerprint over "
        "the "
        f"whole step does not. {among}."
    )
    return kernel(situation, why, None)._replace(advice=_WHICH_STATE)


def judge_resumed(situation: Situation) -> Verdict | None:
    """What the resumed run did not get back; None where a kernel explains it as well."""
    event = situation.first or situation.second
    if event is None:
        return None
    gone = lost(situation.parting.pair)
    early = situation.parting.position <= 1 and event.kind not in ("gradient", "operator")
    if not (early or gone or event.kind in ("batch", "hyperparameter")):
        return None
    kinds = list(gone) or [event.kind if event.kind in _KEPT else "state"]
    told_of = [f"{several(kind)} ({listed(names[:3])})" for kind, names in gone.items()]
    found = f" When it resumed, these were not as they had been: {listed(told_of)}." if gone else ""
    why = f"{describe(event)} differs in step {situation.number} of the resumed run.{found}"
    values = [each.value for each in (situation.first, situation.second) if each]
    if event.kind == "hyperparameter" and len(values) == 2:
        why += f" It is {values[0]!r} in the first run and {values[1]!r} in the second."
    restored = listed([_KEPT[kind] for kind in kinds if kind in _KEPT])
    advice = (
        f"{_RESTORE}: {restored}."
        if restored
        else (
            f"{_RESTORE}: parameters, buffers, the optimizer's, the scheduler's, the scaler's and "
            "the generators' states."
        )
    )
    return Verdict(Cause.STATE, why[0].upper() + why[1:], advice, place=situation.place_of(event))


def generator_events(situation: Situation) -> tuple[Event | None, Event | None]:
    """The last states of a generator that parted, in both runs."""
    name = situation.parting.parted[0]
    first, second = (
        next((e for e in reversed(s.events) if (e.kind, e.name) == ("generator", name)), None)
        for s in situation.parting.steps
    )
    return first, second

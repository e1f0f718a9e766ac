"""Why two runs part: the cause of the first difference, with what to tell and to do.

Runs that do other things: more, fewer, or in another order. Outputs, losses, gradients and
operators that differ where what went in agrees. What a run holds and differs: parameters, buffers,
optimizers, hyperparameters, generators. Batches and resumed runs have modules of their own.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from guard.diff.alignment import find_mismatch, output_of, owner
from guard.diff.batches import DRAWING, LOOK, WRITING, drawn, judge_batch
from guard.diff.differences import Cause, Difference, apart
from guard.diff.names import INPUT, count, describe, generator, is_random, listed, packet
from guard.diff.pairs import HELD, RUNS, key
from guard.diff.resumptions import judge_resumed
from guard.diff.situations import COMMAND, SEED, Situation, Verdict, told_changes
from guard.diff.walks import drawn_since, explaining_generators, named_generators

if TYPE_CHECKING:
    from collections.abc import Callable

    from guard.diff.differences import Change
    from guard.diff.walks import Parting
    from guard.observe.places import Place
    from guard.trace import Event

_ADVICE = LOOK.format("what decides there whether this runs")
_MADE = LOOK.format("what the order comes from in which layers are made")
_AGAIN = " It is the same again at the end of the step: what was drawn in between may not be."


def _judge_control_flow(situation: Situation) -> Verdict:
    """Which events only one run has, and where they come in."""
    mismatch = situation.parting.mismatch
    parted = mismatch.parted if mismatch else ()
    only = [[each[2:] for each in parted if each[0] == sign] for sign in "-+"]
    held = (situation.first, situation.second)
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
    elif situation.is_initial and all(each and each.kind in HELD for each in held):
        why = (
            "Before anything ran the model holds the same in another order, so that its layers "
            f"were made, and their values drawn, in another order: {parted[0]}."
        )
        return Verdict(Cause.INITIALISATION, why, _MADE)
    else:
        why = f"{_after(situation)}the same things happen in another order: {parted[0]}."
    why += situation.started(COMMAND)
    place = situation.place_of(situation.second if only[1] else situation.first)
    near = next((each.place for each in reversed(situation.before) if each.place), None)
    return Verdict(Cause.CONTROL_FLOW, why, _ADVICE, place=place or near)


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
    ones, others = (  # the last state of each generator that a step has moved
        {e.name: e.digest for e in each.events if e.kind == "generator"}
        for each in (trained, steps[1 - run])
    )
    return tuple(name for name, digest in ones.items() if others.get(name, digest) != digest)


def _after(situation: Situation) -> str:
    before = situation.before
    return f"After {describe(before[-1])}, which agrees, " if before else "From there on, "


def _few(found: list[str]) -> str:
    more = len(found) - 3
    return ", ".join(found[:3]) + (f" and {more} more" if more > 0 else "")


_HUGE = 1e10  # what unwritten memory often holds, and numbers of a model hardly ever
_REPEAT = (
    "`python -m guard verify` finds the operator. Under `python -m guard run` torch takes kernels "
    "that repeat, and refuses operators that have none."
)
_SAME_ENVIRONMENT = "Record both runs in one environment, to see whether anything else differs."
_FROM_OUTSIDE = LOOK.format("what that number or tensor is computed from")
_OPEN = " Parameters were not recorded before it: they may differ."


def _judge_forward(situation: Situation) -> Verdict:
    """An output or a loss: random numbers, unwritten memory, the environment or a kernel."""
    if explaining := explaining_generators(situation.parting, made_before=False):
        return drawn(situation, explaining)
    if _looks_unwritten(situation):
        return Verdict(Cause.UNWRITTEN_MEMORY, _odd(situation), WRITING)
    what = situation.what
    why = f"Everything recorded before {what} agrees, and {what} does not: {_source(situation)}"
    held = situation.parting.position or any(each.kind == "parameter" for each in situation.before)
    if not held:
        why += _OPEN
    return _kernel(situation, why)


def _judge_backward(situation: Situation) -> Verdict:
    """A gradient, where forward and the loss agree."""
    first, _ = situation.both
    place = situation.place_of(first) or _of_module(situation)
    if _looks_unwritten(situation):
        return Verdict(Cause.UNWRITTEN_MEMORY, _odd(situation), WRITING, place=place)
    same, total = situation.gradients
    agree = f"({count(same, 'gradient')} of {total:,} agree)"
    if any(each.kind == "output" for each in situation.before):
        why = (
            f"Forward agrees, and the gradient of {first.name} does not {agree}. Of those that "
            "differ it belongs to the module that ran last, so it entered in the backward of "
            f"{owner(first.name) or 'the model'}, of what ran between it and the next module with "
            "parameters, or where the program changes gradients afterwards."
        )
    else:
        why = f"The gradient of {first.name} does not agree {agree}.{_OPEN}"
    if situation.parting.pair.traces[0].header.world_size > 1:
        why += " Gradients are those after the ranks' were added up, so that it can be any rank's."
    return _kernel(situation, why, place)


def _judge_operator(situation: Situation) -> Verdict:
    """An operator, in a step that was recorded in detail."""
    first, second = situation.both
    if first.inputs != second.inputs:
        return _came_from_nowhere(situation)
    if packet(first.name).startswith(("empty", "new_empty", "resize")):
        why = "gives memory that holds something else in each run, and it is compared."
        return Verdict(Cause.UNWRITTEN_MEMORY, f"{situation.what} {why}", WRITING)
    if is_random(first.name):
        if situation.generators:
            return drawn(situation, situation.generators)
        why = "drew other random numbers, from a generator whose state is not recorded."
        since = "a time that is not known"
        advice = "Give the generator that is passed to it a seed."
        return Verdict(Cause.GENERATOR, f"{situation.what} {why}", advice, since=since)
    return _kernel(situation, f"The inputs of {situation.what} agree, and what it gave does not.")


def _kernel(situation: Situation, why: str, place: Place | None = None) -> Verdict:
    """A kernel, unless the environments differ by what kernels depend on."""
    if situation.environment:
        items = told_changes(situation.environment)
        why += f" The runs were made in different environments, which can explain it: {items}."
        return Verdict(Cause.ENVIRONMENT, why, _SAME_ENVIRONMENT, place=place)
    return Verdict(Cause.KERNEL, why, _REPEAT, place=place)


def _looks_unwritten(situation: Situation) -> bool:
    """Whether recorded values look like memory that nobody wrote: NaN or huge in a run alone."""
    held = [each.summary for each in situation.both if each.summary is not None]
    ends = [(each.min, each.max, each.mean) for each in held]
    odd = [any(not math.isfinite(end) or abs(end) > _HUGE for end in each) for each in ends]
    return len(odd) == 2 and any(odd) and not (all(odd) and ends[0] == ends[1])


def _odd(situation: Situation) -> str:
    held = (each.summary for each in situation.both)
    values = [f"{each.min:.3g} to {each.max:.3g}" for each in held if each]
    return (
        f"Everything before {situation.what} agrees, and its values go from {values[0]} in one run "
        f"and from {values[1]} in the other: that looks like memory that was read before it was "
        "written."
    )


def _came_from_nowhere(situation: Situation) -> Verdict:
    if explaining := explaining_generators(situation.parting, made_before=False):
        return drawn(situation, explaining)
    (first, second), what = situation.both, situation.what
    if first.value != second.value:
        why = f"{what} was given another number: {first.value!r} and {second.value!r}."
        return Verdict(Cause.OUTSIDE, why, _FROM_OUTSIDE)
    ran = {packet(each.name) for each in situation.before}
    why = f"What went into {what} differs, and what every operator before it gave agrees"
    if any("empty" in name for name in ran):
        why += ": it holds memory that was allocated there and not written."
        return Verdict(Cause.UNWRITTEN_MEMORY, why, WRITING)
    why += ", so that it comes from outside of the recorded operators: from NumPy, from a file, "
    why += f"or from memory allocated before {'the step' if first.module == '' else 'it'}."
    if situation.environment:
        return _kernel(situation, why)
    return Verdict(Cause.OUTSIDE, why, _FROM_OUTSIDE)


def _source(situation: Situation) -> str:
    """What gave another result, and whether that was for the same input: of an outermost module
    it is recorded, and of what runs within one it is not."""
    first, _ = situation.both
    if first.kind != "output":
        return "what computes it gave another result, or read something that is not recorded."
    of, entered = first.name or "the model", ("batch", f"{first.name}{INPUT}")
    if any((each.kind, each.name) == entered for each in situation.before):
        return f"{of} gave another result for the same input."
    return (
        f"{of} gave another result, or was given something else: what goes from one module to the "
        "next is recorded only as the output of the one before."
    )


def _of_module(situation: Situation) -> Place | None:
    """The line that called the module of a gradient, else the one that called backward."""
    events = situation.parting.events[0]
    module = output_of(events, owner(situation.both[0].name))
    if module is not None and module.place is not None:
        return module.place
    return next((each.place for each in events if each.kind == "loss"), None)


_SETTING = LOOK.format("what sets it, such as an argument or a scheduler")
_UNSEEDED = "Seed before the model is made, as `python -m guard run` does, or load its weights."
_NOT_THE_SEED = LOOK.format("what else the initial values come from")


def _judge_state(situation: Situation) -> Verdict:
    """A parameter, buffer or optimizer state: from the start, or after a step."""
    first, _ = situation.both
    if situation.is_initial:
        return _judge_initial(situation)
    if explaining := explaining_generators(situation.parting, made_before=False):
        return drawn(situation, explaining)
    if situation.is_of_optimizer(first):
        why = f"All gradients agree, and the parameters as {first.name} left them do not: it did "
        return _kernel(situation, f"{why}another step with the same gradients.")
    if first.kind == "buffer" and _is_new(situation, first):
        why = f"{situation.what} differs where it is recorded first: it was made or given so."
        return Verdict(Cause.INITIALISATION, f"Everything before agrees, and {why}", _NOT_THE_SEED)
    read = "the buffer's module was given" if first.kind == "buffer" else "the optimizer reads"
    where = "at the end" if situation.parting.steps[0].kind == "end" else "there"
    why = f"Everything recorded before agrees, also what {read}, and {situation.what} {where} does "
    return _kernel(situation, f"{why}not.")


def _is_new(situation: Situation, event: Event) -> bool:
    """Whether no step before has it: of a loss, or of a module that is made later."""
    pair = situation.parting.pair
    before = pair.back(0, event.kind, pair.places(situation.parting.position)[0] - 1)
    return not any(key(each) == key(event) for each in before)


def _judge_initial(situation: Situation) -> Verdict:
    first, _ = situation.both
    before = itertools.takewhile(
        lambda pair: pair[0].kind not in RUNS, zip(*situation.parting.events, strict=False)
    )
    pairs = [(a, b) for a, b in before if a.kind == first.kind and key(a) == key(b)]
    differing = sum(a.digest != b.digest for a, b in pairs)
    why = f"{differing} of {count(len(pairs), first.kind)} differ before anything ran"
    if _looks_unwritten(situation):
        why += f", and {situation.what} holds what unwritten memory does: NaN or huge values."
        return Verdict(Cause.UNWRITTEN_MEMORY, why, _NOT_THE_SEED)
    started = situation.started(SEED, COMMAND)
    why += f", the first of them {situation.what}.{started}"
    if situation.generators:
        why += f" Not seeded alike: {named_generators(situation.generators)}."
    elif not started and any(e.kind == "generator" for e in situation.parting.steps[0].events):
        why += (
            " Every recorded generator agrees when the model is first called: they were seeded "
            "only after the model was made, or its values come from something else than them."
        )
        advice = f"{_UNSEEDED} If that is done: {_NOT_THE_SEED[0].lower()}{_NOT_THE_SEED[1:]}"
        return Verdict(Cause.INITIALISATION, why, advice)
    return Verdict(Cause.INITIALISATION, why, _UNSEEDED)


def _hyperparameters(situation: Situation) -> tuple[Event | None, Event | None]:
    """The one that differs, in both runs; or in the one that alone has it there, as after the first
    step only those that have changed are recorded.

    An optimizer that steps in one run alone is another matter: the other does something else.
    """
    held = (situation.first, situation.second)
    if any(each and each.kind != "hyperparameter" for each in held):
        return None, None
    mismatch = situation.parting.mismatch
    if mismatch is None or not mismatch.is_other:
        return held
    first, second = (
        event if event and key(event) not in map(key, others) else None
        for event, others in zip(held, reversed(situation.parting.events), strict=True)
    )
    return first, second


def _judge_hyperparameter(situation: Situation, name: str) -> Verdict:
    """A learning rate, a momentum … and from what to what."""
    pair = situation.parting.pair
    places = enumerate(pair.places(situation.parting.position))
    back = [pair.back(run, "hyperparameter", index) for run, index in places]
    one, other = (next((e.value for e in held if e.name == name), None) for held in back)
    why = f"The hyperparameter {name} is {one!r} in the first run, {other!r} in the second."
    if None in (one, other):
        why = f"The hyperparameter {name} is not the same."
    why += f" Everything before it agrees.{situation.started(COMMAND)}"
    return Verdict(Cause.HYPERPARAMETER, why, _SETTING)


def _judge_hidden(situation: Situation) -> Verdict:
    """A generator alone, or what only the fingerprint of the whole step tells."""
    parting = situation.parting
    parted = [each for each in situation.generators if each.name in parting.parted]
    if parted:
        since = drawn_since(parted, parting)
        ended = [_generator_events(parting, each.name)[-1] for each in parted]
        again = all(map(_agree, ended))
        why = (
            f"Everything else in step {situation.number} agrees, and {named_generators(parted)}, "
            f"which agreed before, was drawn from differently since {since}."
        )
        why += _AGAIN if again else " What is drawn next will differ."
        held = tuple(each.name for each in parted)
        return Verdict(Cause.GENERATOR, why, DRAWING, since=since, generators=held)
    size = 8 * parting.pair.traces[0].header.digest_size
    why = (
        f"Every event of step {situation.number} has the same fingerprint of {size} bits in both "
        "runs, and the one over their full fingerprints differs: one of them differs by which is "
        "not to be seen in so few bits."
    )
    advice = f"Record the step in detail, with longer fingerprints: --operators {situation.number}."
    return _kernel(situation, why)._replace(advice=advice)


def _agree(both: tuple[Event | None, Event | None]) -> bool:
    return both[0] is not None and both[1] is not None and both[0].digest == both[1].digest


def _generator_events(parting: Parting, name: str) -> list[tuple[Event | None, Event | None]]:
    """The states of a generator in a step, in both runs: those that differ, and the last ones."""
    first, second = (
        [each for each in step.events if (each.kind, each.name) == ("generator", name)]
        for step in parting.steps
    )
    both: list[tuple[Event | None, Event | None]] = [
        (one, other)
        for one, other in zip(first, second, strict=False)
        if one.digest != other.digest
    ]
    return [*both, (first[-1] if first else None, second[-1] if second else None)]


_JUDGES: dict[str, Callable[[Situation], Verdict]] = {
    "batch": judge_batch,
    **dict.fromkeys(("output", "loss"), _judge_forward),
    "gradient": _judge_backward,
    "operator": _judge_operator,
    **dict.fromkeys(("parameter", "buffer", "optimizer"), _judge_state),
}


def judge(parting: Parting, changes: tuple[Change, ...]) -> Difference:
    """The difference that a parting is."""
    situation = Situation(parting, changes)
    mismatch, verdict = parting.mismatch, _verdict(situation)
    first, second = situation.first, situation.second
    if verdict.cause is Cause.HYPERPARAMETER:
        first, second = _hyperparameters(situation)
    elif mismatch is None and parting.parted:
        *differing, ended = _generator_events(parting, parting.parted[0])
        first, second = differing[-1] if differing and _agree(ended) else ended
    return Difference(
        parting.pair.rank,
        situation.number,
        parting.steps[0].kind,
        first,
        second,
        agreed=situation.agreed(),
        parted=mismatch.parted if mismatch else (),
        size=apart(first, second) if first and second else None,
        **verdict._replace(place=verdict.place or situation.place_of(first or second))._asdict(),
    )


def _verdict(situation: Situation) -> Verdict:
    mismatch = situation.parting.mismatch
    if mismatch is None:
        return _judge_hidden(situation)
    if situation.parting.pair.resumed and (lost := judge_resumed(situation)):
        return lost
    if changed := next(filter(None, _hyperparameters(situation)), None):
        return _judge_hyperparameter(situation, changed.name)
    if mismatch.is_other or situation.first is None:
        return _judge_control_flow(situation)
    return _JUDGES[situation.first.kind](situation)

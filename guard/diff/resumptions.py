"""What a resumed run began with, beside what the other one had there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from guard.diff.differences import Cause
from guard.diff.names import describe, listed, several
from guard.diff.situations import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.diff.pairs import Pair
    from guard.diff.situations import Situation
    from guard.trace import Event

_RESTORE = "Save it with the checkpoint, and load it before the first step"
_SET = "attributes of modules"
_KEPT = {
    "batch": "the position in the data (the sampler's epoch, its generator, batches to skip)",
    "hyperparameter": "the states of the scheduler and of the GradScaler",
    "generator": "the generators' states (guard.rng_state() gives all of them)",
    "optimizer": "the optimizer's state_dict()",
    "parameter": "the model's state_dict()",
    "buffer": "buffers, those that are not persistent as well",
    _SET: "what the program sets on a module, such as its training mode or the p of a dropout",
}
_ALL = (
    "parameters, buffers, the optimizer's, the scheduler's, the scaler's and the generators' states"
)
# What explains a difference in an event of a kind, if the resumed run began with something else.
_EXPLAINED_BY = {
    "batch": ("generator",),
    "hyperparameter": ("hyperparameter",),
    "loss": ("hyperparameter", "generator"),
}


def judge_resumed(situation: Situation) -> Verdict | None:
    """What the resumed run did not get back; None where a kernel explains it as well."""
    event = situation.first or situation.second
    if event is None:
        return None
    if untrained := _trained_in_one(situation):
        return _judge_trained(situation, untrained)
    gone = _explaining(situation, event)
    early = situation.parting.position <= 1 and event.kind not in ("gradient", "operator")
    if not (early or gone or event.kind in ("batch", "hyperparameter")):
        return None
    why = f"{describe(event)} differs in step {situation.number} of the resumed run."
    told_of = [f"{several(kind)} ({listed(names[:3])})" for kind, names in gone.items()]
    if told_of:
        why += f" When it resumed, these were not as they had been: {listed(told_of)}."
    why += _beside(situation, event)
    kinds = _kinds(situation, event, gone)
    place = situation.place_of(event)
    if "parameter" in kinds and place is not None and place.code:
        why += f" It is computed in `{place.code}`."
    restored = [_KEPT[kind] for kind in kinds]
    advice = f"{_RESTORE}: {listed(restored) or _ALL}."
    why = why[0].upper() + why[1:]
    generators = tuple(gone.get("generator", ()))
    return Verdict(Cause.STATE, why, advice, place=place, lost=tuple(kinds), generators=generators)


def _trained_in_one(situation: Situation) -> list[str]:
    """Names of parameters with a gradient in one run alone, where nothing else parts the runs."""
    held = [{(each.kind, each.name) for each in events} for events in situation.parting.events]
    only = held[0] ^ held[1]
    return sorted(name for _, name in only) if {kind for kind, _ in only} == {"gradient"} else []


def _judge_trained(situation: Situation, names: list[str]) -> Verdict:
    shown = listed(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    why = (
        f"In step {situation.number} {shown} have a gradient in one run alone, and all before "
        "agrees: which parameters are trained (requires_grad) is not as it had been."
    )
    advice = (
        "Set requires_grad again before the first step, by the number of the step that it goes on "
        "from: no state_dict() holds which parameters are trained."
    )
    return Verdict(Cause.STATE, why, advice, lost=("requires_grad",))


def _explaining(situation: Situation, event: Event) -> dict[str, list[str]]:
    kinds = _EXPLAINED_BY.get(event.kind, ("generator",))
    if situation.is_of_optimizer(event):
        kinds = ()
    gone = lost(situation.parting.pair)
    if event.kind == "loss":  # only a scale enters it, and no learning rate
        scales = [each for each in gone.pop("hyperparameter", ()) if each.startswith("GradScaler")]
        gone |= {"hyperparameter": scales} if scales else {}
    return {kind: names for kind, names in gone.items() if kind in kinds}


def _kinds(situation: Situation, event: Event, gone: dict[str, list[str]]) -> list[str]:
    """What is to be saved, the likelier first."""
    if situation.is_of_optimizer(event):
        return ["optimizer"]
    if event.kind == "batch":
        return ["batch", *gone]
    if gone:
        return list(gone)
    if event.kind == "output" and situation.parting.position == 0:
        pair, kinds = situation.parting.pair, ("parameter", "buffer")
        run = _resumed(pair)
        held = ((kind, each.name) for kind in kinds for each in pair.back(run, kind, 0))
        own = {kind for kind, name in held if name.startswith(f"{event.name}.")}
        return [*sorted(own, key=kinds.index), _SET]
    return [event.kind] if event.kind in _KEPT else []


def _beside(situation: Situation, event: Event) -> str:
    """What more there is to tell of the event itself."""
    if situation.is_of_optimizer(event):
        return (
            " The gradients and the hyperparameters agree: what the optimizer holds of earlier "
            "steps (momentum, averages, its count of steps) does not."
        )
    if event.kind == "hyperparameter":
        return _values(situation, event)
    if event.kind == "batch" and (number := _drawn_at(situation)) is not None:
        return f" The resumed run's is the one that step {number} of the other run had."
    return ""


def _values(situation: Situation, event: Event) -> str:
    held = [each.value for each in (situation.first, situation.second) if each]
    if len(held) == 2 and None not in held:
        return f" It is {held[0]!r} in the first run and {held[1]!r} in the second."
    pair, position = situation.parting.pair, situation.parting.position
    one, other = (_hyperparameters(pair, run, position) for run in (0, 1))
    unequal = [
        f"{name} is {one[name].value!r} in the first run and {other[name].value!r} in the second"
        for name in one
        if name in other and name.startswith(event.name) and one[name].value != other[name].value
    ]
    return f" {listed(unequal[:3])}." if unequal else ""


def _drawn_at(situation: Situation) -> int | None:
    """The other step of the whole run that had the resumed run's batch."""
    pair = situation.parting.pair
    resumed = _resumed(pair)
    event = (situation.first, situation.second)[resumed]
    if event is None:
        return None
    for step in pair.traces[1 - resumed].steps():
        if step.number != situation.number and any(
            (each.kind, each.name, each.digest) == (event.kind, event.name, event.digest)
            for each in step.events
        ):
            return step.number
    return None


def lost(pair: Pair) -> dict[str, list[str]]:
    """Names of what is not the same, by kind: as far as both traces hold it at that point."""
    if not pair.resumed or not len(pair):
        return {}
    resumed = _resumed(pair)
    found = {"hyperparameter": _lost_hyperparameters(pair, resumed)}
    found["generator"] = _lost_generators(pair, resumed)
    return {kind: names for kind, names in found.items() if names}


def _resumed(pair: Pair) -> int:
    return int(pair.traces[1].header.first_step > pair.traces[0].header.first_step)


def _lost_hyperparameters(pair: Pair, resumed: int) -> list[str]:
    held = [_hyperparameters(pair, run, 0) for run in (resumed, 1 - resumed)]
    size = pair.digest_size
    both = (name for name in held[0] if name in held[1])
    gone = [name for name in both if held[0][name].digest[:size] != held[1][name].digest[:size]]
    # An optimizer's as a whole say nothing beside one of them.
    return [name for name in gone if not any(each.startswith(f"{name}.") for each in gone)]


def _hyperparameters(pair: Pair, run: int, position: int) -> dict[str, Event]:
    """As they were in a step."""
    found: dict[str, Event] = {}
    for each in pair.back(run, "hyperparameter", pair.places(position)[run]):
        found.setdefault(each.name, each)
    return found


def _lost_generators(pair: Pair, resumed: int) -> list[str]:
    """Those of which no state is one that the other run had as the step began, or in it.

    They are looked at where something may have moved them, which can be after a draw. One that
    has the same state all along is drawn from by nobody.
    """
    size, whole = pair.digest_size, 1 - resumed
    places = pair.places(0)
    # Evaluations within the first step lie before it: as many as the resumed run has there.
    start = max(pair.places(-1)[whole] + 1, places[whole] - places[resumed])
    steps = map(pair.traces[whole].step, range(start, places[whole] + 1))
    had = _states((each for step in steps for each in step.events), size)
    last: dict[str, Event] = {}
    for each in pair.back(whole, "generator", start - 1):
        last.setdefault(each.name, each)
    for each in last.values():
        had.setdefault(each.name, set()).add(each.digest[:size])
    has = _states(pair.traces[resumed].step(places[resumed]).events, size)
    gone = [name for name, states in has.items() if name in had and not states & _of(had, name)]
    return [name for name in gone if _is_drawn_from(pair, whole, name)]


def _of(states: dict[str, set[bytes]], name: str) -> set[bytes]:
    """Of a generator: of all that its line made, as a resumed run counts them anew."""
    line = name.partition(" (")[0]
    return {each for other in states if other.partition(" (")[0] == line for each in states[other]}


def _is_drawn_from(pair: Pair, run: int, name: str) -> bool:
    back = pair.back(run, "generator", len(pair.traces[run]) - 1)
    held = (each.digest for each in back if each.name == name)
    last = next(held, None)
    return any(each != last for each in held)


def _states(events: Iterable[Event], size: int) -> dict[str, set[bytes]]:
    """Of each generator."""
    found: dict[str, set[bytes]] = {}
    for each in events:
        if each.kind == "generator":
            found.setdefault(each.name, set()).add(each.digest[:size])
    return found

"""A resumed run beside one that was not interrupted: what it lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from recorded_runs import altered, chained, digest, event, write
from written_events import EventWriter

from guard.diff import Cause, Difference, compare, examine
from guard.trace import Event, Header, open_trace

if TYPE_CHECKING:
    from pathlib import Path

    from guard.trace import StepKind, Trace

Edit = Callable[[list[Event], int], list[Event]]
AT = 3


def kept(events: list[Event], _: int) -> list[Event]:
    """No edit."""
    return events


def resumed(folder: Path, edit: Edit, of_both: Edit = kept) -> Difference | None:
    whole = write(folder / "whole", header=Header(), edit=of_both)
    header = Header(first_step=AT)
    after = write(folder / "after", 3, header=header, edit=chained(of_both, edit))
    return compare([whole], [after])


def lost(folder: Path, edit: Edit, of_both: Edit = kept) -> Difference:
    found = resumed(folder, edit, of_both)
    assert found is not None
    assert found.cause is Cause.STATE
    return found


def all_held(events: list[Event], number: int) -> list[Event]:
    """What each process records in its first step: hyperparameters, an unused generator."""
    if number != AT:
        return events
    held = [event("hyperparameter", f"SGD.{name}", name, value=0.1) for name in ("a", "b")]
    state = event("optimizer", "SGD.momentum_buffer", "held")
    return [*events, *held, state, event("generator", "numpy", "seen", detail="")]


def skipping(events: list[Event], number: int) -> list[Event]:
    """Two batches are drawn to be skipped, before the one that is used."""
    if number != AT:
        return events
    at = next(at for at, each in enumerate(events) if each.kind == "batch")
    skipped = [event("batch", "0", f"skipped {call}", call=call) for call in (0, 1)]
    rest = [replace(each, call=2) if each.name == "0" else each for each in events[at:]]
    return [*events[:at], *skipped, *rest]


def optimizing(events: list[Event], number: int) -> list[Event]:
    """An optimizer's hyperparameters as a whole, and the parameters as it left them."""
    return [
        *events,
        event("hyperparameter", "SGD", "all"),
        event("parameter", "SGD", number),
    ]


@pytest.mark.parametrize(("held", "found"), [("other", True), ("averaged", False)])
def test_an_evaluation_after_the_last_step_is_compared(
    held: str, tmp_path: Path, *, found: bool
) -> None:
    def evaluated(output: str) -> list[tuple[StepKind, list[Event]]]:
        last = [event("buffer", "b", "the same")]
        return [("evaluation", [event("output", "mean", output)]), ("end", last)]

    whole = write(tmp_path / "whole", header=Header(), after=evaluated("averaged"))
    after = write(tmp_path / "after", 3, header=Header(first_step=AT), after=evaluated(held))
    assert bool(compare([whole], [after])) == found


@pytest.mark.parametrize("edit", [all_held, skipping], ids=["holds more", "skips batches"])
def test_what_only_a_resumed_run_records_is_no_difference(edit: Edit, tmp_path: Path) -> None:
    assert resumed(tmp_path, edit) is None


def test_a_lost_generator(tmp_path: Path) -> None:
    edit = chained(altered("generator", "torch.cpu"), altered("output", "block.1"))
    found = lost(tmp_path, edit)
    assert "generator states (torch.cpu)" in found.why
    assert "guard.rng_state()" in found.advice


def test_a_generator_that_nobody_draws_from_is_not_lost(tmp_path: Path) -> None:
    def seen(events: list[Event], number: int) -> list[Event]:
        held = event("generator", "numpy", "seen", detail="")
        return [*events, held] if number in (0, AT) else events

    edit = chained(altered("generator", "numpy"), altered("output", "block.1"))
    found = lost(tmp_path, edit, seen)
    assert "numpy" not in found.why
    assert "the model's state_dict()" in found.advice


@pytest.mark.parametrize("names", [("numpy",), ()])
def test_a_generator_that_did_not_come_back_and_decides_nothing_is_told(
    names: tuple[str, ...], tmp_path: Path
) -> None:
    def drawn(events: list[Event], number: int) -> list[Event]:
        return [*events, *(event("generator", name, number, detail="") for name in names)]

    header = Header(first_step=AT)
    edit = chained(drawn, altered("generator", "numpy"), altered("generator", "python"))
    whole = write(tmp_path / "whole", header=Header(), edit=drawn)
    found = examine([whole], [write(tmp_path / "after", 3, header=header, edit=edit)])
    told = [each for each in found.limits if "nothing that was recorded depends on it" in each]
    assert found.difference is None
    assert told == [
        "NumPy's global generator did not come back when the run resumed, and nothing that was "
        "recorded depends on it."
        for _ in names
    ]


@pytest.mark.parametrize(("restored", "is_told"), [(AT, False), (0, True)])
def test_a_generator_that_an_evaluation_within_the_first_step_moves_has_come_back(
    restored: int, is_told: bool, tmp_path: Path
) -> None:
    """What a step has drawn by the time of such an evaluation is recorded there, and it comes
    before the step in the file."""

    def recorded(name: str, first: int, state: int) -> Trace:
        writer = EventWriter(tmp_path / name, Header(first_step=first))
        for number in range(first, 6):
            outputs = [event("output", "mean", number)]
            begun = [event("generator", "torch.cpu", state, detail="")] * (number == first)
            moved = event("generator", "torch.cpu", state + number - first + 1, detail="")
            writer.step("evaluation", [*outputs, moved], digest(number, size=16))
            writer.step("training", [*begun, *outputs], digest(number, size=16))
        writer.end("finished", "")
        writer.close()
        return open_trace(tmp_path / name)

    found = examine([recorded("whole", 0, 0)], [recorded("after", AT, restored)])
    assert found.difference is None
    assert any("did not come back" in each for each in found.limits) == is_told
    assert any(each.startswith("No ") and "generator" in each for each in found.limits)


def test_a_generator_that_is_made_in_each_step_is_not_lost(tmp_path: Path) -> None:
    line = "made at train.py:3"

    def made(events: list[Event], number: int) -> list[Event]:
        return [*events, event("generator", f"{line} ({number + 1})", number, detail="")]

    def counted_anew(events: list[Event], number: int) -> list[Event]:
        name = line if number == AT else f"{line} ({number - AT + 1})"
        return [
            replace(each, name=name) if each.kind == "generator" and line in each.name else each
            for each in events
        ]

    edit = chained(counted_anew, altered("output", "block.1"))
    found = lost(tmp_path, edit, made)
    assert "made at" not in found.why
    assert "the model's state_dict()" in found.advice


def test_parameters_that_are_trained_in_one_run_alone(tmp_path: Path) -> None:
    def frozen(events: list[Event], _: int) -> list[Event]:
        return [e for e in events if (e.kind, e.name) != ("gradient", "stem.weight")]

    found = lost(tmp_path, frozen)
    assert found.lost == ("requires_grad",)
    assert "stem.weight have a gradient in one run alone" in found.why
    assert "requires_grad" in found.advice


def test_an_output_without_parameters_has_lost_an_attribute(tmp_path: Path) -> None:
    found = lost(tmp_path, altered("output", "stem", AT))
    assert "attributes of modules" in found.lost
    assert "training mode" in found.advice


def test_a_lost_optimizer(tmp_path: Path) -> None:
    found = lost(tmp_path, altered("parameter", "SGD"), optimizing)
    assert "what the optimizer holds of earlier steps" in found.why
    assert found.advice.endswith("the optimizer's state_dict().")


def test_a_lost_scheduler(tmp_path: Path) -> None:
    def rates(events: list[Event], number: int) -> list[Event]:
        rate = event("hyperparameter", "SGD.lr", number // 3, value=0.1 / (1 + number // 3))
        return [*events, rate] if number in (0, 3) else events

    def forgotten(events: list[Event], _: int) -> list[Event]:
        wrong = event("hyperparameter", "SGD.lr", 0, value=0.1)
        return [wrong if each.name == "SGD.lr" else each for each in events]

    edit = chained(forgotten, altered("hyperparameter", "SGD"))
    found = lost(tmp_path, edit, chained(optimizing, rates))
    assert "SGD.lr is 0.05 in the first run and 0.1 in the second" in found.why
    assert "the scheduler" in found.advice


def test_a_lost_scale(tmp_path: Path) -> None:
    def scaled(events: list[Event], _: int) -> list[Event]:
        return [*events, event("hyperparameter", "GradScaler.scale", "scale", value=8.0)]

    edit = chained(altered("loss"), altered("hyperparameter"))
    found = lost(tmp_path, edit, scaled)
    assert "hyperparameters (GradScaler.scale)" in found.why
    assert "of the GradScaler" in found.advice


def test_a_lost_place_in_the_data(tmp_path: Path) -> None:
    def anew(events: list[Event], number: int) -> list[Event]:
        others = {each.name: event("batch", each.name, number - AT) for each in events}
        return [
            replace(each, digest=others[each.name].digest) if each.kind == "batch" else each
            for each in events
        ]

    found = lost(tmp_path, anew)
    assert "is the one that step 0 of the other run had" in found.why
    assert "the position in the data" in found.advice

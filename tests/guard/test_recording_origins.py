"""The lines that made what a recording holds, and the generators that the program makes."""

# ruff: noqa: ANN401 - models take and give anything

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402

import guard  # noqa: E402
from guard.diff import Cause, compare  # noqa: E402
from guard.recording.constructions import Origins  # noqa: E402
from guard.trace import Event, Trace, open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)
        self.scale = nn.Parameter(torch.ones(4))

    def forward(self, x: Any) -> Any:
        return self.inner(x) * self.scale


class Noisy(Block):
    def __init__(self) -> None:
        super().__init__()
        self.noise = torch.Generator()
        self.noise.seed()

    def forward(self, x: Any) -> Any:
        return super().forward(x + torch.randn(x.shape, generator=self.noise))


def recorded(folder: Path, program: Callable[[], object]) -> Trace:
    with guard.record(folder):
        program()
    (trace,) = open_run(folder)
    return trace


def of(trace: Trace, kind: str, index: int = 0) -> list[Event]:
    return [each for each in trace.step(index).events if each.kind == kind]


def line(event: Event) -> str:
    """The text of an event's place."""
    return event.place.code if event.place else ""


def train(model: nn.Module, steps: int = 1) -> None:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(steps):
        model(torch.ones(2, 4)).sum().backward()
        optimizer.step()


def test_parameters_and_hyperparameters_have_the_lines_that_made_them(tmp_path: Path) -> None:
    def program() -> None:
        model = nn.Sequential(Block(), nn.ReLU())
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)
        schedule = torch.optim.lr_scheduler.StepLR(optimizer, 1)
        for _ in range(2):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            schedule.step()

    trace = recorded(tmp_path, program)
    parameters = of(trace, "parameter")[:-1]  # the last is all of them, as the step left them
    assert {line(each) for each in parameters} == {"model = nn.Sequential(Block(), nn.ReLU())"}
    first, *_ = of(trace, "hyperparameter")
    assert line(first) == "optimizer = torch.optim.AdamW(model.parameters(), lr=0.1)"
    assert {each.name: line(each) for each in of(trace, "hyperparameter", 1)} == {
        "AdamW.lr": "schedule.step()",
        "AdamW": "schedule.step()",
    }


class Halving(torch.optim.lr_scheduler.LRScheduler):
    def get_lr(self) -> list[float]:
        return [rate / (self.last_epoch + 2) for rate in self.base_lrs]

    def step(self, epoch: int | None = None) -> None:
        super().step(epoch)


def rated(folder: Path, make: Callable[[Any], Any], by_hand: float | None = None) -> list[str]:
    """The lines of the rate in two steps, "" where it has not changed."""

    def program() -> None:
        model = Block()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        schedule = make(optimizer)
        for _ in range(2):
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            schedule.step()
            optimizer.param_groups[0]["lr"] = by_hand or optimizer.param_groups[0]["lr"]

    trace = recorded(folder, program)
    named = [{each.name: each for each in of(trace, "hyperparameter", at)} for at in (0, 1)]
    return [line(each["SGD.lr"]) if "SGD.lr" in each else "" for each in named]


@pytest.mark.parametrize("own", [False, True])
def test_a_rate_has_the_line_that_called_its_scheduler(tmp_path: Path, own: bool) -> None:
    def several(optimizer: Any) -> Any:
        parts = [torch.optim.lr_scheduler.LambdaLR(optimizer, lambda at: at + 1) for _ in range(2)]
        return torch.optim.lr_scheduler.SequentialLR(optimizer, parts, milestones=[5])

    made, called = rated(tmp_path, Halving if own else several)
    assert called == "schedule.step()"
    assert made == ("schedule = make(optimizer)" if own else "optimizer = " + MADE)


MADE = "torch.optim.SGD(model.parameters(), lr=0.1)"


def test_a_rate_set_after_its_scheduler_has_the_step_that_reads_it(tmp_path: Path) -> None:
    found = rated(tmp_path, lambda made: torch.optim.lr_scheduler.StepLR(made, 1), by_hand=0.5)
    assert found[1] == "optimizer.step()"


def test_schedulers_are_what_they_were(tmp_path: Path) -> None:
    before = torch.optim.lr_scheduler.LRScheduler.step, Halving.step
    rated(tmp_path, Halving)
    assert (torch.optim.lr_scheduler.LRScheduler.step, Halving.step) == before


def test_a_model_that_was_trained_on_has_no_line_that_made_it(tmp_path: Path) -> None:
    models: list[nn.Module] = []  # still there at the end

    def program() -> None:
        models.append(Block())
        train(models[0])

    trace = recorded(tmp_path, program)
    assert [line(each) for each in of(trace, "parameter", len(trace) - 1)] == [""] * 3


def test_a_rate_set_by_hand_has_the_step_that_reads_it(tmp_path: Path) -> None:
    def program() -> None:
        model = Block()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for number in range(2):
            optimizer.param_groups[0]["lr"] = 0.1 / (number + 1)
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()

    found = of(recorded(tmp_path, program), "hyperparameter", 1)[0]
    assert (found.name, line(found)) == ("SGD.lr", "optimizer.step()")


def test_a_draw_from_a_generator_seeded_by_the_clock_is_no_kernel(tmp_path: Path) -> None:
    def program() -> None:
        torch.manual_seed(0)
        train(nn.Sequential(Noisy()), 2)

    runs = [recorded(tmp_path / name, program) for name in ("a", "b")]
    found = compare(runs[:1], runs[1:])
    assert found is not None
    assert found.cause is Cause.GENERATOR
    made = Noisy.__init__.__code__.co_firstlineno + 2
    assert f"the generator made at test_recording_origins.py:{made} was not" in found.why
    assert "with its manual_seed()" in found.advice


def test_a_generator_object_that_nobody_draws_from_makes_no_difference(tmp_path: Path) -> None:
    def program() -> None:
        torch.manual_seed(0)
        model = Block()
        unused = torch.Generator()
        unused.seed()
        train(model)

    runs = [recorded(tmp_path / name, program) for name in ("a", "b")]
    assert runs[0].raw(0) != runs[1].raw(0)
    assert runs[0].step(0).digest == runs[1].step(0).digest
    assert compare(runs[:1], runs[1:]) is None


def test_generators_are_what_they_are_without_a_recording(tmp_path: Path) -> None:
    original = torch.Generator
    with guard.record(tmp_path):
        made = torch.Generator(device="cpu")
        assert type(made) is original
        assert isinstance(made, torch.Generator)
        assert isinstance(torch.default_generator, torch.Generator)
        assert issubclass(original, torch.Generator)
        assert not isinstance(3, torch.Generator)
        assert pickle.loads(pickle.dumps(torch.Generator)) is torch.Generator  # noqa: S301
        assert copy.copy(torch.Generator) is torch.Generator

        kind: Any = torch.Generator
        Own: Any = type(kind)("Own", (kind,), {})  # noqa: N806 - a class
        assert type(Own()) is Own
        assert not isinstance(made, Own)
    assert torch.Generator is original


def test_a_line_that_makes_many_generators_is_not_followed_for_ever(tmp_path: Path) -> None:
    kept: list[Any] = []

    def program() -> None:
        kept.extend(torch.Generator().manual_seed(each) for each in range(20))
        train(Block())

    found = of(recorded(tmp_path, program), "generator")
    assert len([each for each in found if each.name.startswith("made at")]) == 8


def test_nothing_is_looked_for_once_steps_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looked: list[type] = []
    monkeypatch.setattr(Origins, "made", lambda *given: looked.append(given[2]))
    recorded(tmp_path, lambda: train(Block(), 3))
    assert looked.count(nn.Module) == 3
    assert looked.count(torch.optim.Optimizer) == 1

"""The names of models and optimizers, which are the same in a run that goes through and in one that
was resumed, whatever each calls first."""

from __future__ import annotations

import copy
import pickle
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn import functional  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from guard.recording.recording import running  # noqa: E402
from guard.recording.session import Options  # noqa: E402
from guard.trace import open_run  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

X = torch.ones(2, 4)
Call = tuple[str, Any]  # what it is, and a model or an optimizer


def two_of_a_class() -> Iterator[Call]:
    yield from (("one", nn.Linear(4, 1)), ("other", nn.Linear(4, 1)))


def a_copy() -> Iterator[Call]:
    model = nn.Linear(4, 1)
    yield from (("online", model), ("target", copy.deepcopy(model)))


def two_classes() -> Iterator[Call]:
    yield from (("maker", nn.Sequential(nn.Linear(4, 1))), ("judge", nn.Linear(4, 1)))


def one_within_another() -> Iterator[Call]:
    """What wraps it has no name of its own in the paths of parts."""
    model = nn.Sequential(nn.Linear(4, 1))
    yield from (("model", model), ("wrapper", nn.DataParallel(model)))


def attention() -> Iterator[Call]:
    """Its own __setstate__ calls that of Module."""
    one = nn.TransformerEncoderLayer(4, 1)
    yield from (("one", one), ("other", copy.deepcopy(one)))


def one_that_an_earlier_run_left() -> Iterator[Call]:
    """It is held beside the model."""
    left = pickle.loads(pickle.dumps(nn.Linear(4, 1)))  # noqa: S301 - made here
    yield from (("model", nn.Linear(4, 1)), ("left", left))


def optimizers() -> Iterator[Call]:
    one, other = nn.Linear(4, 1), nn.Linear(4, 2)
    yield from (("one", torch.optim.SGD(one.parameters(), lr=0.1)), ("of one", one))
    yield from (("other", torch.optim.SGD(other.parameters(), lr=0.1)), ("of other", other))


def loaders() -> Iterator[Call]:
    data = [TensorDataset(torch.ones(2, 4)), TensorDataset(torch.ones(4, 4))]
    yield from ((f"loader {len(each)}", DataLoader(each, batch_size=4)) for each in data)
    yield "model", nn.Linear(4, 1)


def called(
    folder: Path, make: Callable[[], Iterator[Call]], *, turned: bool
) -> dict[str, set[Any]]:
    """The names of what each model gives and each optimizer sets, and of the parameters."""
    found: dict[str, set[Any]] = {}
    with running(folder, Options(state_every=1, held=99), ["program.py"], overwrite=True):
        things = dict(make())
        for name in sorted(things, reverse=turned):
            with torch.no_grad():
                if isinstance(things[name], torch.optim.Optimizer):
                    things[name].step()
                elif isinstance(things[name], DataLoader):
                    things["model"].eval()(next(iter(things[name]))[0])
                else:
                    things[name].eval()(X)
    (trace,) = open_run(folder)
    for name, step in zip(sorted(things, reverse=turned), trace.steps(), strict=False):
        kinds = ("batch", "output", "hyperparameter", "gradient")
        found[name] = {(each.kind, each.name) for each in step.events if each.kind in kinds}
    last = list(trace.steps())[-1]
    return {**found, "end": {(each.kind, each.name) for each in last.events}}


@pytest.mark.parametrize(
    "make",
    [
        *(two_of_a_class, a_copy, two_classes, one_within_another, attention),
        *(one_that_an_earlier_run_left, optimizers, loaders),
    ],
)
def test_what_is_called_first_decides_no_name(
    make: Callable[[], Iterator[Call]], tmp_path: Path
) -> None:
    found = [called(tmp_path, make, turned=turned) for turned in (False, True)]
    assert found[0] == found[1]


def a_loss_of_each_step(at: int) -> None:
    model = nn.Linear(4, 1)
    for _ in range(at, 4):
        loss: Any = nn.MSELoss()(model(X), torch.zeros(2, 1))
        loss.backward()


def a_copy_of_each_step(at: int) -> None:
    model = nn.Linear(4, 1)
    for _ in range(at, 4):
        learner = copy.deepcopy(model)
        learner(X).sum().backward()


def an_optimizer_of_each_stage(at: int) -> None:
    model = nn.Linear(4, 1)
    for stage in range(at, 4):
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1 / (stage + 1))
        model(X).sum().backward()
        optimizer.step()


def a_model_of_each_fold(at: int) -> None:
    for fold in range(at, 4):
        model = nn.Sequential(nn.Linear(4, 1 + fold))
        functional.relu(model(X)).sum().backward()
        del model


def a_part_that_comes_later(at: int) -> None:
    model = nn.ModuleDict({"body": nn.Linear(4, 4)})
    for step in range(4):
        if step == 2:
            model["head"] = nn.Linear(4, 1)
        if step >= at:
            nn.Sequential(*model.values())(X).sum().backward()


def a_teacher_of_each_round(at: int) -> None:
    """A checkpoint still holds the last one as the next is copied."""
    model = nn.Linear(4, 1)
    held = {"teacher": copy.deepcopy(model)} if at else {}
    for _ in range(at, 4):
        teacher = copy.deepcopy(model)
        (model(X) - teacher(X)).sum().backward()
        held["teacher"] = teacher


@pytest.mark.parametrize(
    "train",
    [
        *(a_loss_of_each_step, a_copy_of_each_step, an_optimizer_of_each_stage),
        *(a_model_of_each_fold, a_part_that_comes_later, a_teacher_of_each_round),
    ],
)
def test_what_is_made_anew_has_the_name_that_it_had(
    train: Callable[[int], None], tmp_path: Path
) -> None:
    last = []
    for at in (0, 3):
        with running(tmp_path, Options(held=99), ["program.py"], overwrite=True):
            train(at)
        (trace,) = open_run(tmp_path)
        steps = [each for each in trace.steps() if each.kind == "training"]
        kinds = ("output", "gradient", "hyperparameter")
        last.append([(e.kind, e.name) for e in steps[-1].events if e.kind in kinds])
    assert last[0] == last[1]

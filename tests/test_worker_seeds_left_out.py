"""DET209 of programs, and what it says of Lightning's seeds and of torchdata's states."""

from __future__ import annotations

import json
import sys
from contextlib import closing
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest
from forks import TORCH, Forks

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Lint = Callable[..., list[str]]

DATA = """
import numpy as np
from torch.utils.data import DataLoader, Dataset

class Noisy(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return index + np.random.rand()

def loader():
    return DataLoader(Noisy(), batch_size=2, num_workers=2)
"""
TRAIN = """
import lightning as L
from data import loader
from model import Model

if __name__ == "__main__":
    L.seed_everything(0)
    trainer = L.Trainer(accelerator="cpu", devices=2, strategy="ddp")
    trainer.fit(Model(), loader())
"""
MESSAGE = (
    "`L.seed_everything(0)` seeds the workers of all ranks alike: "
    "`np.random.rand()` (data.py:10) draws the same numbers in each rank"
)


@pytest.fixture
def lint(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> Callable[..., list[dict[str, str]]]:
    """What is found in the files of a program."""

    def run(train: str = TRAIN, data: str = DATA) -> list[dict[str, str]]:
        project({"train.py": train, "data.py": data})
        main(["--no-cache", "--select", "DET209", "--output-format", "json", "."])
        return list(json.loads(capsys.readouterr().out))

    return run


def test_a_program_whose_workers_draw_is_told_where(lint: Lint) -> None:
    (found,) = lint()
    assert found["message"] == MESSAGE  # type: ignore[call-overload, index]
    assert found["location"]["row"] == 7  # type: ignore[call-overload, index]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        pytest.param("devices=[0, 1]", 1, id="a list"),
        pytest.param('devices="-1"', 1, id="all"),
        pytest.param("num_nodes=2", 1, id="nodes"),
        pytest.param('strategy="fsdp"', 1, id="a strategy"),
        pytest.param("devices=1", 0, id="one"),
        pytest.param("devices=count", 0, id="unknown"),
        pytest.param('strategy="auto"', 0, id="whatever is there"),
        pytest.param("devices=1, num_nodes=1", 0, id="one of each"),
    ],
)
def test_only_several_ranks_count(given: str, told: int, lint: Lint) -> None:
    train = TRAIN.replace('devices=2, strategy="ddp"', given)
    assert len(lint(train)) == told


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("everything(0)", "everything(0, workers=True)", id="given"),
        pytest.param("everything(0)", "everything(0, True)", id="given by its place"),
        pytest.param("everything(0)", "everything(0, workers=False)", id="decided"),
        pytest.param("everything(0)", "everything(**options)", id="perhaps given"),
        pytest.param("L.seed", "L.Fabric.seed", id="Fabric's, which gives it"),
    ],
)
def test_workers_that_are_given_count(old: str, new: str, lint: Lint) -> None:
    assert lint(TRAIN.replace(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("np.random.rand()", "0.5", id="that draw nothing"),
        pytest.param("num_workers=2", "num_workers=0", id="that are not there"),
    ],
)
def test_only_workers_that_draw_count(old: str, new: str, lint: Lint) -> None:
    assert lint(data=DATA.replace(old, new)) == []


PROGRAM = """
import logging, os, random, sys, warnings

warnings.filterwarnings("ignore")
import numpy as np
import torch
import lightning as L
from torch.utils.data import DataLoader, Dataset

for name in ("lightning", "lightning.pytorch"):
    logging.getLogger(name).setLevel(logging.ERROR)


class Drawing(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        drawn = [np.random.rand(), random.random(), torch.rand(()).item()]
        return torch.tensor([index, *drawn], dtype=torch.float64)


class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.drawn = []

    def training_step(self, batch, index):
        self.drawn += [row[1:] for row in batch.tolist()]
        return self.layer(torch.ones(1, 1)).sum()

    def on_train_end(self):
        with open(f"{sys.argv[2]}/{self.global_rank}", "w") as file:
            file.write(repr(self.drawn))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


L.seed_everything(0, workers=sys.argv[1] == "True", verbose=False)
trainer = L.Trainer(
    accelerator="cpu", devices=2, strategy="ddp_fork", max_epochs=1, logger=False,
    enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
)
trainer.fit(Model(), DataLoader(Drawing(), batch_size=2, num_workers=2))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="ranks are forked")
def test_ranks_draw_the_same_unless_workers_know_theirs(tmp_path: Path) -> None:
    if find_spec("lightning") is None:
        pytest.skip("lightning is not installed")
    program = tmp_path / "train.py"
    program.write_text(PROGRAM, encoding="utf-8")

    def drawn(*, workers: bool) -> list[str]:
        """What the workers of two ranks draw, by rank."""
        done = forks.python(program, str(workers), tmp_path, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return [(tmp_path / str(rank)).read_text(encoding="utf-8") for rank in range(2)]

    with closing(Forks(tmp_path, *TORCH, "lightning")) as forks:
        first, second = drawn(workers=False)
        assert first == second
        assert [first, second] == drawn(workers=False)  # runs repeat each other
        first, second = drawn(workers=True)
        assert first != second


@pytest.mark.filterwarnings("ignore")  # of torchdata's imports
def test_a_resumed_loader_goes_on_in_another_order_unless_its_sampler_has_a_state() -> None:
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torchdata.stateful_dataloader")
    from torch.utils.data import RandomSampler, SubsetRandomSampler, WeightedRandomSampler

    rows = list(range(12))

    def goes_on(**options: object) -> bool:
        def made() -> object:
            torch.manual_seed(0)
            given = {name: each() if callable(each) else each for name, each in options.items()}
            return data.StatefulDataLoader(rows, batch_size=2, **given)

        loader = made()
        list(loader)  # type: ignore[call-overload]
        running = iter(loader)  # type: ignore[call-overload]
        next(running)
        state = loader.state_dict()  # type: ignore[attr-defined]
        left = [each.tolist() for each in running]
        resumed = made()
        resumed.load_state_dict(state)  # type: ignore[attr-defined]
        return [each.tolist() for each in resumed] == left  # type: ignore[attr-defined]

    assert goes_on(shuffle=True)
    assert goes_on(sampler=lambda: data.sampler.RandomSampler(rows))
    assert not goes_on(sampler=lambda: RandomSampler(rows))
    assert not goes_on(sampler=lambda: SubsetRandomSampler(rows))
    assert not goes_on(sampler=lambda: WeightedRandomSampler([1.0] * 12, 12))

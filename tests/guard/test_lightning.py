"""The Lightning callback, with both libraries, in processes of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


def needing(library: str) -> Any:  # noqa: ANN401 - what pytest.param gives
    is_there = find_spec(library.partition(".")[0]) is not None
    mark = pytest.mark.skipif(not is_there, reason=f"{library} is not installed")
    return pytest.param(library, marks=mark)


LIGHTNING = needing("lightning.pytorch")
LIBRARIES = [LIGHTNING, needing("pytorch_lightning")]

PROGRAM = """
import importlib, json, logging, os, random, sys, warnings

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset

warnings.simplefilter("ignore")
options = json.loads(sys.argv[1])
L = importlib.import_module(options["library"])
logging.getLogger(options["library"]).setLevel(logging.ERROR)
import guard
from guard.lightning import GuardCallback

class Augmented(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        noise = random.random() + np.random.rand()
        if options.get("streams"):
            noise += torch.rand(1, generator=guard.generator("noise")).item()
        return torch.arange(4.0) * index + noise

class Model(L.LightningModule):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.rand(1000, generator=generator))
        self.index = torch.arange(20_000) % 1000
        self.drop = torch.nn.Dropout()

    def training_step(self, batch, index):
        if options.get("fails"):
            raise ZeroDivisionError
        if options.get("refuses"):
            options["put"](torch.zeros(3), torch.tensor([0, 0]), torch.ones(2))
        picked = self.drop(self.weight)[self.index] * self.index.cos()
        return picked.sum() * batch.mean() * 1e-6

    def validation_step(self, batch, index):
        torch.rand(1)

    test_step = validation_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

def loader(**more):
    return DataLoader(Augmented(), batch_size=2, num_workers=options.get("workers", 0), **more)

def trainer(*callbacks, **more):
    guarded = [GuardCallback(**options["guard"])] if "guard" in options else []
    given = dict(
        max_epochs=options.get("epochs", 2), accelerator="cpu", devices=1, logger=False,
        enable_progress_bar=False, enable_model_summary=False, enable_checkpointing=False,
    )
    return L.Trainer(callbacks=[*guarded, *callbacks], **{**given, **more})

def saving(folder, **more):
    checkpoint = L.callbacks.ModelCheckpoint(
        dirpath=folder, filename="{epoch}-{step}", save_top_k=-1, **more
    )
    return trainer(checkpoint, enable_checkpointing=True)

def fit(trainer, **more):
    model = Model()
    trainer.fit(model, loader(shuffle=True), loader() if options.get("validates") else None, **more)
    return model.weight.tolist()
"""


def run(folder: Path, text: str, **options: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """What a program on top of PROGRAM leaves in `result`."""
    program = folder / "program.py"
    program.write_text(PROGRAM + text + "\nprint('result:' + json.dumps(result))\n")
    done = subprocess.run(
        [sys.executable, str(program), json.dumps(options)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("result:")]
    return json.loads(lines[-1].removeprefix("result:"))


@pytest.mark.parametrize("library", [LIGHTNING])
def test_two_fits_agree_bitwise_with_the_callback_only(tmp_path: Path, library: str) -> None:
    fit = "result = fit(trainer())"
    guarded = [run(tmp_path, fit, guard={"seed": 0}, library=library) for _ in range(2)]
    assert guarded[0] == guarded[1]
    free = [run(tmp_path, fit, library=library) for _ in range(2)]
    assert free[0] != free[1]


RESUMED = """
result = {}
for name, more in {
    "plain": {},
    "workers": {"workers": 2},
    "validated, with a generator by name": {"validates": True, "streams": True},
}.items():
    options.update(more)
    saved = name[:5] + "/epoch={}-step={}.ckpt"
    if options["whole"]:
        result[name] = [fit(saving(name[:5]))] * 3
        trained = trainer(max_epochs=1)
        fit(trained)
        trained.save_checkpoint(name[:5] + "/after.ckpt")
    else:
        paths = saved.format(0, 4), saved.format(1, 8), name[:5] + "/after.ckpt"
        result[name] = [fit(trainer(), ckpt_path=path) for path in paths]
"""


@pytest.mark.parametrize("library", LIBRARIES)
def test_interrupted_is_uninterrupted(tmp_path: Path, library: str) -> None:
    given = {"guard": {"seed": 3}, "library": library, "epochs": 3}
    whole = run(tmp_path, RESUMED, whole=True, **given)
    assert whole["plain"] != whole["workers"]
    assert run(tmp_path, RESUMED, whole=False, **given) == whole

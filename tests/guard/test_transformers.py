"""The callback for Hugging Face's Trainer, in processes of their own."""

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

needs_trainer = pytest.mark.skipif(
    find_spec("transformers") is None or find_spec("accelerate") is None,
    reason="transformers or accelerate is not installed",
)

PROGRAM = '''
import hashlib, json, logging, os, random, sys, warnings

import numpy as np
import torch

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)
options = json.loads(sys.argv[1])
from transformers import Trainer, TrainerCallback, TrainingArguments
import guard
from guard.transformers import GuardCallback

class Noisy(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        noise = 0.0
        if options.get("streams"):
            noise = torch.rand(1, generator=guard.generator("noise")).item()
        return {"x": torch.arange(4.0) * index + noise}

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = torch.nn.Parameter(torch.rand(1000, generator=generator))
        self.index = torch.arange(100_000) % 1000
        self.drop = torch.nn.Dropout()
        self.gradients = hashlib.sha256()
        self.weight.register_hook(lambda grad: self.gradients.update(grad.numpy().tobytes()))

    def forward(self, x):
        if options.get("fails"):
            raise ZeroDivisionError
        noise = random.random() + np.random.rand()
        if options.get("streams"):
            noise += torch.rand(1, generator=guard.generator("forward")).item()
        picked = self.drop(self.weight)[self.index] * torch.arange(100_000.0).cos()
        return {"loss": picked.sum() * (x.mean() + noise) * 1e-6}

def trainer(*callbacks, **more):
    guarded = [GuardCallback(**options["guard"])] if "guard" in options else []
    given = dict(
        output_dir="out", num_train_epochs=2, per_device_train_batch_size=2, use_cpu=True,
        save_strategy="no", report_to=[], disable_tqdm=True, learning_rate=0.1, seed=11,
    )
    arguments = TrainingArguments(**{**given, **options.get("arguments", {}), **more})
    return Trainer(Model(), arguments, train_dataset=Noisy(), callbacks=[*guarded, *callbacks])

def train(trainer, **more):
    """The weights and, as Adam's steps hide how a gradient was rounded, a digest of those."""
    trainer.train(**more)
    return trainer.model.weight.tolist(), trainer.model.gradients.hexdigest()
'''


def run(folder: Path, text: str, **options: Any) -> Any:  # noqa: ANN401 - whatever it gives
    """What a program on top of PROGRAM leaves in `result`."""
    program = folder / "program.py"
    program.write_text(PROGRAM + text + "\nprint('result:' + json.dumps(result))\n")
    done = subprocess.run(
        [sys.executable, *options.pop("launcher", ()), str(program), json.dumps(options)],
        cwd=folder,
        env={**os.environ, "PYTHONHASHSEED": "0"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("result:")]
    return json.loads(lines[-1].removeprefix("result:"))


@needs_trainer
def test_two_trainings_agree_bitwise_with_the_callback_only(tmp_path: Path) -> None:
    text = "result = train(trainer(num_train_epochs=8))"
    guarded = [run(tmp_path, text, guard={}) for _ in range(2)]
    assert guarded[0] == guarded[1]
    free = [run(tmp_path, text) for _ in range(2)]
    assert free[0] != free[1]


RESUMED = """
result = {}
for name, more in {
    "by epoch": dict(save_strategy="epoch"),
    "by step": dict(save_strategy="steps", save_steps=1),
    "restored": dict(save_strategy="epoch", restore_callback_states_from_checkpoint=True),
}.items():
    options["streams"] = "epoch" in name
    more |= dict(output_dir=name, num_train_epochs=3)
    if options["whole"]:
        result[name] = [train(trainer(**more))[0]] * 2
    else:
        steps = (3, 6) if name == "by step" else (4, 8)
        result[name] = [
            train(trainer(**more), resume_from_checkpoint=f"{name}/checkpoint-{step}")[0]
            for step in steps
        ]
"""


@needs_trainer
def test_interrupted_is_uninterrupted(tmp_path: Path) -> None:
    whole = run(tmp_path, RESUMED, whole=True, guard={"seed": 3})
    assert whole["by epoch"] != whole["by step"]
    assert run(tmp_path, RESUMED, whole=False, guard={"seed": 3}) == whole

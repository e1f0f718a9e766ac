import contextlib
import os
import unittest

import lightning as L
import pytest
import torch
import torch as t
from lightning.pytorch.cli import LightningCLI
from msprobe.pytorch import seed_all
from torch import use_deterministic_algorithms
from torch import use_deterministic_algorithms as strict
import msprobe.pytorch as probe

torch.use_deterministic_algorithms(False)  # DET303
torch.use_deterministic_algorithms(mode=False)  # DET303
torch.use_deterministic_algorithms(False, warn_only=True)  # DET303
torch.use_deterministic_algorithms(True, warn_only=True)  # DET303
torch.use_deterministic_algorithms(mode=True, warn_only=True)  # DET303
t.use_deterministic_algorithms(False)  # DET303
use_deterministic_algorithms(False)  # DET303
strict(True, warn_only=True)  # DET303
torch.set_deterministic(False)  # DET303
torch._C._set_deterministic_algorithms(False)  # DET303
torch.set_deterministic_debug_mode(0)  # DET303
torch.set_deterministic_debug_mode(1)  # DET303
torch.set_deterministic_debug_mode("default")  # DET303
torch.set_deterministic_debug_mode("warn")  # DET303
torch.set_deterministic_debug_mode(debug_mode="warn")  # DET303
L.Trainer(deterministic="warn")  # DET303
LightningCLI(trainer_defaults={"deterministic": "warn"})  # DET303
seed_all(mode=False)  # DET303
seed_all(1234, False)  # DET303
probe.seed_all(seed=1, mode=False)  # DET303
WARN = True
torch.use_deterministic_algorithms(True, warn_only=WARN)  # DET303


def step(loss, args):
    torch.use_deterministic_algorithms(False)  # DET303
    loss.backward()
    torch.use_deterministic_algorithms(True)
    if args.fast:
        torch.use_deterministic_algorithms(False)  # DET303
    try:
        torch.use_deterministic_algorithms(True)
    except RuntimeError:
        torch.use_deterministic_algorithms(True, warn_only=True)  # DET303
    if args.deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)  # DET303
    else:
        torch.use_deterministic_algorithms(False)


# Silent: on, unknown, saved

torch.use_deterministic_algorithms(True)
torch.use_deterministic_algorithms(True, warn_only=False)
torch.use_deterministic_algorithms(os.environ.get("STRICT") == "1")
torch.use_deterministic_algorithms(True, warn_only=bool(os.environ.get("WARN")))
torch.set_deterministic_debug_mode(2)
torch.set_deterministic_debug_mode("error")
torch.set_deterministic_debug_mode(os.environ["DEBUG_MODE"])
L.Trainer(deterministic=True)
L.Trainer(deterministic=False)
seed_all(mode=True)
seed_all(1234)
print(torch.are_deterministic_algorithms_enabled())


def restored(step, mode, warn_only):
    before = torch.are_deterministic_algorithms_enabled()
    torch.use_deterministic_algorithms(True)
    step()
    torch.use_deterministic_algorithms(before)
    torch.use_deterministic_algorithms(before, warn_only=True)
    torch.use_deterministic_algorithms(mode)
    torch.use_deterministic_algorithms(mode, warn_only=warn_only)


def in_finally(step):
    torch.use_deterministic_algorithms(True)
    try:
        step()
    finally:
        torch.use_deterministic_algorithms(False)


def one_if(deterministic):
    if deterministic:
        torch.use_deterministic_algorithms(True)
    else:
        torch.use_deterministic_algorithms(False)


def one_if_by_level(level):
    if level == "off":
        torch.set_deterministic_debug_mode("default")
    elif level == "warn":
        print("warn")
    else:
        torch.set_deterministic_debug_mode("error")


def early(deterministic):
    if not deterministic:
        torch.use_deterministic_algorithms(False)
    else:
        torch.use_deterministic_algorithms(True)
    if deterministic:
        torch.use_deterministic_algorithms(True)
        return
    torch.use_deterministic_algorithms(False)


def disable_full_determinism():
    torch.use_deterministic_algorithms(False)


def unset_deterministic():
    torch.use_deterministic_algorithms(False)


class Strict(contextlib.ContextDecorator):
    def __enter__(self):
        torch.use_deterministic_algorithms(True)

    def __exit__(self, *_):
        torch.use_deterministic_algorithms(False)


class TestStrict(unittest.TestCase):
    def setUp(self):
        torch.use_deterministic_algorithms(True)
        self.addCleanup(lambda: torch.use_deterministic_algorithms(False))

    def teardown_method(self):
        torch.use_deterministic_algorithms(False)

    def tearDown(self):
        torch.use_deterministic_algorithms(False)


@pytest.fixture()
def strictly():
    torch.use_deterministic_algorithms(True)
    yield
    torch.use_deterministic_algorithms(False)


def shadowed(torch, seed_all, use_deterministic_algorithms):
    torch.use_deterministic_algorithms(False)
    use_deterministic_algorithms(False)
    seed_all(mode=False)


class Trainer:
    def use_deterministic_algorithms(self, mode):
        self.mode = mode

    def start(self):
        self.use_deterministic_algorithms(False)
        Trainer(deterministic="warn")

import atexit
import contextlib
import unittest

import lightning as L
import pytest
import torch
import torch.backends.cudnn as cudnn
from lightning.pytorch.cli import LightningCLI
from pytorch_lightning import Trainer
from torch.backends.cudnn import set_flags

torch.backends.cudnn.deterministic = False  # DET302
cudnn.deterministic = False  # DET302
cudnn.benchmark, cudnn.deterministic = False, False  # DET302
cudnn.deterministic = cudnn.benchmark = False  # DET302
setattr(cudnn, "deterministic", False)  # DET302
cudnn.set_flags(_deterministic=False)  # DET302
set_flags(True, False, 10, False)  # DET302
torch._C._set_cudnn_deterministic(False)  # DET302
with cudnn.flags(enabled=True, deterministic=False):  # DET302
    pass
with cudnn.flags(True, False, 10, False):  # DET302
    pass

Trainer(deterministic=False)  # DET302
L.Trainer(
    max_epochs=1,
    deterministic=False,  # DET302
)
LightningCLI(trainer_defaults={"deterministic": False})  # DET302
later = dict(max_epochs=3)
later["deterministic"] = False  # DET302
Trainer(**later)


def run(args):
    if args.fast:
        cudnn.deterministic = False  # DET302
    if args.benchmark:
        cudnn.benchmark = True
    else:
        cudnn.deterministic = False  # DET302
    if args.seed is not None:
        cudnn.deterministic = True
    cudnn.deterministic = False  # DET302


def reset_seeds(seed):
    torch.manual_seed(seed)
    torch.backends.cudnn.deterministic = False  # DET302


# Silent: on, unknown, read

torch.backends.cudnn.deterministic = True
cudnn.allow_tf32 = False
cudnn.benchmark = False
setattr(cudnn, "deterministic", True)
cudnn.set_flags(_deterministic=True)
cudnn.set_flags(True, False)
with cudnn.flags(enabled=False, deterministic=False):
    pass
with cudnn.flags(enabled=True):
    pass
Trainer(deterministic=True)
Trainer(deterministic="warn")
Trainer(deterministic=None)
Trainer()
print(cudnn.deterministic is False)


def seed_everything(seed, deterministic=False):
    cudnn.deterministic = cudnn.benchmark
    cudnn.deterministic = deterministic
    if deterministic:
        torch.backends.cudnn.deterministic = True
        torch.backends.cudnn.benchmark = False
    else:
        torch.backends.cudnn.deterministic = False
        torch.backends.cudnn.benchmark = True


def reversed_sides(fast, debug):
    if fast:
        cudnn.deterministic = False
    elif debug:
        print("debugging")
    else:
        setattr(cudnn, "deterministic", True)


def nested(args):
    if args.seed is not None:
        if args.verbose:
            print(args.seed)
        cudnn.deterministic = True
    else:
        if torch.cuda.is_available():
            cudnn.deterministic = False


def returns_early(enabled):
    if enabled:
        cudnn.deterministic = True
        return
    cudnn.deterministic = False


def chosen(seed):
    if seed is None:
        return Trainer(deterministic=False)
    return Trainer(deterministic=True)


def one_of_two(seed):
    return Trainer(deterministic=True) if seed else Trainer(deterministic=False)


def in_finally(step):
    cudnn.deterministic = True
    try:
        step()
    finally:
        cudnn.deterministic = False


class Deterministic:
    def __enter__(self):
        cudnn.deterministic = True

    def __exit__(self, *_):
        cudnn.deterministic = False


class TestModel(unittest.TestCase):
    def setUp(self):
        cudnn.deterministic = True
        self.addCleanup(lambda: setattr(cudnn, "deterministic", False))

    def tearDown(self):
        cudnn.deterministic = False

    @classmethod
    def tearDownClass(cls):
        cudnn.deterministic = False


def teardown_module():
    cudnn.deterministic = False


@pytest.fixture
def deterministic():
    cudnn.deterministic = True
    yield
    cudnn.deterministic = False


@pytest.fixture
def fast():
    cudnn.deterministic = False  # DET302
    yield


@contextlib.contextmanager
def reproducible():
    cudnn.deterministic = True
    yield
    cudnn.deterministic = False


atexit.register(lambda: cudnn.set_flags(_deterministic=False))


def restores():
    before = cudnn.deterministic
    cudnn.deterministic = before


def shadowed(cudnn, Trainer):
    cudnn.deterministic = False
    Trainer(deterministic=False)
    encode(deterministic=False)
    torch.backends.mkldnn.deterministic = False

import argparse
import os
import sys
from functools import partial
from unittest import mock

import lightning as L
import pytorch_lightning as pl
import torch
import torch.backends.cudnn as cudnn
import torch.backends.cudnn as c
from lightning.pytorch import Trainer
from lightning.pytorch.cli import LightningCLI
from torch import backends
from torch.backends import cudnn as accelerated
from torch.backends.cudnn import flags, set_flags

# Every way to say it

torch.backends.cudnn.benchmark = True  # DET301
cudnn.benchmark = True  # DET301
accelerated.benchmark = True  # DET301
c.benchmark = True  # DET301
backends.cudnn.benchmark = True  # DET301
cudnn.benchmark: bool = True  # DET301
cudnn.benchmark, cudnn.deterministic = True, False  # DET301
cudnn.benchmark = cudnn.enabled = True  # DET301
getattr(torch.backends, "cudnn").benchmark = True  # DET301
setattr(cudnn, "benchmark", True)  # DET301
setattr(torch.backends.cudnn, "benchmark", True)  # DET301
cudnn.set_flags(_enabled=True, _benchmark=True)  # DET301
cudnn.set_flags(True, True)  # DET301
set_flags(True, True, 10, False)  # DET301
torch._C._set_cudnn_benchmark(True)  # DET301
cudnn.benchmark = not False  # DET301
FASTER = True
cudnn.benchmark = FASTER  # DET301

nn_backend = torch.backends.cudnn
nn_backend.benchmark = True  # DET301

with cudnn.flags(enabled=True, benchmark=True):  # DET301
    pass
with torch.backends.cudnn.flags(benchmark=True), torch.no_grad():  # DET301
    pass
with flags(True, True, deterministic=False):  # DET301
    pass
with torch.backends.cudnn.flags(
    enabled=True,
    benchmark=True,  # DET301
    deterministic=False,
):
    pass


@cudnn.flags(enabled=True, benchmark=True)  # DET301
def fast_forward(model, x):
    return model(x)


Trainer(benchmark=True)  # DET301
L.Trainer(
    max_epochs=2,
    benchmark=True,  # DET301
)
pl.Trainer.from_argparse_args(None, benchmark=True)  # DET301
L.pytorch.Trainer(benchmark=True)  # DET301
L.Fabric(benchmark=True)  # DET301
trainer_options = {
    "max_epochs": 2,
    "benchmark": True,  # DET301
}
Trainer(**trainer_options)
LightningCLI(trainer_defaults={"benchmark": True})  # DET301
trainer_settings = argparse.Namespace(
    max_epochs=2,
    benchmark=True,  # DET301
    precision=16,
)
LightningCLI(trainer_defaults=dict(max_epochs=3, benchmark=True))  # DET301

env_cfg = dict(cudnn_benchmark=True, mp_cfg=dict(mp_start_method="fork"))  # DET301
env_cfg = {"cudnn_benchmark": True}  # DET301
env_cfg = {
    "mp_cfg": {"mp_start_method": "fork"},
    "cudnn_benchmark": True,  # DET301
}
env_cfg["cudnn_benchmark"] = True  # DET301
env_cfg.setdefault("cudnn_benchmark", True)  # DET301


def configure(cfg, monkeypatch):
    cfg.env_cfg.cudnn_benchmark = True  # DET301
    cfg.CUDNN_BENCHMARK = True  # DET301
    setattr(cfg, "cudnn_benchmark", True)  # DET301
    seed_everything(0, cudnn_benchmark=True)  # DET301
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", True)  # DET301


# A condition that asks about the machine or the process says True.

device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
if torch.cuda.is_available():
    cudnn.benchmark = True  # DET301
if device.type == "cuda":
    cudnn.benchmark = True  # DET301
if "cuda" in str(device):
    cudnn.benchmark = True  # DET301
if not torch.cuda.is_available():
    pass
else:
    cudnn.benchmark = True  # DET301
if hasattr(torch.backends, "cudnn"):
    cudnn.benchmark = True  # DET301
if cudnn.enabled and cudnn.is_available():
    cudnn.benchmark = True  # DET301


def start(args, rank, gpu_ids):
    if rank == 0:
        torch.backends.cudnn.benchmark = True  # DET301
    if args.use_cuda:
        torch.backends.cudnn.benchmark = True  # DET301
    if len(gpu_ids) > 0:
        torch.backends.cudnn.benchmark = True  # DET301
    if int(torch.__version__.split(".")[0]) > 1:
        torch.backends.cudnn.benchmark = True  # DET301
    for _ in range(3):
        with torch.no_grad():
            torch.backends.cudnn.benchmark = True  # DET301
    try:
        torch.backends.cudnn.benchmark = True  # DET301
    except AttributeError:
        pass


def local_import():
    import torch.backends.cudnn as fast

    fast.benchmark = True  # DET301


if __name__ == "__main__":
    torch.backends.cudnn.benchmark = True  # DET301
    start(None, 0, [])

# Silent: off, unknown, read

torch.backends.cudnn.benchmark = False
cudnn.benchmark = os.environ["FAST"] == "1"
cudnn.benchmark = True if len(sys.argv) > 1 else False
cudnn.benchmark_limit = True
cudnn.enabled = True
cudnn.deterministic = True
cudnn.set_flags(True, False)
cudnn.set_flags(_enabled=True)
setattr(cudnn, "benchmark", False)
setattr(cudnn, "enabled", True)
print(cudnn.benchmark, cudnn.benchmark is True)
assert cudnn.benchmark == True
with cudnn.flags(True, False):
    pass
with cudnn.flags(enabled=False, benchmark=True):  # nothing to time
    pass
Trainer(benchmark=False)
argparse.Namespace(benchmark=True, rows=3)
argparse.Namespace(benchmark=False, max_epochs=2, precision=16)
Trainer(benchmark=None)
env_cfg = dict(cudnn_benchmark=False)
env_cfg = {"cudnn_benchmark": os.environ.get("FAST")}
mock.sentinel.benchmark = True
print("torch.backends.cudnn.benchmark = True")


def by_setting(args, cfg, train, benchmark=True, cudnn_benchmark=True):
    cudnn.benchmark = not cudnn.deterministic
    cudnn.benchmark = benchmark
    cudnn.benchmark = args.benchmark
    cudnn.benchmark = cudnn_benchmark
    if cfg.cudnn_benchmark:
        torch.backends.cudnn.benchmark = True
    if cfg.get("cudnn_benchmark", False):
        torch.backends.cudnn.benchmark = True
    if args.seed is None:
        torch.backends.cudnn.benchmark = True
    if not args.deterministic and torch.cuda.is_available():
        torch.backends.cudnn.benchmark = True
    if benchmark:
        torch.backends.cudnn.deterministic = False
        torch.backends.cudnn.benchmark = True
    elif torch.cuda.is_available():
        torch.backends.cudnn.benchmark = True
    if args.deterministic:
        torch.backends.cudnn.benchmark = False
    else:
        torch.backends.cudnn.benchmark = True
    if torch.are_deterministic_algorithms_enabled():
        pass
    else:
        cudnn.benchmark = True
    if cfg.train.fast:
        if torch.cuda.is_available():
            cudnn.benchmark = True
        setattr(cudnn, "benchmark", True)
        cudnn.set_flags(_benchmark=True)
    if os.environ.get("FAST"):
        cudnn.benchmark = True
    if cfg["cudnn"]["benchmark"]:
        cudnn.benchmark = True


def by_flag(args):
    live = several = False
    if args.source == "0" or args.source.startswith("rtsp"):
        live = True
    if torch.cuda.device_count() > 1:
        several = True
    if live:
        cudnn.benchmark = True
    if several:
        cudnn.benchmark = True  # DET301


def by_condition(args):
    cudnn.benchmark = True if len(args.gpu_id) < 2 else False  # DET301
    cudnn.benchmark = False if torch.cuda.device_count() > 1 else True  # DET301
    cudnn.benchmark = True if args.fast else False
    cudnn.benchmark = False if args.deterministic else True
    if args.fast:
        cudnn.benchmark = True if len(args.gpu_id) < 2 else False


def restore():
    before = cudnn.benchmark
    cudnn.benchmark = before


def shadowed(torch, cudnn):
    torch.backends.cudnn.benchmark = True
    cudnn.benchmark = True


class Fake:
    benchmark = True

    def __init__(self, benchmark=True):
        self.benchmark = True
        self.torch.backends.cudnn.benchmark = True


class Trainer2:
    pass


def other_libraries(Trainer):
    Trainer(benchmark=True)
    Trainer2(benchmark=True)
    torch.backends.mkldnn.benchmark = True
    torch.backends.flags(benchmark=True)
    partial(print, benchmark=True)
    benchmark = True
    return benchmark


def recorded(save):
    torch.backends.cudnn.benchmark = True  # DET301
    options = {"name": "run", "cudnn_benchmark": torch.backends.cudnn.benchmark}
    save(options, cudnn_benchmark=torch.backends.cudnn.benchmark)
    save(options, cudnn_benchmark=True)  # DET301

"""Cases of DET106."""

import multiprocessing
import os
import os as system
import random
import subprocess
import sys
from os import environ

import numpy as np
import torch

# In a process that is running.

os.environ["PYTHONHASHSEED"] = "0"  # DET106
system.environ["PYTHONHASHSEED"] = "0"  # DET106
environ["PYTHONHASHSEED"] = "0"  # DET106
os.environb[b"PYTHONHASHSEED"] = b"0"  # DET106
os.putenv("PYTHONHASHSEED", "0")  # DET106
for name, value in {"PYTHONHASHSEED": "0", "PATH": "/bin"}.items():
    os.environ[name] = value  # DET106
for name in ("PATH", "PYTHONHASHSEED"):
    os.environ[name] = "0"  # DET106
for name in ("PATH", "HOME"):
    os.environ[name] = "0"
os.environ.setdefault("PYTHONHASHSEED", "0")  # DET106
os.environ.update({"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"})  # DET106
os.environ.update(PYTHONHASHSEED="0")  # DET106
os.environ.update(dict(PYTHONHASHSEED="0"))  # DET106
os.environ |= {"PYTHONHASHSEED": "0"}  # DET106


def seed_everything(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)  # DET106


def by_constant(seed):
    name = "PYTHONHASHSEED"
    os.environ[name] = str(seed)  # DET106


class Runner:
    def seed(self, seed):
        if seed is not None:
            os.environ["PYTHONHASHSEED"] = f"{seed}"  # DET106


def seeds_and_asks_git(seed):
    torch.manual_seed(seed)
    os.environ["PYTHONHASHSEED"] = str(seed)  # DET106
    return subprocess.check_output(["git", "rev-parse", "HEAD"])


# For processes that are started.


def start(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)
    subprocess.run([sys.executable, "train.py"], check=True)


def spawn(seed, train):
    os.environ["PYTHONHASHSEED"] = str(seed)
    context = multiprocessing.get_context("spawn")
    context.Process(target=train).start()


def spawn_with_torch(seed, train):
    os.environ.setdefault("PYTHONHASHSEED", str(seed))
    torch.multiprocessing.spawn(train, nprocs=2)


def with_environment(seed):
    env = dict(os.environ)
    env["PYTHONHASHSEED"] = str(seed)
    env.update(PYTHONHASHSEED="0")
    subprocess.run([sys.executable, "train.py"], env=env, check=True)


def literal_environment():
    return subprocess.Popen(["train"], env={**os.environ, "PYTHONHASHSEED": "0"})


# Read, checked, taken away or put back.


def check():
    assert os.environ["PYTHONHASHSEED"] == "0"
    return os.environ.get("PYTHONHASHSEED"), os.environ.setdefault("OMP_NUM_THREADS", "1")


def put_back(work):
    before = os.environ.get("PYTHONHASHSEED")
    work()
    os.environ["PYTHONHASHSEED"] = before
    os.environ.pop("PYTHONHASHSEED")
    del os.environ["PYTHONHASHSEED"]


def other_mapping(settings, monkeypatch):
    settings["PYTHONHASHSEED"] = "0"
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    print("PYTHONHASHSEED = 0")

import os
import subprocess
from os import environ

import torch

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:2"  # DET306
os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":16:8")
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", "4096:8")  # DET306
environ["CUBLAS_WORKSPACE_CONFIG"] = ""
os.putenv("CUBLAS_WORKSPACE_CONFIG", ":4096:8:16:8")  # DET306
os.environ.update({"CUBLAS_WORKSPACE_CONFIG": ":0:0", "A": "b"})  # DET306
os.environ.update(CUBLAS_WORKSPACE_CONFIG=":0:0")  # DET306
os.environ["CUBLAS_WORKSPACE_CONFIG"] = os.environ.get("WORKSPACE", ":4096:8")
VALUE = ":4096:2"
os.environ["CUBLAS_WORKSPACE_CONFIG"] = VALUE  # DET306
settings = {"CUBLAS_WORKSPACE_CONFIG": ":0:0"}


def late(model):
    model.cuda()
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"  # DET306


def late_on_a_device(batch):
    batch = batch.to("cuda:0")
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # DET306


def after_choosing_the_device(rank):
    torch.cuda.set_device(rank)
    print(torch.cuda.get_device_name(rank))
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"


def in_time(seed, model):
    if torch.cuda.is_available():
        torch.cuda.manual_seed_all(seed)
    os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"
    return model.cuda()


def elsewhere(environment):
    environment["CUBLAS_WORKSPACE_CONFIG"] = ":0:0"


def launch(environment: dict[str, str]) -> None:
    subprocess.run(
        ["torchrun", "train.py"],
        env={**environment, "CUBLAS_WORKSPACE_CONFIG": ":4096:2"},  # DET306
        check=True,
    )
    subprocess.run(
        ["torchrun", "train.py"],
        env={**environment, "CUBLAS_WORKSPACE_CONFIG": ":4096:8"},
        check=True,
    )

"""DET206 of programs: the sampler is made in one file, the loop over epochs stands in another."""

from __future__ import annotations

import json
import os
import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Lint = Callable[..., list[str]]

DATA = """
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

def build_loader(dataset, shards):
    sampler = DistributedSampler(dataset, num_replicas=shards)
    return DataLoader(dataset, batch_size=8, sampler=sampler)
"""
TRAIN = """
from data import build_loader

def run(model, dataset, optimizer):
    loader = wrap(build_loader(dataset, 2))
    for epoch in range(90):
        train_one_epoch(model, loader, optimizer)

def train_one_epoch(model, loader, optimizer):
    for batch in loader:
        model(batch).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    run(*setup())
"""


@pytest.fixture
def lint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Lint:
    """``path:row message`` of each finding in the files of a program."""
    (tmp_path / "pyproject.toml").write_text("[tool.detlint]\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    def run(train: str = TRAIN, data: str = DATA, **others: str) -> list[str]:
        for name, text in {"train": train, "data": data, **others}.items():
            (tmp_path / f"{name}.py").write_text(textwrap.dedent(text), encoding="utf-8")
        main(["--no-cache", "--select", "DET206", "--output-format", "json", "."])
        return [
            f"{os.path.relpath(each['filename'])}:{each['location']['row']} {each['message']}"
            for each in json.loads(capsys.readouterr().out)
        ]

    return run


def test_it_is_named_where_it_is_made(lint: Lint) -> None:
    (found,) = lint()
    assert found == (
        "train.py:14 nothing calls set_epoch on the DistributedSampler (data.py:6): it shuffles "
        "to the same order in every epoch, and train.py loops over epochs: `for epoch in range(90)`"
    )


def in_(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


SILENT = {
    "the loop tells it": {
        "train": in_(
            TRAIN,
            "        train_one_epoch(model",
            "        loader.sampler.set_epoch(epoch)\n        train_one_epoch(model",
        )
    },
    "a file of the program tells some sampler": {
        "train": TRAIN + "\nimport tools\n",
        "tools": "def tell(x, e):\n    getattr(x, 'set_epoch')(e)\n",
    },
    "its epoch is set": {
        "train": in_(
            TRAIN,
            "        train_one_epoch(model",
            "        loader.sampler.epoch = epoch\n        train_one_epoch(model",
        )
    },
    "a library runs the epochs": {"train": "import accelerate\n" + TRAIN},
    "a library replaces the sampler": {"train": "from opacus import PrivacyEngine\n" + TRAIN},
    "it does not shuffle": {
        "data": in_(DATA, "shards)\n    return", "shards, shuffle=False)\n    return")
    },
    "it may not shuffle": {
        "data": in_(DATA, "shards)\n    return", "shards, shuffle=train)\n    return")
    },
    "data that is evaluated on": {"data": in_(DATA, "    sampler =", "    val_sampler =")},
    "a function for evaluation": {
        "data": DATA + "\n\ndef build_test_loader(d):\n    return DistributedSampler(d)\n",
        "train": in_(TRAIN, "build_loader", "build_test_loader"),
    },
    "a seed of each epoch": {"data": in_(DATA, "=shards", "=shards, seed=shards")},
    "one epoch": {"train": in_(TRAIN, "range(90)", "range(1)")},
    "no loop over epochs": {"train": in_(TRAIN, "for epoch in", "for _ in")},
    "epochs that are only plotted": {
        "train": in_(
            TRAIN, "        train_one_epoch(model, loader, optimizer)", "        plot(epoch)"
        )
    },
    "a function that the program does not use": {
        "train": in_(TRAIN, "build_loader", "something_else"),
    },
    "a hook of an unknown base": {
        "data": """
            from frame import Base
            from torch.utils.data import DistributedSampler

            class Task(Base):
                def build_loader(self, dataset):
                    return DistributedSampler(dataset)

            def build_loader(dataset, shards):
                return Task().build_loader(dataset)
        """
    },
}


@pytest.mark.parametrize("files", SILENT.values(), ids=SILENT)
def test_silent_where(files: dict[str, str], lint: Lint) -> None:
    found = lint(**files)
    if files.get("data", "").startswith(DATA):
        found = [each for each in found if not each.startswith("data.py:6")]
    assert found == []


def test_a_loop_beside_the_sampler_is_left_to_its_file(lint: Lint) -> None:
    whole = DATA + in_(TRAIN, "from data import build_loader\n", "")
    assert lint(train=whole, data="") == []
    seen = in_(whole, "wrap(build_loader(dataset, 2))", "build_loader(dataset, 2)")
    assert [each.partition(" ")[0] for each in lint(train=seen, data="")] == ["train.py:6"]

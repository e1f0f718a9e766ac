"""``python -m guard verify`` over programs of torch, recorded by ``guard record``."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from programs import python, write

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("torch")

PROGRAM = """
    import torch

    torch.manual_seed(0)

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.head = torch.nn.Linear(8, 1)

        def forward(self, x):
            scratch = torch.{maker}(4, 1)
            return self.head(x) + scratch

    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        loss = net(torch.randn(4, 8)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    """


def test_a_program_that_is_deterministic(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", PROGRAM.format(maker="zeros"))
    done = python("-m", "guard", "verify", script, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("Identical, bit for bit, ")


@pytest.mark.skipif(not hasattr(os, "confstr"), reason="glibc's malloc fills memory")
def test_memory_that_nothing_has_written_is_traced_to_its_line(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", PROGRAM.format(maker="empty"))
    done = python("-m", "guard", "verify", "--json", "--budget", "2", script, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert found["difference"]["cause"] == "UNWRITTEN_MEMORY"
    assert found["operators"][0]["name"] == "aten.add.Tensor"
    assert found["operators"][0]["place"]["line"] == 12
    assert (found["suspects"][0]["code"], found["suspects"][0]["line"]) == ("DET401", 11)


RESUMED = """
    import sys
    import torch
    from torch.utils.data import DataLoader, TensorDataset

    torch.manual_seed(0)
    data = TensorDataset(torch.randn(8, 8), torch.randn(8, 1))
    layers = [torch.nn.Linear(8, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1)]
    net = torch.nn.Sequential(*layers)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.1)
    plan = torch.optim.lr_scheduler.StepLR(optimizer, 2)
    order = torch.Generator()
    loader = DataLoader(data, 2, shuffle=True, generator=order)
    done = 0
    if "--resume" in sys.argv:
        saved = torch.load("last.pt")
        done = saved["done"]
        for each in (net, optimizer, plan):
            each.load_state_dict(saved[type(each).__name__])
        torch.set_rng_state(saved["states"])
    while done < 6:
        order.manual_seed(done // 4)
        skipped = done % 4
        for at, (x, y) in enumerate(loader):
            if at < skipped or done == 6:
                continue
            loss = torch.nn.functional.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            plan.step()
            done += 1
            saved = {type(each).__name__: each.state_dict() for each in (net, optimizer, plan)}
            torch.save({**saved, "done": done, "states": torch.get_rng_state()}, "last.pt")
    """


def test_a_program_that_saves_all_its_state_resumes_exactly(tmp_path: Path) -> None:
    write(tmp_path / "train.py", RESUMED)
    options = ("--resume-at", "3", "--resume-args", "--resume")
    done = python("-m", "guard", "verify", "--json", *options, "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    # And the batches that are drawn and left after the last of them.
    assert (done.returncode, found["training_steps"], found["steps"]) == (0, 3, 4), done.stdout
    assert found["verify"]["resume"]["resumed_at"] == 3


SHUFFLED = """
    import torch
    from torch.utils.data import DataLoader

    torch.manual_seed(0)
    data = torch.randn(24, 4)
    held = [data[int(name)] for name in {str(number) for number in range(24)}]
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(held, 5):
        net(x).pow(2).mean().backward()
        optimizer.step()
    """


def test_samples_that_come_in_other_batches_are_an_order(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", SHUFFLED)
    options = ("--json", "--budget", "0")
    done = python("-m", "guard", "verify", *options, script, cwd=tmp_path)
    found = json.loads(done.stdout)["difference"]
    assert (found["step"], found["cause"]) == (0, "BATCH_ORDER"), found["why"]
    assert "the 5 batches from there on hold the same samples" in found["why"]


@pytest.mark.parametrize(
    ("lost", "named", "line"),
    [
        ("plan.__init__(optimizer, 2)", "plan (StepLR): last_epoch was 3 and is 0", "plan = "),
        ("layers[1].p = 0.25", "layers[1].p was 0.5 and is 0.25", "layers = "),
    ],
)
def test_an_object_that_did_not_get_its_state_back_is_named(
    lost: str, named: str, line: str, tmp_path: Path
) -> None:
    text = RESUMED.replace("    while done < 6:", f"        {lost}\n    while done < 6:")
    path = write(tmp_path / "train.py", text)
    options = ("--resume-at", "3", "--resume-args", "--resume")
    done = python("-m", "guard", "verify", "--json", *options, "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    assert done.returncode == 1, done.stdout
    assert named in found["cause"]["what"]
    (first, *_) = found["suspects"]
    assert path.read_text().splitlines()[first["line"] - 1].startswith(line)

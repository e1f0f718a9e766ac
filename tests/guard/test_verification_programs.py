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


FOLDS = """
    import multiprocessing
    import torch

    def fit(seed):
        torch.manual_seed(seed)
        net = torch.nn.Linear(8, 1)
        optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
        for step in range(3):
            loss = net(torch.randn(4, 8)).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return loss.item()

    def drawn(seed):
        return torch.randn(1).item() + seed

    if __name__ == "__main__":
        torch.set_num_threads(1)
        with multiprocessing.get_context("{method}").Pool({count}) as pool:
            print(pool.map({function}, [1, 2]))
        fit(0)
    """


@pytest.mark.parametrize(
    ("method", "count", "function"), [("spawn", 1, "fit"), ("fork", 2, "fit"), ("fork", 2, "drawn")]
)
def test_processes_that_train_and_are_not_compared_are_named(
    tmp_path: Path, method: str, count: int, function: str
) -> None:
    text = FOLDS.format(method=method, count=count, function=function)
    script = write(tmp_path / "train.py", text)
    done = python("-m", "guard", "verify", "--json", "--runs", "2", script, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert (done.returncode, found["verify"]["steps"]) == (0, 3)
    told = [each for each in found["verify"]["notes"] if each.startswith("processes that the")]
    named = ["trained at train.py:12, which was not compared" in each for each in told]
    assert named == [True] * (function == "fit")


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


FILLED_PARTLY = """
    import pathlib
    import numpy as np
    import torch
    def read(path):
        values = np.empty(4096, dtype=np.int16)
        with open(path, "rb") as file:
            file.readinto(values)
        return torch.from_numpy(values).float() / 2**15
    torch.manual_seed(0)
    pathlib.Path("rows").write_bytes(bytes(4096))
    net = torch.nn.Linear(4096, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=1e-4)
    for step in range(3):
        loss = net(read("rows")).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""


@pytest.mark.skipif(not hasattr(os, "confstr"), reason="glibc's malloc fills memory")
def test_memory_that_is_filled_partly_is_named_where_it_is_made(tmp_path: Path) -> None:
    script = write(tmp_path / "train.py", FILLED_PARTLY)
    done = python("-m", "guard", "verify", "--json", script, cwd=tmp_path)
    found = json.loads(done.stdout)
    assert found["cause"]["source"] == "UNWRITTEN_MEMORY"
    assert [each["line"] for each in found["suspects"]][:2] == [7, 5]


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
    assert "the 5 batches from there on, taken together, hold the same samples" in found["why"]


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


DRAWS_BY_A_QUEUE = """
    import random
    import sys
    from collections import deque

    import torch
    from torch import nn


    class Replay:
        # Rows that come once more, a few steps later.

        def __init__(self):
            self.waiting = deque(maxlen=6)

        def put(self, rows):
            self.waiting.extend(rows[:2])

        def due(self):
            return [self.waiting.popleft() for _ in range(min(2, max(0, len(self.waiting) - 3)))]


    def main(resume):
        torch.manual_seed(2)
        draws = random.Random(3)
        data = torch.rand(200, 6, generator=torch.Generator().manual_seed(4))
        model = nn.Sequential(nn.Linear(6, 8), nn.Tanh(), nn.Linear(8, 1))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
        replay, begin = Replay(), 0
        if resume:
            held = torch.load("last.pt", weights_only=False)
            model.load_state_dict(held["model"])
            optimizer.load_state_dict(held["optimizer"])
            draws.setstate(held["draws"])
            begin = held["step"]
        for step in range(begin, 16):
            old = replay.due()
            rows = old + [draws.randrange(200) for _ in range(12 - len(old))]
            loss = (model(data[rows]) - data[rows].prod(1, keepdim=True)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            replay.put(rows)
            parts = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
            torch.save({**parts, "draws": draws.getstate(), "step": step + 1}, "last.pt")
        print(f"loss {loss.item():.6f}")


    if __name__ == "__main__":
        main("--resume" in sys.argv)
    """


@pytest.mark.parametrize(("is_kept", "every"), [(False, 1), (False, 4), (True, 1)])
def test_a_generator_that_came_back_is_not_lost_by_how_much_a_step_draws(
    is_kept: object, every: int, tmp_path: Path
) -> None:
    text = DRAWS_BY_A_QUEUE.replace("torch.save(", f"if not (step + 1) % {every}: torch.save(")
    if is_kept:
        text = text.replace('"step": step', '"rows": list(replay.waiting), "step": step')
        back = 'replay.waiting.extend(held["rows"])'
        text = text.replace('begin = held["step"]', f'begin = held["step"]; {back}')
    path = write(tmp_path / "train.py", text)
    options = ("--resume-at", "9", "--resume-args", "--resume")
    done = python("-m", "guard", "verify", "--json", *options, "train.py", cwd=tmp_path)
    found = json.loads(done.stdout)
    if is_kept:
        assert done.returncode == 0, done.stdout
        return
    # Nothing that its first step computes agrees: which one it is, the parameters tell.
    assert found["verify"]["resume"]["resumed_at"] == 9 - 9 % every
    assert found["cause"]["what"] == "Replay.waiting (deque) did not come back"
    assert "random.Random" not in found["difference"]["why"]
    lines = path.read_text().splitlines()
    assert "self.waiting = deque" in lines[found["suspects"][0]["line"] - 1]

"""``python -m guard preflight``: what differs and is no operator of torch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from preflight_reports import found, preflight
from programs import write

pytest.importorskip("torch")

from guard.rehearsal import gate

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)

PROGRAM = """\
import torch
{begins}
model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.full((2, 3), float(x)).cuda()).sum().backward()
optimizer.step()
"""
DRAWS = {
    "import random; torch.manual_seed(random.randint(0, 9)); x = 1": (
        "random numbers are drawn from random, which nobody has seeded"
    ),
    "import random; torch.manual_seed(0); random.seed(); x = random.random()": (
        "random numbers are drawn from random, which nobody has seeded"
    ),
    "import random; torch.manual_seed(0); x = random.Random().random()": (
        "random.Random() is given no seed"
    ),
    "import random; torch.manual_seed(0); x = random.SystemRandom().random()": (
        "random.SystemRandom.random() draws from the system and has no seed"
    ),
    "import numpy as np; torch.manual_seed(0); x = np.random.randn(3)[0]": (
        "random numbers are drawn from numpy.random, which nobody has seeded"
    ),
    "import numpy as np; torch.manual_seed(0); x = np.random.default_rng().random()": (
        "a generator of NumPy is given no seed"
    ),
    "import numpy as np; torch.manual_seed(0); x = np.random.RandomState().rand()": (
        "a generator of NumPy is given no seed"
    ),
    "import copy, numpy as np; torch.manual_seed(0); "
    "x = copy.deepcopy(np.random.default_rng()).random()": (
        "a generator of NumPy is given no seed"
    ),
    "import os; torch.manual_seed(0); x = os.urandom(1)[0]": (
        "os.urandom() draws from the system and has no seed"
    ),
    "import secrets; torch.manual_seed(0); x = secrets.randbelow(9)": (
        "secrets.randbelow() draws from the system and has no seed"
    ),
    "import time; torch.manual_seed(int(time.time() * 1000) % 2**32); x = 1": (
        "the seed that torch.manual_seed gets comes from time.time()"
    ),
    "import uuid; torch.manual_seed(uuid.uuid4().int % 2**32); x = 1": (
        "the seed that torch.manual_seed gets comes from uuid.uuid4()"
    ),
    "torch.manual_seed(0); torch.seed(); x = torch.rand(1)": (
        "random numbers are drawn from torch's own generator, which nobody has seeded"
    ),
}


@pytest.mark.parametrize(("begins", "said"), DRAWS.items())
def test_draws_that_no_operator_makes_are_told(
    tmp_path: Path, forks: Forks, begins: str, said: str
) -> None:
    report = found(forks, tmp_path, PROGRAM.format(begins=begins), status=1)
    assert said in [each["text"] for each in report["sources"]]
    assert 2 in [each["where"]["line"] for each in report["sources"] if each["text"] == said]


SEEDED = """
import copy, pickle, random, uuid
import numpy as np
torch.manual_seed(0); random.seed(0); np.random.seed(0)
x = random.random() + np.random.rand() + copy.deepcopy(random.Random(3)).random()
x += copy.deepcopy(np.random.default_rng(4)).random() + np.random.PCG64(6).random_raw()
x += pickle.loads(pickle.dumps(np.random.RandomState(5))).rand()
x += np.random.default_rng(4).random() + np.random.RandomState(5).rand()
random.setstate(random.getstate()); np.random.set_state(np.random.get_state())
name = uuid.uuid4().hex
"""


def test_seeded_draws_are_silent_and_the_verdict_says_what_was_not_judged(tmp_path: Path) -> None:
    write(tmp_path / "train.py", PROGRAM.format(begins=SEEDED))
    done = preflight("train.py", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == (
        "Nothing found: no operator refuses; not judged: what becomes of uuid.uuid4() "
        "(train.py:11); other processes and threads (DataLoader workers, ranks); what libraries "
        "draw in C++."
    )


def test_orders_are_asked_of_the_linter(tmp_path: Path) -> None:
    begins = """
import os
torch.manual_seed(0)
x = 0
for name in os.listdir("."):
    x = 2 * x + len(name)
for word in {"a", "b", "c"}:
    x = 2 * x + ord(word)
"""
    write(tmp_path / "train.py", PROGRAM.format(begins=begins))
    done = preflight("train.py", cwd=tmp_path)
    assert done.returncode == 1
    assert "DET203  os.listdir() lists in the file system's order" in done.stdout
    assert "train.py:6 " in done.stdout
    assert "train.py:8 " in done.stdout
    assert "or start the program with `python -m guard run`" in done.stdout
    assert done.stdout.endswith("Found 2 other sources of nondeterminism.\n")


# Steps without an optimizer


def test_an_update_by_hand_ends_at_the_next_backward_of_its_line(
    tmp_path: Path, forks: Forks
) -> None:
    text = """
        import torch

        torch.manual_seed(0)
        w = torch.randn(3, 3, device="cuda", requires_grad=True)
        while True:
            w.square().sum().backward()
            w.median(0)[0].sum().backward()
            with torch.no_grad():
                w -= 0.1 * w.grad
                w.grad = None
    """
    report = found(forks, tmp_path, text, "--seconds", "60", status=1)
    assert report["steps"] == 1
    assert report["complete"]
    assert {each["name"] for each in report["findings"] if each["name"]} >= {"torch.median"}
    (limit,) = report["limits"]
    assert limit.startswith("no optimizer of torch was made: a step was taken to end where the ")
    assert limit.endswith("train.py, line 6, began its next backward")
    assert found(forks, tmp_path, text, "--steps", "3", status=1)["steps"] == 3


# Many lines that say the same


def test_lines_that_say_the_same_are_one(tmp_path: Path) -> None:
    lines = [f"x = x + F.conv2d(x, w, padding=1) * torch.rand(1).cuda()  # {n}" for n in range(30)]
    text = "\n".join(
        [
            "import torch",
            "import torch.nn.functional as F",
            "w = torch.ones(3, 3, 3, 3, device='cuda', requires_grad=True)",
            "x = torch.ones(1, 3, 8, 8, device='cuda')",
            "optimizer = torch.optim.SGD([w], lr=0.1)",
            *lines,
            "x.sum().backward()",
            "optimizer.step()",
        ]
    )
    (tmp_path / "train.py").write_text(text)
    short = preflight("train.py", cwd=tmp_path).stdout
    assert len([line for line in short.splitlines() if "convolution_backward" in line]) == 1
    assert "30x backward" in short
    assert "train.py:6, train.py:7, train.py:8 and 27 more lines (--verbose)" in short
    assert len([line for line in short.splitlines() if line.startswith("unseeded draw")]) == 1
    whole = preflight("--verbose", "train.py", cwd=tmp_path).stdout
    assert len([line for line in whole.splitlines() if line.startswith("unseeded draw")]) == 30
    assert len([line for line in whole.splitlines() if "convolution_backward" in line]) == 30

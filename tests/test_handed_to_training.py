"""Programs that give a model to a function that trains and is not there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

CODES = """\
import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.conv = nn.Conv2d(1, size, 3)


class Plain:
    def __init__(self, size):
        self.size = size
"""


def told(capsys: pytest.CaptureFixture[str]) -> list[tuple[str, str]]:
    """Where draws are told, and whether these only seem to be such."""
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    return [(place_of(each), each["message"].partition("`")[2].partition("(")[0]) for each in found]


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("from codes import Codes\nmodel = Codes(32)", [("run.py:1", "nn.Conv2d")]),
        ("model = nn.Linear(3, 1)", [("run.py:4", "nn.Linear")]),
        ("torch.manual_seed(0)\nmodel = nn.Linear(3, 1)", []),
        ("from codes import Codes\ntorch.manual_seed(0)\nmodel = Codes(32)", []),
        ("from absent import Snail\nmodel = Snail(3)", [("run.py:5", "Snail")]),
        ("from absent import Snail\ndata = Snail(3)", []),
        ("from codes import Codes, Plain\nmodel = Plain(32)", []),
        ("from sklearn.svm import SVC\nmodel = SVC()", []),
        ("from casadi import Function\nmodel = Function('f', [x], [y])", []),
    ],
)
def test_what_is_given_to_a_training_that_is_not_there(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[tuple[str, str]]
) -> None:
    text = "import torch\nfrom torch import nn\nfrom video import train\n{}\n"
    given = "data" if lines.startswith("from absent import Snail\ndata") else "model"
    project({"run.py": f"{text.format(lines)}train({given}, epochs=9)\n", "codes.py": CODES})
    assert told(capsys) == found


def test_a_training_that_is_there_and_does_not_train(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    run = "from codes import Codes\nfrom video import train\ntrain(Codes(3))\n"
    project({"run.py": run, "codes.py": CODES, "video.py": "def train(model):\n    print(model)\n"})
    assert told(capsys) == []
    project({"run.py": run.replace("video", "absent")})
    assert told(capsys) == [("run.py:1", "nn.Conv2d")]


@pytest.mark.parametrize(
    ("calls", "found"),
    [
        ("Trainer(model, rows); trainer.train_epoch()", True),
        ("Trainer(rows, net=model); [trainer.train_one_epoch() for _ in rows]", True),
        ("Trainer(model, rows); trainer.evaluate()", False),
        ("Wrapper(model, rows); trainer.train_epoch()", False),
    ],
)
def test_what_is_given_to_a_trainer_that_is_not_there(
    project: Project, capsys: pytest.CaptureFixture[str], calls: str, *, found: bool
) -> None:
    begin = "from absent import Trainer, Wrapper, rows\nfrom codes import Codes\n"
    main_ = f"def main():\n    model = Codes(3).cuda(); trainer = {calls}\n"
    start = 'if __name__ == "__main__":\n    main()\n'
    project({"run.py": f"{begin}{main_}{start}", "codes.py": CODES})
    main(["--no-cache", "--output-format", "json", "--select", "DET102,DET304", "."])
    told = {each["code"] for each in json.loads(capsys.readouterr().out)}
    assert told == ({"DET102", "DET304"} if found else set())


PIPELINE = """\
import lightning
import torch
from torch import nn
from absent import Pipeline, rows

def main():
    {}

main()
"""
NET = "net = nn.Linear(3, 1); "


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (f"{NET}Pipeline(net, lightning.Trainer(), seed=1).run(rows, task='fit')", True),
        (f"{NET}line = Pipeline(model=net, seed=1); line.run('fit')", True),
        (f"{NET}line = Pipeline(model=net); line.run(rows, seed=1, task='fit')", True),
        (f"torch.manual_seed(1); {NET}Pipeline(model=net, seed=1).run('fit')", False),
        (f"line = Pipeline(model=net, seed=1); {NET}line.run('fit')", False),
        (f"{NET}Pipeline(model=net, seed=1).run(rows, task='evaluate')", False),
        (f"{NET}Pipeline(net, seed=1).set_up('fit')", False),  # of data, as far as that is seen
    ],
)
def test_what_is_told_to_fit_a_model_seeds_too_late(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, *, found: bool
) -> None:
    project({"run.py": PIPELINE.format(lines.replace("; ", "\n    "))})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = [each["message"] for each in json.loads(capsys.readouterr().out)]
    assert ["draws first weights" in each and "before `" in each for each in told] == [True] * found

"""A seed that only a field of options turns on, or an option of a parser of any name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_CONFIG = """\
from dataclasses import dataclass, field
from pydantic import BaseModel, Field

{}
    width: int = 4
    fixed: bool = {}
    seed: int = 1
"""
_DATACLASS = "@dataclass\nclass Config:"
_MODEL = "class Config(BaseModel):"
_PIPE = """\
import torch
from config import Config
from torch import nn

class Pipe:
    def __init__(self, config{hint} = None):
        self.config = config or Config()
        if self.config.fixed:
            torch.manual_seed(self.config.seed)
        self.net = nn.Linear(4, 4)

    def run(self, x):
        loss = self.net(x).mean()
        loss.backward(); self.optimizer.step()
"""
_RUN = """\
import torch
from config import Config
from pipe import Pipe
{}
Pipe({}).run(torch.ones(2, 4))
"""


def found(capsys: Capture) -> list[tuple[str, str]]:
    asked = ["--output-format=json", "--min-confidence=possible", "--select=DET102"]
    main(["--no-cache", *asked, "."])
    return [(x["confidence"], x["message"]) for x in json.loads(capsys.readouterr().out)]


@pytest.mark.parametrize(
    ("config", "default", "hint", "before", "given", "is_found"),
    [
        (_DATACLASS, "False", "", "", "", True),
        (_DATACLASS, "False", ": Config", "", "", True),
        (_DATACLASS, "False", ": Config | None", "", "Config(8)", True),
        (_DATACLASS, "field(default=False)", "", "", "", True),
        (_MODEL, "Field(default=False, description='seeds')", "", "", "", True),
        (_MODEL, "Field(False)", "", "", "Config(width=8)", True),
        (_DATACLASS, "True", "", "", "", False),
        (_DATACLASS, "field(default=True)", "", "", "", False),
        (_MODEL, "Field(default=True)", "", "", "", False),
        (_MODEL, "Field(...)", "", "", "", False),
        (_DATACLASS, "False", "", "", "Config(fixed=True)", False),
        (_DATACLASS, "False", "", "", "Config(8, True)", False),
        (_DATACLASS, "False", "", "", "Config(8, False)", True),
        (_DATACLASS, "False", "", "", "Config(**read())", False),
        (_DATACLASS, "False", "", "c = changed(Config(), fixed=True)", "c", False),
        (_DATACLASS, "False", "", "c = changed(Config(), fixed=False)", "c", True),
        (_DATACLASS, "False", "", "c = Config()\nc.fixed = True", "c", False),
        (_DATACLASS, "False", "", "c = Config()\nfor k in x: setattr(c, 'width', k)", "c", True),
        (_DATACLASS, "False", "", "cfg = Config()\nfor k in x: setattr(cfg, k, 1)", "cfg", False),
        (_DATACLASS, "False", "", "class Own(Config):\n    pass", "Own(width=2)", True),
        (_DATACLASS, "False", "", "class Own(Config):\n    pass", "Own(fixed=True)", False),
        (_DATACLASS, "False", "", "class Own(Config):\n    fixed = True", "Own()", False),
    ],
)
def test_a_seed_behind_a_field_that_is_off_by_default_seeds_nothing(  # noqa: PLR0913 - a case
    project: Project,
    capsys: Capture,
    *,
    config: str,
    default: str,
    hint: str,
    before: str,
    given: str,
    is_found: bool,
) -> None:
    project(
        {
            "config.py": _CONFIG.format(config, default),
            "pipe.py": _PIPE.format(hint=hint),
            "run.py": _RUN.format(before, given),
        }
    )
    told = found(capsys)
    assert [sure for sure, _ in told] == ["likely"] * is_found
    expected = "seeds it only with the setting fixed, which is off by default; set fixed to True"
    assert all(expected in message for _, message in told)


_PARSED = """\
from transformers import HfArgumentParser
(c,) = HfArgumentParser({}).parse_args_into_dataclasses()
"""


@pytest.mark.parametrize(
    ("before", "given", "name", "text", "is_found"),
    [
        ("", "", "run.yaml", "fixed: true\n", True),  # which nothing loads
        ("cfg = Config(); cfg.load('run.yaml')", "cfg", "run.yaml", "fixed: true\n", False),
        ("c = Config.load('run.yaml')", "c", "run.yaml", "fixed: true\n", False),
        (_PARSED.format("Config"), "c", "run.sh", "python run.py\n", True),
        (_PARSED.format("(Config,)"), "c", "run.sh", "python run.py\n", True),
        (_PARSED.format("Config"), "c", "run.sh", "python run.py --fixed true\n", False),
    ],
)
def test_a_field_that_something_loads_may_be_on(  # noqa: PLR0913 - a case
    project: Project,
    capsys: Capture,
    *,
    before: str,
    given: str,
    name: str,
    text: str,
    is_found: bool,
) -> None:
    files = {"config.py": _CONFIG.format(_DATACLASS, "False"), "pipe.py": _PIPE.format(hint="")}
    project({**files, "run.py": _RUN.format(before, given), name: text})
    assert len(found(capsys)) == is_found


_TRAIN = """\
import argparse
import torch
from torch import nn

def main():
    p = argparse.ArgumentParser()
    p.add_argument({})
    {}
    if {}:
        torch.manual_seed(0)
    net = nn.Linear(4, 2)
    loss = net(torch.ones(8, 4)).mean()
    loss.backward(); optimizer.step()

main()
"""


@pytest.mark.parametrize(
    ("option", "test", "advised"),
    [
        ("'--seed', type=int, default=-1", "a.seed >= 0", "pass --seed 0, or"),
        ("'--seed', type=int", "a.seed is not None", "pass --seed 0, or"),
        ("'--seed', type=int, default=0", "a.seed", "pass --seed 1, or"),
        ("'--fixed', action='store_true'", "a.fixed", "pass --fixed, or"),
        ("'--fix-seed', action='store_true'", "a.fix_seed", "pass --fix-seed, or"),
        ("'--seed', type=int, default=0", "a.seed >= 0", ""),
        ("'--fixed', action='store_false'", "a.fixed", ""),
    ],
)
@pytest.mark.parametrize("parse", ["a = p.parse_args()", "a, rest = p.parse_known_args()"])
def test_what_a_parser_gives_holds_options_by_any_name(  # noqa: PLR0913 - a case
    project: Project, capsys: Capture, *, parse: str, option: str, test: str, advised: str
) -> None:
    project({"train.py": _TRAIN.format(option, parse, test)})
    told = found(capsys)
    assert len(told) == bool(advised)
    assert all(f"off by default; {advised} make that the default" in each for _, each in told)


@pytest.mark.parametrize(("default", "is_found"), [("None", True), ("3", False)])
def test_an_option_of_absl_has_the_default_that_it_is_given(
    project: Project, capsys: Capture, default: str, *, is_found: bool
) -> None:
    train = f"""\
import torch
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("seed", {default}, "of all generators")

def main(_):
    if FLAGS.seed is not None:
        torch.manual_seed(FLAGS.seed)
    net = torch.nn.Linear(4, 2)
    net(torch.ones(8, 4)).mean().backward(); optimizer.step()

app.run(main)
"""
    project({"train.py": train})
    assert ["pass --seed 0, or" in each for _, each in found(capsys)] == [True] * is_found

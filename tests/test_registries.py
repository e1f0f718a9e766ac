"""What is found by name in a table that decorators fill, or whose texts name modules."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

MEASURES = """\
from metrics import noise

KNOWN = {{}}
LEFT = {{}}

def register(function):
    KNOWN[function.__name__] = function
    return function

def leave(function):
    LEFT[function.__name__] = function
    return function

def measured(name, net):
    return KNOWN[name](net)

@{decorator}
def spread(net):
    return {{"spread": noise.statistics(net)}}
"""
NOISE = """\
import torch

def statistics(net):
    return net(torch.randn(4, 9)).mean().item()
"""
MEASURE = """\
import pickle
import sys
import torch
from metrics import measures

if __name__ == "__main__":
    net = pickle.load(open(sys.argv[1], "rb"))
    print(measures.measured("spread", net))
"""


@pytest.mark.parametrize(
    ("decorator", "told"), [("register", ["possible"]), ("leave", [])], ids=["read", "unread"]
)
def test_what_a_decorator_puts_into_a_table(
    decorator: str, told: list[str], project: Project, capsys: Capture
) -> None:
    files = {"measure.py": MEASURE, "metrics/__init__.py": "", "metrics/noise.py": NOISE}
    project({**files, "metrics/measures.py": MEASURES.format(decorator=decorator)})
    assert levels(capsys, "DET102") == told


KINDS = """\
import importlib

KNOWN = {{}}
MODULES: dict[str, str] = {{"plain": "{module}"}}

def register(kind):
    KNOWN["plain"] = kind
    return kind

def found(name):
    if name not in KNOWN:
        importlib.import_module(MODULES[name])
    return KNOWN[name]
"""
PLAIN = """\
import random
from kinds import register

@register
class Plain:
    def made(self, size):
        return [random.choice("ACDE") for _ in range(size)]
"""
MAKES = """\
import json
import sys
import numpy as np
from kinds import found

if __name__ == "__main__":
    rows = [found(sys.argv[1])().made(int(size)) for size in np.arange(9)]
    json.dump(rows, open("rows.json", "w"))
"""


@pytest.mark.parametrize(
    ("module", "told"), [("parts.plain", ["likely"]), ("parts.other", [])], ids=["named", "other"]
)
def test_modules_that_a_table_names(
    module: str, told: list[str], project: Project, capsys: Capture
) -> None:
    parts = {"parts/__init__.py": "", "parts/plain.py": PLAIN, "parts/other.py": "rows = []\n"}
    project({**parts, "kinds.py": KINDS.format(module=module), "make.py": MAKES})
    assert levels(capsys, "DET102") == told


ZOO = """\
import torch.nn as nn

def small(size):
    return nn.Linear(9, size)

def large(size):
    return nn.Conv2d(3, size, 3)

KINDS = {{{kinds}}}

def made(name, size=5):
    return KINDS[name](size)
"""
TRAINS = """\
import sys
import torch
from zoo import made

def train(rows):
    model = made(sys.argv[1]).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for row, label in rows:
        loss = torch.nn.functional.cross_entropy(model(row), label)
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    torch.manual_seed(0)
    train(torch.load("rows.pt"))
"""


@pytest.mark.parametrize(
    ("kinds", "told"),
    [
        ('"small": lambda n: small(n), "large": lambda n: large(n)', ["likely"]),
        ('"small": small, "large": large', ["likely"]),
        ('"small": lambda n: small(n)', ["possible"]),
    ],
    ids=["lambdas", "functions", "a lambda that repeats"],
)
def test_models_that_a_table_of_lambdas_makes(
    kinds: str, told: list[str], project: Project, capsys: Capture
) -> None:
    project({"zoo.py": ZOO.format(kinds=kinds), "train.py": TRAINS})
    assert levels(capsys, "DET304") == told


KEPT = """\
import torch.nn as nn

class Known({base}):
    def keep(self, function):
        self[function.__name__] = function
        return function

KINDS = Known()

@KINDS.keep
def small(size):
    return nn.{layer}

def made(name, size=5):
    return KINDS[name](size)
"""


@pytest.mark.parametrize(
    ("base", "layer", "told"),
    [
        ("dict", "Conv2d(3, size, 3)", "likely"),
        ("collections.OrderedDict", "Conv2d(3, size, 3)", "likely"),
        ("dict", "Linear(9, size)", "possible"),
    ],
)
def test_a_model_out_of_a_table_with_a_class_of_its_own(
    base: str, layer: str, told: str, project: Project, capsys: Capture
) -> None:
    files = {"zoo.py": f"import collections\n{KEPT.format(base=base, layer=layer)}"}
    project({**files, "train.py": TRAINS})
    assert levels(capsys, "DET304") == [told]

"""DET402 where the rest of the file decides."""

from __future__ import annotations

import json
import textwrap
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.finding import Finding

LAYER = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.offset = nn.Parameter(torch.empty(size))
        nn.init.ones_(self.weight)

    def forward(self, x):
        return x * self.weight + self.offset
"""
UNFILLED = """
import torch
from torch import nn

class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.offset = nn.Parameter(torch.empty(size))

    def forward(self, x):
        return x + self.offset
"""

FOUND = {
    "nothing else in the file": "",
    "an optimizer over all parameters": """
        model = Scale(3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    """,
    "a loop over parameters that only counts": """
        model = Scale(3)
        for parameter in model.parameters():
            print(parameter.numel())
    """,
    "another class that goes over its own parameters, and builds none of these": """
        class Other(nn.Module):
            def reset(self):
                for parameter in self.parameters():
                    nn.init.normal_(parameter)
    """,
    "another class whose own attribute of that name is filled": """
        class Other(nn.Module):
            def reset(self):
                nn.init.normal_(self.offset)
                nn.init.normal_(self.child.offset)
    """,
    "a read from outside": """
        def norm(layer):
            return layer.offset + 1
    """,
    "an autograd function that is applied": """
        def forward(x):
            return Square.apply(x)
    """,
}


@pytest.mark.parametrize("rest", FOUND.values(), ids=FOUND)
@pytest.mark.parametrize("narrowed", [True, False], ids=["narrowed", "whole"])
def test_a_forgotten_parameter_is_found_beside(
    rest: str, findings: Callable[..., list[Finding]], *, narrowed: bool
) -> None:
    found = findings(LAYER + textwrap.dedent(rest), "DET402", narrowed=narrowed)
    assert [each.message for each in found] == [
        "self.offset is made by torch.empty() and nothing fills it"
    ]


SILENT = {
    "an initialiser by convention": "def _init_weights(module): ...",
    "an initialiser that is applied": """
        model = Scale(3)
        model.apply(weights)
    """,
    "a loop that fills all parameters": """
        def prepare(model):
            for parameter in model.parameters():
                nn.init.normal_(parameter)
    """,
    "a loop over names that fills all parameters": """
        def prepare(model):
            for name, parameter in model.named_parameters():
                parameter.data.zero_()
    """,
    "a checkpoint": "model.load_state_dict(torch.load(path))",
    "a class that builds it and fills all it has": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = Scale(3)
                for parameter in self.parameters():
                    nn.init.normal_(parameter)
    """,
    "a class that builds it and fills the parameter": """
        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = Scale(3)
                nn.init.normal_(self.scale.offset)
    """,
    "a class that inherits and fills": """
        class Shifted(Scale):
            def __init__(self, size):
                super().__init__(size)
                self.offset.data.zero_()
    """,
    "a function that stores a value": """
        def load(layer, values):
            layer.offset.data = values
    """,
    "a function that fills by name": """
        def fill(layer):
            nn.init.zeros_(getattr(layer, "offset"))
    """,
}


@pytest.mark.parametrize("rest", SILENT.values(), ids=SILENT)
@pytest.mark.parametrize("narrowed", [True, False], ids=["narrowed", "whole"])
def test_a_parameter_is_left_alone_beside(
    rest: str, findings: Callable[..., list[Finding]], *, narrowed: bool
) -> None:
    assert findings(LAYER + textwrap.dedent(rest), "DET402", narrowed=narrowed) == []


def test_a_class_that_fills_nothing_may_wait_for_a_checkpoint(
    findings: Callable[..., list[Finding]],
) -> None:
    assert findings(UNFILLED, "DET402") == []


def test_a_class_that_fills_nothing_but_is_trained_here_is_found(
    findings: Callable[..., list[Finding]],
) -> None:
    trained = UNFILLED + "\ndef train(model, x):\n    model(x).sum().backward()\n"
    assert [each.row for each in findings(trained, "DET402")] == [7]


def test_a_local_that_is_filled_before_a_module_keeps_it(
    findings: Callable[..., list[Finding]],
) -> None:
    text = LAYER.replace(
        "        self.offset = nn.Parameter(torch.empty(size))\n",
        "        local = torch.empty(size)\n{line}        self.offset = nn.Parameter(local)\n",
    )
    assert findings(text.format(line="        nn.init.normal_(local)\n"), "DET402") == []
    assert len(findings(text.format(line=""), "DET402")) == 1


MODEL = """
import torch
from layer import Scale
from starts import start

model = Scale(3)
{}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
"""
START = """
from torch import nn

def start(model):
    for name, parameter in model.named_parameters():
        {}
"""


@pytest.mark.parametrize(
    ("call", "body", "confidence"),
    [
        ("start(model)", "nn.init.ones_(parameter)", "possible"),
        ("start(model)", "parameter.data.normal_()", "possible"),
        ("start(model)", "parameter.grad.zero_()", "likely"),
        ("start(model)", "print(name, parameter.numel())", "likely"),
        ("for p in model.parameters(): torch.nn.init.ones_(p)", "pass", "possible"),
        ("model.offset.data = torch.ones(3)", "pass", "possible"),
        ("torch.nn.init.ones_(model.offset)", "pass", "possible"),
        ("model.others.data = torch.ones(3)", "pass", "likely"),
        ("print(model.offset.sum())", "pass", "likely"),
    ],
)
def test_a_function_of_another_file_that_fills_all_parameters_lowers_the_confidence(
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    call: str,
    body: str,
    confidence: str,
) -> None:
    files = {"layer.py": LAYER, "train.py": MODEL.format(call), "starts.py": START.format(body)}
    project(files)
    shown = ["--output-format", "json", "--select", "DET402", "--min-confidence", "possible"]
    main(["--no-cache", *shown, "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == [confidence]


def test_what_most_layers_have_is_rather_filled_in_another_one(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    own = LAYER.replace("offset", "bias")
    project({"layer.py": own, "train.py": MODEL.format("torch.nn.init.ones_(model.bias)")})
    main(["--no-cache", "--output-format", "json", "--select", "DET402", "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == ["likely"]


def test_a_function_that_fills_parameters_and_that_nothing_calls_says_nothing(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    filling = START.format("nn.init.ones_(parameter)").replace("def start", "def begin")
    project({"layer.py": LAYER, "train.py": MODEL.format(""), "starts.py": filling})
    main(["--no-cache", "--output-format", "json", "--select", "DET402", "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == ["likely"]

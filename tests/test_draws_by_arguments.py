"""Draws that what a call passes turns on: flags of loaders, and how much dropout drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]


_BATCHES = """
import torch
from torch import nn
from torch.utils.data import DataLoader

class Plain:
    def __init__(self, rows):
        self.rows = rows

    def make_dataloader(self, mix):
        return DataLoader(self.rows, batch_size=4, shuffle=mix)

def create_dataloader(rows, *, mix=False):
    return DataLoader(rows, batch_size=4, shuffle=mix)

def main(rows):
    model = nn.Linear(8, 3)
    model.load_state_dict(torch.load("start.pt"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in {made}:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    torch.save(model.state_dict(), "m.pt")

main([(torch.ones(8), 1)] * 32)
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("create_dataloader(rows, mix=True)", ["likely"]),
        ("create_dataloader(rows)", []),
        ("Plain(rows).make_dataloader(True)", ["likely"]),
        ("Plain(rows).make_dataloader(False)", []),
    ],
)
def test_a_shuffle_counts_where_a_call_asks_for_it_whatever_the_name_of_what_makes_the_loader(
    project: Project, capsys: Capture, made: str, expected: list[str]
) -> None:
    project({"train.py": _BATCHES.format(made=made)})
    assert levels(capsys, "DET102") == expected


_DROPS = """
import argparse
import torch
from torch import nn

class Block(nn.Module):
    def __init__(self, share={default}):
        super().__init__()
        {kept}
        self.weight = nn.Parameter(torch.zeros(8, 3))

    def forward(self, x):
        return {dropped} @ self.weight

class Net(nn.Module):
    def __init__(self, **options):
        super().__init__()
        self.block = Block(**options)

    def forward(self, x):
        return self.block(x)

def main(rows):
    parser = argparse.ArgumentParser()
    parser.add_argument("--dropout", type=float, default={option})
    args = parser.parse_args()
    model = {made}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x, y in rows:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    torch.save(model.state_dict(), "m.pt")

main([(torch.ones(4, 8), torch.ones(4, dtype=torch.long))])
"""
_LAYER = {"kept": "self.drop = nn.Dropout(share)", "dropped": "self.drop(x)"}
_CALLED = {"kept": "self.p = share", "dropped": "nn.functional.dropout(x, self.p, self.training)"}


_OF_TIMM = """
import torch
from timm.data import Mixup, create_transform
from torch import nn

def transform_for(train):
    return create_transform(224, is_training=train)

def main(images):
    model = nn.Linear(8, 3)
    model.load_state_dict(torch.load("start.pt"))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    change = {made}
    for image, y in images:
        nn.functional.cross_entropy(model(change(image)), y).backward()
        optimizer.step()

main([])
"""


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        ("create_transform(224, is_training=True)", ["likely"]),
        ("create_transform(224, True)", ["likely"]),
        ("create_transform(224)", []),
        ("create_transform(224, is_training=False)", []),
        ("transform_for(True)", ["likely"]),
        ("transform_for(False)", []),
        ("Mixup(mixup_alpha=0.8)", ["likely"]),
    ],
)
def test_transforms_of_timm_draw_where_they_are_for_training(
    project: Project, capsys: Capture, made: str, expected: list[str]
) -> None:
    project({"train.py": _OF_TIMM.format(made=made)})
    assert levels(capsys, "DET102") == expected


@pytest.mark.parametrize(
    ("shape", "default", "option", "made", "expected"),
    [
        (_LAYER, 0.2, 0.0, "Block()", ["likely"]),
        (_CALLED, 0.2, 0.0, "Net()", ["likely"]),
        (_LAYER, 0.0, 0.0, "Block(0.3)", ["likely"]),
        (_LAYER, 0.0, 0.0, "Net(share=0.3)", ["likely"]),
        (_CALLED, 0.0, 0.3, "Block(args.dropout)", ["likely"]),
        (_LAYER, 0.0, 0.3, "Net(share=args.dropout)", ["likely"]),
        (_LAYER, 0.0, 0.3, "Block()", []),
        (_CALLED, 0.0, 0.3, "Net()", []),
        (_LAYER, 0.2, 0.3, "Block(0.0)", []),
        (_CALLED, 0.2, 0.0, "Block(args.dropout)", ["possible"]),
        (_LAYER, "None", 0.0, "Block(args.dropout)", ["possible"]),
    ],
)
def test_dropout_draws_where_its_share_is_more_than_none(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: Capture,
    shape: dict[str, str],
    default: object,
    option: float,
    made: str,
    expected: list[str],
) -> None:
    text = _DROPS.format(**shape, default=default, option=option, made=made)
    project({"train.py": text})
    assert levels(capsys, "DET102") == expected


@pytest.mark.parametrize(("share", "expected"), [(0.2, "likely"), (0.0, "possible")])
def test_dropout_draws_by_the_share_of_a_configuration(
    project: Project, capsys: Capture, share: float, expected: str
) -> None:
    shape = {"kept": "self.drop = nn.Dropout(share.dropout)", "dropped": "self.drop(x)"}
    text = _DROPS.format(**shape, default="None", option=0.1, made="Block(yaml.safe_load(f))")
    lines = [each for each in text.splitlines() if "add_argument" not in each]
    text = "import yaml\n" + "\n".join(lines).replace("share", "config")
    project({"train.py": text, "net.yaml": f"dropout: {share}\n"})
    assert levels(capsys, "DET102") == [expected]


@pytest.mark.parametrize(("share", "expected"), [(0.2, "likely"), (0.0, "possible")])
def test_dropout_draws_by_the_share_of_settings_in_code(
    project: Project, capsys: Capture, share: float, expected: str
) -> None:
    text = _DROPS.format(**_LAYER, default="0.1", option=0.1, made="Block(config['dropout'])")
    lines = [each for each in text.splitlines() if "add_argument" not in each]
    settings = "from settings import config\n"
    project(
        {
            "train.py": settings + "\n".join(lines),
            "settings.py": f"config = {{'name': 'net', 'dropout': {share}}}\n",
        }
    )
    assert levels(capsys, "DET102") == [expected]

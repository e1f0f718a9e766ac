"""What DET304 names of a program that trains."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

from detlint import lint_paths
from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_ENCODING = """
import torch

class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Conv2d(1, 4, 3)

    def forward(self, x):
        return self.net(x).mean((2, 3))

def load(path):
    encoder = Encoder()
    encoder.load_state_dict(torch.load(path))
    return encoder
"""
_ON_FEATURES = """
import torch
from encoding import load

def features(images):
    encoder = load("encoder.pt").cuda()
    encoder.eval()
    with {within}:
        return {given}

def main():
    images = torch.load("images.pt").cuda()
    x = features(images)
    head = make(torch.nn.{head}).cuda()
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(3):
        loss = head(x).sum(){beside}
        loss.backward()
        optimizer.step()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({}, "`torch.nn.Embedding` at train.py:"),
        ({"head": "Linear"}, ""),
        ({"given": "encoder.encode(images)"}, "`torch.nn.Embedding` at train.py:"),
        ({"within": "torch.autocast('cuda')"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"given": "encoder.net(images)"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"given": "features_of(encoder, images)"}, "`torch.nn.Conv2d` at encoding.py:"),
        ({"beside": " + load('other.pt')(images).sum()"}, "`torch.nn.Conv2d` at encoding.py:"),
    ],
)
def test_what_only_runs_where_no_gradient_is_recorded_is_not_named(
    changed: dict[str, str],
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = {"within": "torch.no_grad()", "given": "encoder(images)", "head": "Embedding"}
    text = _ON_FEATURES.format(**{**plain, "beside": "", **changed})
    project({"train.py": text, "encoding.py": _ENCODING})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert "DET304" in told
    assert named in told
    assert ("may differ" in told) is bool(named)


_NETS = """
import torch
from absent.nn import GraphConv
from torch import nn

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.net(x).mean((2, 3))

class Signals(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Conv1d(4, 4, 3)

    def forward(self, x):
        return self.net(x)

class Words(nn.Module):
    def __init__(self, number):
        super().__init__()
        self.table = nn.Embedding(number, 16)
        self.net = nn.LSTM(16, 16)

class Others(Words):
    def __init__(self, number):
        super().__init__(number)
        self.conv = GraphConv(16, 16)

class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(4, 2)

    def forward(self, x):
        return self.net(x)

class Both(nn.Module):
    def __init__(self, encoder=None):
        super().__init__()
        self.encoder = encoder or Encoder()
        self.head = Head()

    def forward(self, x):
        return self.head(self.encoder(x))

KNOWN = {"signals": Signals, "head": Head}

def build(name):
    return KNOWN[name]()

def pair():
    return Head(), Encoder()
"""
_ENGINE = """
import torch

def train(model, loader, loss_of, device="cuda", weights=None):
    model = torch.nn.DataParallel(model.to(device))
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=0.1)
    for x, y in loader:
        loss = loss_of(model(x.to(device)), y)
        loss.backward()
        optimizer.step()
"""
_RUN = """
import torch
from torch import nn
import absent
from torchvision import models
from torchvision.models import vgg16, vit_b_16
from engine import train
from nets import Both, Encoder, Head, Others, Signals, Words, build, pair

def main(number, name):
    encoder = Encoder().cuda()
    criterion = nn.CrossEntropyLoss()
    {made}
    with torch.no_grad():
        rows = [(encoder(x), y) for x, y in torch.load("rows.pt")]
    train(model, rows, {loss})

if __name__ == "__main__":
    main(4000, "signals")
"""
_SEEN = "with what may differ from run to run on a GPU: "


@pytest.mark.parametrize(
    ("made", "loss", "sure", "named"),
    [
        ("model = Signals()", "criterion", "likely", f"{_SEEN}`nn.Conv1d` at nets.py:"),
        ("model = Head()", "criterion", "possible", ""),
        ("model = Encoder()", "criterion", "likely", f"{_SEEN}`nn.Conv2d` at nets.py:"),
        ("model = build(name)", "criterion", "likely", f"{_SEEN}`nn.Conv1d` at nets.py:"),
        ("model, other = pair()", "criterion", "possible", ""),
        ("other, model = pair()", "criterion", "likely", f"{_SEEN}`nn.Conv2d` at nets.py:"),
        ("model = Both()", "criterion", "likely", f"{_SEEN}`nn.Conv2d` at nets.py:"),
        ("model = Both(Head())", "criterion", "likely", f"{_SEEN}`nn.Conv2d` at nets.py:"),
        ("model = Both().head", "criterion", "possible", ""),
        ("model = Both().encoder", "criterion", "likely", f"{_SEEN}`nn.Conv2d` at nets.py:"),
        ("model = nn.Sequential(Head(), Signals())", "criterion", "likely", "`nn.Conv1d`"),
        # What computes the loss is worked through as well, trained or not.
        ("model = Head()", "lambda z, y: Signals()(z).sum()", "possible", ""),
        # A library's model, and what one does not see.
        ("model = models.resnet18()", "criterion", "likely", "not seen here: `models.resnet18` at"),
        ("model = vgg16(weights=name)", "criterion", "likely", "not seen here: `vgg16` at"),
        ("model = nn.Sequential(vit_b_16(), Head())", "criterion", "likely", "`vit_b_16` at"),
        ("model = absent.Net()", "criterion", "likely", "not seen here: `absent.Net`"),
        ("model = torch.load(name)", "criterion", "possible", "a model that is not seen here"),
        (
            "model = torch.load(name); print(encoder)",
            "criterion",
            "likely",
            "not seen here; of what it makes, `nn.Conv2d` at nets.py:",
        ),
        # Tables of how many rows one does not see, of few and of many.
        ("model = Words(number)", "criterion", "possible", f"{_SEEN}`nn.Embedding`"),
        ("model = Others(number)", "criterion", "likely", "not seen here: `absent.nn.GraphConv`"),
        ("model = nn.Embedding(9, 4)", "criterion", "likely", f"{_SEEN}`nn.Embedding`"),
        ("model = nn.Embedding(50000, 4)", "criterion", "possible", ""),
        ("model = nn.Sequential(Words(number), Signals())", "criterion", "likely", "`nn.Conv1d`"),
    ],
)
def test_what_is_named_takes_part_in_the_training(  # noqa: PLR0913, PLR0917
    made: str,
    loss: str,
    sure: str,
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = _RUN.format(made=made, loss=loss)
    project({"run.py": run, "nets.py": _NETS, "engine.py": _ENGINE})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert f"[{sure}]" in told
    assert named in told
    assert ("may differ" in told or "not seen" in told) is bool(named)


_MODULE = """
import lightning as L
import torch
from nets import Encoder, Head

class Lit(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Head()

    def {used}(self, batch=None):
        return Encoder()(torch.load("rows.pt"))

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

class Other(Lit):
    pass

def main():
    trainer = L.Trainer(max_epochs=3)
    trainer.fit({fitted})

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("used", "fitted", "sure"),
    [
        ("training_step", "Lit()", "likely"),
        ("training_step", "model=Other()", "likely"),
        ("train_dataloader", "Lit()", "possible"),
        ("validation_step", "Other()", "possible"),
    ],
)
def test_of_a_module_of_lightning_what_its_steps_do_is_trained(
    used: str,
    fitted: str,
    sure: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"run.py": _MODULE.format(used=used, fitted=fitted), "nets.py": _NETS})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert f"[{sure}]" in told
    assert ("`nn.Conv2d` at nets.py:" in told) is (sure == "likely")


_STACK = """
import absent
from absent import {named}
from torch import nn

class Net(nn.Module):
    def __init__(self, config):
        super().__init__()
        {kept}
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return self.head({called})

class Top(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.net = Net(config)

    def forward(self, x):
        return self.net(x)
"""
_TRAINED = """
import torch
from {module} import Top

def main(config):
    model = Top(config)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load("rows.pt"):
        model(x.cuda()).sum().backward()
        opt.step()

if __name__ == "__main__":
    main(None)
"""


@pytest.mark.parametrize(
    ("name", "kept", "called", "is_named"),
    [
        ("xStack", "self.stack = xStack(config)", "self.stack(x)", True),
        ("Tower", "self.encoder = Tower.from_file('a')", "self.encoder.encode(x)", True),
        ("Block", "self.all = nn.ModuleList([Block(4)])", "self.all[0](x)", True),
        # What it makes but does not call, functions, and what says that it has no weights.
        ("xConfig", "self.config = xConfig(config)", "x", False),
        ("find", "self.find = find(config)", "self.find(x)", False),
        ("Tokenizer", "self.cut = Tokenizer(config)", "self.cut(x)", False),
        ("Evaluator", "self.rate = Evaluator(config)", "self.rate(x)", False),
    ],
)
@pytest.mark.parametrize("path", ["nets.py", "models/absent.py"])
def test_a_module_of_a_library_that_a_module_calls_is_not_seen(  # noqa: PLR0913, PLR0917
    name: str,
    kept: str,
    called: str,
    path: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_named: bool,
) -> None:
    nets = _STACK.format(named=name, kept=kept, called=called)
    run = _TRAINED.format(module=path.removesuffix(".py").replace("/", "."))
    project({"run.py": run, path: nets})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert ("[likely]" in told) is is_named  # of a model without a name nothing is known
    assert "a model that is not seen here" in told
    assert (f"not seen here: `absent.{name}" in told) is is_named


_GRAPH = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, links):
        super().__init__()
        self.table = nn.Embedding(50000, 4)
        self.links = self.{}(links)

    def _normalize(self, links):
        return links / torch.sparse.softmax(links, 1)

    def _plain(self, links):
        return links * 2

    def forward(self, x):
        {}

if __name__ == "__main__":
    model = Net(torch.load("links.pt")).cuda()
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load("rows.pt"):
        model(x.cuda()).sum().backward()
        opt.step()
"""
_PRODUCT = "return torch.sparse.mm(self.links, self.table(x))"
_MADE = "y = torch.sparse_coo_tensor(x, self.table(x), (4, 4)) @ self.table(x)"


@pytest.mark.parametrize(
    ("made_by", "forward", "named"),
    [
        ("_normalize", "return self.table(x)", ""),
        ("_normalize", _PRODUCT, "`torch.sparse.mm`"),
        ("_normalize", f"{_MADE}; return y", "`torch.sparse_coo_tensor`"),
        ("_plain", "return self._normalize(self.table(x))", "`torch.sparse.softmax`"),
        ("_plain", f"{_MADE}; {_PRODUCT}", "`torch.sparse.mm`"),
    ],
)
def test_what_a_module_computes_while_it_is_made_is_not_named(
    made_by: str,
    forward: str,
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"run.py": _GRAPH.format(made_by, forward)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert named in told
    assert ("may differ" in told) is bool(named)
    assert f"[{'likely' if named else 'possible'}]" in told


_FREEZING = """
import torch
from nets import Net

def freeze(net):
    net.encoder.requires_grad_(False)

def main(frozen={frozen}):
    net = Net().cuda()
    {before}
    opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.1)
    for x in torch.load("rows.pt"):
        net(x.cuda()).sum().backward()
        opt.step()

if __name__ == "__main__":
    main()
"""
_HOLDING = """
from torch import nn
from torchvision import models

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x):
        return self.conv(x)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = {encoder}
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        return {output}
"""
_OFF = "net.encoder.requires_grad_(False)"
_EACH = "for p in net.encoder.parameters(): p.requires_grad = False"
_LAYERS = "nn.Sequential(\n            nn.Conv2d(3, 4, 3),\n            nn.ReLU(),\n        )"
_AFTER = "self.head(self.encoder(x))"


@pytest.mark.parametrize(
    ("before", "encoder", "output", "sure"),
    [
        (_OFF, "Encoder()", _AFTER, "possible"),
        (_EACH, "Encoder()", _AFTER, "possible"),
        (_OFF, _LAYERS, _AFTER, "possible"),
        (_OFF, "models.vgg16()", _AFTER, "possible"),
        ("freeze(net)", "Encoder()", _AFTER, "possible"),
        ("if frozen: freeze(net)", "Encoder()", _AFTER, "possible"),
        # A gradient comes through it, or it is trained for all that one knows.
        (_OFF, "Encoder()", "self.encoder(self.head(x))", "likely"),
        (_OFF, "Encoder()\n        self.other = Encoder()", _AFTER, "likely"),
        (f"{_OFF}; net.encoder.conv.requires_grad_(True)", "Encoder()", _AFTER, "likely"),
        (f"if len(opt): {_OFF}", "Encoder()", _AFTER, "likely"),
        ("if not frozen: freeze(net)", "Encoder()", _AFTER, "likely"),
        ("net.head.requires_grad_(False)", "Encoder()", _AFTER, "likely"),
    ],
)
def test_what_the_program_freezes_of_a_model_of_another_file_is_not_named(  # noqa: PLR0913, PLR0917
    before: str,
    encoder: str,
    output: str,
    sure: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    nets = _HOLDING.format(encoder=encoder, output=output)
    project({"run.py": _FREEZING.format(before=before, frozen=True), "nets.py": nets})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert f"[{sure}]" in capsys.readouterr().out


_PLACES = """
import absent
from torch_geometric.nn import Node2Vec
from transformers import AutoBackbone, AutoFeatureExtractor, PreTrainedModel, PretrainedConfig

def select(fast):
    if fast:
        return {asked}
    return "cuda"
"""
_PLACED = """
import torch
from places import select
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.found = select(True)
        self.body = nn.Linear(8, 2).to(self.found)

    def forward(self, x):
        return {given}

def train(rows, net=None):
    if net is None:
        net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in rows:
        net(x).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    train(torch.load("rows.pt"){passed})
"""


@pytest.mark.parametrize(
    ("asked", "given", "passed", "told"),
    [
        ("absent.device()", "self.body(x.to(self.found))", "", "[possible]"),
        ("absent.device('x')", "self.body(x.to(self.found))", "", "[possible]"),
        ("AutoFeatureExtractor.from_pretrained('x')", "self.body(self.found(x))", "", "[possible]"),
        ("PreTrainedModel(PretrainedConfig())", "self.body(self.found(x))", "", "[possible]"),
        ("Node2Vec(None)", "self.body(self.found(x))", "", "[possible]"),
        ("AutoBackbone.from_pretrained('x')", "self.found(x)", "", "model that is not seen here"),
        # What it gets is called, computes with what it is given, or is computed with.
        ("absent.block()", "self.found(x)", "", "model that is not seen here"),
        ("absent.block(fast)", "self.body(x.to(self.found))", "", "model that is not seen here"),
        ("absent.block()(fast)", "self.body(x.to(self.found))", "", "model that is not seen here"),
        # A parameter has its default, or else what is passed.
        ("'cpu'", "self.body(x.to(self.found))", "", "[possible]"),
        ("'cpu'", "self.body(x.to(self.found))", ", absent.Net()", "`absent.Net`"),
        ("'cpu'", "self.body(x.to(self.found))", ", **options", "a model that is not seen here"),
    ],
)
def test_what_a_library_is_only_asked_for_is_no_model(  # noqa: PLR0913, PLR0917
    asked: str,
    given: str,
    passed: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    program = _PLACED.format(given=given, passed=passed)
    if passed:
        program = f"import absent\n{program}"
    project({"run.py": program, "places.py": _PLACES.format(asked=asked)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    said = capsys.readouterr().out
    assert told in said
    assert ("not seen here" in said) is (told != "[possible]")


_CHOSEN = """
import torch
import torchvision
from torch import nn

class Net(nn.Module):
    def __init__(self, backbone=None, kind="plain"):
        super().__init__()
        if backbone:
            self.backbone = backbone
        else:
            self.backbone = {plain}
        if kind == "deep":
            self.head = nn.Conv1d(4, 4, 3)
        elif kind == "wide":
            self.head = nn.Conv3d(4, 4, 3)
        self.out = {out}

    def forward(self, x):
        return self.out(self.backbone(x))

def main(kind):
    net = Net({given})
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.load("rows.pt"):
        net(x.cuda()).sum().backward()
        optimizer.step()

if __name__ == "__main__":
    main(input())
"""
_MADE = "torchvision.models.resnet18()"
_RESNET = "`torchvision.models.resnet18` at run.py:12"


@pytest.mark.parametrize(
    ("given", "plain", "out", "named"),
    [
        ("", _MADE, "nn.Linear(4, 2)", f"{_RESNET}, and neither"),
        # What is made under no test comes first, and is told alone if it comes first anyway.
        (
            "torchvision.models.segmentation.fcn_resnet50().backbone",
            _MADE,
            "nn.Linear(4, 2)",
            f"here: `torchvision.models.segmentation.fcn_resnet50` at run.py:23 or {_RESNET}, and",
        ),
        ("", _MADE, "nn.Conv2d(3, 2, 3)", "GPU: `nn.Conv2d` at run.py:17, and neither"),
        (
            "None, kind",
            "nn.Linear(4, 4)",
            "nn.Linear(4, 2)",
            "GPU: `nn.Conv1d` at run.py:14 or `nn.Conv3d` at run.py:16, and neither",
        ),
    ],
)
def test_what_is_made_under_a_test_is_not_named_alone(  # noqa: PLR0913, PLR0917
    given: str,
    plain: str,
    out: str,
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"run.py": _CHOSEN.format(given=given, plain=plain, out=out)})
    main(["--no-cache", "--select", "DET304", "."])
    assert named in capsys.readouterr().out


_TUNED = """
from transformers import AutoModel, Trainer, {imported}

def main(rows):
    model = AutoModel.from_pretrained("bert-base-uncased")
    trainer = Trainer(model=model, args={arguments}, train_dataset=rows)
    trainer.train()

if __name__ == "__main__":
    main(open("rows.txt").readlines())
"""


@pytest.mark.parametrize(
    ("imported", "arguments", "is_said"),
    [
        ("TrainingArguments", "TrainingArguments('out')", True),
        ("Seq2SeqTrainingArguments", "Seq2SeqTrainingArguments('out')", True),
        ("set_seed", "None", False),
    ],
)
def test_of_a_trainer_of_transformers_its_own_switch_is_said(
    imported: str,
    arguments: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_said: bool,
) -> None:
    run = _TUNED.format(imported=imported, arguments=arguments)
    project({"run.py": run})
    options = ["--no-cache", "--select", "DET304", "--output-format", "json", "."]
    main(options)
    (found,) = json.loads(capsys.readouterr().out)
    said = "or set full_determinism=True in TrainingArguments"
    assert (said in found["help"]) is is_said
    project({"run.py": run.replace("'out')", "'out', full_determinism=True)")})
    main(options)
    assert bool(json.loads(capsys.readouterr().out)) is not is_said


def test_the_switch_of_a_trainer_of_transformers_turns_determinism_on() -> None:
    if find_spec("transformers") is None or find_spec("torch") is None:
        pytest.skip("no transformers here")
    program = """
import os, torch
from transformers import enable_full_determinism
enable_full_determinism(3)
print(torch.are_deterministic_algorithms_enabled(), os.environ["CUDA_LAUNCH_BLOCKING"])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "1"]


_LAYERED = """
import torch
from timm.layers import {layer}
from torch import nn

{switch}
net = nn.Sequential(nn.Linear(4, 4), {layer}(4)).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.load("rows.pt"):
    net(x.cuda()).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("layer", "switch", "told"),
    [
        ("Mlp", "", "and neither it nor what it imports"),
        ("SqueezeExcite", "torch.backends.cudnn.deterministic = True", "and neither it nor what"),
        ("SqueezeExcite", "", "may differ from run to run on a GPU: `SqueezeExcite` at run.py:7"),
        ("Attention", "", "with a model that is not seen here: `timm.layers.Attention`"),
    ],
)
def test_small_layers_of_timm_are_known(
    layer: str,
    switch: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"run.py": _LAYERED.format(layer=layer, switch=switch)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    said = capsys.readouterr().out
    assert told in said
    assert ("[possible]" in said) is told.startswith("and neither")


_SAMPLING = """
import torch

class Sampler:
    def __init__(self, model):
        self.model = model

    def give(self, x):
        with {within}:
            return self._cut(self.model(x))

    def _cut(self, x):
        return x[torch.cumsum(x.softmax(-1), -1) > 0.9]
"""
_LOADING = """
from transformers import AutoModelForCausalLM

def load(name):
    model = AutoModelForCausalLM.from_pretrained(name)
    model.to("cpu")
    return {given}
"""
_OF_OTHERS = """
import torch
from sampling import Sampler
from loading import load

def train(model, rows):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in rows:
        model(x.cuda()).sum().backward()
        optimizer.step()

def main(make):
    model = make().cuda()
    model.load_state_dict(load("gpt2"))
    train(model, torch.load("rows.pt"))
    print(Sampler(model).give(torch.ones(1, 1).cuda()))

if __name__ == "__main__":
    import nets
    main(**nets.OPTIONS)
"""


@pytest.mark.parametrize(
    ("within", "given", "told"),
    [
        ("torch.no_grad()", "dict(model.state_dict())", ["[possible]"]),
        ("torch.no_grad()", "model(model.state_dict())", ["` at loading.py:5", "[likely]"]),
        ("open('x')", "dict(model.state_dict())", ["torch.cumsum()` at sampling", "[likely]"]),
    ],
)
def test_what_samples_or_only_gives_its_weights_is_not_named(
    within: str,
    given: str,
    told: list[str],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    texts = (_SAMPLING.format(within=within), _LOADING.format(given=given), _OF_OTHERS)
    project(dict(zip(("sampling.py", "loading.py", "train.py"), texts, strict=True)))
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    said = capsys.readouterr().out
    assert all(each in said for each in told)


_OF_TEXTS = """
from transformers import AutoModelForMaskedLM, AutoModelForImageClassification, Trainer

def main(rows):
    model = {made}
    Trainer(model=model, train_dataset=rows).train()

if __name__ == "__main__":
    main([])
"""
_MASKED = "AutoModelForMaskedLM.from_pretrained('bert-base-uncased'{})"
_PICTURES = "AutoModelForImageClassification.from_pretrained('vit'{})"


@pytest.mark.parametrize(
    ("made", "asked", "confidence", "told"),
    [
        (_MASKED.format(""), "", "likely", "a model that is not seen here"),
        (_MASKED.format(""), "transformers==4.35", "possible", "a model that is not seen here"),
        (_MASKED.format(""), "transformers>=4.35", "likely", "a model that is not seen here"),
        (_PICTURES.format(""), "transformers==4.35", "likely", "a model that is not seen here"),
        (_MASKED.format(", attn_implementation='sdpa'"), "", "likely", "a model that is not seen"),
        (_MASKED.format(", attn_implementation=how()"), "", "likely", "a model that is not seen"),
        (_MASKED.format(", attn_implementation='eager'"), "", "possible", "what may differ"),
        (_PICTURES.format(", attn_implementation='eager'"), "", "likely", "a model that is not"),
    ],
)
def test_models_of_texts_may_repeat_without_fused_attention(  # noqa: PLR0913, PLR0917
    made: str,
    asked: str,
    confidence: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": _OF_TEXTS.format(made=made), "requirements.txt": asked})
    options = ("--output-format", "json", "--min-confidence", "possible")
    main(["--no-cache", "--select", "DET304", *options, "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert found["confidence"] == confidence
    assert f"with {told}" in found["message"]


_ATTENDING = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.MultiheadAttention(64, 4) for _ in range(2))
        self.out = nn.Linear(64, 2)

    def forward(self, x, **options):
        for layer in self.layers:
            x = {called}
        return self.out(x)

if __name__ == "__main__":
    net = Net().cuda()
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(3, 2, 64).cuda()).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("called", "is_named"),
    [
        ("layer(x, x, x)[0]", False),
        ("layer(x, x, x, None, True)[0]", False),
        ("layer(x, x, x, need_weights=False)[0]", True),
        ("layer(x, x, x, **options)[0]", True),
        ("attend(layer, x)", True),
    ],
)
def test_attention_that_is_asked_for_its_weights_is_not_named(
    called: str,
    is_named: bool,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It is of two products and a softmax then, which repeat (benchmarks/ON_GPU.md)."""
    project({"train.py": _ATTENDING.format(called=called)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert ("`nn.MultiheadAttention` at train.py:8" in told) is is_named
    assert ("[possible]" in told) is not is_named


_KERNEL = """
import torch
import triton
import triton.language as tl

@triton.jit
def add(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    {ends}

class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        out = torch.zeros((), device=x.device)
        add[(8,)](x, out, x.numel(), BLOCK=64)
        ctx.shape = x.shape
        return out

    @staticmethod
    def backward(ctx, g):
        return g.expand(ctx.shape)

if __name__ == "__main__":
    model = torch.nn.Linear(3, 1).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    Total.apply(model(torch.ones(9, 3).cuda())).backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("ends", "named"),
    [
        ("tl.atomic_add(out, tl.sum(tl.load(x + i, mask=i < n)))", "`tl.atomic_add` at train.py:9"),
        ("tl.store(out + i, tl.load(x + i, mask=i < n))", "a model that is not seen here"),
    ],
)
def test_what_a_kernel_adds_atomically_is_named(
    ends: str,
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": _KERNEL.format(ends=ends)})
    options = ("--min-confidence", "possible", "--output-format", "json")
    main(["--no-cache", "--select", "DET304", *options, "."])
    (found,) = json.loads(capsys.readouterr().out)
    assert named in found["message"]
    assert found["confidence"] == ("likely" if "atomic" in ends else "possible")


_STEPS = """
import torch

def go_back(loss):
    loss.backward()

def step(task, batch, optimizer):
    losses = task(batch.cuda())
    go_back(losses)
    optimizer.step()

def main(create):
    task = create()
    optimizer = torch.optim.SGD(task.parameters(), lr=0.1)
    step(task, torch.ones(1), optimizer)

if __name__ == "__main__":
    import absent
    main(absent.create)
"""


def test_what_callers_hand_on_is_named_as_the_source_names_it(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    project({"train.py": _STEPS})
    main(["--no-cache", "--select", "DET304", "."])
    assert "with a model that is not seen here: `absent.create`, and" in capsys.readouterr().out


_PROBE = """
import torch

class Probe:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def read(self, rows):
        return {read}

    def epoch(self, images, labels):
        batch = images.index_select(0, torch.tensor([0, 0, 1])).cuda()
        torch.nn.functional.cross_entropy(self.model(batch), labels).backward()
        self.optimizer.step()

    def run(self, rows, labels):
        self.epoch(self.read(rows), labels)

Probe(torch.nn.Linear(4, 2)).run([[1.0, 2, 3, 4]], torch.zeros(3).long())
"""


@pytest.mark.parametrize(
    ("read", "is_named"), [("torch.FloatTensor(rows)", False), ("self.model(rows)", True)]
)
def test_an_operator_on_data_gets_no_gradient_for_all_that_calls_show(
    read: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_named: bool,
) -> None:
    project({"probe.py": _PROBE.format(read=read)})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("images.index_select()` at probe.py" in capsys.readouterr().out) is is_named


_STARRED = """
from {home} import *
from scores import *
import torch

torch.manual_seed(0)

def fit(model, x):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(x).sum().backward()
    optimizer.step()
    print(score(x))

{made}
fit(model.cuda(), torch.ones(2, 3, 8, 8).cuda())
"""
_SCORES = """
from munkres import Munkres

def score(x):
    return Munkres().compute(x.tolist())
"""
_STARS = """
from torch import nn

class Flat(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

class Deep(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3)

model = {}()
"""


@pytest.mark.parametrize(
    ("home", "kept", "made", "told"),
    [
        ("nets", "Flat", "model = Flat()", "[possible]"),
        ("nets", "Flat", "model = Deep()", "`nn.Conv2d` at nets.py:12"),
        ("nets", "Flat", "", "[possible]"),
        ("nets", "Deep", "", "`nn.Conv2d` at nets.py:12"),
        ("absent", "Flat", "model = Deep()", "a model that is not seen here"),
    ],
)
def test_models_that_come_with_all_of_a_module_are_seen(  # noqa: PLR0913, PLR0917
    home: str,
    kept: str,
    made: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    run = _STARRED.format(home=home, made=made)
    project({"run.py": run, "nets.py": _STARS.format(kept), "scores.py": _SCORES})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    said = capsys.readouterr().out
    assert told in said
    assert ("not seen" in said) is (home == "absent")


_GROUPED = """
import argparse
import torch
import torch.nn.functional as F
from torch import nn
from options import Options, Registry

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 6, 3, padding=1)
        self.up = nn.Upsample(scale_factor=2, mode="{mode}")
        self.loss = nn.NLLLoss()

    def forward(self, x, y):
        return self.loss(self.up(self.conv(x)).log_softmax(1), y)

def groups(net, options):
    return [{{"params": [value for _, value in net.named_parameters()]}}]

torch.manual_seed(0)
torch.backends.cudnn.deterministic = True
options = {options}
net, start = options.resume(Net().cuda())
optimizer = torch.optim.Adam(groups(net, options))
for i in range(start, 9):
    net(torch.rand(2, 3, 8, 8).cuda(), torch.zeros(2, 8, 8).long().cuda()).backward()
    optimizer.step()
"""
_OPTIONS = """
class Options:
    def resume(self, net):
        return net, 1

class Registry(dict):
    def resume(self, net):
        return net, 1
"""


@pytest.mark.parametrize(
    "options", ["Options()", "Registry()", "argparse.ArgumentParser().parse_args()"]
)
@pytest.mark.parametrize(
    ("mode", "named"), [("bilinear", 'nn.Upsample(mode="bilinear")'), ("nearest", "nn.NLLLoss()")]
)
def test_what_is_handed_on_beside_a_model_is_not_all_that_is_trained(
    mode: str,
    named: str,
    options: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"run.py": _GROUPED.format(mode=mode, options=options), "options.py": _OPTIONS})
    main(["--no-cache", "--select", "DET304", "."])
    assert f"a model that is not seen here; of what it makes, `{named}" in capsys.readouterr().out


_PIXELS = """
import torch
from torch import nn
from {home} import Net

torch.manual_seed(0)
net = nn.DataParallel(Net().cuda())
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(net.parameters())
for x, y in torch.load("rows.pt"):
    criterion(net(x.cuda()), y.cuda()).backward()
    optimizer.step()
"""
_OF_PIXELS = """
from torch import nn

def block(size):
    return nn.Sequential(nn.Conv2d(3, size, 1), nn.BatchNorm2d(size), nn.ReLU())

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = block(8)
        self.head = nn.{head}

    def forward(self, x):
        return self.head(self.conv(x))
"""


@pytest.mark.parametrize(
    ("home", "head", "is_told"),
    [
        ("nets", "Conv2d(8, 3, 1)", True),
        ("nets", "Dropout(0.1)", True),
        ("nets", "Flatten()", False),
        ("nets", "Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 3))", False),
        ("absent", "Conv2d(8, 3, 1)", False),
    ],
)
def test_the_loss_of_pixels_of_a_model_of_another_file(
    home: str,
    head: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_told: bool,
) -> None:
    nets = _OF_PIXELS.format(head=head)
    project({"run.py": _PIXELS.format(home=home), "nets.py": nets})
    main(["--no-cache", "--select", "DET501", "run.py"])
    assert ("run.py:11:5: DET501" in capsys.readouterr().out) is is_told


_STORED = """
import torch

rows = torch.jit.load("rows.pt")
for _, kept in {given}:
    x = kept

class Net(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        self.out = torch.nn.Linear(3, 3)
        self.size = {size}

net = Net(1).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(x).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(
    ("given", "size", "told"),
    [
        ("rows.state_dict().items()", "1", "[possible]"),
        ("rows(1)", "1", "`torch.jit.load`"),
        ("rows.state_dict().items()", "eval('config.' + config)", "[possible]"),
        ("rows.state_dict().items()", "eval(config)", "not seen here"),
    ],
)
def test_data_that_is_read_as_a_model_and_options_by_name_hide_none(
    given: str,
    size: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": _STORED.format(given=given, size=size)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert told in capsys.readouterr().out


_WARP = """
import torch
from torch import nn
from torch.nn import functional as F

class Warp(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 3, 1)

    def forward(self, x, index, grid):
        y = torch.zeros(8).cuda().put_(index, x, accumulate=True)
        return y, F.grid_sample(self.conv(x), grid, align_corners=False)
"""
_STEP = """
    steps = torch.optim.Adam(net.parameters())
    for row in x:
        loss(net(row)).backward()
        steps.step()
"""


@pytest.mark.parametrize(
    ("makes", "then", "expected"),
    [
        ("Fast() if x else Warp()", _STEP, ["likely", "likely"]),
        ("Fast() if use_gpu else Warp()", _STEP, []),
        ("Warp()", "net.train_scene(x)", ["likely", "possible"]),
    ],
)
def test_what_runs_without_a_gpu_or_a_step_that_is_seen(
    makes: str, then: str, expected: list[str], project: Callable[[dict[str, str]], Path]
) -> None:
    run = "import torch\nfrom fast import Fast\nfrom warp import Warp\n\ndef run(x, use_gpu):\n"
    run = f"{run}    net = {makes}\n    {then}\n\nif __name__ == '__main__':\n    run(*load())\n"
    root = project({"run.py": run, "warp.py": _WARP})
    found = lint_paths([root], isolated=True, select=["DET501"], min_confidence="possible")
    assert [str(each.confidence) for each in found] == expected

"""What counts as training: a step of an optimizer, or weights that are changed by hand."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LOOP = """
import torch
{imports}
model = torch.nn.Conv2d(3, 2, 1)
{before}
for x, y in torch.load("data.pt", map_location="cuda"):
    loss = (model(x) - y).pow(2).mean()
{step}
"""
ON_GPU = ', map_location="cuda"'
OPTIMIZER = "opt = torch.optim.SGD(model.parameters(), lr=0.1)"
CLOSURE = """
opt = torch.optim.LBFGS(model.parameters())

def closure():
    opt.zero_grad()
    model(torch.ones(2, 4)).sum().backward()
"""
LOSS = """
weights = dict(model.named_parameters())

def measure(weights, x):
    return functional_call(model, weights, x).sum()
"""
BY_HAND = """
    loss.backward()
    with torch.no_grad():
        for p in model.parameters():
            {}
"""
BY_GRADIENTS = """
    for p, g in zip(model.parameters(), {}(loss, list(model.parameters()))):
        p.data -= 0.1 * g
"""


@pytest.mark.parametrize(
    ("imports", "before", "step", "trains"),
    [
        ("", OPTIMIZER, "    loss.backward()\n    opt.step()", True),
        ("", CLOSURE, "    opt.step(closure)", True),
        ("", "", BY_HAND.format("p -= 0.1 * p.grad"), True),
        ("", "", BY_HAND.format("p.sub_(0.1 * p.grad)"), True),
        ("", "", BY_HAND.format("p.data = p.data - 0.1 * p.grad"), True),
        ("", "", BY_HAND.format("p.copy_(p - 0.1 * p.grad)"), True),
        ("", "", BY_HAND.format("print(p.grad)"), False),
        ("", "", BY_GRADIENTS.format("torch.autograd.grad"), True),
        ("from torch.autograd import grad", "", BY_GRADIENTS.format("grad"), True),
        ("", "", "    print(torch.autograd.grad(loss, x))", False),
        ("", "", "    model.zero_grad()\n    loss.backward()\n    show(model.weight.grad)", False),
        (
            "",
            "",
            "    torch.autograd.backward(loss)\n    model.weight.data -= model.weight.grad",
            True,
        ),
        (
            "from torch.func import functional_call, grad",
            LOSS,
            "    g = grad(measure)(weights, x)",
            True,
        ),
        ("", OPTIMIZER, "    scaler.scale(loss).backward()\n    scaler.step(opt)", True),
        ("", OPTIMIZER, "    accelerator.backward(loss)\n    opt.step()", True),
        ("", "engine = deepspeed(model)", "    engine.backward(loss)\n    engine.step()", True),
        ("", OPTIMIZER, "    print(loss)", False),
        # What learns to split texts.
        ("import sentencepiece as s", "", "    s.SentencePieceTrainer.train(input=x)", False),
    ],
)
def test_a_program_trains_however_it_changes_its_weights(  # noqa: PLR0913 - a row of the table
    imports: str,
    before: str,
    step: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    trains: bool,
) -> None:
    text = LOOP.format(imports=imports, before=before, step=step)
    project({"train.py": text})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is trains


@pytest.mark.parametrize(
    ("made", "shown", "rows"),
    [
        ("torch.nn.Conv2d(3, 2, 1)", "model.weight.detach().numpy()", []),
        ("torch.nn.Conv2d(3, 2, 1)", "model.weight.detach().cpu().numpy()", ["DET304"]),
        ("torch.nn.Conv2d(3, 2, 1).cuda()", "x.numpy()", ["DET304"]),
        ("torch.nn.Conv2d(3, 2, 1)", "model.weight", []),
        ("torch.nn.Conv2d(3, 2, 1).to('cpu')", "model.weight", []),
        ("torch.nn.Conv2d(3, 2, 1, device=torch.device('cpu'))", "model.weight", []),
        ("torch.nn.Conv2d(3, 2, 1).to(torch.device('cpu')).cuda()", "model.weight", ["DET304"]),
        ("torch.nn.Conv2d(3, 2, 1).to(args.device or 'cpu')", "model.weight", ["DET304"]),
        ("make()", "model.weight", []),
        ("make().to(place)", "model.weight", ["DET304"]),
        ("torch.nn.Conv2d(3, 2, 1).to(torch.float64)", "model.weight", []),
        ("torch.nn.Conv2d(3, 2, 1).to(dtype=kind)", "model.weight", []),
        ("torch.nn.Conv2d(3, 2, 1).to(rank, torch.float64)", "model.weight", ["DET304"]),
    ],
)
def test_what_stays_on_the_cpu_is_possible(
    made: str,
    shown: str,
    rows: list[str],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    step = f"    loss.backward()\n    opt.step()\n    print({shown})"
    text = LOOP.format(imports="", before=OPTIMIZER, step=step).replace(ON_GPU, "")
    project({"train.py": text.replace("torch.nn.Conv2d(3, 2, 1)", made)})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is bool(rows)
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert "DET304" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("shown", "is_likely"), [("-1", False), ("0", True), ("100", True), ("", True)]
)
def test_a_program_that_hides_every_gpu_is_possible(
    shown: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_likely: bool,
) -> None:
    hides = f"os.environ['CUDA_VISIBLE_DEVICES'] = '{shown}'\n{OPTIMIZER}"
    step = "    loss.backward()\n    opt.step()"
    project({"train.py": LOOP.format(imports="import os", before=hides, step=step)})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is is_likely


@pytest.mark.parametrize(
    ("before", "is_moved"),
    [
        ("", False),
        ("torch.set_default_device(sys.argv[1])", True),
        ("device = 'cuda' if torch.cuda.is_available() else 'cpu'", True),
        ("module = importlib.import_module(sys.argv[1]); model = module.model", True),
        ("flip = lambda labels: torch.arange(9).to(labels.device)[labels]", False),
        ("ones = torch.ones(2)\nones = torch.ones(2).to(ones.device)", False),
        ("move = lambda args, x: x.to(args.device)", True),
        ("move = lambda x, options: x.to(**options)", True),
    ],
)
def test_a_program_that_no_text_moves_to_a_gpu_is_possible(
    before: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    is_moved: bool,
) -> None:
    text = LOOP.format(
        imports="import importlib, sys",
        before=f"{before}\n{OPTIMIZER}",
        step="    loss.backward()\n    opt.step()",
    )
    project({"train.py": text.replace(ON_GPU, "")})
    asked = ["--select=DET304", "--min-confidence=possible", "--output-format=json"]
    main(["--no-cache", *asked, "."])
    [told] = json.loads(capsys.readouterr().out)
    assert told["confidence"] == ("likely" if is_moved else "possible")
    on_cpu = "no text of its files moves it to a GPU, and on the CPU little differs: of large"
    assert (on_cpu in told["message"]) is not is_moved


PLACED = """
import torch

def train(device="cuda"):
    model = torch.nn.Conv2d(3, 2, 1).to(device)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for x in torch.load("data.pt"):
        model(x.to(device)).mean().backward()
        opt.step()

if __name__ == "__main__":
    train({})
"""


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("device='cpu'", "possible"),
        ("'cpu'", "possible"),
        ("'mps'", "possible"),
        ("'mps' if small else 'cpu'", "possible"),
        ("'mps' if small else 'cuda'", "likely"),
        ("", "likely"),
        ("load('cpu')", "likely"),
    ],
)
def test_a_device_is_what_all_calls_pass(
    given: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": PLACED.format(given)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert f"[{told}]" in capsys.readouterr().out


HEADED = """
import torch.cuda
from torch import nn
import torchvision
{defined}

class Net(nn.Module):
    def __init__(self, freeze=True):
        super().__init__()
        self.encoder = {encoder}
        self.head = nn.Linear(16, 4)
        {said}

    def forward(self, x):
        return self.head(self.encoder(x))

net = {net}
{after}
opt = torch.optim.SGD({trained}, lr=0.1)
for x, y in torch.load("data.pt"):
    loss = nn.functional.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
"""
HELD = """
class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Sequential(nn.Conv2d(3, 16, 3), nn.ReLU())
        {}

    def forward(self, x):
        {}
"""
_OF_CONVOLUTIONS = "nn.Sequential(nn.Conv2d(3, 16, 3), nn.Flatten())"
_LOOP = "for p in {}.parameters():\n{}p.requires_grad = {}"
_DEFAULT = "torchvision.models.resnet18(weights='DEFAULT')"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"said": "self.encoder.requires_grad_(False)"}, "possible"),
        ({"said": "self.encoder.requires_grad_(True)"}, "likely"),
        ({"said": _LOOP.format("self.encoder", " " * 12, False)}, "possible"),
        ({"said": _LOOP.format("self.head", " " * 12, False)}, "likely"),
        ({"said": "if freeze: self.encoder.requires_grad_(False)"}, "likely"),
        ({"after": "net.encoder.requires_grad_(False)"}, "possible"),
        ({"after": "net.encoder.requires_grad_(False)\nnet.requires_grad_(True)"}, "likely"),
        ({"after": "net.encoder[1].requires_grad_(False)"}, "likely"),
        ({"after": "net.requires_grad_(False)\nnet.head.requires_grad_(True)"}, "possible"),
        (
            {
                "said": _LOOP.format("self", " " * 12, False)
                + "\n        self.head.requires_grad_(True)"
            },
            "possible",
        ),
        ({"trained": "net.head.parameters()"}, "possible"),
        ({"trained": "net.encoder.parameters()"}, "likely"),
        (
            {
                "defined": HELD.format(
                    _LOOP.format("self", " " * 12, False), "return self.conv(x).mean((2, 3))"
                ),
                "encoder": "Encoder()",
            },
            "possible",
        ),
        (
            {
                "defined": HELD.format(
                    "pass", "with torch.no_grad():\n            return self.conv(x).mean((2, 3))"
                ),
                "encoder": "Encoder()",
            },
            "possible",
        ),
        (
            {
                "defined": HELD.format("pass", "return self.conv(x).mean((2, 3))"),
                "encoder": "Encoder()",
            },
            "likely",
        ),
        ({"encoder": "nn.Embedding.from_pretrained(vectors)"}, "possible"),
        # A table of how many rows: the gradient of a small one differed, that of others repeated.
        ({"encoder": "nn.Embedding.from_pretrained(vectors, freeze=False)"}, "possible"),
        ({"encoder": "nn.Embedding(width, 16)"}, "possible"),
        ({"encoder": "nn.Embedding(50000, 16)"}, "possible"),
        (
            {"encoder": "nn.Embedding(9, 16)", "said": "self.encoder.weight.requires_grad = False"},
            "possible",
        ),
        ({"encoder": "nn.Embedding(9, 16)"}, "likely"),
        (
            {
                "net": _DEFAULT,
                "after": _LOOP.format("net", "    ", False) + "\nnet.fc = nn.Linear(512, 4)",
                "trained": "net.fc.parameters()",
                "encoder": "nn.Flatten()",
            },
            "possible",
        ),
        (
            {"net": _DEFAULT, "after": "net.fc = nn.Linear(512, 4)", "encoder": "nn.Flatten()"},
            "likely",
        ),
    ],
)
def test_what_is_not_trained_is_not_what_differs(
    changed: dict[str, str],
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    plain = {"encoder": _OF_CONVOLUTIONS, "net": "Net()", "trained": "net.parameters()"}
    project(
        {
            "train.py": HEADED.format(
                **{**dict.fromkeys(("defined", "said", "after"), ""), **plain, **changed}
            )
        }
    )
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert f"[{told}]" in capsys.readouterr().out


@pytest.mark.parametrize(("path", "found"), [("tests/check.py", False), ("train.py", True)])
def test_what_trains_in_a_folder_of_tests_is_possible(
    path: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    found: bool,
) -> None:
    step = "    loss.backward()\n    opt.step()"
    project({path: LOOP.format(imports="", before=OPTIMIZER, step=step)})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is found


BARE = """
import torch
{imports}

def measure(weights, x):
    return (torch.sum(weights / weights.sum() * x) - 0.5) ** 2

labels = torch.load("labels.pt").cuda()
weights = {weights}
opt = torch.optim.SGD([weights], lr=0.1)
loss = measure(weights, {given})
loss.backward()
opt.step()
"""


@pytest.mark.parametrize(
    ("weights", "given", "imports", "found"),
    [
        ("(torch.randn(4, 1) + 5).cuda().requires_grad_(True)", "labels", "", False),
        ("torch.nn.Parameter(torch.ones(4))", "labels", "", False),
        ("torch.ones(4, requires_grad=True)", "torch.spmm(labels, labels)", "", True),
        ("torch.ones(4, requires_grad=True)", "torch.cumprod(labels, 0)", "", False),
        ("torch.ones(4, requires_grad=True)", "labels", "import library", False),
        ("make(4)", "labels", "", True),
    ],
)
def test_arithmetic_of_tensors_repeats(  # noqa: PLR0913
    weights: str,
    given: str,
    imports: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    found: bool,
) -> None:
    project({"train.py": BARE.format(weights=weights, given=given, imports=imports)})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is found
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert "DET304" in capsys.readouterr().out


MADE = """
import library
import timm
import torch
from library import *
from torchvision.models import resnet18, vgg16

class Net(torch.nn.Module):
    def __init__(self, options):
        super().__init__()
        self.part = {part}

model = {model}
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x in torch.load("data.pt"):
    model(x).sum().backward()
    opt.step()
"""


@pytest.mark.parametrize(
    ("part", "model", "seen"),
    [
        ("None", "resnet18()", "draws"),
        ("None", "resnet18(weights=None)", "draws"),
        ("None", "resnet18(weights='DEFAULT')", ""),
        ("None", "resnet18(True)", ""),
        ("None", "resnet18(pretrained=options.pretrained)", ""),
        ("vgg16()", "Net(0)", "draws"),
        ("None", "timm.create_model('vit')", "draws"),
        ("None", "timm.create_model('vit', pretrained=True)", ""),
        ("None", "timm.create_model('vit', True)", ""),
        ("None", "library.SwinTransformer(3)", "seems to draw"),
        ("None", "library.Reader(3)", ""),
        ("library.ConvLayer(3)", "Net(0)", "seems to draw"),
        ("Linear(3, 4)", "Net(0)", "seems to draw"),
        ("Relu(3, 4)", "Net(0)", ""),
        ("torch.nn.Sigmoid()", "Net(0)", ""),
    ],
)
def test_models_and_layers_of_libraries_draw_their_weights(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, part: str, model: str, seen: str
) -> None:
    path = tmp_path / "train.py"
    path.write_text(MADE.format(part=part, model=model))
    main(["--no-cache", "--isolated", "--select", "DET102", str(path)])
    told = capsys.readouterr().out
    assert ("DET102" in told) == bool(seen)
    assert f"{seen} first weights" in told or not seen
    seeded = MADE.replace("class Net", "torch.manual_seed(0)\n\nclass Net")
    path.write_text(seeded.format(part=part, model=model))
    main(["--no-cache", "--isolated", "--select", "DET102", str(path)])
    assert "DET102" not in capsys.readouterr().out


CONTAINER = """
import library
import torch

torch.manual_seed(0)
trainer = library.Container({})
trainer.{}
"""


@pytest.mark.parametrize(
    ("given", "call", "found"),
    [
        ("torch_model=torch.nn.Conv2d(3, 2, 1), optimizer='Adam'", "train(x, y)", True),
        ("torch.nn.Conv2d(3, 2, 1), criterion=torch.nn.MSELoss()", "fit(x, y)", True),
        ("torch_model=torch.nn.Conv2d(3, 2, 1), optimizer='Adam'", "train()", False),
        ("torch_model=torch.nn.Conv2d(3, 2, 1), optimizer='Adam'", "predict(x, y)", False),
        ("torch.nn.Conv2d(3, 2, 1)", "train(x, y)", False),
    ],
)
def test_a_container_that_is_given_an_optimizer_trains(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str, call: str, *, found: bool
) -> None:
    path = tmp_path / "run.py"
    text = CONTAINER.replace("trainer", "container").format(given, call)
    path.write_text(f"{text}\nif __name__ == '__main__':\n    print(container)\n")
    main(["--no-cache", "--isolated", "--select", "DET304", str(path)])
    assert ("DET304" in capsys.readouterr().out) is found
    path.write_text(
        path.read_text().replace("manual_seed(0)", "use_deterministic_algorithms(True)")
    )
    main(["--no-cache", "--isolated", "--select", "DET304", str(path)])
    assert "DET304" not in capsys.readouterr().out


REPEATS = """
import torch.cuda
from torch import nn
from torch.nn import functional as F
{imports}
model = {model}
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in torch.load("data.pt"):
    loss = F.cross_entropy({output}, y)
    loss.backward()
    opt.step()
"""
_PARTLY = "nn.Sequential(nn.Linear(4, 2), part())"
_COVERED = "torch.backends.cudnn.deterministic = True"
_TIMED = "\ntorch.backends.cudnn.benchmark = True"


@pytest.mark.parametrize(
    ("model", "output", "imports", "named"),
    [
        ("nn.Linear(4, 2)", "model(x)", "", None),
        ("nn.Sequential(nn.Linear(4, 2), nn.BatchNorm1d(2), nn.GELU())", "model(x)", "", None),
        ("nn.LSTM(4, 2)", "model(x)[0]", "import numpy, tqdm", None),
        ("nn.Linear(4, 2)", "model(x).gather(1, y[:, None])", "", None),
        ("nn.Linear(4, 2)", "model(x).gather(1, y).squeeze(1)", "", None),
        ("nn.Linear(4, 2)", "model(x).gather(1, y).squeeze(0)", "", "gather()` at train.py:9"),
        ("nn.Linear(4, 2)", "model(x).gather(1, actions)", "", None),
        (
            "nn.Sequential(nn.Linear(4, 2), nn.Conv1d(2, 2, 1))",
            "model(x).gather(1, y)",
            "",
            "gather()`",
        ),
        ("nn.Conv2d(3, 2, 1)", "model(x).gather(1, y)", "", "`nn.Conv2d`"),
        ("nn.Linear(4, 2)", "model(x)", "def is_image(x):\n    isinstance(x, nn.Conv2d)", None),
        ("nn.Conv2d(3, 2, 1)", "model(x)", "", "`nn.Conv2d` at train.py:6"),
        ("nn.Sequential(nn.Embedding(9, 2))", "model(x)", "", "`nn.Embedding` at train.py:6"),
        (
            "nn.Linear(4, 2)",
            "F.interpolate(model(x), scale_factor=2, mode='bilinear')",
            "",
            "`F.cross_entropy() of an input with more than two dimensions` at train.py:9",
        ),
        ("nn.Linear(4, 2)", "model(x).index_select(0, y)", "", "index_select()` at train.py:9"),
        (_PARTLY, "model(x)", "import escnn\nx = escnn.nn", ""),
        (_PARTLY, "model(x)", "from escnn.nn import *", ""),
        # What it only imports, it may try.
        (_PARTLY, "model(x)", "try:\n    import escnn\nexcept ImportError:\n    pass", None),
        ("nn.Linear(4, 2)", "model(x)", "from torchvision.models import resnet18", None),
        ("nn.Linear(4, 2)", "model(x)", f"from torchvision import models\n{_COVERED}", None),
        ("nn.Linear(4, 2)", "model(x)", "import torchvision as v\nx = v.models.vgg16", "vgg16"),
        (_PARTLY, "model(x)", "from torchvision import ops\nx = getattr(ops, x)", ""),
        (_PARTLY, "model(x)", "x = make('torchvision.models.vgg16')", ""),
        (_PARTLY, "model(x)", "", None),
        ("nn.Linear(4, 2)", "model(x)", "import escnn", None),
        ("make(4, 2)", "model(x)", "", ""),
        ("torch.hub.load('a', 'b')", "model(x)", "", "a model that is not seen here"),
        ("nn.Sequential(nn.Conv3d(3, 2, 1), nn.Conv2d(3, 2, 1))", "model(x)", "", "`nn.Conv2d`"),
        ("nn.Sequential(nn.Conv3d(3, 2, 1), nn.Embedding(9, 2))", "model(x)", "", "`nn.Embedding`"),
        ("nn.Conv2d(3, 2, 1)", "model(x).mean((2, 3))", _COVERED, None),
        ("nn.Conv2d(3, 2, 1)", "model(x)", _COVERED, "`F.cross_entropy() of an input with more"),
        ("nn.Sequential(nn.ConvTranspose1d(3, 2, 1))", "model(x)", _COVERED, None),
        ("nn.Conv2d(3, 2, 1)", "model(x)", _COVERED.replace("True", "False"), "`nn.Conv2d`"),
        ("nn.Conv2d(3, 2, 1)", "model(x)", _COVERED + _TIMED, "`nn.Conv2d`"),
        (
            "nn.Sequential(nn.Conv2d(3, 2, 1), nn.Embedding(9, 2))",
            "model(x)",
            _COVERED,
            "Embedding`",
        ),
    ],
)
def test_what_repeats_on_a_gpu_is_possible_and_what_may_differ_is_named(  # noqa: PLR0913
    model: str,
    output: str,
    imports: str,
    named: str | None,
    *,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": REPEATS.format(model=model, output=output, imports=imports)})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    told = capsys.readouterr().out
    assert ("[possible]" in told) is (named is None)
    assert "DET304" in told
    assert (named or "") in told


FORCE = """
import torch

def force(x, energy):
    (found,) = torch.autograd.grad(energy, x)
    return -found
"""
TRAINER = """
import torch
from forces import force

class Trainer:
    def __init__(self):
        self.net = torch.nn.Conv2d(3, 1, 2)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def predict(self, x):
        return force(x, self.net(x).sum())

    def fit_all(self, x):
        self.predict(x).sum().backward()
        self.optimizer.step()
"""


@pytest.mark.parametrize(("called", "trains"), [("predict", False), ("fit_all", True)])
def test_a_force_beside_a_step_that_nothing_calls_trains_nothing(
    called: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
    *,
    trains: bool,
) -> None:
    run = f"import torch\nfrom trainer import Trainer\n\nprint(Trainer().{called}(torch.ones(3)))\n"
    run += "if __name__ == '__main__':\n    pass\n"
    project({"run.py": run, "trainer.py": TRAINER, "forces.py": FORCE})
    main(["--no-cache", "--select", "DET304", "."])
    assert ("DET304" in capsys.readouterr().out) is trains


STEPS = """
import torch

net = torch.nn.Conv2d(3, 1, 2).cuda()

def fit(o):
    net(3).backward(); o.step()
"""
STARTS = """
import torch
from steps import fit

if __name__ == "__main__":{}
    fit(torch.optim.SGD(3))
"""


def test_one_training_of_several_programs_is_said_at_one_that_names_the_others(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    def told(*paths: str) -> list[tuple[str, str]]:
        main(["--no-cache", "--select", "DET304", "--output-format", "json", *paths])
        found = json.loads(capsys.readouterr().out)
        return [
            (os.path.basename(each["filename"]), each["message"].partition("; ")[2])
            for each in found
        ]

    names = ("a.py", "b.py", "c.py", "d.py", "e.py")
    same = "the same holds for b.py, c.py, d.py and e.py"
    project({"steps.py": STEPS, **dict.fromkeys(names, STARTS.format(""))})
    assert told(".") == told("a.py") == told("a.py", "b.py") == [("a.py", same)]
    assert told("b.py") == []
    silent = STARTS.format("  # detlint: ignore[DET304]")
    project({"a.py": silent, "c.py": silent})
    assert told(".") == [("b.py", "the same holds for d.py and e.py")]
    project({"z.py": STARTS.format(""), "b.py": "from z import fit\n" + STARTS.format("")})
    assert told(".") == [("z.py", "the same holds for b.py, d.py and e.py")]
    project({"steps.py": STEPS + "\nif __name__ == '__main__':\n    fit(torch.optim.SGD(3))\n"})
    assert told(".") == [("steps.py", "the same holds for b.py, d.py, e.py and z.py")]


def test_of_many_programs_with_one_training_the_way_leads_to_each(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    names = [f"{each}.py" for each in "abcdefg"]
    project({"steps.py": STEPS, **dict.fromkeys(names, STARTS.format(""))})
    main(["--no-cache", "--select", "DET304", "--output-format", "sarif", "."])
    (found,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    same = "the same holds for b.py, c.py, d.py and 3 others"
    assert found["message"]["text"].partition("\n")[0].endswith(same)
    (flow,) = found["codeFlows"]
    places = [
        (
            each["location"]["physicalLocation"]["artifactLocation"]["uri"],
            each["location"]["message"]["text"],
        )
        for each in flow["threadFlows"][0]["locations"]
    ]
    others = [(each, f"the same holds for {each}") for each in names[1:]]
    assert places[-len(others) :] == others
    main(["--no-cache", "--select", "DET304", "--show-source", "."])
    told = capsys.readouterr().out
    assert all(told.count(f"the same holds for {each}\n") == 1 for each in names[1:])


@pytest.mark.parametrize(
    ("step", "named"),
    [
        ("    loss.backward()\n    opt.step()", "(`loss.backward()`)"),
        ("    opt.step()", "(`torch.autograd.grad(out, x, create_graph=True)"),
    ],
)
def test_training_is_a_backward_rather_than_a_gradient_that_a_loss_is_made_of(
    step: str,
    named: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    worked_out = "torch.autograd.grad(out, x, create_graph=True)[0].norm()"
    penalty = f"def penalty(out, x):\n    return {worked_out}\n"
    loop = LOOP.format(imports=penalty, before=OPTIMIZER, step=step)
    project({"train.py": loop.replace(".mean()", ".mean() + penalty(model(x), x)")})
    main(["--no-cache", "--select", "DET304", "."])
    assert named in capsys.readouterr().out


def test_programs_with_a_loop_of_their_own_are_told_each(
    project: Callable[[dict[str, str]], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    text = LOOP.format(imports="", before=OPTIMIZER, step="    loss.backward()\n    opt.step()")
    project({"a.py": text, "b.py": text})
    main(["--no-cache", "--select", "DET304", "."])
    assert capsys.readouterr().out.count("DET304") == 2


PROBE = """
import torch
from torch import nn
from parts import Encoder, Head, Images, blur, smooth
from transformers import ViTModel

def main(width, kind, rows):
    encoder = {encoder}
    head = {head}
    optimizer = torch.optim.AdamW({weights}, lr=0.1)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3)
    criterion = nn.CrossEntropyLoss()
    for x, y in rows:
        with torch.no_grad():
            features = encoder(x)
        loss = criterion({output}, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item())

main(4, nn.Linear, torch.load("rows.pt"))
"""
PARTS = """
import torch
import escnn
from torch import nn
from torch.nn import functional as F

class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3)
        self.second = escnn.Layer(4)

class Head(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.out = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2))

    def forward(self, x):
        return self.out(x)

class Images(Head):
    def forward(self, x):
        return self.out(F.grid_sample(x, x))

def smooth(x):
    return x.softmax(-1)

def blur(x):
    return F.conv2d(x, x)
"""
FROZEN = {
    "encoder": "ViTModel.from_pretrained('a/b')",
    "head": "Head(4).to('cuda')",
    "weights": "head.parameters()",
    "output": "head(features)",
}


@pytest.mark.parametrize(
    ("change", "sure"),
    [
        ({}, "possible"),
        ({"encoder": "Encoder().to('cuda').eval()"}, "possible"),
        ({"weights": "[p for p in head.parameters() if p.requires_grad]"}, "possible"),
        ({"weights": "[{'params': head.parameters(), 'lr': 0.1}]"}, "possible"),
        ({"output": "smooth(head(features))"}, "possible"),
        ({"head": "nn.Sequential(nn.Linear(4, 4), Head(4))"}, "possible"),
        ({"head": "Head(len(rows))"}, "possible"),
        ({"weights": "list(head.parameters()) + list(encoder.parameters())"}, "likely"),
        ({"weights": "weights_of(head)"}, "possible"),
        ({"weights": "weights_of(other)"}, "likely"),
        ({"head": "Head(width)"}, "possible"),
        ({"head": "Head(kind)"}, "possible"),
        ({"head": "kind(4)"}, "possible"),
        ({"head": "width(4)"}, "likely"),  # what is called is not seen
        ({"head": "Head(Encoder)"}, "likely"),
        ({"head": "nn.Sequential(Head(4), Encoder())"}, "likely"),
        ({"head": "Images(4)"}, "likely"),
        ({"head": "nn.Sequential(nn.Linear(4, 4), nn.Conv2d(4, 4, 1))"}, "likely"),
        ({"output": "blur(head(features))"}, "likely"),
        ({"output": "encoder(head(features))"}, "likely"),
        ({"output": "other(head(features))"}, "possible"),
    ],
)
def test_a_head_that_repeats_on_what_is_frozen_is_possible(
    change: dict[str, str],
    sure: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"probe.py": PROBE.format(**{**FROZEN, **change}), "parts.py": PARTS})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    assert f"[{sure}]" in capsys.readouterr().out


@pytest.mark.parametrize(("made", "told"), [("Net()", "possible"), ("Net().cuda()", "likely")])
def test_a_module_that_tries_itself_on_the_cpu_is_possible(
    made: str,
    told: str,
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = "import torch\n\nclass Net(torch.nn.Conv2d):\n    pass\n\n"
    tries = f'if __name__ == "__main__":\n    net = {made}\n    net(x).sum().backward()\n'
    step = "    torch.optim.SGD(net.parameters(), lr=0.1).step()\n"
    uses = "import torch\nfrom net import Net\n\nnet = Net().cuda()\nnet(x).sum().backward()\n"
    project({"net.py": f"{lines}{tries}{step}", "train.py": f"{uses}{step.lstrip()}"})
    main(["--no-cache", "--select", "DET304", "--min-confidence", "possible", "."])
    found = capsys.readouterr().out.splitlines()
    assert [told in each for each in found if each.startswith("net.py")] == [True]


FASTAI = """
{}

loaders = ImageDataLoaders.from_name_func(path, files, seed=42, label_func=label)
learn = {}(loaders, resnet34)
learn.{}
learn.export("model.pkl")
"""
FASTAI_STAR = "from fastai.vision.all import *"
FASTAI_NAMED = "from fastai.vision.all import ImageDataLoaders, Learner, vision_learner"


@pytest.mark.parametrize(
    ("imports", "make", "call", "codes"),
    [
        (FASTAI_STAR, "vision_learner", "fine_tune(1)", ["DET102", "DET304"]),
        (FASTAI_NAMED, "vision_learner", "fit_one_cycle(1)", ["DET102", "DET304"]),
        (FASTAI_NAMED, "vision_learner", "fit(1)", ["DET102", "DET304"]),
        (f"{FASTAI_STAR}\nset_seed(42)", "vision_learner", "fine_tune(1)", ["DET304"]),
        (
            f"{FASTAI_STAR}\nfrom own import vision_learner",
            "vision_learner",
            "fine_tune(1)",
            ["DET304"],
        ),
        (FASTAI_STAR, "Learner", "fine_tune(1)", ["DET304"]),
        (FASTAI_STAR, "vision_learner", "predict(1)", []),
        ("from own.vision import *", "vision_learner", "fine_tune(1)", []),
    ],
)
def test_learners_of_fastai_draw_their_heads_and_train(  # noqa: PLR0913, PLR0917 - a table of cases
    imports: str,
    make: str,
    call: str,
    codes: list[str],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"train.py": FASTAI.format(imports, make, call)})
    main(["--no-cache", "--select", "DET102,DET304", "--output-format=json", "."])
    assert [each["code"] for each in json.loads(capsys.readouterr().out)] == codes


ENSEMBLE = """
import torch
import parts

ensemble = parts.make()
loader = parts.load(torch.arange(9))
ensemble.fit({})
"""
ENSEMBLE_PARTS = """
from torch.utils.data import DataLoader
from ensembles import Regressor

def make():
    return Regressor(count=3)

def load(rows):
    return DataLoader(rows, shuffle=True)
"""


@pytest.mark.parametrize(
    ("given", "codes"),
    [
        ("train_loader=loader", ["DET102"]),  # of what the library trains nothing is seen
        ("loader, epochs=3", ["DET102"]),
        ("x=rows", []),
    ],
)
def test_what_is_fitted_with_a_loader_of_another_file_trains(
    given: str,
    codes: list[str],
    project: Callable[[dict[str, str]], Path],
    capsys: pytest.CaptureFixture[str],
) -> None:
    project({"fit.py": ENSEMBLE.format(given), "parts.py": ENSEMBLE_PARTS})
    main(["--no-cache", "--select", "DET102,DET304", "--output-format=json", "."])
    assert [each["code"] for each in json.loads(capsys.readouterr().out)] == codes


@pytest.mark.parametrize(("step", "found"), [("w - T.grad(cost, w)", 1), ("w - 0.1 * w", 0)])
def test_theano_trains_by_its_gradients(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    step: str,
    found: int,
) -> None:
    made = "w = theano.shared(np.random.normal(size=8))\ncost = (T.dot(x, w) ** 2).mean()\n"
    text = f"x = T.matrix()\n{made}step = theano.function([x], cost, updates=[(w, {step})])\n"
    imports = "import numpy as np\nimport theano\nimport theano.tensor as T\n"
    (tmp_path / "fit.py").write_text(f"{imports}{text}print(step(np.load('x.npy')))\n")
    monkeypatch.chdir(tmp_path)
    main(["--isolated", "--no-cache", "--select", "DET102", "--output-format", "json", "fit.py"])
    assert len(json.loads(capsys.readouterr().out)) == found

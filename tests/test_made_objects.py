"""What a program draws that asks an object which a function of another file has made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

PROCESS = """\
import torch

class Diffusion:
    def loop(self, model, shape):
        return self.steps(model, torch.zeros(shape))

    def steps(self, model, image):
        for _ in range(10):
            image = model(image) + torch.randn_like(image)
        return image

    def mean(self, model, shape):
        return model(torch.zeros(shape))
"""
FACTORY = """\
import torch
from process import Diffusion

class Spaced(Diffusion):
    pass

def create():
    return torch.jit.load("net.pt"), {made}

def {other}:
    return 0
"""
SAMPLE = """\
import numpy as np
import torch
from factory import {imported}
{before}

def main():
    {given}
    found = {call}
    np.savez("samples.npz", found.numpy())

if __name__ == "__main__":
    main()
"""
CREATE = "model, process = create()"


@pytest.mark.parametrize(
    ("made", "given", "call", "found"),
    [
        ("Diffusion()", CREATE, "process.loop(model, (1, 3, 8, 8))", 1),
        ("Spaced()", CREATE, "process.loop(model, (1, 3, 8, 8))", 1),
        ("Spaced()", "both = create()", "both[1].loop(both[0], (1, 3, 8, 8))", 1),
        ("Diffusion()", CREATE, "(process.loop if fast else process.mean)(model, (1, 3))", 1),
        ("Diffusion()", CREATE, "process.mean(model, (1, 3, 8, 8))", 0),
        ("None", CREATE, "process.loop(model, (1, 3, 8, 8))", 0),
        ("Diffusion()", "other = Other(); model = create()", "other.loop(model, (1, 3))", 0),
        ("Diffusion()", "torch.manual_seed(0); " + CREATE, "process.loop(model, (1, 3))", 0),
    ],
)
def test_a_made_object_draws(  # noqa: PLR0913, PLR0917 - a row of a table
    project: Project,
    capsys: pytest.CaptureFixture[str],
    made: str,
    given: str,
    call: str,
    found: int,
) -> None:
    other = "class Other:\n    def loop(self, model, shape):\n        return model(shape)"
    files = {
        "process.py": PROCESS,
        "factory.py": FACTORY.format(made=made, other="nothing()"),
        "sample.py": SAMPLE.format(imported="create", before=other, given=given, call=call),
    }
    assert drawn(project, capsys, files) == found


def test_but_not_one_that_no_imported_function_makes(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {
        "process.py": PROCESS,
        "factory.py": FACTORY.format(made="Diffusion()", other="nothing()"),
        "sample.py": SAMPLE.format(
            imported="nothing",
            before="",
            given="model, process = torch.load('m.pt'), nothing()",
            call="process.loop(model, (1, 3, 8, 8))",
        ),
    }
    assert drawn(project, capsys, files) == 0


CROPS = """\
import numpy as np
import torch

def crop(rows):
    return rows[np.random.randint(4):][:8]

class Start:
    def __init__(self):
        self.first = {first}

class Crops(torch.utils.data.Dataset):
    def __init__(self, rows, training):
        self.rows, self.training = rows, training
        {body}

    def __getitem__(self, index):
        return {item}

    def on_epoch_end(self):
        self.rows = crop(self.rows)
"""
ASKING = """import numpy as np
import torch
from crops import Crops
from torch.utils.data import DataLoader

def main():
    model = torch.load("m.pt")
    loader = DataLoader(Crops(np.load("rows.npy"), False))
    np.save("answers.npy", [model(each).item() for each in loader])

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("first", "item", "body", "found"),
    [
        ("0", "crop(self.rows[index])", "pass", 1),
        ("0", "crop(self.rows[index]) if self.training else self.rows[index]", "pass", 0),
        ("0", "self.rows[index]", "pass", 0),
        ("np.random.randint(9)", "self.rows[index]", "Start()", 1),
        ("np.random.randint(9)", "self.rows[index]", "rows and Start()", 1),
        ("np.random.randint(9)", "self.rows[index]", "training and Start()", 0),
        ("torch.randn(9)", "self.rows[index]", "Start()", 0),
    ],
)
def test_what_a_data_set_draws_by_a_function_and_an_object_as_it_is_made(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: pytest.CaptureFixture[str],
    first: str,
    item: str,
    body: str,
    found: int,
) -> None:
    crops = CROPS.format(first=first, item=item, body=body)
    assert drawn(project, capsys, {"crops.py": crops, "answer.py": ASKING}) == found


DROPS = """\
import torch
import torch.nn.functional as F

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(8, 2)
        self.dropout = torch.nn.Dropout()

    def forward(self, x):
        return {answer}
"""
TESTING = """\
import numpy as np
import torch
from net import Net

def {verb}_model(path):
    net = Net()
    {loads}
    np.save("answers.npy", net(torch.ones(8)).detach().numpy())

if __name__ == "__main__":
    {verb}_model("m.pt")
"""
LOADS = 'net.load_state_dict(torch.load("m.pt"))'


@pytest.mark.parametrize(
    ("answer", "loads", "name", "found"),
    [
        ("F.dropout(self.layer(x))", LOADS, "answer.py", 1),
        ("F.dropout(self.layer(x), 0.1, True)", LOADS, "answer.py", 1),
        ("F.dropout(self.layer(x), training=self.training)", LOADS, "answer.py", 0),
        ("F.dropout(self.layer(x), 0.0)", LOADS, "answer.py", 0),
        ("self.dropout(self.layer(x))", LOADS, "answer.py", 0),
        ("F.dropout(self.layer(x))", LOADS, "test_model.py", 1),
        ("F.dropout(self.layer(x))", LOADS, "check.py", 1),
        ("F.dropout(self.layer(x))", "pass", "check.py", 0),
        ("F.dropout(self.layer(x))", LOADS + "; assert net", "check.py", 0),
    ],
)
def test_a_function_that_always_drops_and_a_test_of_a_model(  # noqa: PLR0913, PLR0917
    project: Project,
    capsys: pytest.CaptureFixture[str],
    answer: str,
    loads: str,
    name: str,
    found: int,
) -> None:
    verb = "test" if name.startswith("test") else "ask"
    files = {"net.py": DROPS.format(answer=answer), name: TESTING.format(loads=loads, verb=verb)}
    assert drawn(project, capsys, files) == found


def drawn(project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str]) -> int:
    project(files)
    main([".", "--no-cache", "--isolated", "--select", "DET102", "-q"])
    return capsys.readouterr().out.count("DET102")


def test_what_it_uses_may_lie_several_imports_away(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    holds = (
        "import torch\nfrom .{0} import {1}\n\nclass {2}(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.inner = {1}()\n\n"
        "    def forward(self, x):\n        return self.inner(x)\n"
    )
    files = {
        "net/__init__.py": "from .outer import Net\n",
        "net/outer.py": holds.format("middle", "Middle", "Net"),
        "net/middle.py": holds.format("deep", "Deep", "Middle"),
        "net/deep.py": DROPS.format(answer="F.dropout(self.layer(x))").replace("Net", "Deep"),
        "answer.py": TESTING.format(loads=LOADS, verb="ask"),
    }
    assert drawn(project, capsys, files) == 1


VAE = """\
import torch
from torch import nn

class Vae(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Linear(8, 16)
        self.decoder = nn.Linear(8, 8)

    def noise(self, mu, scale):
        return mu + torch.randn_like(scale) * scale

    def forward(self, x):
        mu, scale = self.encoder(x).chunk(2, -1)
        return self.decoder(self.noise(mu, scale))

    def again(self, x):
        return self(x)
"""
QUALITY = """\
import torch
from vae import Vae
from others import measure

def load(path):
    model = Vae()
    model.load_state_dict(torch.load(path))
    return model.eval()

def errors(net, z):
    return net.decoder(z)

def outputs(net, z):
    return net(z)

class Measure:
    def __init__(self):
        self.net = load("vae.pt")

    def decoded(self, z):
        return self.net.decoder(z)

    def output(self, z):
        return self.net(z)

def main(z):
    model = load("vae.pt")
    with torch.no_grad():
        found = {}
    torch.save(found, "quality.pt")

if __name__ == "__main__":
    main(torch.load("z.pt"))
"""


@pytest.mark.parametrize(
    ("call", "remove", "found"),
    [
        ("model.decoder(z)", "self.net(z)", 0),
        ("model(z)", "self.net(z)", 1),
        ("model.again(z)", "self.net(z)", 1),
        ("errors(model, z)", "self.net(z)", 0),
        ("outputs(model, z)", "self.net(z)", 1),
        ("measure(model, z)", "self.net(z)", 1),
        ("[each.decoder(z) for each in [model]]", "self.net(z)", 1),
        ("Measure().decoded(z)", "self.net(z)", 0),
        ("Measure().output(z)", "", 1),
    ],
)
def test_what_an_object_draws_when_it_is_called_is_drawn_if_it_is_called(
    project: Project, capsys: pytest.CaptureFixture[str], call: str, remove: str, *, found: int
) -> None:
    text = QUALITY.format(call)
    project({"vae.py": VAE, "quality.py": text.replace(remove, "z") if remove else text})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "quality.py", "vae.py"])
    assert capsys.readouterr().out.count("torch.randn_like(scale)") == found


MEASURES = """\
import numpy as np
import torch
from torchvision import datasets, transforms

def loader(transform, shuffle):
    rows = datasets.CIFAR10("data", train=False, transform=transform)
    return torch.utils.data.DataLoader(rows, batch_size=64, shuffle=shuffle)

def main():
    model = torch.load("model.pt")
    plain = transforms.ToTensor()
    {}
    with torch.no_grad():
        {}
    np.save("right.npy", np.array(right))

if __name__ == "__main__":
    main()
"""
CROPPED = "[transforms.RandomCrop(32), plain]"
ASKED = "right = [model(x) for x, _ in loader({}, False)]"


@pytest.mark.parametrize(
    ("first", "line", "row"),
    [
        (f"changed = transforms.Compose({CROPPED})", ASKED.format("changed"), 12),
        (f"changed = transforms.Compose({CROPPED})", ASKED.format("plain"), 0),
        (f"train_changed = transforms.Compose({CROPPED})", ASKED.format("train_changed"), 0),
        ("changed = transforms.Compose([transforms.CenterCrop(32)])", ASKED.format("changed"), 0),
        ("aug = transforms.AutoAugment()", "right = [model(aug(x)) for x in rows]", 12),
        ("model.eval()", "right = [model(x) for x, _ in loader(plain, True)]", 0),
        ("model.train()", "right = [model(x) for x, _ in loader(plain, True)]", 7),
        ("model.train()", "right = [model(x) for x, _ in loader(plain, False)]", 0),
        ("torch.manual_seed(0); aug = transforms.AutoAugment()", "right = model(aug(rows))", 0),
    ],
)
def test_what_a_program_that_only_measures_gives_its_model_may_be_drawn(
    project: Project, capsys: pytest.CaptureFixture[str], first: str, line: str, row: int
) -> None:
    project({"measure.py": MEASURES.format(first, line)})
    main([".", "--no-cache", "--isolated", "--select", "DET102", "-q"])
    told = capsys.readouterr().out
    assert told.count("DET102") == told.count(f"measure.py:{row}:") == bool(row)


LOADS = """\
from lightning import LightningModule

class Base(LightningModule):
    def setup(self, stage):
        self.loader = self.get_dataloader("train", {})

    def get_dataloader(self, kind, shuffle=False):
        raise NotImplementedError
"""
FITS = """\
import torch
from lightning import Trainer
from base import Base
from torch.utils.data import DataLoader

class Net(Base):
    def get_dataloader(self, kind, shuffle=False):
        return DataLoader(torch.load(kind), shuffle=shuffle)

    def train_dataloader(self, shuffle={}):
        return DataLoader(torch.load("x"), shuffle=shuffle)

if __name__ == "__main__":
    Trainer().fit(Net())
"""


@pytest.mark.parametrize(
    ("given", "by_default", "rows"),
    [("shuffle=True", "False", [8]), ("shuffle=False", "False", []), ("", "True", [])],
)
def test_a_method_that_makes_loaders_shuffles_where_it_is_told_to(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    given: str,
    by_default: str,
    rows: list[int],
) -> None:
    project({"base.py": LOADS.format(given), "fit.py": FITS.format(by_default)})
    main(["--no-cache", "--output-format", "concise", "--select", "DET102", "."])
    told = [each for each in capsys.readouterr().out.splitlines() if "DET102" in each]
    assert [int(each.split(":")[1]) for each in told] == rows

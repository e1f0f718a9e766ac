"""Draws that what a call passes turns on: flags of loaders, and how much dropout drops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import levels

from detlint.cli import main

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


_ROWS = """
import random
import settings

class Rows:
    def __init__(self, rows, conf):
        self.rows, self.conf, self.mix = rows, conf, conf.get("mix")

    def __getitem__(self, index):
        row = self.rows[index]
        if {test}:
            row = self.mixed(row, self.rows[random.randint(0, 9)])
        return self.mixed(row)

    def mixed(self, row, other=None):
        if other is not None:
            row = row + other * random.betavariate(2, 2)
        return row
"""
_SETTINGS = "FLIP = {}\n"
_FITS = """
import torch
from torch import nn
import settings
from rows import Rows

conf = {conf}

class Run:
    def __init__(self, params):
        self.params = params

    def fit(self):
        torch.manual_seed(0)
        model = nn.Linear(8, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x in Rows([torch.ones(8)] * 32, {given}):
            optimizer.zero_grad()
            model(x).sum().backward()
            optimizer.step()
        torch.save(model.state_dict(), "m.pt")

{between}
Run(conf).fit()
"""
_BY_CHANCE = "random.random() < self.mix"


@pytest.mark.parametrize(
    ("changed", "found"),
    [
        ({"conf": '{"mix": 0}'}, 0),
        ({"conf": '{"mix": 0.0, "size": 8}'}, 0),
        ({"conf": '{"mix": 0.5}'}, 1),
        ({"conf": "read()"}, 1),
        ({"conf": '{"mix": 0, **read()}'}, 1),
        ({"conf": '{"mix": 0}', "between": 'conf["size"] = 8'}, 0),
        ({"conf": '{"mix": 0}', "between": 'conf["mix"] = 1'}, 1),
        ({"conf": '{"mix": 0}', "between": "conf.update(read())"}, 1),
        ({"conf": '{"mix": 0}', "given": "read()"}, 1),
        ({"conf": '{"mix": 0}', "given": "conf"}, 0),
        ({"conf": '{"mix": 0}', "test": "1 - self.mix < random.random()"}, 1),  # not followed
        ({"conf": '{"mix": 0}', "test": "random.random() > self.mix"}, 1),
        ({"conf": '{"mix": 0}', "test": "self.mix"}, 0),
        ({"conf": '{"mix": 0}', "test": "not self.mix"}, 1),
        ({"conf": '{"mix": 0}', "test": 'self.conf["mix"] > 0'}, 0),
        ({"conf": '{"mix": 0}', "test": 'self.conf["size"] > 0'}, 1),
    ],
)
def test_an_entry_of_a_dict_that_is_written_out_turns_draws_off(
    project: Project, capsys: Capture, changed: dict[str, str], found: int
) -> None:
    plain = {"given": "self.params", "between": "", "test": _BY_CHANCE}
    given = {**plain, **changed}
    project({"rows.py": _ROWS.format(**given), "settings.py": "", "run.py": _FITS.format(**given)})
    assert levels(capsys, "DET102") == ["likely"] * found


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({"value": "False"}, "possible"),
        ({"value": "True"}, "likely"),
        ({"value": "read()"}, "likely"),
        ({"value": "False\nif ask():\n    FLIP = True"}, "likely"),
        ({"value": "False", "between": "settings.FLIP = True"}, "likely"),
        ({"value": "False", "between": "setattr(settings, name, 1)"}, "likely"),
        ({"value": "0", "test": "settings.FLIP > 0"}, "possible"),
        ({"value": "'none'", "test": "settings.FLIP == 'both'"}, "possible"),
        ({"value": "'both'", "test": "settings.FLIP == 'both'"}, "likely"),
        ({"value": "False", "test": "settings.OTHER"}, "likely"),
    ],
)
def test_a_constant_of_another_module_turns_draws_off(
    project: Project, capsys: Capture, changed: dict[str, str], expected: str
) -> None:
    plain = {"conf": "settings", "given": "self.params", "between": "", "test": "settings.FLIP"}
    given = {**plain, **changed}
    rows = _ROWS.format(**given).replace('conf.get("mix")', "1")
    settings = _SETTINGS.format(changed["value"])
    project({"rows.py": rows, "settings.py": settings, "run.py": _FITS.format(**given)})
    assert levels(capsys, "DET102") == [expected]


_NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(8, 8)

    def forward(self, x, mixed_rank={default}):
        if mixed_rank:
            x = x[:, torch.randperm(8)]
        return self.body(x)
"""
_TRAINS_NET = """
import torch
from net import Net

net = Net()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.ones(4, 2, 8):
    optimizer.zero_grad()
    net(x).mean().backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize(("default", "named"), [("False", "nn.Linear"), ("True", "torch.randperm")])
def test_a_draw_is_named_that_no_default_keeps_from_running(
    project: Project, capsys: Capture, default: str, named: str
) -> None:
    project({"net.py": _NET.format(default=default), "train.py": _TRAINS_NET})
    assert main(["--select", "DET102", "."]) == 1
    assert f"`{named}" in capsys.readouterr().out


_FED_DATA = """
import numpy as np
from tensorflow import keras
from tensorflow.keras.preprocessing.image import ImageDataGenerator

class Base(keras.utils.Sequence):
    pass

class Rows(Base):
    def __len__(self):
        return 4

    def __getitem__(self, index):
        return np.ones((2, 3)), np.ones((2, 1))

def pictures(path):
    made = ImageDataGenerator(rescale=1 / 255)
    return made.flow_from_directory(path), made.flow_from_directory(path)

def arrays():
    return np.ones((8, 3)), np.ones((8, 1))
"""
_FED = """
import numpy as np
import tensorflow as tf
from data import Rows, arrays, pictures

def fit(model, rows):
    model.fit(rows, epochs=3{options})

def main():
    np.random.seed(0)
    tf.random.set_seed(0)
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    {fed}
    model.save("m.keras")

main()
"""


@pytest.mark.parametrize(
    ("fed", "options", "expected"),
    [
        ("fit(model, Rows())", "", ["likely"]),
        ("train, test = pictures('rows'); fit(model, train)", "", ["likely"]),
        ("model.fit_generator(generator=Rows())", "", ["likely"]),
        ("fit(model, Rows())", ", shuffle=False", []),
        ("x, y = arrays(); model.fit(x, y)", "", []),
        ("tf.keras.utils.set_random_seed(0); fit(model, Rows())", "", []),
        ("model.fit(arrays()[0], arrays()[1]); model.predict(Rows())", "", []),
    ],
)
def test_keras_draws_the_order_of_what_it_is_fed_by_number_from_python_s_generator(
    project: Project, capsys: Capture, fed: str, options: str, expected: list[str]
) -> None:
    project({"data.py": _FED_DATA, "train.py": _FED.format(fed=fed, options=options)})
    assert levels(capsys, "DET102") == expected


LATENTS = """
import torch

net = torch.load("n.pt")
torch.save(net(torch.randn({sizes})), "pictures.pt")
"""


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [("64, 100, 1, 1", ["likely"]), ("1, 3, 64, 64", ["possible"]), ("1, 3, 64, 11", ["possible"])],
)
def test_latents_of_a_fixed_size_are_no_input_on_which_a_model_is_tried(
    project: Project, capsys: Capture, sizes: str, expected: list[str]
) -> None:
    project({"run.py": LATENTS.format(sizes=sizes)})
    assert levels(capsys, "DET102") == expected


PICTURES = """
from diffusers import {kind}
from transformers import AutoModelForCausalLM, pipeline
import torch

noise = torch.Generator().manual_seed(0)
pipe = {kind}.from_pretrained("m").to("cuda")
model = AutoModelForCausalLM.from_pretrained("m")
{call}
"""


@pytest.mark.parametrize(
    ("kind", "call", "expected"),
    [
        ("StableDiffusionPipeline", "pipe('a cat').images[0].save('a.png')", ["likely"]),
        ("AutoPipelineForText2Image", "pipe('a cat').images[0].save('a.png')", ["likely"]),
        ("DDPMPipeline", "pipe(generator=noise).images[0].save('a.png')", []),
        ("DDPMPipeline", "pipe(latents=torch.zeros(1, 4)).images[0].save('a.png')", []),
        ("DDPMPipeline", "torch.save(model.generate(x, do_sample=True), 'x')", ["likely"]),
        ("DDPMPipeline", "torch.save(model.generate(x), 'x')", []),
        ("DDPMPipeline", "torch.save(pipeline('text')(x, do_sample=True), 'x')", ["likely"]),
    ],
)
def test_pipelines_start_from_noise_and_models_sample_where_they_are_told_to(
    project: Project, capsys: Capture, kind: str, call: str, expected: list[str]
) -> None:
    project({"run.py": PICTURES.format(kind=kind, call=call)})
    assert levels(capsys, "DET102") == expected


SAMPLING = """
import torch
from torchvision.utils import save_image

def sample(model, n, path):
    pictures = model(torch.randn(n, 100))
    {kept}

def show(model):
    print(model)
"""


@pytest.mark.parametrize(
    ("kept", "called", "expected"),
    [
        ("save_image(pictures, path)", "sample(net, 64, 'x.png')", ["likely"]),
        ("print(pictures.mean())", "sample(net, 64, 'x.png')", []),
        ("save_image(pictures, path)", "show(net)", []),
    ],
)
def test_what_a_called_function_of_another_file_writes_is_the_program_s(
    project: Project,
    capsys: Capture,
    kept: str,
    called: str,
    expected: list[str],
) -> None:
    run = f"import torch\nfrom lib import sample, show\nnet = torch.load('n.pt')\n{called}\n"
    project({"lib.py": SAMPLING.format(kept=kept), "run.py": run})
    assert levels(capsys, "DET102") == expected


_OF_ROWS = """
import numpy as np

def load(rows, prepares=False):
    if prepares:
        {drawn}
    return rows

np.save("rows.npy", load(np.load("all.npy"){given}))
"""


@pytest.mark.parametrize("given", ["", ", prepares=True"])
@pytest.mark.parametrize(
    "drawn",
    [
        "rows = rows + np.random.rand(9)",
        "rows = rows.apply(lambda row: row + np.random.rand())",
        "rows = rows.apply(lambda row: row.map(lambda x: x + np.random.rand()))",
    ],
)
def test_what_is_made_in_a_branch_that_no_call_turns_on_draws_nothing(
    project: Project, capsys: Capture, drawn: str, given: str
) -> None:
    project({"load.py": _OF_ROWS.format(drawn=drawn, given=given)})
    assert levels(capsys, "DET102") == ["likely"] * bool(given)


COUNTED = """
import numpy as np

def main(given):
    sizes = {sizes}
    {between}
    rows = np.zeros(3) if len(sizes) == 1 else np.random.rand(3)
    np.save("rows.npy", rows)

main([3])
"""


@pytest.mark.parametrize(
    ("sizes", "between", "expected"),
    [
        ("[3]", "print(sizes[0])", []),
        ("[3, 4]", "pass", ["likely"]),
        ("[3]", "sizes.append(4)", ["likely"]),
        ("[3]", "fill(sizes)", ["likely"]),
        ("[*given]", "pass", ["likely"]),
    ],
)
def test_how_long_a_list_is_decides_where_it_is_written_out(
    project: Project, capsys: Capture, sizes: str, between: str, expected: list[str]
) -> None:
    project({"train.py": COUNTED.format(sizes=sizes, between=between)})
    assert levels(capsys, "DET102") == expected

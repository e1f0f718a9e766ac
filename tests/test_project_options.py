"""What options and constant arguments turn on: a draw that none of them reaches is no draw."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from linted_places import places

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = "import argparse\nimport torch\nimport graph\n{}\n\nloss.backward(); optimizer.step()\n"
GRAPH = """\
import random

class Walks:
    def __init__(self, opt):
        self.opt = opt

    def forward(self, x):
        return self.grow(x)

    def grow(self, x):
        if self.opt["edges"] == "walk":
            return self.walk(x)
        return x

    def walk(self, x):
        return random.choice(x)

def build(opt):
    if opt["layer"] == "walks":
        return Walks(opt)
"""
YACS = """\
CUDNN:
  BENCHMARK: True
MODEL:
  NAME: hrnet
TRAIN:
  LR: 0.1
  BATCH_SIZE_PER_GPU: 3
  OPTIMIZER: adam
"""
BUILD = "graph.build(opt).forward(1)"


def found(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return places(capsys, "DET102")


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        (BUILD, False),
        (f'parser.add_argument("--edges")\n{BUILD}', False),  # and nothing sets the layer
        (f'parser.add_argument("--edges")\nopt["layer"] = "plain"\n{BUILD}', False),
        (f'parser.add_argument("--edges")\nopt["layer"] = "walks"\n{BUILD}', True),
        (f'opt["edges"] = "near"\nopt["layer"] = "walks"\n{BUILD}', False),
        (f'opt = {{"edges": "walk", "layer": name}}\n{BUILD}', True),
        (f'opt = dict(edges="walk", layer="walks")\n{BUILD}', True),
        (f'opt.update(edges="walk", **more)\nparser.add_argument("--layer")\n{BUILD}', True),
        (f'for opt["edges"] in ["near", "walk"]:\n    opt.layer = "walks"\n    {BUILD}', True),
        ('graph.Walks({"edges": "walk"}).forward(1)', True),
        ('graph.Walks({"edges": kind}).forward(1)', True),
        ("graph.Walks(opt).forward(1)", False),
        ("graph.Walks(opt).walk(1)", True),
    ],
)
def test_options_that_nothing_sets_turn_nothing_on(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"graph.py": GRAPH, "train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


def test_what_no_option_turns_on_is_possible(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"graph.py": GRAPH, "train.py": TRAIN.format(BUILD)})
    assert found(capsys) == []
    main(["--no-cache", "--select", "DET102", "--min-confidence", "possible", "."])
    assert "[possible]" in capsys.readouterr().out


def test_configurations_set_options(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project({"graph.py": GRAPH, "train.py": TRAIN.format(BUILD)})
    project({"walks.yaml": "edges: walk\nlayer: walks\n"})
    assert found(capsys)


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("edge_kind: walk", True),
        ("edge-kind: walk", True),
        ("edge-kind: null", False),
        ("edge-kinds: walk", False),  # another option
        ("edge\u2013kind: walk", False),
    ],
)
def test_each_of_many_configurations_may_set_an_option(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    graph = GRAPH.replace('self.opt["edges"]', 'self.opt["edge_kind"]')
    project({"graph.py": graph, "train.py": TRAIN.format(BUILD)})
    project(
        {"a.yaml": "title: \u4e2d\U0001f600 edge\n", "b.yaml": "edge: kind\n", "d.yaml": "x: 1\n"}
    )
    project({"c.yaml": f"{line}\nlayer: walks\n"})
    assert bool(found(capsys)) is is_found


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("  noise: true", True),
        ("  noise: false  # off", False),
        ("  noise: 0.0", False),
        ("  noise: null", False),
        ("  noise:", False),
        ("  noise:\n    scale: 0", True),
        ("  noise: 0.1", True),
        ("python train.py noise=True", True),
        ("  noise: ${more}", False),
        ("  noise: off\n  noise: on", True),
    ],
)
def test_what_all_configurations_turn_off_is_possible(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    lines = "import random\ndef noisy(cfg, x):\n    return Noise() if cfg.noise else x\n"
    made = "class Noise:\n    def __init__(self):\n        self.x = random.random()\n"
    project({"graph.py": lines + made, "train.py": TRAIN.format("graph.noisy(cfg, x)")})
    project({"conf.yaml": f"train:\n{line}\n"})
    assert bool(found(capsys)) is is_found


@pytest.mark.parametrize(
    ("test", "line", "is_found"),
    [
        ("rate > 0", "graph.noisy(x, rate=0.0)", False),
        ("rate > 0", "graph.noisy(x, 0)\ngraph.noisy(x, rate=0.5)", True),
        ("rate != 0.0", "graph.noisy(x, 0.0)", False),
        ("rate", "graph.noisy(x, False)", False),
        ("rate", "graph.noisy(x, rate)", True),
        ("not rate", "graph.noisy(x, True)", False),
        ("rate is not None", "graph.noisy(x, None)", False),
        ("rate and x", "graph.noisy(x, *more)", True),
    ],
)
def test_what_all_calls_turn_off_is_no_draw(
    project: Project, capsys: pytest.CaptureFixture[str], test: str, line: str, *, is_found: bool
) -> None:
    noise = f"import random\ndef noisy(x, rate):\n    if {test}:\n"
    project({"graph.py": f"{noise}        x += random.random()\n    return x\n"})
    project({"train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


def test_options_of_another_program_are_not_this_ones(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    options = 'if __name__ == "__main__":\n    parser.add_argument("--edges")\n    start()\n'
    project({"graph.py": f"{GRAPH}\n{options}"})
    project({"train.py": TRAIN.format(f'parser.add_argument("--layer")\n{BUILD}')})
    assert found(capsys) == []


@pytest.mark.parametrize(
    ("test", "is_found"),
    [
        ("cfg.noise", False),
        ("cfg.noise > 0", True),  # of what is not there, nothing is known
        ("not cfg.plain", True),
        ('cfg.kind != "plain"', True),
        ('cfg.get("noise")', False),
        ('cfg.get("noise", True)', True),
        ("self.training", True),
        ("batch.noise", True),
        ("cfg.noise or x", True),
        ("cfg.noise and x", False),
    ],
)
def test_only_options_that_have_to_be_set(
    project: Project, capsys: pytest.CaptureFixture[str], test: str, *, is_found: bool
) -> None:
    noise = f"import random\ndef noisy(self, cfg, batch, x):\n    if {test}:\n"
    project({"graph.py": f"{noise}        x += random.random()\n    return x\n"})
    project({"train.py": TRAIN.format("graph.noisy(self, cfg, batch, x)")})
    assert bool(found(capsys)) is is_found


CUT = """\
import random

def cut(image, way, size=8):
    way = way
    if way == "middle":
        return image
    elif way in ("random", "corner"):
        return image[random.randrange(size):]
    return None

def cut_all(images, way):
    return [cut(each, way) for each in images]
"""


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ('graph.cut(image, "middle")', False),
        ('graph.cut(image, way="none")', False),
        ('graph.cut(image, "random")', True),
        ('graph.cut(image, "middle")\ngraph.cut(image, way="corner")', True),
        ("graph.cut(image, way)", True),
        ("graph.cut(image, *more)", True),
        ("graph.cut(image, **more)", True),
        ('graph.cut(image, "middle", **more)', False),
        ('graph.cut_all(images, "middle")', False),
        ('graph.cut_all(images, "corner")', True),
        ('cut = functools.partial(graph.cut, way="middle")', True),
    ],
)
def test_texts_that_all_calls_pass_decide(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    text = CUT if "cut_all" in line else CUT.partition("\ndef cut_all")[0]
    project({"graph.py": text, "train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


KEYWORDS = """\
import random

def cut(image, way="middle"):
    if way == "random":
        return random.choice(image)
    return image

def cut_all(images, **options):
    return [cut(each, **options) for each in images]
"""


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("graph.cut_all(images)", False),
        ('graph.cut_all(images, way="middle")', False),
        ('graph.cut_all(images, way="random")', True),
        ("graph.cut_all(images, way=way)", True),
        ("graph.cut_all(images, **more)", True),
        ('for name, (x, kw) in {"a": (y, {})}.items():\n    graph.cut(x, **kw)', False),
        ('for x, kw in [(y, {"way": "middle"})]:\n    graph.cut(x, **kw)', False),
        ('for x, kw in [(y, {}), (z, {"way": "random"})]:\n    graph.cut(x, **kw)', True),
        ("for x, kw in [(y, {}), (z, more)]:\n    graph.cut(x, **kw)", True),
        ('graph.cut(x, **{"way": "middle"})', False),
        ('graph.cut(x, **{"way": way})', True),
        ('graph.cut_all(images)\ngraph.cut(image, way="random")', True),
    ],
)
def test_keywords_are_followed_through_what_takes_any(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"graph.py": KEYWORDS, "train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


FIELDS = """\
import random
from dataclasses import dataclass

@dataclass
class Config:
    size: int
    flip: bool = True
    noise: bool = False

class Crops:
    def __init__(self, cfg: Config):
        self.cfg = cfg
        self.flip = 3

    def get(self, x):
        if self.cfg.flip:
            return random.choice(x)
        return x

def noisy(x, cfg: Config | None = None):
    if cfg is not None and cfg.noise:
        return x + random.random()
    return x
"""


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("graph.Crops(graph.Config(9, flip=False)).get(x)", False),
        ("graph.Crops(graph.Config(9, False)).get(x)", False),
        ("graph.Crops(graph.Config(9)).get(x)", True),
        ("graph.Crops(graph.Config(9, flip=flip)).get(x)", True),
        ("graph.Crops(graph.Config(**more)).get(x)", True),
        ("c = graph.Config(9, flip=False); c.flip = True; graph.Crops(c).get(x)", True),
        ("c = graph.Config(9, flip=False); setattr(c, n, 1); graph.Crops(c).get(x)", True),
        ("c = dataclasses.replace(graph.Config(9, False), flip=x); graph.Crops(c).get(x)", True),
        ("graph.Crops(tyro.cli(graph.Config)).get(x)", True),
        ("graph.noisy(x, graph.Config(9, False))", False),
        ("graph.noisy(x, graph.Config(9, noise=True))", True),
    ],
)
def test_fields_of_dataclasses_that_all_calls_turn_off(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"graph.py": FIELDS, "train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


STREAMS = """\
import random

class Uniform:
    def get(self, x):
        return random.choice(x)

class Fuzzy:
    def get(self, x):
        return random.choices(x)

def stream(args):
    if args.stream == "uniform":
        return Uniform()
    return Fuzzy()
"""


@pytest.mark.parametrize(("default", "row"), [("fuzzy", 9), ("uniform", 5)])
def test_a_draw_that_happens_by_default_is_rather_named(
    project: Project, capsys: pytest.CaptureFixture[str], default: str, row: int
) -> None:
    line = f'parser.add_argument("--stream", default="{default}")\ngraph.stream(args).get(x)'
    project({"graph.py": STREAMS, "train.py": TRAIN.format(line)})
    assert found(capsys) == [f"graph.py:{row}"]


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("MORE = False\nif MORE:\n    graph.cut(image, 'random')", False),
        ("MORE = False\nif MORE and image:\n    graph.cut(image, 'random')", False),
        ("MORE = True\nif MORE:\n    graph.cut(image, 'random')", True),
        ("MORE = bool(image)\nif MORE:\n    graph.cut(image, 'random')", True),
        (
            "MORE = False\nif image:\n    MORE = True\nif MORE:\n    graph.cut(image, 'random')",
            True,
        ),
        (
            "MORE = False\nexec(open('more.py').read())\nif MORE:\n    graph.cut(image, 'random')",
            True,
        ),
        ("MORE = False\nif not MORE:\n    graph.cut(image, 'random')", True),
        (
            "MORE = False\nif MORE:\n    graph.cut(image, 'random')\ngraph.cut(image, 'random')",
            True,
        ),
        ("MORE = False\nimport random\nif MORE:\n    random.shuffle(image)", False),
        ("MORE = False\nimport random\nif not MORE:\n    random.shuffle(image)", True),
    ],
)
def test_what_a_constant_keeps_from_running_is_no_draw(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project({"graph.py": CUT, "train.py": TRAIN.format(line)})
    assert bool(found(capsys)) is is_found


def test_many_functions_that_call_each_other_end(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    chain = "".join(f"def f{x}():\n    f{x + 1}()\n" for x in range(400))
    draw = "def f400():\n    random.random()\n    f0()\n"
    project({"graph.py": f"import random\n{chain}{draw}"})
    project({"train.py": TRAIN.format("graph.f0()")})
    assert found(capsys)


@pytest.mark.parametrize(
    ("line", "is_found"),
    [
        ("cudnn.benchmark = config.CUDNN.BENCHMARK", True),
        ("timed = config['CUDNN']['BENCHMARK']", True),
        ("setattr(cudnn, 'benchmark', config.CUDNN.BENCHMARK == True)", True),
        ("cudnn.benchmark = False", False),
        ("config.CUDNN.BENCHMARK = False", False),
    ],
)
def test_a_setting_of_yacs_that_nothing_reads_is_only_possible(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, *, is_found: bool
) -> None:
    project(
        {
            "settings.py": "_C.CUDNN = CN()\n_C.CUDNN.BENCHMARK = True\n",
            "train.py": f"from torch.backends import cudnn\n{line}\n",
            "net.yaml": YACS,
        }
    )
    for path in (".", "net.yaml"):
        told = [each for each in places(capsys, "DET301", path) if "yaml" in each]
        assert told == ["net.yaml:2"] * is_found


def test_a_setting_of_yacs_that_no_file_declares_may_be_read_elsewhere(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project({"net.yaml": YACS, "train.py": "import detectron2\n"})
    assert places(capsys, "DET301") == ["net.yaml:2"]


CROPS = """\
import random

class Crop:
    def __call__(self, x):
        return x[: random.randint(1, 9)]

class Net:
    def __init__(self, option):
        self.option = option

    def setup(self):
        self.change = Crop() if self.option == "crop" else None
"""


@pytest.mark.parametrize(
    ("lines", "is_found"),
    [
        ('for name in ["none", "flip"]:\n    Net(name)', False),
        ('for name in ["none", "crop"]:\n    Net(name)', True),
        ('KINDS = {"none": 1, "flip": 2}\nfor name in KINDS.keys():\n    Net(name)', False),
        ('KINDS = {"none": 1, "crop": 2}\nfor name in KINDS:\n    Net(name)', True),
        ('KINDS = {"none": 1}\nKINDS[key] = 2\nfor name in KINDS:\n    Net(name)', True),
        ('KINDS = ["none"]\ndef f():\n    for name in KINDS:\n        Net(name)\n\nf()', False),
        ('KINDS = ["none"]\nKINDS.append(key)\nfor name in KINDS:\n    Net(name)', True),
        ('Net("none" if fast else "flip")', False),
        ('Net("none" if fast else key)', True),
        ("for name in names:\n    Net(name)", True),
    ],
)
def test_what_no_element_of_a_written_collection_turns_on_never_draws(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, *, is_found: bool
) -> None:
    train = f"import torch\nfrom crops import Net\n\n{lines}\nloss.backward(); optimizer.step()\n"
    project({"crops.py": CROPS, "train.py": train})
    assert bool(found(capsys)) is is_found

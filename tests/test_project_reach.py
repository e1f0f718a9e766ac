"""What of its files a program reaches: a draw counts only there, and so does a seed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from linted_places import levels, places

from detlint.cli import main
from detlint.index.entrypoints import is_entrypoint

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[[], list[str]]

MAIN = 'if __name__ == "__main__":\n    main()\n    save()\n'
TRAIN = "import random\nimport torch\n{}\n\nloss.backward(); optimizer.step()\n"
FLIP = "import random\nclass Flip:\n    def __init__(self):\n        random.random()\n"
CROP = "class Crop:\n    pass\n"
TABLE = "from .flips import Flip\nfrom .crops import Crop\n"


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str]) -> Lint:
    """``path:row`` of each finding of DET102."""
    return lambda: places(capsys, "DET102")


@pytest.mark.parametrize(
    ("table", "line", "found"),
    [
        ('KINDS = {"flip": Flip, "crop": Crop}', "from lib import Crop\nCrop()", False),
        ('KINDS = {"flip": Flip, "crop": Crop}', "from lib import KINDS\nKINDS[a]()", True),
        ('KINDS = {"flip": Flip, "crop": Crop}', "import lib\nlib.KINDS[a]()", True),
        ('KINDS = {"flip": Flip, "crop": Crop}', "import lib as l\nmake(l.get)", True),
        ("KINDS: list = [\n    Flip,\n    Crop,\n]", "import lib", False),
        ("KINDS: list = [\n    Flip,\n    Crop,\n]", "from lib import get\nget()", True),
        ("KINDS = (Flip, Crop)", "import lib\nlib.get('flip')", True),
        ("Kind = Union[Flip, Crop]", "import lib", False),
        ("KINDS = [Flip(), Crop()]", "import lib", True),
        ('KINDS = {}\nKINDS["flip"] = Flip', "import lib", True),
        ("Kind = Flip", "import lib", True),
    ],
)
def test_what_a_table_holds_is_in_use_where_the_table_is(
    project: Project, lint: Lint, table: str, line: str, *, found: bool
) -> None:
    get = "def get(name):\n    return KINDS[name]()\n" if "KINDS" in table else ""
    project({"lib/flips.py": FLIP, "lib/crops.py": CROP})
    project({"lib/__init__.py": f"{TABLE}{table}\n{get}"})
    project({"train.py": TRAIN.format(line)})
    assert lint() == ["lib/flips.py:4"] * found


def test_a_seed_in_a_table_that_nothing_uses_seeds_nothing(project: Project, lint: Lint) -> None:
    seeds = "import random\nclass Data:\n    def __init__(self):\n        random.seed(0)\n"
    seeds = f'__all__ = ["Data", "Words"]\n{seeds}'
    project({"data.py": f"{seeds}\nclass Words:\n    pass\nKINDS = {{'a': Data}}\n"})
    project({"train.py": TRAIN.format("from data import Words\nWords(random.random())")})
    assert lint() == ["train.py:4"]
    project({"train.py": TRAIN.format("from data import KINDS\nKINDS[a](random.random())")})
    assert lint() == []


NET = """import torch
class Net:
    def step(self):
        torch.rand(3)
    def reseed(self):
        torch.manual_seed(0)
class Seeded:
    def __init__(self):
        torch.manual_seed(0)
"""


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("", True),
        ("# make('Seeded')", True),
        ('"""What `instantiate` makes, or import_module("it")."""', True),
        ("class Kind(metaclass=ABCMeta): pass", True),
        ("allocate(3)", True),
        ("make('Seeded')", False),
        ("if name == 'Seeded': pass", True),
        ("importlib.import_module(name)", False),
        ("class Kind(metaclass=Registry): pass", False),
        ("net.reseed()", False),
        ("getattr(net, name)()", False),
    ],
)
def test_a_seed_in_what_is_never_made_or_called_seeds_nothing(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    project({"net.py": NET})
    project({"train.py": TRAIN.format(f"{line}\nfrom net import Net\nnet = Net()\nnet.step()")})
    assert lint() == ["net.py:4"] * found


AGENTS = """import random
class Buffer:
    def update(self, row):
        pass
class Agent:
    def update(self, row):
        random.random()
class Deep(Agent):
    pass
class Holder:
    def __init__(self):
        self.buffer = Buffer()
    def run(self, row):
        self.buffer.update(row)
class Wide(Holder):
    def __init__(self):
        self.buffer = Agent()
class Proxy:
    def __init__(self, agent):
        self.agent = agent
"""


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("b = Buffer()\nb.update(Agent())", False),
        ("b = {}\nb.update(a=Agent())", False),
        ("b = collections.Counter()\nb.update(a=Agent())", False),
        ("b = [Buffer()]\nfor each in b:\n    Agent().act(each.update(3))", True),
        ("a = Agent()\na.update(3)", True),
        ("a = Deep()\na.update(3)", True),
        ("Agent.update(Agent(), 3)", True),
        ("a = Buffer() if test else Agent()\na.update(3)", True),
        ("a = make(Agent)\na.update(3)", True),
        ("a = Proxy(Agent())\na.update(3)", True),
        ("a = wrap(Agent())\na.update(3)", True),
        ("Holder().run(Agent())", True),  # which Wide may give another
    ],
)
def test_a_method_is_that_of_its_object(
    project: Project, lint: Lint, lines: str, *, found: bool
) -> None:
    names = "Agent, Buffer, Deep, Holder, Proxy"
    project({"agents.py": AGENTS})
    lines = f"import collections\nfrom agents import {names}\n{lines}"
    project({"train.py": TRAIN.format(lines)})
    assert lint() == ["agents.py:7"] * found


@pytest.mark.parametrize(("base", "found"), [("object", False), ("loop.Worker", True)])
def test_a_base_out_of_sight_may_call_a_method(
    project: Project, lint: Lint, base: str, *, found: bool
) -> None:
    worker = f"class Worker({base}):\n    def update(self, row):\n        random.random()\n"
    project({"workers.py": f"import random, loop\n{worker}"})
    lines = "from workers import Worker\nrows = {}\nrows.update(a=Worker())"
    project({"train.py": TRAIN.format(lines)})
    assert lint() == ["workers.py:4"] * found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from lib import crops\ncrops.Flip()", False),
        ("from lib import flips, crops\ncrops.Flip()", False),
        ("from lib import flips, crops\nflips.Flip()", True),
        ("import lib.flips, lib.crops\nlib.crops.Flip()", False),
        ("import lib.flips\nlib.flips.Flip()", True),
        ("import lib.flips as f\nf.Flip()", True),
        ("import lib\nfrom torch.utils import Flip\nFlip()", False),
        ("import lib\nfrom torch import utils\nutils.Flip()", False),
        ("import lib\nlib.Turn()", True),
        ("from lib import Turn as T\nT()", True),
        ("from lib.all import Flip\nFlip()", True),
        ("from lib.all import *\nFlip()", True),
        ("import lib\nlib.absent.Flip()", True),  # whatever that is
        ("try:\n    from lib.flips import Flip\nexcept E:\n    from x import Flip\nFlip()", True),
        ("from lib.flips import Flip\ndef f(x: Flip, y: list[Flip] = ()) -> Flip:\n    g()", False),
        ("from lib.flips import Flip\ndef f(x, y=Flip()):\n    g()", True),
    ],
)
def test_a_name_means_what_its_module_holds(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    start = "from .flips import Flip as Turn\nfrom . import crops\n"
    project({"lib/__init__.py": start, "lib/all.py": "from .flips import *\n"})
    project({"lib/flips.py": FLIP, "lib/crops.py": "class Flip:\n    pass\n"})
    project({"train.py": TRAIN.format(f"{line}\nf()")})
    assert lint() == ["lib/flips.py:4"] * found


def test_folders_that_are_no_packages_hold_modules(project: Project, lint: Lint) -> None:
    project({"lib/deep/flips.py": FLIP, "lib/deep/crops.py": "class Flip:\n    pass\n"})
    head = "import lib.deep.flips\nimport lib.deep.crops\nlib.deep.{}.Flip()"
    project({"train.py": TRAIN.format(head.format("flips"))})
    assert lint() == ["lib/deep/flips.py:4"]
    project({"train.py": TRAIN.format(head.format("crops"))})
    assert lint() == []


def test_modules_that_offer_each_others_names_end(project: Project, lint: Lint) -> None:
    project({"a.py": "from b import Flip\n", "b.py": "from a import Flip\n"})
    project({"train.py": TRAIN.format("from a import Flip\nFlip(random.random())")})
    assert lint() == ["train.py:4"]


@pytest.mark.parametrize(
    ("name", "found"),
    [("ops.utils.fast", True), ("ops.utils.seeds", False), ("ops.absent_utils", False)],
)
def test_what_is_not_there_may_seed_by_its_own_name(
    project: Project, lint: Lint, name: str, *, found: bool
) -> None:
    project({"ops/__init__.py": "", "ops/utils/__init__.py": ""})
    project({"train.py": TRAIN.format(f"from {name} import f\nrandom.random()")})
    assert lint() == ["train.py:4"] * found


@pytest.mark.parametrize(
    ("folder", "text", "found"),
    [
        ("scripts", "", True),
        ("tools", "\n", True),
        ("scripts", "from .sample import size\n", False),
        ("models", "", False),
    ],
)
def test_an_empty_package_of_programs_holds_programs(
    project: Project, lint: Lint, folder: str, text: str, *, found: bool
) -> None:
    draws = (
        f"import random\nimport torch\nsize = 1\n{MAIN.replace('main()', 'x = random.random()')}"
    )
    project({f"{folder}/__init__.py": text, f"{folder}/fill.py": draws})
    assert lint() == [f"{folder}/fill.py:5"] * found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for epoch in range(9):\n    sess.run([model.opt_op, model.loss])\n", True),
        ("with tf.Session() as session:\n    session.run(train_step)\n", True),
        ("sess.run(tf.global_variables_initializer())\n", False),
        ("def f():\n    sess.run(train_step)\n", False),
    ],
)
def test_a_loop_at_the_top_that_runs_a_step_is_a_program(text: str, *, found: bool) -> None:
    assert is_entrypoint("gae.py", text) is found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (("nn.init.constant_(self.x.weight, 1)", "nn.init.zeros_(self.x.bias)"), False),
        (("nn.init.constant_(self.x.weight, 1)",), True),
        (("nn.init.constant_(self.x.weight, 1)", "nn.init.normal_(self.x.bias)"), True),
        (("nn.init.constant_(self.y.weight, 1)", "nn.init.zeros_(self.y.bias)"), True),
    ],
)
def test_weights_that_constants_overwrite_are_no_draw(
    project: Project, lint: Lint, lines: tuple[str, ...], *, found: bool
) -> None:
    net = "from torch import nn\nclass Net(nn.Module):\n    def __init__(self):\n"
    net += "".join(f"        {each}\n" for each in ("self.x = nn.Linear(2, 1)", *lines))
    project({"net.py": net, "train.py": TRAIN.format("from net import Net\nNet()")})
    assert lint() == ["net.py:4"] * found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("mlab.points3d(x)\n    raw_input()", False),
        ("print(x)\n    pdb.set_trace()", False),
        ("test = gradcheck(f, x)", False),
        ("mlab.points3d(overwritten)\n    raw_input()", False),
        ("cv2.imshow('x', f(x))\n    cv2.waitKey()", False),
        ("plt.imshow(x)\n    plt.show()\n    print('overwritten')", False),
        ("plt.imshow(x)\n    plt.savefig('x.png')", False),
        ("plt.imshow(f(x))\n    plt.savefig('x.png')", True),
        ("import gradio as gr\n    gr.Interface(f).launch()\n    np.save(place, x)", False),
        ("from fastapi import FastAPI\n    np.save(place, x)", False),
        ("mlab.points3d(x)\n    np.save(place, x)", True),
        ("cv2.imshow('x', x)\n    cv2.imwrite(place, x)", True),
        ("print(x)", False),
    ],
)
def test_what_a_person_only_looks_at_is_no_result(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    main_block = MAIN.replace("main()\n    save()", f"x = random.random()\n    {line}")
    project({"make.py": f"import random\nimport torch\n\n{main_block}"})
    assert lint() == ["make.py:5"] * found


@pytest.mark.parametrize(
    ("library", "line", "found"),
    [
        ("torch", "plt.hist(np.histogram(random.sample(x, 9))[0])", False),
        ("torch", "np.save('x', random.sample(x, 9))", True),
        ("torch", "plt.hist(f(random.random()))", True),
        ("scipy", "plt.hist(f(random.random()))", False),
        ("scipy", "g(random.random()).to_csv('x.csv')", True),
    ],
)
def test_what_ends_in_a_picture_is_only_possible(
    project: Project, lint: Lint, library: str, line: str, *, found: bool
) -> None:
    imports = f"import random, {library}\nimport numpy as np\nimport matplotlib.pyplot as plt"
    project({"make.py": f"{imports}\n\n{line}\nplt.savefig('x.png')\n"})
    assert lint() == ["make.py:5"] * found


@pytest.mark.parametrize(
    ("saves", "found"),
    [
        ("def other(x):\n    plt.savefig('x.png')", False),
        ("def keep(x):\n    plot_rows(x)\n    plt.savefig('x.png')", True),
        ("def keep(x):\n    each(x)\ndef each(x):\n    keep(x)\n    plot_rows(x)", False),
        ("def each(x):\n    plot_rows(x)\nfor x in y:\n    each(x)\nplt.savefig('x.png')", True),
    ],
)
def test_what_is_drawn_for_a_picture_counts_where_that_is_kept(
    project: Project, lint: Lint, saves: str, *, found: bool
) -> None:
    imports = "import random, torch\nimport numpy as np\nimport matplotlib.pyplot as plt\n\n"
    draws = f"def plot_rows(x):\n    show(x, random.sample(x, 9))\n{saves}\n"
    project(
        {
            "make.py": f"{imports}{draws}if __name__ == '__main__':\n    plot_rows(y)\n"
            "    np.save('y', y)\n"
        }
    )
    assert lint() == ["make.py:6"] * found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("# draw()", False),
        ("draw()", True),
        ("table = [draw]\n    table[0]()", True),
        ("def go():\n        draw()\n    go()", True),
        ("def go():\n        draw()\n    # go()", True),  # as far as one looks
    ],
)
@pytest.mark.parametrize("where", ["if __name__ == '__main__':", "def main():"])
def test_a_function_in_another_one_runs_where_something_names_it(
    project: Project, lint: Lint, where: str, line: str, *, found: bool
) -> None:
    block = f"    def draw():\n        np.save('x.npy', random.random())\n    {line}\n"
    after = "main()\n" if where == "def main():" else ""
    project({"make.py": f"import random\nimport numpy as np\n\n{where}\n{block}{after}"})
    assert lint() == ["make.py:6"] * found


@pytest.mark.parametrize(
    ("test", "found"),
    [
        ("input('> ') == 'shuffle'", False),
        ("command == 'shuffle'", False),
        ("len(names) > 1", True),
    ],
)
def test_what_a_person_asks_for_while_it_runs_is_only_possible(
    project: Project, lint: Lint, test: str, *, found: bool
) -> None:
    text = "import random\nimport numpy as np\n\nnames = list(np.load('names.npy'))\n"
    loop = "while True:\n    command = input('> ').strip()\n"
    draw = f"    if {test}:\n        random.shuffle(names)\n        np.save('names.npy', names)\n"
    project({"make.py": text + loop + draw})
    assert lint() == ["make.py:8"] * found


def test_a_program_is_rather_told_of_its_own_file(project: Project, lint: Lint) -> None:
    head = "from lib import noise\nfrom torch.utils.data import DataLoader\nnoise()\n"
    project({"lib.py": "import torch\ndef noise():\n    return torch.rand(2)\n"})
    project({"train.py": TRAIN.format(f"{head}DataLoader(data, shuffle=True)")})
    assert lint() == ["train.py:6"]
    project({"train.py": TRAIN.format(f"{head}DataLoader(data)")})
    assert lint() == ["lib.py:3"]


def test_messages_say_which_of_several_files_is_meant(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    text = TRAIN.format("from a.lib import noise\nnoise()")
    project({"a/lib.py": "import random\ndef noise():\n    random.random()\n"})
    project({"train.py": text, "a/b/train.py": text})
    main(["--no-cache", "--select", "DET102", "train.py", "a"])
    said = capsys.readouterr().out
    assert "neither train.py nor" in said
    assert "neither a/b/train.py nor" in said
    assert f"({os.path.join('a', 'lib.py')}:3)" in said


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("model.fit(DataLoader(rows, shuffle=True), epochs=3)", ["train.py:4"]),
        ("loader = DataLoader(rows, shuffle=True)\nmodel.fit(loader)", ["train.py:4"]),
        ("DataLoader(rows, shuffle=True)\nNeuralNet(nn.Linear(3, 1)).fit(x, y)", ["train.py:4"]),
        ("DataLoader(rows, shuffle=True)\nmodel.fit(x, y)", []),
        ("DataLoader(rows, shuffle=True)\nscaler.fit(rows)", []),
    ],
)
def test_what_is_given_a_loader_trains(
    project: Project, lint: Lint, line: str, found: list[str]
) -> None:
    head = "from torch import nn\nfrom torch.utils.data import DataLoader\n"
    project({"train.py": f"{head}from skorch import NeuralNet\n{line}\n"})
    assert lint() == found


@pytest.mark.parametrize(
    "line",
    [
        "load_hyperpyyaml(file)",
        "prepare_environment(params)",
        "dl.SupervisedRunner().train(model)",
        "import sentence_transformers as s\ns.SentenceTransformerTrainer(model).train()",
    ],
)
def test_libraries_that_seed(project: Project, lint: Lint, line: str) -> None:
    head = "from catalyst import dl\nfrom hyperpyyaml import load_hyperpyyaml\n"
    head += "from allennlp.common.util import prepare_environment\n"
    project({"train.py": TRAIN.format(f"{head}{line}\nrandom.random()")})
    assert lint() == []


LIB = """
import random

def draws(kind):
    if kind == "a":
        return random.random()
    if training:
        return random.gauss(0, 1)
    try:
        return 1
    except ValueError:
        return random.uniform(0, 1)

def other():
    {}
"""


@pytest.mark.parametrize(
    ("line", "row", "other_row"),
    [("return random.choice(names)", 15, 15), ("if names:\n        random.random()", 8, 6)],
)
def test_a_draw_that_runs_for_sure_is_rather_named(
    project: Project, lint: Lint, line: str, row: int, other_row: int
) -> None:
    text = LIB.format(line)
    project({"train.py": TRAIN.format("from lib import draws, other\ndraws(other())")})
    project({"lib.py": text})
    assert lint() == [f"lib.py:{row}"]
    project({"lib.py": text.replace("if training", "if mode")})
    assert lint() == [f"lib.py:{other_row}"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from torch_geometric.nn import SAGEConv\nnet = SAGEConv(16, 8)", True),
        ("import torch_geometric.nn as gnn\nnet = gnn.models.GAT(16, 8, 2)", True),
        ("from torch_geometric.nn.conv import LGConv\nnet = LGConv()", False),
        ("from graphs import SAGEConv\nnet = SAGEConv(16, 8)", False),
    ],
)
def test_layers_of_graphs_draw_their_weights(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    project({"train.py": TRAIN.format(line).replace("import random\n", "")})
    assert lint() == ["train.py:3"] * found


@pytest.mark.parametrize(
    ("base", "is_found"),
    [("acme.Learner", True), ("core.Learner, Saveable", True), ("Book", False)],
)
def test_a_loop_of_a_library_takes_the_steps_of_a_learner(
    project: Project, capsys: pytest.CaptureFixture[str], base: str, *, is_found: bool
) -> None:
    learner = "import acme\nimport torch.cuda; KIND = 'torchvision.models.vgg16'\n"
    learner += f"\nclass Mine({base}):\n    def step(self):\n"
    learner += "        self.loss.backward()\n        self.optimizer.step()\n"
    learner += "    def __init__(self):\n        self.optimizer = torch.optim.SGD(self.weights)\n"
    run = "import acme\nfrom learner import Mine\n\ndef main():\n    acme.Loop(Mine()).run()\n\n"
    project({"learner.py": learner, "run.py": run + MAIN})
    assert places(capsys, "DET304") == ["learner.py:6"] * is_found


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("plt.plot(model(x))\n    plt.savefig('x.png')", False),
        ("visualize(model(x), 'x.png')", False),
        ("viz.draw(model(x))", False),
        ("if model(x) > 0:\n        axes[0, 1].plot(x)", False),
        ("plt.plot(model(x))\n    train(x)", True),
        ("measure(model(x), 'x.png')", True),
        ("if model(x) > 0:\n        train(x)", True),
    ],
)
def test_which_sample_a_figure_shows_is_no_result_of_training(
    project: Project, lint: Lint, line: str, *, found: bool
) -> None:
    pick = f"x = rows[random.randint(0, 9)]\n    {line}"
    loop = f"for each in rows:\n    loss.backward()\n    optimizer.step()\n    {pick}\n"
    project(
        {"go.py": f"import random\nimport torch\nfrom matplotlib import pyplot as plt\n\n{loop}"}
    )
    assert lint() == ["go.py:8"] * found


SHOWS = """
import random
import torch

def {}(rows):
    for each in range(3):
        scale(rows[random.{}], 3)

for each in rows:
    loss.backward()
    optimizer.step()
    {}(rows)
"""


@pytest.mark.parametrize(
    ("name", "draw", "found"),
    [
        ("plot_samples", "randint(0, 9)", False),
        ("visualizeRows", "randint(0, 9)", False),
        ("train_samples", "randint(0, 9)", True),
        ("plot_samples", "gauss(0, 9)", True),
    ],
)
def test_what_a_function_picks_that_draws_pictures_is_no_result_of_training(
    project: Project, lint: Lint, name: str, draw: str, *, found: bool
) -> None:
    project({"go.py": SHOWS.format(name, draw, name)})
    assert lint() == ["go.py:7"] * found


LAYERS = """
import numpy as np

class Enhance:
    def forward(self, x):
        return x * np.random.beta(1, 1)

class Mix:
    def forward(self, x):
        return x * np.random.rand()
"""
KEEPING = """
import torch
from layers import Enhance, Mix

class Net(torch.nn.Module):
    def __init__(self):
        self.enhance = Enhance()
        self.mix = Mix()

    def forward(self, x):
        {}
        return self.mix(x)
"""


@pytest.mark.parametrize(
    ("line", "row"), [("# x = self.enhance(x)", 10), ("x = self.enhance(x)", 6)]
)
def test_what_a_message_names_is_a_draw_of_a_module_that_is_called(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, row: int
) -> None:
    train = TRAIN.format("from net import Net\nmodel = Net()\nmodel(x)")
    project({"layers.py": LAYERS, "net.py": KEEPING.format(line), "train.py": train})
    main(["--no-cache", "--select", "DET102", "."])
    assert f"(layers.py:{row}) draws from NumPy's" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("files", "found"),
    [
        (("now/names.py",), ["now/names.py:2"]),
        (("now/names.py", "old/names.py"), ["now/names.py:2"]),
        (("old/names.py",), ["old/names.py:2"]),
        (("now/names.py", "old/other.py"), ["now/names.py:2", "old/other.py:2"]),
    ],
)
def test_of_copies_of_a_file_programs_mean_the_nearest(
    project: Project, capsys: pytest.CaptureFixture[str], files: tuple[str, ...], found: list[str]
) -> None:
    lists = "def listed(rows: set[str]):\n    return list(rows)\n"
    look = "import sys\nfrom names import listed\n\nfor x in sys.argv:\n    save(listed(x)[0])\n"
    project({"now/look.py": look, "train.py": TRAIN.format(""), **dict.fromkeys(files, lists)})
    assert sorted(places(capsys, "DET204")) == found


def test_a_class_of_the_same_name_may_derive_from_another_files(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "class Rows:\n    def all(self, rows: set[str]):\n        return list(rows)\n"
    more = "from rows import Rows as Other\n\nclass Rows(Other):\n    pass\n\nROWS = Rows()\n"
    project({"rows.py": rows, "more.py": more, "train.py": TRAIN.format("")})
    assert places(capsys, "DET204") == ["rows.py:3"]
    project({"more.py": more.replace("from rows import Rows as Other", "Other = object")})
    assert places(capsys, "DET204") == []


@pytest.mark.parametrize("made", ["Net()", "Net.load('w.pt').eval().to('cpu')"])
@pytest.mark.parametrize(
    ("methods", "found"),
    [
        ("def generate(self, x):\n        return self.step(x)", True),
        ("def generate(self, x):\n        return self.many(x)\n{}", True),
        # It is called on another object, or by a method that the program doesn't call.
        ("def generate(self, x):\n        return self.inner.step(x)", False),
        ("def generate(self, x):\n        return x\n{}", False),
    ],
)
def test_what_a_method_calls_on_its_own_object_is_asked_for(
    project: Project, lint: Lint, made: str, methods: str, *, found: bool
) -> None:
    many = "    def many(self, x):\n        return self.step(x)"
    lib = (
        "import torch\nclass Other:\n    def step(self, x):\n        return x\n"
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.inner = Other()\n    @classmethod\n    def load(cls, name):\n"
        "        net = cls()\n        net.load_state_dict(torch.load(name))\n        return net\n"
        "    def step(self, x):\n        return x + torch.rand_like(x)\n    "
    )
    main = "import argparse\nimport torch\nfrom lib import Net\n\ndef main():\n"
    main += "    parser = argparse.ArgumentParser()\n    parser.add_argument('--seed', default=1)\n"
    main += f"    net = {made}\n    out = net.generate(torch.zeros(3))\n"
    main += "    open('o.txt', 'w').write(str(out.tolist()))\n"
    project({"lib.py": lib + methods.format(many) + "\n", "gen.py": f"{main}\n{MAIN}"})
    assert lint() == ["lib.py:15"] * found


@pytest.mark.parametrize(
    ("table", "seed", "found"),
    [
        ('KINDS = {"a": draw}', "", ["possible"]),
        ("KINDS = [draw, plain]", "", ["possible"]),
        ('KINDS = {"a": draw}', "torch.manual_seed(0)", []),
        ('KINDS = {"a": plain}', "", []),
        ('KINDS = {"a": plain}\nOTHERS = {"a": draw}', "", []),
    ],
)
def test_a_function_that_is_chosen_out_of_a_table_may_be_asked_for(
    project: Project, capsys: pytest.CaptureFixture[str], table: str, seed: str, found: list[str]
) -> None:
    lib = "import util\ndef draw():\n    return util.noise()\ndef plain():\n    return 3\n"
    get = "def get(name):\n    return KINDS[name]()\n"
    save = "def main():\n    open('o.txt', 'w').write(str(lib.get(name)))\n"
    project({"util.py": "import torch\ndef noise():\n    return torch.randn(3)\n"})
    project({"lib.py": f"{lib}{table}\n{get}"})
    project({"gen.py": f"import torch\nimport lib\n{seed}\n{save}{MAIN}"})
    assert levels(capsys, "DET102") == found

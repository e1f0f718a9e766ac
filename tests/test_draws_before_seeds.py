"""A draw before the seed, in the program's own file or in what it calls."""

from __future__ import annotations

import json
from textwrap import indent
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of, place_told

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

TRAIN = """\
import numpy as np
import torch
import net
import seeds

def prepare(mode):
    if mode:
        return 3
    return np.random.permutation(9)

def main(mode):
    {}
    loss.backward(); optimizer.step()

if __name__ == "__main__":
    main(1)
"""
NET = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = Head()

class Head(torch.nn.Module):
    def __init__(self):
        self.layer = torch.nn.Linear(3, 3)

def build(name):
    return Net()

def make(kind):
    if kind == "net":
        return Net()

def choose(kind):
    return NETS[kind]

NETS = {"net": Net}

class Data:
    def __init__(self):
        self.size = 3

    def train_dataloader(self):
        rows = torch.utils.data.random_split(load(), (1, 2))[0]
        return torch.utils.data.DataLoader(rows, shuffle=True)

class Held:
    def __init__(self):
        self.setup()

    def setup(self):
        self.rows = torch.utils.data.random_split(load(), (1, 2))
"""
SEEDS = """\
import random
import numpy as np
import torch

def fix(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)

def start(seed):
    fix(seed)
    return torch.randn(3)

def split(rows):
    order = np.random.permutation(rows)
    np.random.seed(0)
    return order

def check():
    rows = torch.randn(3)
    assert torch.equal(rows, rows)
"""


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The draws that are told of the program as coming before its seed."""
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = [each for each in json.loads(capsys.readouterr().out) if " before " in each["message"]]
    assert all("train.py" in place_of(each) for each in found)
    return [
        place_told({**each, "message": each["message"].partition(" before ")[0]}) for each in found
    ]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("torch.randn(3); seeds.fix(0)", []),  # on one line, nothing is told
        ("use(torch.randn(3))\n    seeds.fix(0)", ["train.py:12"]),
        ("torch.randn(3)\n    seeds.fix(0)", []),  # nothing uses it
        ("rows = torch.randn(3)\n    seeds.fix(0)", []),
        ("rows = [1, 2]; np.random.shuffle(rows)\n    seeds.fix(0)", ["train.py:12"]),
        ("seeds.fix(0)\n    torch.randn(3)", []),
        ("model = net.Net()\n    torch.manual_seed(0)", ["net.py:10"]),
        ("model = net.build('net')\n    torch.manual_seed(0)", ["net.py:10"]),
        ("model = net.make('net')\n    torch.manual_seed(0)", []),
        ("models = net.NETS\n    torch.manual_seed(0)\n    models['net']()", []),
        ("model = net.NETS[mode](**o)\n    torch.manual_seed(0)", ["net.py:10"]),
        ("kind = net.Net\n    kind(**o)\n    torch.manual_seed(0)", ["net.py:10"]),
        (
            "kind = net.Net if mode else net.Head\n    kind()\n    torch.manual_seed(0)",
            ["net.py:10"],
        ),
        ("net.choose(mode)(**o)\n    torch.manual_seed(0)", ["net.py:10"]),
        ("torch.manual_seed(0)\n    net.NETS[mode](**o)\n    seeds.fix(1)", []),
        ("torch.manual_seed(0)\n    model = net.Net()\n    seeds.fix(1)", []),
        ("if mode: torch.manual_seed(0)\n    model = net.Net()\n    seeds.fix(1)", []),
        ("seeds.start(0)", []),
        ("prepare(mode)\n    np.random.seed(0)", []),
        ("def make():\n        torch.randn(3)\n    torch.manual_seed(0)\n    make()", []),
        ("rows = seeds.split(3)", ["seeds.py:15"]),
        ("seeds.fix(0)\n    rows = seeds.split(3)", []),
        ("data = net.Data()\n    seeds.fix(0)", []),  # fit calls the hook, after the seed
        ("torch.utils.data.DataLoader(rows, 1, True)\n    seeds.fix(0)", []),
        ("torch.utils.data.random_split(rows, (1, 2))\n    seeds.fix(0)", ["train.py:12"]),
        ("data = net.Data()\n    model = net.Net()\n    seeds.fix(0)", ["net.py:10"]),
        ("net.Held()\n    seeds.fix(0)", ["net.py:37"]),
        # A run that gets to the seed has not left before.
        ("if asked(): return\n    model = net.Net()\n    seeds.fix(0)", ["net.py:10"]),
        ("if asked(): return\n    rows = seeds.split(3)", ["seeds.py:15"]),
        ("if asked(): raise OSError\n    model = net.Net()\n    seeds.start(0)", ["net.py:10"]),
        ("if asked(): return\n    prepare(mode)\n    np.random.seed(0)", []),
        ("seeds.check()\n    seeds.fix(0)", []),
    ],
)
def test_what_is_drawn_before_the_seed(
    project: Project, capsys: pytest.CaptureFixture[str], line: str, found: list[str]
) -> None:
    project({"train.py": TRAIN.format(line), "net.py": NET, "seeds.py": SEEDS})
    assert told(capsys) == found


@pytest.mark.parametrize(
    ("filled", "found"),
    [
        ("NETS = {}\nNETS['net'] = net.Net", ["net.py:10"]),
        ("NETS = {}\nNETS.update({'net': net.Net, 'head': net.Head})", ["net.py:10"]),
        ("NETS = dict(net=net.Net)", ["net.py:10"]),
        ("from net import NETS\nNETS['head'] = net.Head", ["net.py:10"]),
        ("NETS = {}\nif net.Head:\n    NETS['net'] = net.Net", ["net.py:10"]),
        # The module has no such class.
        (
            "NETS = {'net': net.Net}\nif hasattr(net, 'Old'):\n    NETS['old'] = net.Old",
            ["net.py:10"],
        ),
        ("NETS = {'net': net.Net}\nNETS['other'] = other.Net", []),
        ("NETS = {}\nNETS['data'] = net.Data", []),
    ],
)
def test_a_class_out_of_a_table_that_another_module_fills(
    project: Project, capsys: pytest.CaptureFixture[str], filled: str, found: list[str]
) -> None:
    line = "from filled import NETS\n    NETS[mode](**o)\n    seeds.fix(0)"
    train, table = TRAIN.format(line), f"import net\nimport other\n{filled}\n"
    project({"train.py": train, "net.py": NET, "seeds.py": SEEDS, "filled.py": table})
    assert told(capsys) == found


DRAW = "import numpy as np\n\nSTART = np.random.rand(3)\n"
SEED = "import numpy as np\nnp.random.seed(1)\n"
TRIED = "try:\n    import inner\nexcept ImportError:\n    pass\n"


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"net.py": DRAW}, ["net.py:3"]),
        ({"net.py": "import numpy as np\n\nclass Net:\n    W = np.random.rand(3)\n"}, ["net.py:4"]),
        ({"net.py": "from inner import START\n", "inner.py": DRAW}, ["inner.py:3"]),
        ({"net.py": TRIED, "inner.py": DRAW}, ["inner.py:3"]),
        ({"net.py": "import sys\nif sys.argv:\n    import inner\n", "inner.py": DRAW}, []),
        ({"net.py": "def f():\n    import inner\n", "inner.py": DRAW}, []),
        ({"net.py": DRAW.replace("START", "if __name__ == '__main__':\n    START")}, []),
        ({"net.py": SEED + DRAW}, []),
        ({"net.py": "import inner\n" + DRAW, "inner.py": SEED}, []),
        ({"net.py": "", "other.py": DRAW}, []),
        ({"net.py": f"import sys\nif sys.argv:\n{indent(NET, '    ')}"}, []),
    ],
)
def test_what_is_drawn_when_files_are_imported(
    project: Project, capsys: pytest.CaptureFixture[str], files: dict[str, str], found: list[str]
) -> None:
    project(
        {
            "train.py": TRAIN.format("seeds.fix(0); import other; net.Net"),
            "seeds.py": SEEDS,
            **files,
        }
    )
    assert told(capsys) == found


@pytest.mark.parametrize(
    ("imported", "made", "seeded"),
    [
        ("from package.net import Net\nfrom package.seeds import fix", "Net()", "fix(0)"),
        ("from .net import Net\nfrom .seeds import fix", "Net()", "fix(0)"),
        ("from . import net, seeds", "net.Net()", "seeds.fix(0)"),
        ("import package.net, package.seeds", "package.net.Net()", "package.seeds.fix(0)"),
        ("from .net import NETS\nfrom .seeds import fix", "NETS.get('net')()", "fix(0)"),
    ],
)
def test_what_is_drawn_before_the_seed_of_a_package(
    project: Project, capsys: pytest.CaptureFixture[str], imported: str, made: str, seeded: str
) -> None:
    files = {"__init__.py": "", "net.py": NET, "seeds.py": SEEDS}
    for first, then, found in ((made, seeded, ["package/net.py:10"]), (seeded, made, [])):
        train = TRAIN.replace("import net\nimport seeds", imported)
        files["train.py"] = train.format(f"{first}\n    {then}")
        project({f"package/{name}": text for name, text in files.items()})
        assert told(capsys) == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("torch.manual_seed(1)\n        self.net = torch.nn.Linear(3, 3)", []),
        ("self.net = torch.nn.Linear(3, 3)\n        torch.manual_seed(1)", ["train.py:5"]),
    ],
)
def test_a_constructor_that_seeds_before_a_method_that_does_so_again(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    train = f"""\
import torch

class Trainer:
    def __init__(self):
        {lines}

    def load(self, path):
        torch.set_rng_state(torch.load(path))

if __name__ == "__main__":
    trainer = Trainer()
    trainer.load("last.pt")
    loss.backward(); optimizer.step()
"""
    project({"train.py": train})
    assert told(capsys) == found


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("w = np.random.rand(3)\nnp.random.seed(0)\nsave(w)", ["train.py:8"]),
        ("np.random.seed(0)\nw = np.random.rand(3)\nsave(w)", []),
        ("w = np.random.rand(3)\nnp.random.seed(0)\nsave(np.random.rand(3))", []),
        ("np.random.rand(3)\nnp.random.seed(0)\nsave(np.random.rand(3))", []),
        ("w = torch.randn(3)\ntorch.manual_seed(0)\nsave(w)", ["train.py:8"]),
        ("w = [1, 2]\nrandom.shuffle(w)\nrandom.seed(0)\nsave(w)", ["train.py:9"]),
        ("w = rows.pick([1, 2])\nrows.reset(0)\nsave(w)", ["rows.py:5"]),
        ("rows.reset(0)\nw = rows.pick([1, 2])\nsave(w)", []),
        ("if FLAG:\n    w = np.random.rand(3)\nnp.random.seed(0)\nsave(w)", []),
        ("def f():\n    return np.random.rand(3)\nnp.random.seed(0)\nsave(f())", []),
        ("x = np.random.rand(9)\nnp.random.seed(0)\nsave(Ridge().fit(x, y))", ["train.py:8"]),
    ],
)
def test_what_a_program_draws_before_the_seed_that_trains_nothing(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    train = f"""\
import random
import numpy as np
import torch
from sklearn.linear_model import Ridge
import rows
def save(values):
    np.save("w.npy", values)
{lines}
"""
    drawing = """\
import random
import numpy

def pick(values):
    return random.sample(values, 1)

def reset(seed):
    random.seed(seed)
"""
    project({"train.py": train, "rows.py": drawing})
    assert told(capsys) == found


KERAS = """\
import keras
from keras import layers
from keras.utils import set_random_seed

class Training:
    def __init__(self, seed):
        set_random_seed(seed)

    def run(self, model, rows):
        model.fit(rows, rows, epochs=2)

def build():
    inputs = layers.Input(shape=(4,))
    return {}

def main(rows):
    {}

if __name__ == "__main__":
    main(load())
"""
FUNCTIONAL = "keras.Model(inputs, layers.Dense(3)(inputs))"
LATE = "model = build(); Training(1).run(model, rows)"
EARLY = "training = Training(1); training.run(build(), rows)"


@pytest.mark.parametrize(
    ("made", "line", "is_found"),
    [
        (FUNCTIONAL, LATE, True),
        (FUNCTIONAL.replace("(inputs,", "(inputs=inputs, outputs="), LATE, True),
        (FUNCTIONAL, EARLY, False),
        ("keras.Sequential([layers.Dense(3)])", LATE, False),
        ("keras.Model(net.input, net.layers[1].output)", LATE, False),
        (FUNCTIONAL, f"{LATE}; model.load_weights('a.h5')", False),
    ],
)
def test_a_model_of_keras_that_is_built_before_the_seed_has_drawn_its_weights(
    project: Project, capsys: pytest.CaptureFixture[str], made: str, line: str, *, is_found: bool
) -> None:
    project({"train.py": KERAS.format(made, line)})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["train.py:14"] * is_found
    if is_found:
        assert found[0]["message"].endswith(
            "` is made of layers that have drawn first weights before `set_random_seed(seed)` "
            "seeds Keras; seed at the start of train.py"
        )


ENTRIES = """\
import sys
import torch

def run(rows):
    torch.manual_seed(0)
    net = torch.nn.Linear(2, 2)
    fit(net, rows)

def tried():
    {}
    run(torch.ones(2))

def usual():
    {}
    run(torch.load("rows.pt"))

def fit(net, rows):
    torch.optim.SGD(net.parameters()).step(net(rows).sum().backward())

def main():
    {}

main()
"""
DRAW = "noise = torch.rand(3); print(noise)"


@pytest.mark.parametrize(
    "entries",
    [
        ["if sys.argv[1:]:", "    tried()", "else:", "    usual()"],
        ["if sys.argv[1:]:", "    return tried()", "usual()"],
        ["if len(sys.argv) == 1:", "    usual()", "elif sys.argv[1] == 'try':", "    tried()"],
    ],
)
@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        (DRAW, "pass", ["go.py:10"]),
        ("pass", DRAW, ["go.py:14"]),
        ("torch.manual_seed(1)", DRAW, ["go.py:14"]),
        ("pass", "pass", []),
        (f"torch.manual_seed(1); {DRAW}", f"torch.manual_seed(1); {DRAW}", []),
    ],
)
def test_each_branch_that_leads_to_the_seed_is_passed(  # noqa: PLR0913 - two fixtures
    project: Project,
    capsys: pytest.CaptureFixture[str],
    entries: list[str],
    first: str,
    second: str,
    *,
    found: list[str],
) -> None:
    project({"go.py": ENTRIES.format(first, second, "\n    ".join(entries))})
    main(["--no-cache", "--output-format", "json", "--select", "DET102", "."])
    told = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in told] == found
    assert all("draws from torch's global generator before" in each["message"] for each in told)


GIVEN = """\
import fire
import torch
from peft import LoraConfig, get_peft_model
from transformers import Trainer, set_seed

def main(net, rows, checkpoint=""):
    {}
    Trainer(model=net, train_dataset=rows).train()

if __name__ == "__main__":
    fire.Fire(main)
"""
ADAPTED = "net = get_peft_model(net, LoraConfig())"
LOADED = f"if checkpoint: net = load(checkpoint)\n    else: {ADAPTED}"


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (ADAPTED, ["train.py:7"]),  # Fire calls what it is given
        (f"set_seed(3)\n    {ADAPTED}", []),
        (LOADED, ["train.py:8"]),
        (f"set_seed(3)\n    {LOADED}", []),
        (f"if rows is None: raise ValueError\n    {ADAPTED}", ["train.py:8"]),
        (f"assert rows\n    {ADAPTED}", ["train.py:8"]),
        (f"if rows is None: raise ValueError\n    set_seed(3)\n    {ADAPTED}", []),
        ("if checkpoint: start = torch.randn(3)\n    use(start)", []),
    ],
)
def test_weights_that_are_drawn_before_a_trainer_seeds(
    project: Project, capsys: pytest.CaptureFixture[str], lines: str, found: list[str]
) -> None:
    project({"train.py": GIVEN.format(lines)})
    assert told(capsys) == found

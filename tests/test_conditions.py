"""Under which conditions what draws, and what seeds, runs in one program: what its calls pass, its
options and fields decide, and which of its branches is taken."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Capture = pytest.CaptureFixture[str]

_WRITES = """
import json, sys
import torch
import noise

{around}
def main():
    rows = torch.arange(12.0).reshape(3, 4)
    with open("rows.json", "w") as file:
        file.write(json.dumps({call}.tolist()))

if __name__ == "__main__":
    main()
"""
_NOISE = """
import torch

def plain(name):
    return str(name).strip().lower()

def short(name):
    if name == "m":
        return "mixed"
    return name

def known(name):
    return registry.look_up(name)

def changed(x, kind{default}):
    {first}
    if kind == "mixed":
        return x[torch.randperm(len(x))]
    return x
"""


def told(capsys: Capture, code: str) -> list[tuple[str, str]]:
    """The confidence of each finding of a rule, and what its message says."""
    asked = ["--output-format=json", "--min-confidence=possible", f"--select={code}"]
    main(["--no-cache", *asked, "."])
    found = json.loads(capsys.readouterr().out)
    return [(each["confidence"], each["message"]) for each in found]


def levels(capsys: Capture, code: str) -> list[str]:
    return [each for each, _ in told(capsys, code)]


_HANDS_ON = "def made(rows, kind):\n    return noise.changed(rows, kind)\n"


@pytest.mark.parametrize(
    ("around", "call", "first", "expected"),
    [
        (_HANDS_ON, "made(rows, sys.argv[1])", "", ["likely"]),
        (_HANDS_ON, 'made(rows, "mixed")', "", ["likely"]),
        (_HANDS_ON, 'made(rows, "plain")', "", []),
        ("", "noise.changed(rows, sys.argv[1])", "kind = plain(kind)", ["likely"]),
        ("", 'noise.changed(rows, " Mixed")', "kind = plain(kind)", ["likely"]),
        ("", 'noise.changed(rows, "Plain")', "kind = plain(kind)", []),
        ("", 'noise.changed(rows, "plain")', "kind = kind.lower()", []),
        ("", 'noise.changed(rows, "m")', "kind = short(kind)", ["likely"]),
        ("", 'noise.changed(rows, "mixed")', "kind = short(kind)", ["likely"]),
        ("", 'noise.changed(rows, "MIXED")', "kind = kind.lower()", ["likely"]),
        ("", 'noise.changed(rows, "plain")', 'kind = kind or "mixed"', []),
        ("", 'noise.changed(rows, "")', 'kind = kind or "mixed"', ["likely"]),
        ("", "noise.changed(rows, sys.argv[1])", "kind = known(kind)", ["likely"]),
        ("", "noise.changed(rows, sys.argv[1])", 'if kind != "mixed": return x', ["likely"]),
        ("", 'noise.changed(rows, "plain")', 'if kind != "mixed": return x', []),
    ],
)
def test_a_test_of_an_argument_is_decided_by_what_the_program_passes(  # noqa: PLR0913, PLR0917
    project: Project, capsys: Capture, around: str, call: str, first: str, expected: list[str]
) -> None:
    text = _WRITES.format(around=around, call=call)
    project({"score.py": text, "noise.py": _NOISE.format(default="", first=first)})
    assert levels(capsys, "DET102") == expected


@pytest.mark.parametrize(
    ("around", "call", "expected"),
    [
        ("args = load()\nargs.kind = 'plain'\n", "args.kind", []),
        ("args = load()\nargs.kind = 'mixed'\n", "args.kind", ["likely"]),
        ("args = load()\n", "args.kind", ["likely"]),
        ("args = load()\nargs.kind = sys.argv[1]\n", "args.kind", ["likely"]),
        ("args = load()\nadd_argument('--kind', choices=['a', 'b'])", "args.kind", []),
        ("args = load()\nadd_argument('--kind', choices=['mixed'])", "args.kind", ["likely"]),
        ("args = load()\nadd_argument('--kind', choices=KINDS)", "args.kind", ["likely"]),
        ("args = load()\nadd_argument('--kind', default='plain')", "args.kind", ["likely"]),
        ("args = load('--kind mixed')\nargs.kind = 'plain'\n", "args.kind", ["likely"]),
        ("", "noise.KIND", []),
        ("noise.KIND = sys.argv[1]", "noise.KIND", ["likely"]),
        ("", "noise.OTHER", ["likely"]),
    ],
)
def test_a_test_is_decided_by_what_an_option_or_a_variable_always_is(
    project: Project, capsys: Capture, around: str, call: str, expected: list[str]
) -> None:
    text = _WRITES.format(around=around, call=f"noise.changed(rows, {call})")
    noise = _NOISE.format(default="", first="")
    project({"score.py": text, "noise.py": f"{noise}\nKIND = 'plain'\nOTHER = 'mixed'\n"})
    assert levels(capsys, "DET102") == expected


_CHANCE = """
import sys
import torch

def chance(n, names={default}):
    if {test}:
        return 1.0 / n
    return float(torch.randn(n, 8).argmax(1).float().mean())

def main():
    names = ["a", "b"]
    rng = sys.argv[1]
    open("chance.txt", "w").write(str({call}))

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("default", "test", "call", "draws"),
    [
        ("None", "names is not None", "chance(3, names)", False),
        ("None", "names is not None", "chance(3)", True),
        ("None", "names is not None", "chance(3, load_names())", True),
        ("None", "names is not None", "chance(3, names) + chance(4)", True),
        ("None", "names", "chance(3, names)", False),
        ("None", "names", "chance(3, [])", True),
        ("None", "names", "chance(3, list(rng))", True),  # may be empty
        ("None", "names is not None", "chance(3, list(rng))", False),
        ("None", "names", "chance(3, main)", False),
        ("-1", "names >= 0", "chance(3, 5)", False),
        ("-1", "names >= 0", "chance(3, -5)", True),
        ("0", "names == 1", "chance(3, 5)", True),
        ("7", "names == -1", "chance(3, -1)", False),
        ("7", "names == -1", "chance(3, 6)", True),
        ("7", "names == -1", "chance(3)", True),
    ],
)
def test_what_all_calls_pass_for_a_default_keeps_a_draw_from_running(  # noqa: PLR0913
    project: Project, capsys: Capture, default: str, test: str, call: str, *, draws: bool
) -> None:
    project({"rank.py": _CHANCE.format(default=default, test=test, call=call)})
    assert levels(capsys, "DET102") == ["likely"] * draws


_CUT = """
import os
import torch

def cut(x, most=None):
    {first}
    {then}
        return x[torch.randperm(len(x))[:most]]
    return x

def main():
    x = torch.arange(9)
    torch.save({call}, "x.pt")

if __name__ == "__main__":
    main()
"""
_SHORTER = "if most is not None: most = min(most, len(x))"
_THREE = "if most is None: most = 3"


@pytest.mark.parametrize(
    ("first", "then", "call", "draws"),
    [
        (_SHORTER, "if most is not None:", "cut(x)", False),
        (_SHORTER, "if most is not None:", "cut(x, None)", False),
        (_SHORTER, "if most is not None:", "cut(x, 4)", True),
        (_THREE, "if most is None:", "cut(x)", False),
        (_THREE, "if most == 3:", "cut(x)", True),
        ("if len(x) > 3: most = 3", "if most is not None:", "cut(x)", True),
        ("while most is None: most = 3 if len(x) else None", "if most:", "cut(x)", True),
        ("for most in range(3): pass", "if most is not None:", "cut(x)", True),
    ],
)
def test_a_parameter_is_followed_over_what_branches_make_of_it(  # noqa: PLR0913
    project: Project, capsys: Capture, first: str, then: str, call: str, *, draws: bool
) -> None:
    project({"cut.py": _CUT.format(first=first, then=then, call=call)})
    assert levels(capsys, "DET102") == ["likely"] * draws


_DECK = """
import json
import random
{imports}

class Deck:
    def __init__(self, rows):
        self.rows = rows

    def sample(self, n):
        return [random.random() for _ in range(n)]

def main(rows):
    deck = Deck(rows)
    with open("rows.json", "w") as file:
        json.dump({made}, file)

if __name__ == "__main__":
    main([1, 2, 3])
"""


@pytest.mark.parametrize(
    ("imports", "made", "draws"),
    [
        ("import torch, tables", "tables.sample(deck.rows)", False),
        ("import torch, tables as t", "t.sample(deck.rows)", False),
        ("import torch, tables", "deck.sample(3)", True),
        ("import torch, tables", "tables.kept.sample(3)", True),
        ("import torch\nfrom tables import kept", "kept.sample(3)", True),
    ],
)
def test_what_is_looked_up_in_a_module_is_no_method(
    project: Project, capsys: Capture, imports: str, made: str, *, draws: bool
) -> None:
    project({"deck.py": _DECK.format(imports=imports, made=made)})
    assert levels(capsys, "DET102") == ["likely"] * draws


_PICKED = """
import os
import random

def lengths(folder, most=4):
    if most {test}:
        names = os.listdir(folder)
    else:
        names = random.sample(os.listdir(folder), most)
    found = []
    for name in names:
        length = len(open(os.path.join(folder, name)).read())
        if not any(length == each["length"] for each in found):
            found.append({{"name": name, "length": length}})
    return found[:9]
"""
_PICKS = """
import json
import pick

if __name__ == "__main__":
    with open("lengths.json", "w") as file:
        json.dump(pick.lengths("rows"{given}), file)
"""


@pytest.mark.parametrize(
    ("test", "given", "expected"),
    [
        ("== -1", ", most=-1", ["likely", "possible"]),
        ("== -1", ", most=2", ["possible", "likely"]),
        ("== -1", "", ["possible", "likely"]),
        ("is None", ", None", ["likely", "possible"]),
        ("is None", ", 3", ["possible", "likely"]),
    ],
)
def test_listings_ask_which_branch_the_calls_take_as_draws_do(
    project: Project, capsys: Capture, test: str, given: str, expected: list[str]
) -> None:
    project({"pick.py": _PICKED.format(test=test), "make.py": _PICKS.format(given=given)})
    found = told(capsys, "DET203")
    assert [level for level, _ in found] == expected
    assert not any("callers pass no" in message for _, message in found)
    drawn = levels(capsys, "DET102")
    assert drawn == [each for each in expected[1:] if each == "likely"]


_BUFFER = """
import numpy as np

class Buffer:
    def __init__(self, size):
        self.rows = np.arange(size)

    def sample(self, n, rng=None):
        rng = rng or np.random.default_rng()
        return self.rows[rng.integers(0, len(self.rows), n)]
"""
_SAMPLES = """
import numpy as np
from buffer import Buffer

class Agent:
    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.buffer = Buffer(100)

    def learn(self):
        return self.buffer.sample({given}).sum()

if __name__ == "__main__":
    np.save("total.npy", Agent(3).learn())
"""


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("8, rng=self.rng", "possible"),
        ("8, rng=np.random.default_rng(4)", "possible"),
        ("8", "likely"),
        ("8, None", "likely"),
        ("*options", "likely"),
    ],
)
def test_a_generator_that_stands_in_for_what_all_calls_of_a_method_pass(
    project: Project, capsys: Capture, given: str, expected: str
) -> None:
    project({"buffer.py": _BUFFER, "train.py": _SAMPLES.format(given=given)})
    assert levels(capsys, "DET101") == [expected]


_ROWS = """
import numpy as np

def rows(n, rng=None):
    rng = rng or np.random.default_rng()
    return rng.integers(0, 9, n)
"""
_TABLE = """
import numpy as np
from data import rows

MAKERS = {{"rows": rows}}

if __name__ == "__main__":
    rng = np.random.default_rng(3)
    shown = {shown}
    np.save("rows.npy", MAKERS["rows"](8, rng) if shown is None else shown)
"""


@pytest.mark.parametrize(
    ("shown", "expected"),
    [("rows(2, rng)", "possible"), ("rows(2)", "likely"), ("None", "likely")],
)
def test_a_generator_that_stands_in_in_a_function_that_a_table_holds(
    project: Project, capsys: Capture, shown: str, expected: str
) -> None:
    """What calls it by the table is not seen: what the others pass tells."""
    project({"data.py": _ROWS, "train.py": _TABLE.format(shown=shown)})
    assert levels(capsys, "DET101") == [expected]


_WORDS = """
import sys

class Words:
    def __init__(self, path{taken}):
        self.path = path
        self.deep = {value}
        self.rows = []

    def read(self):
        if self.deep:
            self.read_deep()

    def read_deep(self):
        for line in open(self.path):
            self.rows.append([hash(word) % 100 for word in line.split()])

{more}
if __name__ == "__main__":
    words = {made}(sys.argv[1]{given})
    words.read()
    print(words.rows)
"""


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, "possible"),
        ({"value": "True"}, "certain"),
        ({"taken": ", deep=False", "value": "deep", "given": ", True"}, "certain"),
        ({"taken": ", deep=False", "value": "deep"}, "possible"),
        ({"more": "    def turn(self):\n        self.deep = True\n"}, "certain"),
        ({"more": "class More(Words):\n    def turn(self):\n        self.deep = 1\n"}, "possible"),
        (
            {
                "more": "class More(Words):\n    def turn(self):\n        self.deep = 1\n",
                "made": "More",
            },
            "certain",
        ),
        ({"more": "def turn(words):\n    words.deep = True\n"}, "certain"),
        ({"more": "def turn(words, name):\n    setattr(words, name, True)\n"}, "certain"),
    ],
)
def test_a_method_that_only_a_constant_field_would_turn_on(
    project: Project, capsys: Capture, changed: dict[str, str], expected: str
) -> None:
    plain = {"taken": "", "value": "False", "given": "", "more": "", "made": "Words"}
    project({"words.py": _WORDS.format(**{**plain, **changed})})
    assert levels(capsys, "DET105") == [expected]


_BRANCHES = """
import argparse, sys
import torch

def one():
    torch.save(torch.randn(3), "one.pt")

def two():
    {seed}
    torch.save(torch.randn(3), "two.pt")

def main():
    {before}
    if {test}:
        {first}
    else:
        two()

if __name__ == "__main__":
    main()
"""
_SEED = "torch.manual_seed(1)"
_OPTION = (
    "parser = argparse.ArgumentParser(); parser.add_argument('--one', action='store_true');"
    " args = parser.parse_args()"
)


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, ["likely"]),
        ({"seed": "", "before": _SEED}, []),
        ({"first": f"{_SEED}; one()"}, []),
        ({"first": "two(); one()"}, []),
        ({"first": "one(); return"}, ["likely"]),
        ({"test": "sys.seed == 3"}, []),  # asks whether to seed
        ({"test": "False"}, []),
        ({"before": _OPTION, "test": "args.one"}, ["possible"]),
        ({"first": "print('nothing')"}, []),
    ],
)
def test_a_seed_of_one_branch_seeds_no_other(
    project: Project, capsys: Capture, changed: dict[str, str], expected: list[str]
) -> None:
    plain = {"seed": _SEED, "before": "", "test": "sys.argv[1] == 'one'", "first": "one()"}
    project({"go.py": _BRANCHES.format(**{**plain, **changed})})
    found = told(capsys, "DET102")
    assert [level for level, _ in found] == expected
    assert all("`torch.manual_seed(1)` seeds in another branch alone" in said for _, said in found)


def test_branches_of_a_loop_run_one_after_the_other(project: Project, capsys: Capture) -> None:
    text = _BRANCHES.replace("    if {test}", "    for name in sys.argv:\n     if {test}")
    text = text.replace("    else", "     else")
    filled = text.format(seed=_SEED, before="", test="name == 'one'", first="one()")
    project({"go.py": filled})
    assert levels(capsys, "DET102") == []


_CLASSES = """
import sys
import numpy as np

class Deep:
    def start(self, seed):
        {seed}
        self.w = np.random.rand(4)

class Graph{base}:
    def start(self, seed):
        {first}
        self.w = np.random.uniform(size=4)

def evaluate(model):
    model.start(seed=204)
    np.save("w.npy", model.w)

def main():
    if "deep" in sys.argv:
        model = Deep()
    else:
        model = Graph()
    {before}
    evaluate(model)

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("changed", "is_told"),
    [
        ({}, True),
        ({"seed": "", "before": "np.random.seed(204)"}, False),
        ({"first": "np.random.seed(seed)"}, False),
        ({"base": "(Deep)", "first": "super().start(seed)"}, False),
        ({"before": "Deep().start(3)"}, False),
    ],
)
def test_a_seed_in_a_method_seeds_no_other_class(
    project: Project, capsys: Capture, changed: dict[str, str], *, is_told: bool
) -> None:
    plain = {"seed": "np.random.seed(seed)", "first": "pass", "base": "", "before": "pass"}
    project({"run.py": _CLASSES.format(**{**plain, **changed})})
    found = told(capsys, "DET102")
    assert [level for level, _ in found] == ["likely"] * is_told
    assert all("`np.random.uniform(size=4)`" in said for _, said in found)


_KERAS = """
import sys
import tensorflow as tf

def fit(x, y):
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net.compile("adam", "mse")
    net.fit(x, y, epochs=3)

def other():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()

def main(x, y):
    if sys.argv[1] == "keras":
        {seed}
        fit(x, y)
    else:
        other()

if __name__ == "__main__":
    main(*load())
"""


@pytest.mark.parametrize("seed", ["pass", "other()"])
def test_tensorflow_is_seeded_in_the_branch_that_trains(
    project: Project, capsys: Capture, seed: str
) -> None:
    project({"go.py": _KERAS.format(seed=seed)})
    found = told(capsys, "DET801")
    assert ["set_random_seed" in said for _, said in found] == [True] * (seed == "pass")


_TRIES = """
import argparse, json
import torch

def self_test():
    print(json.dumps({{"self_test": {said}}}), torch.randn(3))

def train(model, rows):
    torch.manual_seed(0)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(rows).sum().backward()
    optimizer.step()
    torch.save(model, "model.pt")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--self_test", action="store_true")
    args = parser.parse_args()
    if args.self_test:
        self_test()
        return
    train(*load())

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("said", ["'ok'", "None"])
def test_what_is_printed_under_the_name_of_an_option_does_not_set_it(
    project: Project, capsys: Capture, said: str
) -> None:
    """A function, its option and a key of what is printed have one name here."""
    project({"go.py": _TRIES.format(said=said)})
    assert levels(capsys, "DET102") == ["possible"]


_KINDS = """
import torch
from tqdm import tqdm
from noise import changed

KINDS = {kinds}
rows = torch.arange(9.0)
for kind in {through}:
    model = torch.nn.Linear(9, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(changed(rows, kind)).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize("through", ["KINDS", "tqdm(KINDS)", "tqdm(sorted(KINDS.keys()))"])
@pytest.mark.parametrize(("more", "draws"), [("", False), (", 'mixed': 2", True)])
def test_what_goes_through_written_names_gives_these(
    project: Project, capsys: Capture, through: str, more: str, *, draws: bool
) -> None:
    text = _KINDS.format(kinds=f"{{'plain': 1{more}}}", through=through)
    seeds = _NOISE.format(default="", first="").replace("torch.randperm", "np.random.permutation")
    project({"train.py": text, "noise.py": f"import numpy as np\n{seeds}"})
    found = [said for _, said in told(capsys, "DET102") if "NumPy" in said]
    assert bool(found) is draws


_BY_OPTIONS = """
import argparse
import numpy as np
import torch

def deep(rows):
    np.random.seed(3)
    return np.random.permutation(rows)

def graph(rows):
    return np.random.permutation(rows)

def main(rows, model, optimizer):
    parser = argparse.ArgumentParser()
    parser.add_argument("--deep", action="store_true")
    parser.add_argument("--graph", action="store_true")
    args = parser.parse_args()
    if args.deep:
        rows = deep(rows)
    if args.{option}:
        rows = {option}(rows)
    model(rows).sum().backward()
    optimizer.step()

if __name__ == "__main__":
    main(*load())
"""


def test_a_draw_behind_the_seed_of_its_option_is_not_named(
    project: Project, capsys: Capture
) -> None:
    writes = 'np.save("rows.npy", rows)'
    text = _BY_OPTIONS.format(option="graph").replace("model(rows).sum().backward()", writes)
    project({"rows.py": text.replace("    optimizer.step()\n", "")})
    found = [said for _, said in told(capsys, "DET102") if "NumPy" in said]
    assert len(found) == 1
    main(["--no-cache", "--select", "DET102", "--output-format", "concise", "."])
    assert capsys.readouterr().out.startswith("rows.py:11:")


@pytest.mark.parametrize("option", ["graph", "deep"])
def test_an_option_that_seeds_turns_nothing_on_for_another_one(
    project: Project, capsys: Capture, option: str
) -> None:
    project({"train.py": _BY_OPTIONS.format(option=option)})
    found = [said for _, said in told(capsys, "DET102") if "NumPy" in said]
    assert len(found) == (option == "graph")


_HELPED = """
import fire
import torch

def seed():
    torch.manual_seed(0)

def main({taken}):
    if {test}:
        seed()
    net = torch.nn.Linear(2, 2)
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in torch.load("rows.pt"):
        net(x).sum().backward()
        opt.step()

if __name__ == "__main__":
    {call}
"""


@pytest.mark.parametrize(
    ("taken", "test", "call", "is_seeded"),
    [
        ("fixed=False", "fixed", "main()", False),
        ("fixed=True", "not fixed", "main()", False),
        ("fixed=None", "fixed", "main()", False),
        ("fixed=False", "fixed", "main(True)", True),
        ("fixed=True", "fixed", "main()", True),
        ("fixed", "fixed", "main(torch.load('fixed.pt'))", True),
        ("fixed=False", "fixed", "fire.Fire(main)", True),
    ],
)
def test_a_helper_seeds_where_the_test_around_its_call_holds(  # noqa: PLR0913
    taken: str, test: str, call: str, project: Project, capsys: Capture, *, is_seeded: bool
) -> None:
    project({"run.py": _HELPED.format(taken=taken, test=test, call=call)})
    assert bool(told(capsys, "DET102")) is not is_seeded


_CHANGING = """
import random

class Crop:
    def __call__(self, x):
        return x[: random.randint(1, len(x))]
"""
_OF_LIGHTNING = """
import pytorch_lightning as pl
import torch
from crop import Crop

class Net(pl.LightningModule):
    def __init__(self, kind, *, size=8):
        super().__init__()
        {keep}
        self.net = torch.nn.Linear(size, 1)

    def prepare_data(self):
        self.change = Crop() if {kept} == "crop" else None
        self.rows = torch.load("rows.pt")

    def train_dataloader(self):
        return [self.change(x) if self.change else x for x in self.rows]

    def training_step(self, batch, i):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

torch.manual_seed(0)
for kind in {kinds}:
    net = Net({made})
    pl.Trainer(max_epochs=2).fit(net)
    best = Net.load_from_checkpoint({restored})
    torch.save(best.state_dict(), kind)
"""
_SAVES = "self.save_hyperparameters()"


@pytest.mark.parametrize(
    ("changed", "draws"),
    [
        ({}, False),
        ({"keep": "self.kind = kind", "kept": "self.kind"}, False),
        ({"keep": "self.save_hyperparameters('kind')"}, False),
        ({"restored": "'best.ckpt', size=9"}, False),
        ({"kinds": ["plain", "crop"]}, True),
        ({"keep": "self.kind = kind", "kept": "self.kind", "kinds": ["crop"]}, True),
        ({"restored": "'best.ckpt', kind='crop'"}, True),
        ({"keep": "self.save_hyperparameters('size')"}, True),
    ],
)
def test_what_a_module_keeps_of_its_arguments_and_is_restored_with(
    changed: dict[str, object], project: Project, capsys: Capture, *, draws: bool
) -> None:
    plain = {"keep": _SAVES, "kept": "self.hparams.kind", "kinds": ["plain"], "made": "kind"}
    run = _OF_LIGHTNING.format(**{**plain, "restored": "'best.ckpt'", **changed})
    project({"run.py": run, "crop.py": _CHANGING})
    assert ("likely" in [sure for sure, _ in told(capsys, "DET102")]) is draws


_CHOOSES = """
import sys

def deep(x):
    from nets import fit
    return fit(x)

def main(x):
    if sys.argv[1] == "deep":
        deep(x)
    else:
        from {} import fit
        fit(x)

if __name__ == "__main__":
    main(load())
"""
_FITS = """
import tensorflow as tf

def fit(x):
    net = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    net.compile("adam", "mse")
    net.fit(x, x, epochs=3)

def tune(x):
    tf.keras.utils.set_random_seed(1)
    fit(x)
"""
_TUNES = "from nets import tune\n\ndef fit(x):\n    return tune(x)\n"


@pytest.mark.parametrize(
    ("text", "lacks_seed"),
    [
        (_CHOOSES, True),
        (_CHOOSES.replace("from nets import fit", "from tuning import fit"), False),
    ],
)
def test_functions_of_one_name_are_told_apart_by_where_they_are_imported(
    text: str, project: Project, capsys: Capture, *, lacks_seed: bool
) -> None:
    project({"go.py": text.format("tuning"), "nets.py": _FITS, "tuning.py": _TUNES})
    assert ["set_random_seed" in said for _, said in told(capsys, "DET801")] == [lacks_seed]

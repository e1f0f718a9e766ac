"""A generator whose seed is a parameter that is None by default, and that no call gives."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from linted_places import place_of, places

from detlint.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]

DATA = """\
import random
import numpy as np

class Data:
    def __init__(self, rows, seed=None):
        self.rows = rows
        self.seed = seed
        {}

    def order(self):
        {}

def split(rows, *, seed=None, strict=False):
    {}
"""
RUN = """\
from data import Data, split

def main():
    {}

if __name__ == "__main__":
    main()
"""
KEPT = ("self.rng = random.Random(seed)", "return self.rng.sample(self.rows, 3)", "pass")
LATER = ("pass", "return np.random.default_rng(self.seed).permutation(self.rows)", "pass")
SPLIT = ("pass", "pass", "return np.random.RandomState(seed).permutation(rows)")
ONE = "Data(rows).order()"


@pytest.mark.parametrize(
    ("lines", "call", "is_found"),
    [
        (KEPT, ONE, True),
        (LATER, ONE, True),
        (SPLIT, "split(rows)", True),
        (SPLIT, "split(rows, seed=None)", True),
        (KEPT, "Data(rows, 3).order()", False),
        (KEPT, "Data(rows).order(); Data(rows, seed=3).order()", False),
        (KEPT, "Data(*given).order()", False),
        (KEPT, "Data(rows, seed=config.seed).order()", False),
        (KEPT, "make(Data).order()", False),
        (KEPT, "pass", False),
        (LATER, "Data(rows, 3).order()", False),
        (SPLIT, "split(rows, **options)", False),
        (SPLIT, "split(rows, strict=True)", True),
        (("self.rng = random.Random(seed); self.rng.seed(3)", *KEPT[1:]), ONE, False),
        (("self.rng = random.Random(0 if seed is None else seed)", *KEPT[1:]), ONE, False),
        (("self.rng = seed and random.Random(seed)", *KEPT[1:]), ONE, False),
        (("self.rng = random.Random(seed)", "pass", "pass"), ONE, False),
        (("pass", "if self.seed: use(random.Random(self.seed).random())", "pass"), ONE, False),
        (("self.seed = 3", *LATER[1:]), ONE, False),
        (("pass", "pass", "if seed is None: seed = 3\n    " + SPLIT[2]), "split(rows)", False),
        (("pass", "pass", "if seed is not None:\n        " + SPLIT[2]), "split(rows)", False),
        (("pass", "pass", "if strict:\n        " + SPLIT[2]), "split(rows)", False),
        (("pass", "pass", "name = random.Random(seed).getrandbits(64)"), "split(rows)", False),
    ],
)
def test_a_seed_that_no_call_gives(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    lines: tuple[str, ...],
    call: str,
    *,
    is_found: bool,
) -> None:
    project({"run.py": RUN.format(call), "data.py": DATA.format(*lines)})
    main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
    found = json.loads(capsys.readouterr().out)
    assert [(place_of(each), each["confidence"]) for each in found] == (
        [("run.py:6", "likely")] * is_found
    )
    assert all("which is None by default" in each["message"] for each in found)


PATCHES = """\
import numpy as np

def corner(sizes, rng):
    return rng.integers(0, sizes)

class Volumes:
    def __init__(self, sizes, patch=None, seed=None):
        self.sizes, self.patch = sizes, patch
        self.rng = np.random.default_rng(seed)

    def take(self):
        at = 0
        if self.patch is not None:
            at = corner(self.sizes, self.rng)
        return at

class Shuffled(Volumes):
    def order(self):
        {}
"""


@pytest.mark.parametrize(
    ("order", "given", "is_found"),
    [
        ("pass", "", False),
        ("pass", ", patch=None", False),
        ("pass", ", patch=(2, 2)", True),
        ("return self.rng.permutation(self.sizes)", "", True),
    ],
)
def test_what_takes_a_generator_only_with_an_option_draws_with_that(
    project: Project, capsys: pytest.CaptureFixture[str], order: str, given: str, *, is_found: bool
) -> None:
    run = RUN.format(f"print(Volumes((8, 8){given}).take())").replace("Data, split", "Volumes")
    project({"run.py": run, "data.py": PATCHES.format(order)})
    main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
    found = json.loads(capsys.readouterr().out)
    assert [place_of(each) for each in found] == ["run.py:6"] * is_found


def test_a_test_may_differ(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project({"test_run.py": RUN.format(ONE), "data.py": DATA.format(*KEPT)})
    main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
    assert json.loads(capsys.readouterr().out) == []


KEEPS = """\
import os
import random
import numpy as np

UNREAD = np.random.default_rng()
DRAWN = random.Random()

class Data:
    UNREAD = np.random.default_rng()
    DRAWN: np.random.Generator = np.random.default_rng()

    def __init__(self, folder):
        self.unread_rng = random.Random()
        self.drawn_rng = random.Random()
        self.unread_names = os.listdir(folder)
        self.names = os.listdir(folder)

    def order(self):
        unread = np.random.default_rng()
        return np.random.default_rng().permutation(9)
"""
READS = "print(data.names[0], data.drawn_rng.random(), data.DRAWN.random(), DRAWN.random())"


def test_what_nothing_reads_makes_no_run_differ(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    apart = "print(other.unread_names, other.unread_rng, other.UNREAD)\n"
    project({"lib/__init__.py": "", "lib/data.py": KEEPS, "apart.py": apart})
    project({"lib/tools.py": f"from .data import DRAWN\ndef show(data):\n    {READS}\n"})
    project({"run.py": "from lib.data import Data\nfrom lib import tools\ntools.show(Data('.'))\n"})
    main(["--no-cache", "--output-format", "json", "--select", "DET101,DET203", "."])
    found = json.loads(capsys.readouterr().out)
    rows = [6, 10, 14, 16, 20]
    assert [(each["location"]["row"], place_of(each)[:11]) for each in found] == [
        (row, "lib/data.py") for row in rows
    ]


INSTEAD = """\
import numpy as np

class Data:
    def __init__(self, rows, rng=None):
        self.rng = rng or np.random.default_rng()
        self.rows = rows

    def order(self):
        return self.rng.permutation(self.rows)
"""
_OR = "rng or np.random.default_rng()"
PACKAGE = {"setup.py": "from setuptools import setup\nsetup()\n"}


@pytest.mark.parametrize(
    ("call", "more", "is_found"),
    [
        ("Data(rows, rng).order()", {}, False),
        ("Data(rows, rng).order(); Data(rows, rng=config['rng']).order()", {}, False),
        ("Data(rows, rng).order(); Data(rows).order()", {}, True),
        ("Data(rows, rng=None).order()", {}, True),
        ("Data(rows, *options).order()", {}, True),
        ("Data(rows, rng).order()", PACKAGE, True),
        ("Data(rows, rng).order()", {"more.py": "from data import Data\nData(3).order()\n"}, True),
    ],
)
def test_what_stands_in_for_what_all_calls_pass_is_possible(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    call: str,
    more: dict[str, str],
    *,
    is_found: bool,
) -> None:
    run = RUN.format(call).replace(", split", "")
    in_signature = INSTEAD.replace("=None", "=np.random.default_rng()").replace(_OR, "rng")
    for text, row in ((INSTEAD, 5), (in_signature, 4)):
        for own in (run, f"import data\n{run.replace('Data(', 'data.Data(')}"):
            project({"run.py": own, "data.py": text, **more})
            main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
            found = json.loads(capsys.readouterr().out)
            assert [place_of(each) for each in found] == [f"data.py:{row}"] * is_found


SEEDED_IF_ASKED = """\
import random
import numpy as np

class Env{base}:
    def __init__(self):
        self.rng = np.random.RandomState()
        self.picks = random.Random()

    def seed(self, value=None):
        self.rng.seed(value)
        self.picks.seed(value)

    def step(self):
        return self.rng.rand() + self.picks.random()
"""
ASKS = """\
from env import Env
import numpy as np

np.random.seed(0)
env = Env()
{asked}
np.save("w.npy", env.step())
"""


@pytest.mark.parametrize(
    ("asked", "base", "expected"),
    [
        ("", "", ["env.py:6", "env.py:7"]),
        ("", "(object)", ["env.py:6", "env.py:7"]),
        ("env.seed(3)", "", []),
        ("getattr(env, 'seed')(3)", "", []),
        ("", "(gym.Env)", []),
    ],
)
def test_a_method_seeds_what_its_class_draws_from_if_something_calls_it(
    project: Project, capsys: pytest.CaptureFixture[str], asked: str, base: str, expected: list[str]
) -> None:
    project({"env.py": SEEDED_IF_ASKED.format(base=base), "run.py": ASKS.format(asked=asked)})
    assert places(capsys, "DET101") == expected


_LOOKED_UP = """\
import json
import numpy as np

class Errors:
    def __init__(self, parameters):
        self.seed = parameters.{get}
        self.rng = np.random.default_rng(self.seed)

    def draw(self):
        return self.rng.random(3)

def main():
    {call}

if __name__ == "__main__":
    main()
"""
_PLACED = "np.random.default_rng({}.get('seed')).random()"


@pytest.mark.parametrize(
    ("get", "call", "expected"),
    [
        ('get("seed", None)', 'Errors({"rate": 1}).draw()', ["likely"]),
        ('get("seed")', 'Errors({"seed": None}).draw()', ["likely"]),
        ('get("seed")', 'Errors({"seed": 3}).draw()', []),
        ('get("seed")', 'Errors({"rate": 1, **more}).draw()', ["possible"]),
        ('get("seed")', "Errors(json.load(open('errors.json'))).draw()", ["possible"]),
        ('get("seed", 0)', 'Errors({"rate": 1}).draw()', []),
        ('__getitem__("seed")', 'Errors({"rate": 1}).draw()', []),
        ('get("seed")', "make(Errors)", []),
        ("pop()", f"made = {{'rate': 1}}; print({_PLACED.format('made')})", ["likely"]),
        ("pop()", f"made = {{'seed': 1}}; print({_PLACED.format('made')})", []),
        ("pop()", f"made = json.load(open('a')); print({_PLACED.format('made')})", ["possible"]),
    ],
)
def test_a_seed_that_no_dict_holds(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    get: str,
    call: str,
    expected: list[str],
) -> None:
    project({"run.py": _LOOKED_UP.format(get=get, call=call)})
    told = ["--select=DET101", "--min-confidence=possible", "--output-format=json"]
    main(["--no-cache", *told, "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == expected


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("split(rows, seed=43 if len(rows) > 5 else None)", ["possible"]),
        ("split(rows, seed=rows.get('seed', 43) if rows.get('seed') else None)", ["possible"]),
        ("seed = None\n    if rows:\n        seed = 3\n    split(rows, seed=seed)", ["possible"]),
        ("split(rows, seed=None if rows else None)", ["likely"]),
        ("split(rows, seed=43 if rows else 44)", []),
        ("split(rows, seed=43 if rows else None); split(rows, seed=3)", []),
    ],
)
def test_a_seed_that_is_none_on_one_branch_is_possible(
    project: Project, capsys: pytest.CaptureFixture[str], call: str, expected: list[str]
) -> None:
    project({"run.py": RUN.format(call), "data.py": DATA.format(*SPLIT)})
    told = ["--select=DET101", "--min-confidence=possible", "--output-format=json"]
    main(["--no-cache", *told, "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == expected


_DERIVED = """\
import numpy as np

class Base:
    def __init__(self, rows, seed=None):
        self.rng = np.random.default_rng(seed)

class Errors(Base):
    {own}

    def draw(self):
        return self.rng.random(3)

if __name__ == "__main__":
    print({call}.draw())
"""
_HANDS_ON = "def __init__(self, rows, seed=None): super().__init__(rows, {})"


@pytest.mark.parametrize(
    ("own", "call", "expected"),
    [
        ("size = 3", "Errors(3)", ["likely"]),
        ("size = 3", "Errors(3, 5)", []),
        ("size = 3", "Errors(3, seed=5 if rows else None)", ["possible"]),
        (_HANDS_ON.format("seed"), "Errors(3)", ["likely"]),
        (_HANDS_ON.format("seed=seed"), "Errors(3, 5)", []),
        (_HANDS_ON.format("5"), "Errors(3)", []),
        (_HANDS_ON.format("None"), "Errors(3)", ["likely"]),
        ("def __init__(self): Base.__init__(self, 3, 5)", "Errors()", []),
        ("def __init__(self): super().__init__(3); self.seed = 5", "Errors()", []),
        ("def __post_init__(self): super().__init__(3, 5)", "Errors()", []),
    ],
)
def test_a_derived_class_gives_its_base_a_seed(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    own: str,
    call: str,
    expected: list[str],
) -> None:
    project({"run.py": _DERIVED.format(own=own, call=call)})
    told = ["--select=DET101", "--min-confidence=possible", "--output-format=json"]
    main(["--no-cache", *told, "."])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == expected


MAKES = "from data import Data\n\ndef make(rows, seed):\n    return Data(rows, seed=seed)\n"
PREPARES = """\
from data import Data
from make import make

def prepare(rows, shuffled):
    {}
    return make(rows, seed=3).order() if shuffled else rows

if __name__ == "__main__":
    print(prepare([1, 2], shuffled=False))
"""


@pytest.mark.parametrize("line", ["data: Data | None = None", "assert not isinstance(rows, Data)"])
def test_what_only_has_a_class_for_a_type_makes_none_of_it(
    project: Project, capsys: pytest.CaptureFixture[str], line: str
) -> None:
    prepares = PREPARES.format(line)
    project({"run.py": prepares, "make.py": MAKES, "data.py": DATA.format(*KEPT)})
    main(["--no-cache", "--output-format", "json", "--select", "DET101", "."])
    assert json.loads(capsys.readouterr().out) == []


TREE = """\
import numpy as np

class Tree:
    def draw(self, rng=None):
        rng = rng or np.random.default_rng()
        return rng.random()

    def top(self):
        return 0
"""
REPLAY = """\
from tree import Tree

class Replay:
    def __init__(self):
        self.tree = Tree()

    def first(self):
        return self.tree.{}
"""
PLAYS = """\
import plugins
from replay import Replay

class Agent:
    def __init__(self, memory, name):
        self.memory = memory
        self.replay = Replay()
        self.others = getattr(plugins, name)

    def play(self):
        return self.memory.draw(), self.replay.first(), {}

if __name__ == "__main__":
    print(Agent(load(), "replay").play())
"""


@pytest.mark.parametrize(
    ("asked", "played", "expected"),
    [
        ("top()", "0", ["possible"]),
        ("draw()", "0", ["likely"]),
        ("top()", "self.replay.tree.draw()", ["likely"]),
        ("top() + give(self.tree)", "0", ["likely"]),
    ],
)
def test_a_method_does_not_run_of_objects_that_stay_where_nothing_calls_it(
    project: Project,
    capsys: pytest.CaptureFixture[str],
    asked: str,
    played: str,
    expected: list[str],
) -> None:
    files = {"tree.py": TREE, "replay.py": REPLAY.format(asked), "play.py": PLAYS.format(played)}
    project(files)
    asked_all = ["--select", "DET101", "--min-confidence", "possible", "."]
    main(["--no-cache", "--output-format", "json", *asked_all])
    assert [each["confidence"] for each in json.loads(capsys.readouterr().out)] == expected

"""How sure a finding must be to be reported: by the command line, the configuration, the rule."""

from __future__ import annotations

import io
import json
import sys
from textwrap import indent
from typing import TYPE_CHECKING

import pytest
from notebook_files import notebook

from detlint.cli import CLEAN, FAILED, FOUND, main
from detlint.rules import every_rule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Project = Callable[[dict[str, str]], Path]
    Lint = Callable[..., list[str]]

# DET401 is certain, DET203 likely, and DET203 in what builds a package only possible.
EMPTY = "import torch\nx = torch.empty(3) + 1\n"
LISTING = "import os\nfor name in os.listdir('data'):\n    rows.append(load(name))\n"
SETUP = "from setuptools import setup\nimport os\n\nsetup(files=os.listdir('data'))\n"
FILES = {"empty.py": EMPTY, "listing.py": LISTING, "packing.py": SETUP}
ALL = ["empty.py:2 DET401 certain", "listing.py:2 DET203 likely", "packing.py:4 DET203 possible"]


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Lint:
    """``path:row code confidence`` of each finding of the command line."""

    def run(*arguments: str, cache: bool = False, path: str = ".") -> list[str]:
        kept = ["--cache-dir", str(tmp_path / ".cache")] if cache else ["--no-cache"]
        status = main([*kept, "--output-format", "json", *arguments, path])
        found = json.loads(capsys.readouterr().out)
        assert status == (FOUND if found else CLEAN)
        return [
            f"{each['filename'].rpartition('/')[2]}:{each['location']['row']} {each['code']} "
            f"{each['confidence']}"
            for each in found
        ]

    return run


def configured(project: Project, table: str, files: dict[str, str] = FILES) -> None:
    project({**files, "pyproject.toml": f"[tool.detlint]\n{table}\n"})


@pytest.mark.parametrize(
    ("options", "count"),
    [
        pytest.param((), 2, id="likely by default"),
        pytest.param(("--min-confidence", "possible"), 3, id="possible"),
        pytest.param(("--min-confidence", "likely"), 2, id="likely"),
        pytest.param(("--min-confidence", "certain"), 1, id="certain"),
    ],
)
def test_the_command_line_sets_the_bar(
    project: Project, lint: Lint, options: tuple[str, ...], count: int
) -> None:
    project(FILES)
    assert lint(*options) == ALL[:count]


@pytest.mark.parametrize(
    ("table", "found"),
    [
        pytest.param('min-confidence = "certain"', ALL[:1], id="for all"),
        pytest.param('confidence = {DET203 = "possible"}', ALL, id="for a code"),
        pytest.param('confidence = {DET2 = "certain"}', ALL[:1], id="for the beginning of one"),
        pytest.param(
            'confidence = {DET2 = "certain", DET203 = "likely"}', ALL[:2], id="the longest wins"
        ),
        pytest.param(
            'min-confidence = "certain"\nconfidence = {DET20 = "possible"}',
            ALL,
            id="a code over all",
        ),
    ],
)
def test_the_configuration_sets_the_bar(
    project: Project, lint: Lint, table: str, found: list[str]
) -> None:
    configured(project, table)
    assert lint() == found


def test_the_bar_of_a_code_holds_whatever_the_command_line_says_of_all(
    project: Project, lint: Lint
) -> None:
    configured(project, 'confidence = {DET203 = "likely"}')
    assert lint("--min-confidence", "possible") == ALL[:2]
    assert lint("--min-confidence", "certain") == ALL[:2]


def test_what_is_below_the_bar_is_no_reason_to_fail(project: Project, lint: Lint) -> None:
    project({"listing.py": LISTING})
    assert lint("--min-confidence", "certain") == []


def test_strict_says_what_to_write_instead(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    project(FILES)
    assert main(["--no-cache", "--strict", "."]) == FAILED
    assert capsys.readouterr().err == (
        "detlint: --strict: no such setting any more; for all that is found, write "
        "--min-confidence possible\n"
    )


# -- the cache ----------------------------------------------------------------------------


def test_runs_with_other_bars_do_not_take_each_others_findings(
    project: Project, lint: Lint
) -> None:
    project(FILES)
    for _ in range(2):
        assert lint("--min-confidence", "possible", cache=True) == ALL
        assert lint("--min-confidence", "certain", cache=True) == ALL[:1]
        assert lint(cache=True) == ALL[:2]
        assert lint(cache=True) == ALL[:2]  # of a run in which nothing has changed


# -- programs -----------------------------------------------------------------------------

MAIN = '\nif __name__ == "__main__":\n    main()\n'
SHOWS = "import numpy as np\n\ndef main():\n    print(np.random.rand(3))\n" + MAIN
TRAINS = "import torch.cuda\n\ndef main():\n    loss.backward(); optimizer.step()\n" + MAIN
TIMES = TRAINS.replace("loss.", "print(time.perf_counter()); loss.")


@pytest.mark.parametrize(
    ("files", "select", "found"),
    [
        pytest.param({"show.py": SHOWS}, "DET102", "show.py:4 DET102", id="draws, writes nothing"),
        pytest.param({"bench_it.py": TIMES}, "DET304", "bench_it.py:4 DET304", id="a benchmark"),
    ],
)
def test_what_a_program_is_for_leaves_findings_possible(
    project: Project, lint: Lint, files: dict[str, str], select: str, found: str
) -> None:
    project(files)
    assert lint("--select", select) == []
    assert lint("--select", select, "--min-confidence", "possible") == [f"{found} possible"]


def test_what_trains_and_saves_is_no_benchmark_whatever_it_is_called(
    project: Project, lint: Lint
) -> None:
    project({"bench_it.py": TIMES.replace("loss.", "torch.save(fit_net(), 'net.pt'); loss.")})
    assert lint("--select", "DET304") == ["bench_it.py:4 DET304 likely"]


AGENT = """\
import os
import random
import torch

class Agent:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2)
        self.optimizer = torch.optim.Adam(self.net.parameters())

    def learn(self, x):
        self.net(x * random.random()).mean().backward()
        self.optimizer.step()

    def save(self, path):
        torch.save(self.net.state_dict(), path)

def train_agent(agent):
    agent.learn(torch.ones(4))

if __name__ == "__main__":
    losses, agent = [], Agent()
    losses.append(agent.learn(torch.ones(4)))
    print("Testing learn()")
"""
USES_AGENT = "from agent import Agent\n\ndef main():\n    Agent().learn(1)\n" + MAIN


@pytest.mark.parametrize(
    ("more", "user", "sure"),
    [
        pytest.param("", USES_AGENT, "possible", id="tries what others use"),
        pytest.param("agent.save('a')\nos.remove('a')", USES_AGENT, "possible", id="removes it"),
        pytest.param("agent.save('a')", USES_AGENT, "likely", id="saves weights"),
        pytest.param("os.remove('a')\nagent.save('a')", USES_AGENT, "likely", id="removes before"),
        pytest.param("open('a', 'w').write('b')", USES_AGENT, "likely", id="writes results"),
        pytest.param("wandb.log(losses)", USES_AGENT, "likely", id="sends results"),
        pytest.param("train_agent(agent)", USES_AGENT, "likely", id="trains, as it says"),
        pytest.param("agent.net(1).backward()", USES_AGENT, "likely", id="trains itself"),
        pytest.param("", "", "likely", id="a program of its own"),
    ],
)
def test_what_tries_a_module_that_others_import_is_possible(
    project: Project, lint: Lint, more: str, user: str, sure: str
) -> None:
    project({"agent.py": AGENT + indent(more, "    ") + "\n", "main.py": user})
    found = lint("--select", "DET102", "--min-confidence", "possible")
    assert {each for each in found if each.startswith("agent.py")} == {
        f"agent.py:7 DET102 {sure}",
        f"agent.py:11 DET102 {sure}",
    }


def test_findings_of_programs_obey_the_bar(project: Project, lint: Lint) -> None:
    project({"train.py": TRAINS})
    assert lint("--select", "DET304") == ["train.py:4 DET304 likely"]
    assert lint("--select", "DET304", "--min-confidence", "certain") == []


HELPER = "def load():\n    return 0\n"
UNMET = "from helper import load, schedule\n\n"


@pytest.mark.parametrize(
    ("files", "row"),
    [
        pytest.param({"helper.py": HELPER}, 6, id="no such name"),
        pytest.param(
            {"helper.py": "def load():\n    schedule = 1\n    return schedule\n"}, 6, id="inside"
        ),
        pytest.param(
            {"helper/__init__.py": HELPER, "helper/other.py": "schedule = 1\n"}, 6, id="deeper"
        ),
    ],
)
def test_a_program_that_cannot_be_loaded_has_no_more_than_possible_findings(
    project: Project, lint: Lint, files: dict[str, str], row: int
) -> None:
    project({**files, "train.py": UNMET + TRAINS})
    assert lint("--select", "DET304") == []
    every = lint("--select", "DET304", "--min-confidence", "possible")
    assert every == [f"train.py:{row} DET304 possible"]


@pytest.mark.parametrize(
    ("first", "found"), [("x = 1", []), ("%cd old", ["likely"]), ("os.chdir('old')", ["likely"])]
)
def test_so_has_a_notebook_that_imports_from_its_own_folder(
    project: Project, lint: Lint, first: str, found: list[str]
) -> None:
    cells = [first, UNMET, "import torch.cuda\nloss.backward(); optimizer.step()"]
    project({"helper.py": HELPER, "old/helper.py": "load = schedule = 0\n"})
    project({"train.ipynb": notebook(*cells)})
    assert [each.rpartition(" ")[2] for each in lint("--select", "DET304")] == found


@pytest.mark.parametrize("text", [UNMET, "import helper\n\n", "from lib import middle\n\n"])
def test_so_has_one_that_imports_what_cannot_be_loaded(
    project: Project, lint: Lint, text: str
) -> None:
    project(
        {"helper.py": "from rest import missing\n\nload = schedule = 0\n", "rest.py": "x = 1\n"}
    )
    project({"lib/middle.py": "import helper\n", "train.py": text + TRAINS})
    assert lint("--select", "DET304") == []
    project({"rest.py": "x = missing = 1\n"})
    assert len(lint("--select", "DET304")) == 1


@pytest.mark.parametrize(
    "helper",
    [
        "from lib import load, schedule\n",
        "from torch import *\n\nload = 0\n",
        "load = 0\nif load:\n    schedule = 0\n",
        "load, schedule = 0, 0\n",
        "load = 0\n\ndef start():\n    global schedule\n    schedule = 0\n",
        "load = 0\n\ndef __getattr__(name):\n    return 0\n",
        "load = 0\nglobals()[name] = 0\n",
        "load = 0\nprint 'old'\n",
    ],
)
def test_a_name_that_a_module_may_have_stops_nothing(
    project: Project, lint: Lint, helper: str
) -> None:
    project({"helper.py": helper, "train.py": UNMET + TRAINS})
    assert "train.py:6 DET304 likely" in lint("--select", "DET304")


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    from helper import schedule\nexcept ImportError:\n    schedule = 0\n",
        "if deep:\n    from helper import schedule\n\n\n",
        "def late():\n    from helper import schedule\n\n\n",
        "if TYPE_CHECKING:\n    from helper import schedule\n\n\n",
        "import sys\nsys.path.insert(0, 'x')\nfrom helper import schedule\n\n",
        "from helper import __version__\n\n\n\n",
    ],
)
def test_an_import_that_may_be_left_out_stops_nothing(
    project: Project, lint: Lint, text: str
) -> None:
    project({"helper.py": HELPER, "train.py": text + TRAINS})
    assert lint("--select", "DET304") == ["train.py:8 DET304 likely"]


@pytest.mark.parametrize(
    ("files", "line"),
    [
        ({"helper/__init__.py": "", "helper/schedule.py": ""}, "from helper import schedule"),
        ({"helper/__init__.py": "", "helper/schedule/a.py": ""}, "from helper import schedule"),
        ({"helper/__init__.py": "", "helper/schedule.pyx": ""}, "from helper import schedule"),
        ({"run/helper.py": HELPER, "helper.py": HELPER}, "from helper import schedule"),
        ({"helper.py": HELPER}, "from helper import schedule"),
        ({"run/torch.py": HELPER}, "from torch import schedule"),
    ],
)
def test_a_module_that_may_be_another_stops_nothing(
    project: Project, lint: Lint, files: dict[str, str], line: str
) -> None:
    project({**files, "run/train.py": f"{line}\n\n{TRAINS}"})
    assert lint("--select", "DET304") == ["train.py:6 DET304 likely"]


def test_what_only_answers_leaves_a_finding_in_its_files_possible(
    project: Project, lint: Lint
) -> None:
    model = (
        "import model\n\ndef load():\n"
        "    return model.get(attn_implementation='flash_attention_2')\n"
    )
    show = f"from loading import load\n\ndef main():\n    load().generate(0)\n{MAIN}"
    project({"loading.py": model, "demo.py": show})
    assert lint("--select", "DET601") == []
    every = lint("--select", "DET601", "--min-confidence", "possible")
    assert every == ["loading.py:4 DET601 possible"]


# -- suppressions -------------------------------------------------------------------------


@pytest.mark.parametrize("least", ["possible", "likely", "certain"])
@pytest.mark.parametrize("text", [LISTING, SETUP], ids=["likely", "possible"])
def test_a_suppression_of_what_is_below_the_bar_is_of_use(
    project: Project, lint: Lint, text: str, least: str
) -> None:
    lines = [
        f"{line}  # detlint: ignore[DET203] as meant" if "listdir" in line else line
        for line in text.split("\n")
    ]
    project({"a.py": "\n".join(lines)})
    assert lint("--min-confidence", least) == []


@pytest.mark.parametrize("least", ["possible", "likely", "certain"])
def test_a_suppression_of_nothing_is_told_at_every_bar(
    project: Project, lint: Lint, least: str
) -> None:
    project(
        {"a.py": "import os\nx = sorted(os.listdir('.'))  # detlint: ignore[DET203] as meant\n"}
    )
    assert lint("--min-confidence", least) == ["a.py:2 DET001 certain"]


@pytest.mark.parametrize(("options", "count"), [((), 0), (("--extend-select", "DET308"), 1)])
def test_a_suppression_for_a_rule_that_is_off_is_judged_once_it_is_selected(
    project: Project, lint: Lint, options: tuple[str, ...], count: int
) -> None:
    project({"a.py": "x = 1  # detlint: ignore[DET308] as meant\n"})
    for least in ("possible", "likely", "certain"):
        assert len(lint("--min-confidence", least, *options)) == count


# -- fixes --------------------------------------------------------------------------------


@pytest.mark.parametrize(("least", "mended"), [("certain", 1), ("likely", 2), ("possible", 3)])
def test_only_what_is_reported_is_mended(
    project: Project, capsys: pytest.CaptureFixture[str], least: str, mended: int
) -> None:
    root = project(FILES)
    main(["--no-cache", "--fix", "--unsafe-fixes", "--min-confidence", least, "."])
    assert f"Fixed {mended} finding" in capsys.readouterr().out
    changed = [name for name, text in FILES.items() if (root / name).read_text() != text]
    assert changed == [*FILES][:mended]


def test_standard_input_obeys_the_bar(
    project: Project, monkeypatch: pytest.MonkeyPatch, lint: Lint
) -> None:
    project({})
    for least, count in (("certain", 0), ("likely", 1)):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(LISTING.encode())))
        assert len(lint("--min-confidence", least, path="-")) == count


# -- rules --------------------------------------------------------------------------------


def test_what_a_rule_usually_finds_is_reported_by_default() -> None:
    assert {str(rule.confidence) for rule in every_rule()} == {"certain", "likely"}


def test_rules_that_are_off_by_default_are_possible_where_all_is_asked_for(
    project: Project, lint: Lint
) -> None:
    project({"a.py": "import torch\ntorch.backends.cuda.matmul.allow_tf32 = True\n"})
    found = ["a.py:2 DET308 likely"]
    assert lint() == []
    assert lint("--min-confidence", "possible") == ["a.py:2 DET308 possible"]
    assert lint("--select", "DET308") == found
    assert lint("--select", "DET3", "--min-confidence", "possible") == found
    assert lint("--select", "DET2", "--min-confidence", "possible") == []


def test_an_order_in_a_test_is_possible_and_its_settings_are_told(
    project: Project, lint: Lint
) -> None:
    switch = "import torch\ntorch.backends.cudnn.benchmark = True\n"
    text = f"import pytest\n{switch}\nimport os\n\n\ndef f(d):\n    return os.listdir(d)[0]\n"
    project({"test_bench.py": text})
    assert lint() == ["test_bench.py:3 DET301 likely"]
    assert lint("--min-confidence", "possible")[1:] == ["test_bench.py:9 DET203 possible"]


UNUSED = """\
import os
from abc import ABC, abstractmethod
from queue import Queue
from threading import Thread


def some(folder):
    return os.listdir(folder)[0]


class Files:
    def first(self, folder):
        return list({*map(str, os.scandir(folder))})[0]


class Server(ABC):
    def __init__(self):
        self.queue = Queue()
        self.workers = [Thread(target=self.work, args=(i,)) for i in range(16)]

    @abstractmethod
    def make(self, i): ...

    def work(self, i):
        self.queue.put(self.make(i)())

    def take(self):
        return self.queue.get()
"""
ROWS = "class Rows:\n    def first(self, folder): ...\n"
MADE = "from rows import Rows\nimport unused\nfiles = unused.Files()"
OF_FUNCTION, OF_CLASS, OF_SERVER = (
    "unused.py:8 DET203 likely",
    "unused.py:13 DET204 certain",
    "unused.py:28 DET205 likely",
)


@pytest.mark.parametrize(
    ("line", "more", "left"),
    [
        ("import unused", {}, []),
        ("import unused\nunused.some(folder)", {}, [OF_FUNCTION]),
        ("import unused\nunused.Files().first(folder)", {}, [OF_CLASS]),
        ("import unused\nwork = getattr(unused, name)", {}, [OF_FUNCTION, OF_CLASS]),
        ("import unused", {"setup.py": "from setuptools import setup\nsetup()"}, "both"),
        ("import unused", {"kept/__init__.py": "from unused import Files, some"}, "both"),
        ("import unused", {"kept/__init__.py": "from unused import *"}, "both"),
        ("import unused", {"kept/__init__.py": "from unused import Files"}, [OF_CLASS]),
        ("import kept", {"kept/__init__.py": "from unused import Files, some"}, []),
        ("import unused", {"pyproject.toml": '[project]\nname = "Unused"\n'}, "both"),
        ("import unused", {"pyproject.toml": '[project]\nname = "seg-study"\n'}, []),
        ("import unused", {"setup.py": "setup(name='seg_study', packages=[])"}, []),
        (f"{MADE}\nRows().first(folder)", {"rows.py": ROWS}, []),
        (f"{MADE}\nchoose(Rows(), files).first(folder)", {"rows.py": ROWS}, [OF_CLASS]),
        (f"{MADE}\nvars(args)\nargs.__dict__['x'] = eval(x.loc['y'])", {"rows.py": ROWS}, []),
        (f"{MADE}\nfiles.__dict__[name]()", {"rows.py": ROWS}, [OF_CLASS]),
        ("", {}, []),
        ("", {"other.py": "import unused\nunused.some(1)\n"}, [OF_FUNCTION]),
        ("", {"other.py": "import unused\nunused.Files().first(1)\n"}, [OF_CLASS]),
        ("", {"other.py": "KINDS = {'Files'}\n"}, [OF_CLASS]),
        ("", {"other.py": "import unused\nwork = getattr(unused, name)\n"}, "both"),
        ("", {"tests/it.py": "import unused\nunused.some(1)\n"}, []),
        ("", {"other.py": "def some(): ...\n"}, []),
        ("", {"setup.py": "from setuptools import setup\nsetup()"}, "both"),
        ("", {"__init__.py": "x = 1"}, []),
    ],
)
def test_what_no_program_runs_is_possible(
    project: Project, lint: Lint, line: str, more: dict[str, str], left: list[str] | str
) -> None:
    project(
        {
            "unused.py": UNUSED,
            "train.py": f"{line}\nif __name__ == '__main__':\n    main()\n",
            **more,
        }
    )
    assert lint("--select", "DET203,DET204,DET205") == (
        [OF_FUNCTION, OF_CLASS] if left == "both" else left
    )


LIBRARY = """\
import pandas as pd
import tensorflow as tf


class Pairs:
    def __init__(self, rows: pd.DataFrame):
        self.rows = rows.sample(frac=1)


class Batches:
    def __init__(self, rows):
        self.rows = tf.data.Dataset.from_tensor_slices(rows).shuffle(9)


class Quick:
    def __init__(self, rows):
        rows = tf.data.Dataset.from_tensor_slices(rows)
        self.rows = rows.map(int, num_parallel_calls=4, deterministic=False)
"""
PAIRS, BATCHES, QUICK = (
    "rows.py:7 DET104 likely",
    "rows.py:12 DET802 likely",
    "rows.py:18 DET802 likely",
)
RUNS = "if __name__ == '__main__':\n    main()\n"


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({"train.py": RUNS}, [QUICK]),
        ({"train.py": f"from drawn.rows import Pairs\nPairs(x)\n{RUNS}"}, [PAIRS, QUICK]),
        ({"train.py": f"import drawn\ndrawn.Batches(x)\n{RUNS}"}, [BATCHES, QUICK]),
        ({"train.py": RUNS, "drawn/more.py": "KINDS = ['Pairs']\n"}, [PAIRS, QUICK]),
        ({"train.py": RUNS, "tests/test_it.py": "from drawn import Pairs\nPairs(1)\n"}, [QUICK]),
        ({}, [PAIRS, BATCHES, QUICK]),
    ],
)
def test_what_only_programs_of_others_may_use_is_left_to_their_seeds(
    project: Project, lint: Lint, files: dict[str, str], left: list[str]
) -> None:
    project(
        {
            "setup.py": "from setuptools import setup\nsetup(name='drawn')\n",
            "drawn/__init__.py": (
                "from drawn.rows import Batches, Pairs\n__all__ = ['Batches', 'Pairs']\n"
            ),
            "drawn/rows.py": LIBRARY,
            **files,
        }
    )
    assert lint("--select", "DET104,DET802") == left


def test_a_test_is_left_to_nobody(project: Project, lint: Lint) -> None:
    files = {"setup.py": "setup()", "drawn/__init__.py": "", "train.py": RUNS}
    project({**files, "tests/test_rows.py": LIBRARY.replace("Pairs", "TestPairs")})
    assert lint("--select", "DET104") == ["test_rows.py:7 DET104 likely"]


def test_what_a_decorator_hands_on_is_not_left_to_others(project: Project, lint: Lint) -> None:
    handed = LIBRARY.replace("class Pairs", "@kinds.register\nclass Pairs")
    project({"setup.py": "setup()", "drawn/__init__.py": "", "drawn/rows.py": handed})
    (project({}) / "train.py").write_text(RUNS)
    assert lint("--select", "DET104") == ["rows.py:8 DET104 likely"]


def test_an_abstract_method_that_does_something_needs_no_heirs(
    project: Project, lint: Lint
) -> None:
    project({"unused.py": UNUSED.replace("(self, i): ...", "(self, i):\n        return print")})
    assert lint("--select", "DET205") == ["unused.py:29 DET205 likely"]


def test_a_class_from_which_others_derive_is_more_than_possible(
    project: Project, lint: Lint
) -> None:
    heir = (
        "from unused import Server\n\n\nclass Own(Server):\n    def make(self, i):\n        ...\n"
    )
    project({"unused.py": UNUSED, "own.py": heir})
    assert lint("--select", "DET205") == [OF_SERVER]


TRAINER = """\
import torch
import unused

if __name__ == "__main__":
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(net.parameters())
    net(torch.ones(1, 3)).sum().backward()
    optimizer.step()
"""
PLAIN_SETUP = "from setuptools import setup\nsetup()"


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({}, [OF_FUNCTION, OF_CLASS]),
        ({"tests/test_a.py": "from unused import Files\nFiles()"}, [OF_FUNCTION]),
        (
            {"tests/test_a.py": "from unused import Files", "a.py": "# Files"},
            [OF_FUNCTION, OF_CLASS],
        ),
        (
            {"tests/test_a.py": "from unused import Files", "a.py": "from unused import *"},
            [OF_FUNCTION, OF_CLASS],
        ),
    ],
)
def test_what_others_may_install_is_possible_where_only_tests_use_it(
    project: Project, lint: Lint, more: dict[str, str], left: list[str]
) -> None:
    project({"unused.py": UNUSED, "train.py": TRAINER, "setup.py": PLAIN_SETUP, **more})
    assert lint("--select", "DET203,DET204") == left


@pytest.mark.parametrize(
    ("folder", "more", "left"),
    [
        ("tools", {}, []),
        ("tools", {"__init__.py": ""}, [OF_FUNCTION, OF_CLASS]),
        ("parts", {}, [OF_FUNCTION, OF_CLASS]),  # setuptools finds it by itself
        ("parts", {"../setup.py": f"{PLAIN_SETUP[:-1]}packages=find_packages())"}, []),
    ],
)
def test_what_lies_beside_a_package_and_is_none_is_not_installed(
    project: Project, lint: Lint, folder: str, more: dict[str, str], left: list[str]
) -> None:
    inside = {"../setup.py": PLAIN_SETUP, "unused.py": UNUSED, "train.py": TRAINER, **more}
    project({f"{folder}/{name}": text for name, text in inside.items()})
    assert lint("--select", "DET203,DET204") == left


DEAD = """\
import random
import time

import numpy as np
from sklearn.manifold import TSNE


def embed(rows):
    return TSNE().fit_transform(rows)


def some():
    return np.random.default_rng().random(3)


def seed():
    random.seed(int(time.time()))


if __name__ == "__main__":
    np.save("rows.npy", {})
"""


@pytest.mark.parametrize(
    ("line", "left"),
    [
        ("np.load('rows.npy')  # embed(some())", []),
        ("embed(np.load('rows.npy'))", ["stats.py:9 DET104 likely"]),
        ("some()", ["stats.py:13 DET101 likely"]),
        ("seed()", ["stats.py:17 DET103 likely"]),
        ("globals()[name]()", "all"),
    ],
)
def test_draws_in_what_no_program_runs_are_possible(
    project: Project, lint: Lint, line: str, left: list[str] | str
) -> None:
    project({"stats.py": DEAD.format(line)})
    every = [
        *("stats.py:9 DET104 likely", "stats.py:13 DET101 likely", "stats.py:17 DET103 likely")
    ]
    assert lint("--select", "DET101,DET103,DET104") == (every if left == "all" else left)


OFFERED = """\
import numpy as np
from optuna.samplers import TPESampler
from sklearn.manifold import TSNE


def some(rows):
    return TSNE().fit(rows), TPESampler(), np.random.default_rng().random(3)
"""
OF_SYSTEM = ["lib.py:7 DET104 likely", "lib.py:7 DET101 likely"]


@pytest.mark.parametrize(
    ("more", "left"),
    [
        ({}, OF_SYSTEM),
        ({"pyproject.toml": "[project]\n"}, OF_SYSTEM),
        ({"prog.py": f"import lib\nlib.other()\n{RUNS}"}, []),  # in a file that a program has
    ],
)
def test_what_the_system_seeds_does_not_wait_for_callers(
    project: Project, lint: Lint, more: dict[str, str], left: list[str]
) -> None:
    project({"lib.py": OFFERED, "prog.py": RUNS, **more})
    assert lint("--select", "DET101,DET104") == left


def test_a_test_that_no_program_has_is_no_more_than_possible(project: Project, lint: Lint) -> None:
    tests = OFFERED.replace("def some(rows)", "def test_some(rows)")
    project({"tests/test_lib.py": tests, "train.py": RUNS})
    assert lint("--select", "DET101") == []


def test_a_set_of_which_little_is_known_is_no_more_than_likely(
    project: Project, lint: Lint
) -> None:
    pick = (
        "import random\n\n\ndef pick(graph):\n    return random.choice(list({None, *graph.x()}))\n"
    )
    project({"a.py": pick})
    assert lint("--select", "DET204") == ["a.py:5 DET204 likely"]
    project({"a.py": pick.replace("graph.x()", "graph.x(), 'c'")})
    assert lint("--select", "DET204") == ["a.py:5 DET204 certain"]


LABELS = """\
import numpy as np
import pandas as pd

def divided(names, rng):
    return rng.permutation(list(names))[:9]

def split(parts, rng):
    table, other = pd.read_csv("a.csv"{index}), pd.read_csv("b.csv"{index})
    ids = set(table.index)
    ids &= set(other.index)
    return {use}
"""


@pytest.mark.parametrize(
    ("index", "use", "least"),
    [
        ("", "rng.permutation(list(parts & {*other.x}))", "likely"),
        ("", "divided(parts & {*other.x}, rng)", "likely"),
        ("", "rng.normal(list(parts & {*other.x}))", "possible"),
        (", index_col=0", "table.reindex(list(ids))", "likely"),
        (", index_col=0", "table.reindex(columns=list(ids))", "possible"),
        ("", "table.reindex(list(ids))", "possible"),
        (", index_col=None", "table.reindex(list(ids))", "possible"),
        ("", "table.set_index('name').reindex(list(set(table.set_index('name').index)))", "likely"),
    ],
)
def test_a_set_of_what_tables_hold_is_likely_where_rows_are_chosen_by_it(
    project: Project, lint: Lint, index: str, use: str, least: str
) -> None:
    project({"rows.py": LABELS.format(index=index, use=use)})
    told = [each.rpartition(" ")[2] for each in lint("--min-confidence", "possible")]
    assert told == [least]


def test_names_of_observations_are_texts(project: Project, lint: Lint) -> None:
    numbered = "{{x: i for i, x in enumerate(set.intersection(*(set(x.{}) for x in tables)))}}"
    table = f"def common(tables):\n    return {numbered}\n"
    project({"a.py": table.format("obs_names"), "b.py": table.format("shapes")})
    assert lint("--min-confidence", "possible", "--select", "DET204")[0] == "a.py:2 DET204 certain"
    assert "b.py:2 DET204 certain" not in lint("--select", "DET204")


def test_ties_by_a_key_are_likely(project: Project, lint: Lint) -> None:
    project(
        {"a.py": "def pick(names: set[str]):\n    return max(names, key=len), list(names)[0]\n"}
    )
    assert lint("--select", "DET204") == ["a.py:2 DET204 likely", "a.py:2 DET204 certain"]


TIMED = """\
import time
import timerit
import numpy as np


def draw(rng):
    return rng.normal(size=3)


def draw_and_use(rng):
    return rng.normal(size=3)


first = np.random.default_rng()
second = np.random.default_rng()
third = np.random.default_rng()
for _ in timerit:
    draw(first)
start = time.perf_counter()
draw(second)
print(time.perf_counter() - start)
for _ in timerit:
    draw_and_use(third)
print(draw_and_use(third))
"""


def test_draws_that_are_only_timed_are_possible(project: Project, lint: Lint) -> None:
    project({"a.py": TIMED})
    assert lint("--select", "DET101") == ["a.py:16 DET101 likely"]
    project({"a.py": f"{TIMED}np.save('x', start)\n"})
    assert lint("--select", "DET101") == [f"a.py:{row} DET101 likely" for row in (14, 15, 16)]


DRAWN = """\
import numpy as np
import matplotlib.pyplot as plt
import statsmodels.api as sm
from statsmodels.graphics.gofplots import qqplot

rng = np.random.default_rng()
drawn = rng.standard_gamma(2, size=9)
{}
"""


@pytest.mark.parametrize(
    ("ends", "left"),
    [
        ("qqplot(drawn, line='45')", []),
        ("sm.qqplot(drawn)\nplt.hist(rng.normal(size=9))", []),
        ("plt.hist(drawn)\nprint(rng.normal(size=9).sum())", ["a.py:6 DET101 likely"]),
        ("plt.hist(drawn)\nnp.save('x', drawn)", ["a.py:6 DET101 likely"]),
        ("plt.hist(drawn)\ntrain(rng)", ["a.py:6 DET101 likely"]),
        ("plt.hist(drawn)\ntrain(rng.normal)", ["a.py:6 DET101 likely"]),
    ],
)
def test_draws_that_only_a_figure_shows_are_possible(
    project: Project, lint: Lint, ends: str, left: list[str]
) -> None:
    project({"a.py": DRAWN.format(ends)})
    assert lint("--select", "DET101") == left


SEEDING = """\
import random
import time


def seed_all(seed=None):
    if seed is None:
        seed = int(time.time())
    random.seed(seed)
"""


@pytest.mark.parametrize(
    ("calls", "left"),
    [
        ("seed_all(43)\nseed_all(seed=number)", []),
        ("seed_all(43)\nseed_all()", ["seeding.py:7 DET103 likely"]),
        ("seed_all(None)", ["seeding.py:7 DET103 likely"]),
    ],
)
def test_a_seed_of_the_clock_that_all_calls_replace_is_possible(
    project: Project, lint: Lint, calls: str, left: list[str]
) -> None:
    train = f"from seeding import seed_all\n{calls}\n"
    project({"seeding.py": SEEDING, "train.py": train})
    assert lint("--select", "DET103") == left
    signed = SEEDING.replace("seed=None", "seed=-1").replace("seed is None", "seed < 0")
    project({"seeding.py": signed, "train.py": train.replace("None", "-1")})
    assert lint("--select", "DET103") == left

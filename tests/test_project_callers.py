"""DET203 and DET204: what all callers in a project do with the order of what a function returns."""

from __future__ import annotations

import gc
import json
import os
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

import pytest

from detlint.aside import in_turns, share_out
from detlint.callgraph.precedence import Precedence
from detlint.cli import main
from detlint.link import Linker
from detlint.settings import Settings
from detlint.sources.cache import Cache
from detlint.sources.context import Context

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from detlint.engine import Engine

    Project = Callable[[dict[str, str]], Path]

LISTS = """
    import os

    def names_in(folder):
        found = []
        for name in os.listdir(folder):
            found.append(os.path.join(folder, name))
        return found
"""
FOUND = ["data.py:6"]


@pytest.fixture
def lint(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Callable[..., list[str]]:
    """``path:row`` of each finding of the command line, twice the same."""

    def run(*paths: str) -> list[str]:
        kept = ["--cache-dir", str(tmp_path / ".cache"), "--output-format", "json"]
        told = []
        for _ in range(2):
            main([*kept, "--select", "DET203,DET204", *(paths or (".",))])
            found = json.loads(capsys.readouterr().out)
            told.append([f"{os.path.relpath(x['filename'])}:{x['location']['row']}" for x in found])
        assert told[0] == told[1]
        return told[0]

    return run


@pytest.mark.parametrize(
    ("files", "found"),
    [
        pytest.param({}, FOUND, id="nobody calls it"),
        pytest.param(
            {"a.py": "from data import names_in\nfiles = sorted(names_in('d'))"}, [], id="sorts"
        ),
        pytest.param(
            {
                "a.py": "import data\nn = len(data.names_in('d'))",
                "b.py": "from data import names_in\n\ndef f(d, x):\n    return x in names_in(d)",
            },
            [],
            id="counts and looks up",
        ),
        pytest.param(
            {
                "a.py": "import data\nn = len(data.names_in('d'))",
                "b.py": "from data import names_in\n\ndef f(d):\n    return names_in(d)[:8]",
            },
            FOUND,
            id="one cuts it",
        ),
        pytest.param(
            {"a.py": "import data\nf = sorted(map(data.names_in, ds))"}, FOUND, id="handed on"
        ),
        pytest.param(
            {"a.py": "from data import names_in as f\nx = sorted(f('d'))"}, [], id="renamed"
        ),
        pytest.param(
            {"a.py": "from data import names_in as f\nx = f('d')[0]"},
            FOUND,
            id="renamed, the first",
        ),
        pytest.param(
            {"a.py": "import data\nf = getattr(data, 'names_in')\nx = sorted(data.names_in('d'))"},
            FOUND,
            id="looked up by its name",
        ),
        pytest.param({"a.py": "# names_in\nx = 1"}, FOUND, id="only mentioned"),
        pytest.param(
            {
                "a.py": "def names_in(d): ...\n\nx = names_in('d')[0]",
                "b.py": "import data\nx = set(data.names_in('d'))",
            },
            [],
            id="another of its name",
        ),
        pytest.param(
            {"a.py": "import data\nx = set(data.names_in('d')\n"}, FOUND, id="does not parse"
        ),
        pytest.param(
            {
                "a.py": "from data import (\n    names_in,\n)\nx = set(names_in('d'))",
                "b.py": "names_in = [2, 1]\nload(names_in[0])",
            },
            [],
            id="a variable of another file",
        ),
    ],
)
def test_callers_settle_what_becomes_of_the_order(
    project: Project, lint: Callable[..., list[str]], files: dict[str, str], found: list[str]
) -> None:
    project({"data.py": LISTS, **files})
    assert [each for each in lint() if each.startswith("data")] == found


ARRAYS = """
    import os
    import numpy as np
    import pandas as pd

    def rows_of(folder):
        rows, labels = [], []
        for name in os.listdir(folder):
            rows.append(np.load(name))
            labels.append(name)
        return MADE

    TAKEN
    np.save("rows", rows)
"""


@pytest.mark.parametrize(
    ("made", "taken", "found"),
    [
        ("rows, 3", "rows, n = rows_of('d')", True),
        ("np.array(rows), np.array(labels)", "rows, labels = rows_of('d')", True),
        ("np.asarray(rows), 3", "rows, n = rows_of('d')", True),
        ("pd.Series(rows), 3", "rows, n = rows_of('d')", True),
        ("pd.DataFrame(rows), 3", "rows, n = rows_of('d')", True),
        ("(np.array(rows), 3), 4", "(rows, n), m = rows_of('d')", True),
        ("np.array(sorted(rows)), 3", "rows, n = rows_of('d')", False),
        ("np.array(rows), len(rows)", "_, rows = rows_of('d')", False),
        ("(np.array(rows), 3), 4", "(_, n), rows = rows_of('d')", False),
        ("rows, len(labels)", "_, n = rows_of('d'); rows = [n, 1]", False),
    ],
)
def test_an_order_is_followed_through_what_is_unpacked(
    project: Project, lint: Callable[..., list[str]], made: str, taken: str, *, found: bool
) -> None:
    project({"data.py": ARRAYS.replace("MADE", made).replace("TAKEN", taken)})
    assert lint() == (["data.py:8"] if found else [])


SETS = """
    def layers_of(model):
        found = {name.split(".")[-1] for name, _ in model.named_modules()}
        return list(found)
"""


@pytest.mark.parametrize(
    ("made", "found"),
    [
        ("LoraConfig(target_modules=layers_of(net))", []),
        ("sorted(layers_of(net))", []),
        ("'lm_head' in layers_of(net)", []),
        ("{name: place for place, name in enumerate(layers_of(net))}", ["data.py:4"]),
        ("print(layers_of(net)), layers_of(net)[0]", ["data.py:4"]),
    ],
)
def test_callers_settle_what_becomes_of_the_order_of_a_set(
    project: Project, lint: Callable[..., list[str]], made: str, found: list[str]
) -> None:
    project({"data.py": SETS, "a.py": f"from data import layers_of\nx = {made}\n"})
    assert lint() == found


@pytest.mark.parametrize(("taken", "found"), [("sorted", []), ("list", ["data.py:6"])])
def test_what_a_function_inside_yields_is_for_the_callers_of_that_around(
    project: Project, lint: Callable[..., list[str]], taken: str, found: list[str]
) -> None:
    lists = """
        import os

        def names(folder, suffix):
            def inner(folder):
                for entry in os.scandir(folder):
                    if entry.is_dir():
                        yield from inner(entry.path)
                    elif entry.name.endswith(suffix):
                        yield entry.path

            return inner(folder)
    """
    project(
        {"data.py": lists, "a.py": f"from data import names\nx = {taken}(names('d', 'e'))\nf(x)"}
    )
    assert lint() == found


def test_a_method_may_have_other_callers(project: Project, lint: Callable[..., list[str]]) -> None:
    lists = "import os\n\nclass D:\n    def names(self, d):\n        return os.listdir(d)\n"
    project({"data.py": lists, "a.py": "from data import D\nx = sorted(D().names('d'))\n"})
    assert lint() == ["data.py:5"]


def test_what_is_used_in_the_function_is_not_for_its_callers(
    project: Project, lint: Callable[..., list[str]]
) -> None:
    lists = "import os\n\ndef names(d):\n    x = os.listdir(d)\n    load(x[0])\n    return x\n"
    project({"data.py": lists, "a.py": "from data import names\nx = sorted(names('d'))\n"})
    assert lint() == ["data.py:4"]


OWN = """
    import os

    def listdir(folder):
        return os.listdir(folder)
"""


@pytest.mark.parametrize(
    ("file", "found"),
    [
        pytest.param("import data\nx = sorted(data.listdir('d'))", [], id="sorts"),
        pytest.param("from data import listdir\nx = sorted(listdir('d'))", [], id="by name"),
        pytest.param("from data import listdir\nx = listdir('d')[0]", ["data.py:5"], id="first"),
        pytest.param("import os\nx = len(os.listdir('d'))", ["data.py:5"], id="another's"),
    ],
)
def test_a_function_may_have_the_name_of_the_one_that_it_calls(
    project: Project, lint: Callable[..., list[str]], file: str, found: list[str]
) -> None:
    project({"data.py": OWN, "a.py": file})
    assert lint() == found


RECURSIVE = """
    import os

    def ls(folder, level=1):
        if level == 1:
            return [os.path.join(folder, name) for name in os.listdir(folder)]
        found = []
        for name in sorted(os.listdir(folder)):
            found.extend(ls(os.path.join(folder, name), level - 1))
        return found
"""


@pytest.mark.parametrize(
    ("file", "found"),
    [
        pytest.param("names = ls('d')\nassert len(names) == 1\nload(names[0])", [], id="one"),
        pytest.param("load(ls('d')[0])", ["data.py:6"], id="first"),
    ],
)
def test_a_star_import_brings_a_caller_and_a_function_may_call_itself(
    project: Project, lint: Callable[..., list[str]], file: str, found: list[str]
) -> None:
    files = {"pack/__init__.py": "from .data import *", "pack/data.py": RECURSIVE}
    project({"data.py": RECURSIVE, **files, "a.py": f"from data import *\n{file}\n"})
    assert [each for each in lint() if each.startswith("data")] == found


@pytest.mark.parametrize("jobs", ["1", "2"])
@pytest.mark.parametrize(
    ("use", "found"), [("len(names_in('d'))", []), ("names_in('d')[:8]", FOUND)]
)
def test_in_a_large_project_callers_are_asked_as_in_a_small_one(
    project: Project, lint: Callable[..., list[str]], jobs: str, use: str, found: list[str]
) -> None:
    others = {f"other{each}.py": "x = 1\n" for each in range(500)}
    project({"data.py": LISTS, "a.py": f"from data import names_in\nn = {use}\n", **others})
    assert lint("--jobs", jobs, ".") == found


def test_work_is_taken_in_turns_by_several_processes() -> None:
    found: list[int] = []

    def slow(shares: Iterator[int]) -> None:
        for each in shares:
            time.sleep(0.01)
            found.append(each)

    others = in_turns(slow, lambda: found, [range(500)], 3)
    assert len(others) == 2
    assert sorted(chain(found, *others)) == list(range(500)), "each is done once"
    assert all([found, *others]), "each process does some"


def test_each_process_begins_with_a_group_of_its_own_and_helps_with_others() -> None:
    groups, found = [range(4), range(4, 200)], list[int]()

    def slow(shares: Iterator[int]) -> None:
        for each in shares:
            time.sleep(0.01)
            found.append(each)

    (others,) = in_turns(slow, lambda: found, groups, 2)
    assert found[:4] == list(range(4))
    assert others[0] == 4
    assert sorted([*found, *others]) == list(range(200))
    assert len(found) > 4


def test_while_files_are_linted_some_programs_of_each_project_are_judged(
    project: Project, engine: Callable[..., Engine]
) -> None:
    names = [f"{folder}/{each}.py" for folder in "ab" for each in ("first", "second")]
    text = "import sys\n\nif __name__ == '__main__':\n    print(sys.argv)\n"
    folder = project(dict.fromkeys(names, text) | {"a/.git/HEAD": "", "b/.git/HEAD": ""})
    context = Context([str(folder / each) for each in names], Settings())
    linker = Linker(engine(), Cache.disabled(), context)
    judged = []
    linker._judge = lambda program: judged.append(os.path.relpath(program.path, folder))
    linting = iter([True, True, True, False])
    linker.begin(lambda function, shares: [*map(function, shares)], lambda: next(linting))
    assert judged == ["a/first.py", "b/first.py", "a/second.py"]


def test_what_a_process_that_dies_has_done_is_lost() -> None:
    own, found = os.getpid(), list[int]()

    def dies_elsewhere(shares: Iterator[int]) -> None:
        for each in shares:
            if os.getpid() != own:
                os._exit(1)
            time.sleep(0.01)
            found.append(each)

    assert in_turns(dies_elsewhere, lambda: found, [range(100)], 2) == []
    assert len(found) == 99


def test_what_a_pool_does_not_get_to_is_done_here() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        assert share_out(pool, str, range(50)) == list(map(str, range(50)))
        assert share_out(pool, _ends_other_processes, [os.getpid()] * 50) == ["here"] * 50


def _ends_other_processes(own: int) -> str:
    if os.getpid() != own:
        os._exit(3)
    return "here"


def test_what_is_worked_out_of_a_program_is_let_go_when_it_is_judged(
    project: Project, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = """
        import torch

        def main():
            model = torch.nn.Linear(2, 2)
            torch.manual_seed(0)
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(2)).sum().backward()
            optimizer.step()

        if __name__ == "__main__":
            main()
    """
    project({f"train{each}.py": text for each in range(4)})
    known, alive = WeakSet[Precedence](), list[int]()
    made = Precedence.__init__

    def noted(precedence: Precedence, *args: Any) -> None:
        made(precedence, *args)
        known.add(precedence)
        alive.append(len(known))

    monkeypatch.setattr(Precedence, "__init__", noted)
    gc.disable()  # nothing is left for it
    try:
        main(["--no-cache", "--output-format", "json", "."])
    finally:
        gc.enable()
    found = {each["filename"] for each in json.loads(capsys.readouterr().out)}
    assert len(found) == 4
    assert len(alive) >= 4
    assert set(alive) == {1}

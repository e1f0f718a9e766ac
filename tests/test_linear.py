"""What a file costs grows with its length: of four times the lines, linting takes four times the
function calls, and a little for what is looked up in sorted lists. Calls are counted, not seconds,
so that a busy machine changes nothing; what a single call does with a long text they do not tell,
which ``benchmarks/linear.py`` measures."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import pytest
from counting import calls
from families import EXAMPLES, FAMILIES

from detlint import runner
from detlint.callgraph import variation
from detlint.callgraph.other_files import OtherFiles
from detlint.cli import main
from detlint.dataflow.ir import Op
from detlint.dataflow.unit import Unit
from detlint.engine import Engine
from detlint.finding import Confidence
from detlint.index.index import Index
from detlint.index.launched import starts
from detlint.index.scan import Outline
from detlint.link import Linker
from detlint.rules import every_rule
from detlint.settings import Settings
from detlint.sources.cache import Cache
from detlint.sources.decoding import decode

if TYPE_CHECKING:
    from pathlib import Path

    from detlint.finding import Finding

LINES, TIMES, MOST = 60, 4, 5.5
FEW = 30  # times an example, of some lines
FILES = 100
FIRST = [family for family in EXAMPLES if family.endswith(" 1")]


@pytest.fixture(scope="module")
def engine() -> Engine:
    """All rules, and nothing of a project."""
    rules = every_rule()
    return Engine(
        rules, Settings(min_confidence=Confidence.POSSIBLE), known={rule.code for rule in rules}
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_work_grows_with_the_length_of_a_file(family: str, engine: Engine) -> None:
    path, text = FAMILIES[family]
    short, long = (text(lines).encode() for lines in (LINES, TIMES * LINES))
    engine.lint_bytes(path, text(2).encode())  # imports, and patterns that are made once
    few, many = (calls(lambda data=data: engine.lint_bytes(path, data)) for data in (short, long))  # type: ignore[misc]
    assert few > LINES, "this family is not looked at"
    assert many <= MOST * few, f"{few} calls for {LINES} lines, {many} for {TIMES * LINES}"


@pytest.mark.parametrize("family", FIRST)
def test_work_grows_with_how_often_an_example_is_repeated(family: str, engine: Engine) -> None:
    path, text = EXAMPLES[family]
    short, long = (text(times).encode() for times in (FEW, TIMES * FEW))
    engine.lint_bytes(path, text(2).encode())
    few, many = (calls(lambda data=data: engine.lint_bytes(path, data)) for data in (short, long))  # type: ignore[misc]
    assert many <= MOST * few, f"{few} calls for {FEW} times, {many} for {TIMES * FEW}"


def test_whether_others_name_a_function_asks_each_file_of_a_project_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".git").mkdir()
    train = "import torch\n\nloss(net(x)).backward()\noptimizer.step()\n"
    (tmp_path / "train.py").write_text(train, encoding="utf-8")
    listed = "def lonely(names: set[str]):\n    return list(names)\n"
    (tmp_path / "other.py").write_text(listed, encoding="utf-8")

    def linted(files: int) -> int:
        for number in range(files):
            (tmp_path / f"m{number}.py").write_text(f"lonely = {number}\n", encoding="utf-8")
        return calls(lambda: main(["--no-cache", "--jobs", "1", "-q", "."]))

    linted(2)
    few, many = linted(FILES), linted(TIMES * FILES)
    assert many <= MOST * few, f"{few} calls for {FILES} files, {many} for {TIMES * FILES}"


@pytest.mark.parametrize("mark", [".git/HEAD", "detlint.toml"])
def test_projects_that_are_done_leave_nothing_but_their_findings(
    mark: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = "def rows(text):\n    return list(set(text.split()))\n"
    train = (
        "import model\n\nfor row in model.rows(text):\n    net(row).backward()\n    optim.step()\n"
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(runner, "_MUCH", 0, raising=False)
    link = Linker.link
    counts = []

    def counted(self: Linker, *told: Any) -> list[Finding]:
        found = link(self, *told)
        gc.collect()
        counts.append(sum(type(x) in {Op, Unit, Outline} for x in gc.get_objects()))
        return found

    def held(projects: int) -> int:
        for number in range(projects):
            texts = {mark: "", "model.py": model, "train.py": f"{train}# {number}\n"}
            for name, text in texts.items():
                file = tmp_path / str(number) / name
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
        assert main(["--no-cache", "--jobs", "1", "-q", "."]) == 1
        return counts[-1]

    monkeypatch.setattr(Linker, "link", counted)
    gc.freeze()  # what other tests left is not looked at,
    monkeypatch.setattr(gc, "freeze", lambda: None)  # and what is made from here on is
    few, many = held(2), held(2 * TIMES)
    assert many <= few, f"{few} objects of 2 projects, {many} of {2 * TIMES}"


def test_what_files_that_ask_each_other_say_is_asked_once(tmp_path: Path) -> None:
    texts = {
        "a.py": "from b import odd\n\ndef even(n):\n    return odd(n - 1)\n\nlast = even(9)\n",
        "b.py": "from a import even\n\ndef odd(n):\n    return even(n - 1) or {n}\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    files = [str(tmp_path / each) for each in texts]
    index = Index(Cache.disabled())
    others = OtherFiles(index, lambda _: str(tmp_path), below=lambda _: files)
    unit = others.unit(files[0])
    [last] = unit.module.bindings["last"]
    assert calls(lambda: unit.across.types(last)) > LINES
    assert calls(lambda: unit.across.types(last)) < FEW
    assert others.importing(unit, "even", "even")
    assert calls(lambda: others.importing(unit, "even", "even")) < FEW


def test_what_is_fitted_is_not_followed_where_nothing_imports_keras(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    followed = []
    trained = variation.TrainedParts
    monkeypatch.setattr(
        variation, "TrainedParts", lambda *told: followed.append(told) or trained(*told)
    )
    text = "import random\nimport torch\n\nloss(net(x)).backward()\noptimizer.step()\n"
    (tmp_path / "train.py").write_text(f"{text}model.fit(Data(x))\n", encoding="utf-8")
    main(["--no-cache", "--jobs", "1", "-q", str(tmp_path)])
    assert not [told for told in followed if len(told) == 2]


def test_what_a_script_sets_for_each_program_is_looked_up_once() -> None:
    def asked(lines: int) -> int:
        text = "export PYTHONHASHSEED=0\npython t.py\n" * lines
        return calls(lambda: starts(decode("t.sh", text.encode())))

    asked(2)
    assert asked(TIMES * LINES) <= MOST * asked(LINES)

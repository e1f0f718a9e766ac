"""What a run says of itself: files, settings, time, budgets; and how to hear less."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from detlint import journal
from detlint.cli import main
from detlint.configuration import read as read_configuration
from detlint.configuration import values
from detlint.dataflow import lowering

LEAK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
SET = "def number(rows):\n    for word in set(rows):\n        print(word)\n"


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two projects, one within the other, with a finding each."""
    root = tmp_path / "repository"
    (root / "inner").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[tool.detlint]\nextend-exclude = ["old"]\n')
    (root / "inner" / "detlint.toml").write_text(
        'ignore = ["DET301"]\n[per-file-ignores]\n"a/*" = ["DET2"]\n'
        '[confidence]\nDET4 = "certain"\n[models]\n"mylib.boot" = "seeds torch"\n'
    )
    (root / "train.py").write_text(LEAK)
    (root / "inner" / "a.py").write_text(SET)
    monkeypatch.chdir(root)
    monkeypatch.setenv("DETLINT_CACHE_DIR", str(tmp_path / "cache"))
    yield root
    journal.close()


def test_files_are_shown_one_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([".", "--show-files"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "inner/a.py",
        "inner/detlint.toml",
        "pyproject.toml",
        "train.py",
    ]


def test_settings_are_shown_as_what_gives_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([".", "--show-settings"]) == 0
    inner, outer = capsys.readouterr().out.split("# pyproject.toml, for 2 files\n")
    assert inner.startswith("# inner/detlint.toml, for 2 files\n# rules that run: DET000, ")
    assert " DET301" in outer.splitlines()[0]
    assert " DET301" not in inner.splitlines()[1]
    (tmp_path / "shown.toml").write_text(inner)
    shown = values(
        read_configuration(str(tmp_path / "shown.toml")), lambda: ["DET301", "DET401", "DET203"]
    )
    own = values(read_configuration("inner/detlint.toml"), lambda: ["DET301", "DET401", "DET203"])
    assert own.items() <= shown.items()


def test_verbose_tells_what_is_read_by_which_configuration_and_what_took_the_time(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([".", "-v"]) == 1
    told = capsys.readouterr().err.splitlines()
    root = os.path.realpath(os.curdir)
    assert told[0].startswith("detlint: inner/detlint.toml: 2 files (1 python, 1 toml), root ")
    assert told[1] == f"detlint: pyproject.toml: 2 files (1 toml, 1 python), root {root}"
    assert told[2].startswith("detlint: linted 4 files, 0 are as they were at an earlier run; ")
    assert told[3] == "detlint: time of rules, in all processes together:"
    assert any(line.endswith("s  DET204") for line in told[4:])
    assert told[-1] == "detlint: no search was ended by its budget"


def test_verbose_tells_what_was_known_already(capsys: pytest.CaptureFixture[str]) -> None:
    main(["."])
    capsys.readouterr()
    main([".", "--verbose"])
    assert "linted 0 files, 4 are as they were" in capsys.readouterr().err


def test_verbose_tells_where_a_search_ended_by_its_budget(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lowering, "BUDGET", 3)
    main(["inner", "-v", "--no-cache"])
    assert (
        "detlint: inner/a.py: function number: DET204 looked no further than 3 operations of a "
        "function\n"
    ) in capsys.readouterr().err


def test_processes_tell_what_they_noted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(40):
        (tmp_path / f"m{number}.py").write_text(SET + "# " + "x" * 20_000)
    main([str(tmp_path), "-v", "--jobs", "2", "--isolated"])
    told = capsys.readouterr().err
    assert "linted 4" in told
    assert "s  DET204" in told


def test_the_time_of_what_a_rule_asks_is_not_its_own() -> None:
    journal.begin()
    with journal.asking("a.py", "DET102"), journal.asking("a.py", "DET101"):
        time.sleep(0.02)
    seconds = journal.notes().seconds
    assert seconds["DET101"] >= 0.02
    assert seconds["DET102"] < 0.01


def test_nothing_is_noted_unless_it_is_asked_for() -> None:
    with journal.asking("a.py", "DET101"):
        journal.ended("function f", "3 operations")
    journal.linted("a.py")
    assert journal.notes() == journal.Notes({}, {}, [])


def test_quiet_prints_nothing_but_findings(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["train.py", "-q", "--select", "DET301"]) == 1
    told = capsys.readouterr()
    assert [line.partition(": ")[0] for line in told.out.splitlines()] == ["train.py:3:1"]
    assert told.err == ""
    Path("empty").mkdir()
    assert main(["empty", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_watch_lints_again_when_a_file_or_the_configuration_changes(repository: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "detlint", "--watch", "--output-format=concise", "train.py"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    told = process.stdout

    def until_watching() -> str:
        lines = []
        while not lines or "Ctrl-C ends this" not in lines[-1]:
            lines.append(told.readline())
            assert lines[-1], lines
        return "".join(lines)

    try:
        assert "train.py:3:1: DET301" in until_watching()
        (repository / "train.py").write_text(LEAK.replace("True", "False"))
        said = until_watching()
        assert "All checks passed" in said
        assert "detlint: train.py; watching " in said
        (repository / "train.py").write_text(f"\n{LEAK}")
        assert "train.py:4:1: DET301" in until_watching()
        (repository / "pyproject.toml").write_text('[tool.detlint]\nignore = ["DET3"]\n')
        assert "All checks passed" in until_watching()
        (repository / "pyproject.toml").write_text("[tool.detlint]\nnonsense = 1\n")
        assert "nonsense: no such setting" in until_watching()
    finally:
        process.terminate()
        process.wait()
        told.close()


def test_watch_looks_again_soon_however_long_linting_took(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, pauses = [0.0], []

    def lint() -> None:
        clock[0] += 60

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        raise KeyboardInterrupt

    monkeypatch.setattr("detlint.cli.watch._linting", lambda *_: lint)
    monkeypatch.setattr("time.monotonic", lambda: clock[0])
    monkeypatch.setattr("time.sleep", sleep)
    assert main(["--watch", str(repository / "train.py")]) == 0
    assert pauses == [0.3]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--diff", "."], "--diff is not for that"),
        (["--no-cache", "."], "--no-cache is not for that"),
        (["-"], "--watch takes files and folders, not standard input"),
    ],
)
def test_watch_refuses_what_makes_no_sense(
    arguments: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--watch", *arguments]) == 2
    assert says in capsys.readouterr().err

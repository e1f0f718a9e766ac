"""Each file is linted by the nearest configuration, whatever is named beside it."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from pathlib import Path

LEAKS = (
    "import torch, numpy\ntorch.backends.cudnn.benchmark = True\n"
    "x = numpy.random.default_rng().random()\n"
)


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two projects in one: what the outer ignores, the inner reports, and the other way round."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "pyproject.toml", '[tool.detlint]\nignore = ["DET3"]\n')
    write(tmp_path, "a.py", LEAKS)
    write(tmp_path, "inner/detlint.toml", 'ignore = ["DET1"]\nextend-exclude = ["old.py"]\n')
    write(tmp_path, "inner/b.py", LEAKS)
    write(tmp_path, "inner/old.py", LEAKS)
    return tmp_path


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    main(["--no-cache", "--output-format", "json", *arguments])
    listed = json.loads(capsys.readouterr().out)
    return [f"{os.path.relpath(each['filename'])} {each['code']}" for each in listed]


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        (["."], ["a.py DET101", "inner/b.py DET301"]),
        (["inner"], ["inner/b.py DET301"]),
        (["inner", "a.py"], ["a.py DET101", "inner/b.py DET301"]),
        (["a.py", "inner/b.py"], ["a.py DET101", "inner/b.py DET301"]),
        (["inner/b.py", "a.py"], ["a.py DET101", "inner/b.py DET301"]),
        (["a.py", "inner/old.py"], ["a.py DET101", "inner/old.py DET301"]),
    ],
)
def test_a_file_has_the_settings_of_the_nearest_configuration(
    capsys: pytest.CaptureFixture[str], paths: list[str], expected: list[str]
) -> None:
    assert found(capsys, *paths) == expected


def test_which_file_comes_first_makes_no_difference(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "a.py").rename(project / "z.py")
    assert found(capsys, ".") == ["inner/b.py DET301", "z.py DET101"]
    write(project, "above/c.py", LEAKS)
    assert found(capsys, ".") == ["above/c.py DET101", "inner/b.py DET301", "z.py DET101"]


def test_force_exclude_holds_for_files_that_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert found(capsys, "--force-exclude", "a.py", "inner/old.py") == ["a.py DET101"]


def test_one_configuration_may_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    expected = ["a.py DET101", "inner/b.py DET101", "inner/old.py DET101"]
    assert found(capsys, "--config", "pyproject.toml", ".") == expected
    assert len(found(capsys, "--isolated", ".")) == 6


def test_fixes_and_baselines_are_of_each_project(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["baseline", "--no-cache", "."]) == 0
    files = sorted(str(each.relative_to(project)) for each in project.rglob("*baseline.json"))
    assert files == ["detlint-baseline.json", "inner/detlint-baseline.json"]
    assert found(capsys, ".") == []
    assert main(["--no-cache", "--no-baseline", "--fix", "--exit-zero", "."]) == 0
    assert "benchmark = True" in (project / "a.py").read_text()
    assert "benchmark = False" in (project / "inner" / "b.py").read_text()
    assert "benchmark = True" in (project / "inner" / "old.py").read_text()

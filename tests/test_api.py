"""detlint as a module: the same findings as on the command line, and errors that are raised."""

from __future__ import annotations

import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import detlint
from detlint.cli import main
from detlint.errors import SettingsError, UsageError

LEAKS = (
    "import torch, numpy\ntorch.backends.cudnn.benchmark = True\nx = numpy.random.default_rng()\n"
)


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.detlint]\nignore = ["DET1"]\n')
    (tmp_path / "train.py").write_text(LEAKS)
    return tmp_path


def test_paths_are_linted_as_on_the_command_line(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = detlint.lint_paths(["."])
    assert [(each.path, each.row, each.code) for each in found] == [("train.py", 2, "DET301")]
    assert isinstance(found[0], detlint.Finding)
    assert found[0].confidence is detlint.Confidence.LIKELY
    main(["--no-cache", "--output-format", "json", "."])
    (told,) = json.loads(capsys.readouterr().out)
    assert told["message"] == found[0].message
    assert len(detlint.lint_paths([project], isolated=True)) == 2
    assert len(detlint.lint_paths([project / "train.py"], isolated=True, select=["DET1"])) == 1
    assert detlint.lint_paths(["."], ignore=["DET3"]) == []
    assert main(["baseline", "."]) == 0
    assert detlint.lint_paths(["."]) == []
    assert len(detlint.lint_paths(["."], baseline=False)) == 1


def test_a_source_need_not_be_a_file(project: Path) -> None:
    (found,) = detlint.lint_source(LEAKS, project / "other.py")
    assert (found.code, found.row) == ("DET301", 2)
    assert detlint.lint_source("x = 1\n") == []
    kinds = detlint.lint_source(b"export CUBLAS_WORKSPACE_CONFIG=:4096:2\npython t.py\n", "t.sh")
    assert [each.code for each in kinds] == ["DET306"]
    possible = detlint.lint_source("def f(:\n", min_confidence="possible")
    assert [each.code for each in possible] == ["DET000"]


def test_errors_are_raised_with_their_text(project: Path) -> None:
    with pytest.raises(UsageError, match="missing"):
        detlint.lint_paths(["missing.py"])
    with pytest.raises(SettingsError, match="no such code: 'DET9'"):
        detlint.lint_paths(["."], select=["DET9"])
    with pytest.raises(detlint.DetlintError, match="min-confidence: must be"):
        detlint.lint_source("", min_confidence="sure")
    (project / "detlint-baseline.json").write_text("{")
    with pytest.raises(detlint.DetlintError, match="not a baseline"):
        detlint.lint_paths(["."])


def test_the_page_names_every_argument_and_field_and_its_blocks_run(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = (Path(__file__).parent.parent / "docs" / "python.md").read_text()
    cells = re.findall(r"^\| (`.*?) \|", page, re.MULTILINE)
    words = {word for cell in cells for word in cell.split("`")}
    assert set(inspect.signature(detlint.lint_paths).parameters) <= words
    assert set(detlint.Finding._fields) <= words
    (project / "examples").mkdir()
    (project / "examples" / "train.py").write_text(LEAKS)
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(block, {})  # noqa: S102 - what readers paste
    assert capsys.readouterr().out.startswith("examples/train.py:2:1 DET301 ")


def test_it_prints_nothing_and_imports_nothing_before(project: Path) -> None:
    code = (
        "import sys, detlint\n"
        "assert not {'argparse', 'libcst', 'detlint.api'} & sys.modules.keys()\n"
        "assert len(detlint.lint_paths(['.'])) == 1\n"
        "assert all(getattr(detlint, name) for name in detlint.__all__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env={**os.environ, "PYTHONWARNINGS": "error"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = detlint.nothing  # type: ignore[attr-defined]

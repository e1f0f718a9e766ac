"""``--add-ignore`` writes comments that silence findings, and change nothing else."""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import pytest

from detlint.cli import main

CASES = sorted((Path(__file__).parent / "cases").glob("*.py"))
REASON = "it is a test"


def silenced(folder: Path, name: str, text: str) -> str:
    """A file after its findings were silenced; none is left, and none is unused."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    arguments = ["--isolated", "--no-cache", str(path)]
    assert main(["--exit-zero", *arguments]) == 0
    assert main(["--add-ignore", REASON, *arguments]) == 0
    assert main(arguments) == 0
    return path.read_text(encoding="utf-8")


# ``@`` stands for the comment, and its codes.
LINES = {
    "plain": "torch.backends.cudnn.benchmark = True  @DET301\n",
    "behind a comment": "torch.backends.cudnn.benchmark = True  # fast  @DET301\n",
    "several rows": "torch.backends.cudnn.benchmark = (\n    True\n)  @DET301\n",
    "a backslash": "torch.backends.cudnn.benchmark = \\\n    True  @DET301\n",
    "a string behind it": 'x = np.random.default_rng(), """\na"""  @DET101\n',
    "two codes": "torch.backends.cudnn.benchmark = True; x = np.random.default_rng()"
    "  @DET101, DET301\n",
}


@pytest.mark.parametrize("name", LINES)
def test_a_comment_stands_at_the_end_of_the_line(tmp_path: Path, name: str) -> None:
    text = f"import numpy as np, torch\n{LINES[name]}"
    expected = re.sub("@(.*)", rf"# detlint: ignore[\1] {REASON}", text)
    assert silenced(tmp_path, "train.py", re.sub("  @.*", "", text)) == expected


def test_a_comment_that_is_there_takes_one_more_code(tmp_path: Path) -> None:
    line = "torch.backends.cudnn.benchmark = True; x = np.random.default_rng()"
    text = f"import numpy as np, torch\n{line}  # detlint: ignore[DET101] on purpose\n"
    expected = text.replace("[DET101]", "[DET101, DET301]")
    assert silenced(tmp_path, "train.py", text) == expected


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("train.sh", "set -e\n  CUBLAS_WORKSPACE_CONFIG=:4096:2 \\\n  python train.py\n"),
        ("Dockerfile", "FROM python\nENV CUBLAS_WORKSPACE_CONFIG=:4096:2\nRUN python train.py\n"),
        ("Makefile", "train:\n\tCUBLAS_WORKSPACE_CONFIG=:4096:2 python train.py\n"),
        ("config.yaml", "trainer:\n  max_epochs: 3\n  accelerator: gpu\n  benchmark: true\n"),
        (
            "kernel.cu",
            "__global__ void f(float* x, float* y) {\n  atomicAdd(y, x[threadIdx.x]);\n}\n",
        ),
    ],
)
def test_in_other_sources_it_stands_above(tmp_path: Path, name: str, text: str) -> None:
    found = silenced(tmp_path, name, text)
    comments = [line for line in found.splitlines() if "detlint: ignore[" in line]
    assert len(comments) == 1
    assert [line for line in found.splitlines() if line not in comments] == text.splitlines()


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_code_of_the_cases_stays_what_it_is(path: Path, tmp_path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = silenced(tmp_path, path.name, text)
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))


def test_a_notebook_keeps_its_cells(tmp_path: Path) -> None:
    lines = ["import torch\n", "torch.backends.cudnn.benchmark = True"]
    cell = {"cell_type": "code", "source": lines, "metadata": {}, "outputs": []}
    cell["execution_count"] = None
    book = {"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    found = json.loads(silenced(tmp_path, "train.ipynb", json.dumps(book, indent=1)))
    assert found["cells"][0]["source"] == [
        lines[0],
        f"{lines[1]}  # detlint: ignore[DET301] {REASON}",
    ]


def test_what_takes_no_comment_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "config.json"
    text = '{"trainer": {"max_epochs": 3, "accelerator": "gpu", "benchmark": true}}\n'
    path.write_text(text)
    assert main(["--isolated", "--no-cache", "--add-ignore", REASON, str(path)]) == 1
    assert path.read_text() == text
    told = capsys.readouterr().err
    assert "silenced 0 findings" in told
    assert f"{path}: has findings left that no comment can silence: use per-file-ignores" in told


def test_a_file_that_does_not_parse_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.py"
    text = "import torch\ntorch.backends.cudnn.benchmark = True\ndef f(:\n"
    path.write_text(text)
    (tmp_path / "latin.py").write_bytes(b"torch.backends.cudnn.benchmark = True  # \xe9\n")
    assert main(["--isolated", "--no-cache", "--add-ignore", REASON, str(tmp_path)]) == 1
    assert path.read_text() == text
    assert capsys.readouterr().err.count("has findings left") == 2


def test_diff_shows_it_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "train.py"
    text = "import torch\ntorch.backends.cudnn.benchmark = True\n"
    path.write_text(text)
    arguments = ["--isolated", "--no-cache", "--add-ignore", REASON, "--diff", str(path)]
    assert main(arguments) == 0
    captured = capsys.readouterr()
    assert path.read_text() == text
    assert f"+torch.backends.cudnn.benchmark = True  # detlint: ignore[DET301] {REASON}" in (
        captured.out
    )
    assert "would silence 1 finding" in captured.err


@pytest.mark.parametrize("given", ["", "  ", "examples"])
def test_it_takes_a_reason(
    given: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()
    assert main(["--add-ignore", given, "."]) == 2
    assert "--add-ignore takes the reason" in capsys.readouterr().err


def test_the_example_can_be_silenced(tmp_path: Path) -> None:
    shutil.copytree(Path(__file__).parents[1] / "examples", tmp_path / "examples")
    arguments = ["--isolated", "--no-cache", str(tmp_path)]
    assert main(["--add-ignore", REASON, *arguments]) == 0
    assert main(arguments) == 0

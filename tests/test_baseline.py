"""Known findings, of a baseline or of an earlier commit, are left out; new ones are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from detlint.cli import main

if TYPE_CHECKING:
    from pathlib import Path

LEAK = "torch.backends.cudnn.benchmark = True"
TRAIN = f"""\
import torch


def main():
    {LEAK}
    return torch.nn.Linear(2, 2)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one finding, and the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("PRE_COMMIT_FROM_REF", raising=False)
    write(tmp_path, "pyproject.toml", '[tool.detlint]\nselect = ["DET3"]\nignore = ["DET304"]\n')
    write(tmp_path, "train.py", TRAIN)
    return tmp_path


def write(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def found(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    """The places and codes that a run reports; its status is that of the findings."""
    capsys.readouterr()
    status = main(["--output-format", "json", *(arguments or (".",))])
    listed = json.loads(capsys.readouterr().out)
    assert status == bool(listed)
    names = [os.path.relpath(each["filename"]) for each in listed]
    return [
        f"{name}:{each['location']['row']} {each['code']}"
        for name, each in zip(names, listed, strict=True)
    ]


class TestBaseline:
    @pytest.fixture(autouse=True)
    def _kept(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert found(capsys) == ["train.py:5 DET301"]
        assert main(["baseline", "."]) == 0
        told = capsys.readouterr().err
        assert told == "detlint: detlint-baseline.json: 1 known finding, of which 1 new; 0 gone\n"

    def test_what_is_known_is_left_out_and_counted(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert main(["."]) == 0
        told = capsys.readouterr().out
        assert told.startswith("All checks passed (")
        assert told.endswith("). 1 known finding left out.\n")
        assert found(capsys, "train.py") == []
        assert found(capsys, ".", "--no-baseline") == ["train.py:5 DET301"]
        assert found(capsys, ".", "--isolated", "--select", "DET301") == ["train.py:5 DET301"]

    def test_the_file_says_what_is_known_in_words(self, project: Path) -> None:
        data = json.loads((project / "detlint-baseline.json").read_text())
        entry = {"code": "DET301", "in": "main", "line": LEAK}
        assert data == {"version": 1, "findings": {"train.py": [entry]}}

    @pytest.mark.parametrize(
        "text",
        [
            "# a comment\n\n" + TRAIN,
            TRAIN.replace("def main", "def run"),
            TRAIN.replace("def main():\n", "def main():\n    if True:\n    ").replace(
                "\n    return", "\n        return"
            ),
        ],
        ids=["moved down", "function renamed", "indented"],
    )
    def test_it_stays_known_where_lines_move(
        self, project: Path, capsys: pytest.CaptureFixture[str], text: str
    ) -> None:
        write(project, "train.py", text)
        assert found(capsys) == []

    def test_it_stays_known_where_files_are_renamed(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (project / "code").mkdir()
        (project / "train.py").rename(project / "code" / "fit.py")
        assert found(capsys) == []
        assert main(["baseline", "--prune", "."]) == 0
        data = json.loads((project / "detlint-baseline.json").read_text())
        assert list(data["findings"]) == ["code/fit.py"]
        assert found(capsys) == []

    def test_another_one_of_its_kind_is_new(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "train.py", f"{TRAIN}\n\ndef other():\n    {LEAK}\n")
        assert found(capsys) == ["train.py:10 DET301"]
        write(project, "train.py", TRAIN.replace(LEAK, f"{LEAK}\n    {LEAK}"))
        assert found(capsys) == ["train.py:6 DET301"]
        write(project, "train.py", TRAIN)
        write(project, "fit.py", TRAIN)  # train.py is still there
        assert found(capsys) == ["fit.py:5 DET301"]

    def test_what_is_mended_is_told_and_dropped(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "train.py", TRAIN.replace("True", "False"))
        write(project, "fit.py", TRAIN)
        assert main(["train.py"]) == 0
        told = capsys.readouterr().err
        assert "1 known finding of the baseline is mended: `detlint baseline --prune .`" in told
        assert main(["baseline", "--prune", "."]) == 0
        told = capsys.readouterr().err
        assert "detlint-baseline.json: 0 known findings, of which 0 new; 1 gone" in told
        assert found(capsys) == ["fit.py:5 DET301"]

    def test_a_part_of_the_project_is_kept_beside_the_rest(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "fit.py", TRAIN)
        assert main(["baseline", "fit.py"]) == 0
        told = capsys.readouterr().err
        assert "2 known findings, of which 1 new; 0 gone" in told
        assert found(capsys) == []

    @pytest.mark.parametrize(
        "filters",
        [
            ["--select", "DET401", "."],
            ["--ignore", "DET301", "."],
            ["--min-confidence", "certain", "."],
            ["other.py"],
            [".", "--exclude", "train.py,tests"],
        ],
        ids=lambda filters: filters[0],
    )
    def test_what_a_run_leaves_out_is_not_mended(
        self, project: Path, capsys: pytest.CaptureFixture[str], filters: list[str]
    ) -> None:
        write(project, "tests/test_it.py", TRAIN)  # where a finding is less sure
        write(project, "other.py", "import torch\nprint(torch.empty(3))\n")
        write(project, "pyproject.toml", "[tool.detlint]\n")
        every = ["--min-confidence", "possible", "--select", "DET301,DET401", "."]
        assert main(["baseline", *every]) == 0
        kept = (project / "detlint-baseline.json").read_text()
        capsys.readouterr()
        main(filters)
        assert "mended" not in capsys.readouterr().err
        for command in (["baseline", "--prune"], ["baseline"]):
            assert main([*command, *filters]) == 0
            assert "3 known findings, of which 0 new; 0 gone" in capsys.readouterr().err
            assert (project / "detlint-baseline.json").read_text() == kept

    def test_of_what_a_run_looks_for_all_that_is_mended_is_dropped(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "other.py", "import torch\nprint(torch.empty(3))\n")
        assert main(["baseline", "--extend-select", "DET401", "."]) == 0
        write(project, "other.py", "import torch\nprint(torch.zeros(3))\n")
        write(project, "train.py", TRAIN.replace("True", "False"))
        capsys.readouterr()
        assert main(["baseline", "--prune", "--extend-select", "DET401", "other.py"]) == 0
        assert "1 known finding, of which 0 new; 1 gone" in capsys.readouterr().err
        (project / "train.py").unlink()
        assert main(["baseline", "--prune", "other.py"]) == 0
        assert "1 known finding, of which 0 new; 0 gone" in capsys.readouterr().err
        assert main(["baseline", "--prune", "."]) == 0
        assert "0 known findings, of which 0 new; 1 gone" in capsys.readouterr().err

    def test_standard_input_knows_it_too(self, project: Path) -> None:
        done = subprocess.run(
            [sys.executable, "-m", "detlint", "--stdin-filename", "train.py", "-"],
            input=TRAIN.replace(LEAK, f"{LEAK}\n    {LEAK}"),
            cwd=project,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 1
        assert done.stdout.startswith("train.py:6:5: DET301")
        assert "1 known finding left out" in done.stdout

    def test_fixes_leave_what_is_known(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "train.py", f"{TRAIN}\n\ndef other():\n    {LEAK}\n")
        assert main(["--fix", "."]) == 0
        text = (project / "train.py").read_text()
        assert text == f"{TRAIN}\n\ndef other():\n    {LEAK.replace('True', 'False')}\n"
        assert found(capsys) == []

    @pytest.mark.parametrize(
        ("text", "told"),
        [
            ("{", "not a baseline of detlint"),
            ("[]", "not a baseline of detlint"),
            ('{"version": 2, "findings": {}}', "its version is 2, and this detlint reads 1"),
            ('{"version": 1, "findings": {"a.py": [{"code": 1}]}}', "not a baseline"),
        ],
    )
    def test_a_damaged_file_is_told(
        self, project: Path, capsys: pytest.CaptureFixture[str], text: str, told: str
    ) -> None:
        write(project, "detlint-baseline.json", text)
        assert main(["."]) == 2
        error = capsys.readouterr().err
        assert "detlint-baseline.json" in error
        assert told in error


def git(folder: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=test", "-c", "user.email=test@example.invalid")
    subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )


class TestCommits:
    @pytest.fixture(autouse=True)
    def _repository(self, project: Path) -> None:
        write(project, ".gitignore", "cache/\n")
        git(project, "init", "--quiet", "--initial-branch=main")
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "first")

    def test_only_what_a_branch_adds_is_reported(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        git(project, "switch", "--quiet", "-c", "branch")
        (project / "train.py").rename(project / "fit.py")
        write(project, "new.py", TRAIN)
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "second")
        assert found(capsys, ".", "--diff-base", "main") == ["new.py:5 DET301"]
        assert found(capsys, "fit.py", "--diff-base", "main") == []
        git(project, "switch", "--quiet", "main")
        write(project, "other.py", TRAIN)
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "main goes on")
        git(project, "switch", "--quiet", "branch")
        assert found(capsys, ".", "--diff-base", "main") == ["new.py:5 DET301"]

    def test_what_a_change_elsewhere_causes_is_reported(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """No line of train.py changes, and its finding is new."""
        write(project, "pyproject.toml", '[tool.detlint]\nselect = ["DET102"]\n')
        write(project, "seeds.py", "import random\n\n\ndef seed():\n    random.seed(0)\n")
        program = """\
import random

import torch
from seeds import seed

seed()
model = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(9):
    loss = model(torch.ones(2)).sum() * random.random()
    loss.backward()
    optimizer.step()
"""
        write(project, "train.py", program)
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "seeded")
        before = found(capsys)
        write(project, "seeds.py", "import random\n\n\ndef seed():\n    pass\n")
        after = found(capsys)
        assert len(after) > len(before)
        assert found(capsys, ".", "--diff-base", "HEAD") == sorted(set(after) - set(before))

    def test_a_commit_is_judged_by_what_it_adds(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "train.py", f"{TRAIN}\n\ndef other():\n    {LEAK}\n")
        git(project, "add", "train.py")
        assert found(capsys, "train.py", "--staged") == ["train.py:10 DET301"]

    def test_a_tree_without_changes_is_judged_whole(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        """As in CI, where nothing is staged: else it would always pass."""
        assert found(capsys, "train.py", "--staged") == ["train.py:5 DET301"]

    def test_what_pre_commit_compares_with_counts(
        self,
        project: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        write(project, "new.py", TRAIN)
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "second")
        monkeypatch.setenv("PRE_COMMIT_FROM_REF", "HEAD~1")
        assert found(capsys, ".", "--staged") == ["new.py:5 DET301"]

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["--diff-base", "nowhere", "."], "git knows no commit 'nowhere'"),
            (["--diff-base", "main", "-"], "--diff-base and --staged take files"),
        ],
    )
    def test_what_cannot_be_compared_is_told(
        self,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
        arguments: list[str],
        told: str,
    ) -> None:
        with open(os.devnull, encoding="utf-8") as empty:
            monkeypatch.setattr("sys.stdin", empty)
            assert main(arguments) == 2
        assert told in capsys.readouterr().err

    def test_a_commit_is_looked_for_also_where_nothing_is_found(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        write(project, "clean.py", "x = 1\n")
        assert main(["--diff-base", "main", "clean.py"]) == 0
        assert main(["--diff-base", "nowhere", "clean.py"]) == 2
        assert "git knows no commit 'nowhere'" in capsys.readouterr().err

    def test_all_of_what_git_says_is_told(
        self,
        project: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
        assert main(["--diff-base", "main", "."]) == 2
        told = capsys.readouterr().err
        assert f"detected dubious ownership in repository at '{project}'" in told
        assert f"git config --global --add safe.directory {project}" in told

    def test_a_clone_without_the_history_is_told(
        self, project: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        git(project, "switch", "--quiet", "--orphan", "apart")
        write(project, "train.py", TRAIN)
        git(project, "add", "train.py")
        git(project, "commit", "--quiet", "-m", "apart")
        assert main(["--diff-base", "main", "--no-cache", "."]) == 2
        assert "fetch-depth: 0" in capsys.readouterr().err

    def test_links_of_the_commit_are_not_followed(
        self, project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        outside = tmp_path.parent / "outside.py"
        outside.write_text(TRAIN)
        (project / "link.py").symlink_to(outside)
        git(project, "add", "--all")
        git(project, "commit", "--quiet", "-m", "link")
        write(project, "new.py", TRAIN)
        assert found(capsys, "new.py", "--diff-base", "HEAD") == ["new.py:5 DET301"]


@pytest.mark.parametrize(
    ("asked", "text"),
    [("--diff-base=main", TRAIN), ("--diff-base=main", "x = 1\n"), ("--staged", TRAIN)],
    ids=["found", "clean", "staged"],
)
def test_outside_of_a_repository_there_is_no_commit(
    project: Path, capsys: pytest.CaptureFixture[str], asked: str, text: str
) -> None:
    write(project, "train.py", text)
    assert main([asked, "."]) == 2
    assert "not a git repository" in capsys.readouterr().err

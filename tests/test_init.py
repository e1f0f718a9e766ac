"""`detlint init` adds what fits a repository, shows it first, and overwrites nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml

from detlint import addresses
from detlint.cli import adoption, main

LEAK = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
HOOKS = """\
repos:
- repo: https://example.invalid/tool
  rev: v1
  hooks:
  - id: tool  # its comment
    args: [--fast]

# what pre-commit.ci does
ci:
  skip: [tool]
"""


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one finding, and the working directory."""
    root = tmp_path / "repository"
    (root / ".git").mkdir(parents=True)
    (root / "train.py").write_text(LEAK, encoding="utf-8")
    monkeypatch.chdir(root)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return root


def write(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def toml(path: Path) -> dict[str, Any]:
    tomllib = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    found: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return found


def files(root: Path) -> set[str]:
    return {str(each.relative_to(root)) for each in root.rglob("*") if each.is_file()}


def test_a_bare_repository_gets_a_configuration_and_is_told_the_rest(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--yes"]) == 0
    assert files(repository) == {"train.py", "detlint.toml"}
    told = capsys.readouterr()
    assert told.out.startswith("--- /dev/null\n+++ b/detlint.toml\n")
    assert "+# What can be set here: https://" in told.out
    assert [line.removeprefix("detlint: ") for line in told.err.splitlines()] == [
        "no .pre-commit-config.yaml here: --pre-commit writes one",
        "no CI that detlint knows is set up here: --ci github and --ci gitlab write a step",
        "detlint.toml: written",
        "`detlint .` finds 1 finding now. To begin with what is new:",
        "  detlint baseline .    # keeps them as known in detlint-baseline.json, which you commit",
    ]


def test_without_a_terminal_and_without_yes_it_shows_and_writes_nothing(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init"]) == 2
    assert files(repository) == {"train.py"}
    assert capsys.readouterr().err.endswith(
        "detlint: no terminal to ask on, so that nothing is written: --yes adds this\n"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(("answer", "written"), [("y", True), ("n", False), ("", False)])
def test_on_a_terminal_it_asks(repository: Path, answer: str, written: bool) -> None:
    import pty

    parent, child = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "detlint", "init"], stdin=child, stdout=child, stderr=child
    )
    os.close(child)
    os.write(parent, f"{answer}\n".encode())
    said = b""
    try:
        while part := os.read(parent, 4096):
            said += part
    except OSError:  # what Linux says of a terminal whose other end is closed
        pass
    assert process.wait(60) == 0
    os.close(parent)
    assert b"Add this? [y/N]" in said
    assert (repository / "detlint.toml").exists() is written


def test_a_guard_of_its_own_is_told_to_keep_away(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "src" / "guard").mkdir(parents=True)
    (repository / "src" / "guard" / "__init__.py").touch()
    assert main(["init", "--yes"]) == 0
    told = "`guard` is this project's own: have detlint in an environment of its own"
    assert f"detlint: {told}" in capsys.readouterr().err.splitlines()


def test_a_pyproject_gets_the_table_with_the_release_and_the_copied_code(repository: Path) -> None:
    before = '[project]\r\nname = "x"\r\ndependencies = ["numpy", "torch==2.6.0"]'
    path = write(repository, "pyproject.toml", before)
    (repository / "third_party").mkdir()
    (repository / "vendor").mkdir()
    assert main(["init", "--yes"]) == 0
    after = path.read_bytes().decode()
    assert after.startswith(f"{before}\r\n\r\n[tool.detlint]\r\n# What can be set here: ")
    assert after.count("\n") == after.count("\r\n")
    assert toml(path)["tool"] == {
        "detlint": {"target-torch": "2.6", "extend-exclude": ["third_party", "vendor"]}
    }


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", "[tool.detlint]\nignore = ['DET2']\n"),
        ("detlint.toml", "ignore = ['DET2']\n"),
    ],
)
def test_a_configuration_stays_as_it_is(repository: Path, name: str, text: str) -> None:
    path = write(repository, name, text)
    plan = adoption.plan(str(repository))
    assert plan.additions == []
    assert plan.notes[0] == f"{name} has the configuration already"
    assert path.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("text", ["tool = {x = {y = 1}}\n", "not toml\n"])
def test_a_pyproject_that_takes_no_table_is_left_alone(repository: Path, text: str) -> None:
    path = write(repository, "pyproject.toml", text)
    assert main(["init", "--yes"]) == 0
    assert path.read_text(encoding="utf-8") == text
    assert (repository / "detlint.toml").exists()


def test_a_release_that_detlint_does_not_know_is_not_written(repository: Path) -> None:
    write(repository, "requirements.txt", "torchvision==0.21\ntorch==99.1\n")
    (addition,) = adoption.plan(str(repository)).additions
    assert "target-torch" not in addition.after


@pytest.mark.parametrize(
    "before",
    [
        HOOKS,
        HOOKS.replace("\n", "\r\n"),
        HOOKS.partition("\n#")[0],
        "repos:\n    - repo: local\n      hooks: [{id: a, name: a, entry: a, language: system}]",
    ],
)
def test_an_entry_for_pre_commit_comes_behind_the_others(repository: Path, before: str) -> None:
    path = write(repository, ".pre-commit-config.yaml", before)
    assert main(["init", "--yes"]) == 0
    after = path.read_bytes().decode()
    assert set(before.splitlines()) <= set(after.splitlines())
    assert ("\r\n" in before) is ("\r\n" in after)
    old, new = yaml.safe_load(before), yaml.safe_load(after)
    (hook,) = new["repos"].pop()["hooks"]
    assert new == old
    assert hook["id"] == "detlint"


@pytest.mark.parametrize("before", ["repos: []\n", "repos: [{repo: meta, hooks: []}]\n", "]"])
def test_what_cannot_be_extended_is_told_with_what_to_add(repository: Path, before: str) -> None:
    path = write(repository, ".pre-commit-config.yaml", before)
    plan = adoption.plan(str(repository))
    assert [os.path.basename(each.path) for each in plan.additions] == ["detlint.toml"]
    assert "Add to its `repos`:\n  - repo: local\n" in plan.notes[0]
    assert path.read_text(encoding="utf-8") == before


def test_a_workflow_of_its_own_where_github_has_others(repository: Path) -> None:
    other = write(repository, ".github/workflows/test.yml", "on: push\n")
    assert main(["init", "--yes"]) == 0
    workflow = yaml.safe_load((repository / ".github/workflows/detlint.yml").read_text())
    steps = workflow["jobs"]["detlint"]["steps"]
    assert [each["run"] for each in steps if "run" in each][-1] == "detlint ."
    assert other.read_text() == "on: push\n"


@pytest.mark.parametrize(
    ("before", "stage"),
    [
        ("stages: [build, test]\nunit:\n  script: !reference [.a, script]\n", None),
        ("stages: [lint, deploy]\nunit:\n  script: make\n", "lint"),
        ("unit:\n  script: make", None),
    ],
)
def test_a_job_of_its_own_where_gitlab_has_others(
    repository: Path, before: str, stage: str | None
) -> None:
    path = write(repository, ".gitlab-ci.yml", before)
    assert main(["init", "--yes"]) == 0
    after = path.read_text(encoding="utf-8")
    assert after.startswith(before)
    job = adoption._yaml(after)["detlint"]
    assert job.get("stage") == stage
    assert "detlint --output-format text --output-format gitlab=detlint.json ." in job["script"]


def test_another_server_is_told_the_commands(repository: Path) -> None:
    write(repository, "Jenkinsfile", "pipeline {}\n")
    note = adoption.plan(str(repository)).notes[-1]
    assert note.startswith("Jenkins runs what Jenkinsfile says: add `pip install ")


def test_the_second_time_there_is_nothing_left_to_add(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    everything = ["init", "--yes", "--pre-commit", "--ci", "gitlab"]
    assert main(everything) == 0
    written = {name: (repository / name).read_bytes() for name in files(repository)}
    assert {".pre-commit-config.yaml", ".gitlab-ci.yml", "detlint.toml"} < written.keys()
    capsys.readouterr()
    assert main(everything) == 0
    assert {name: (repository / name).read_bytes() for name in files(repository)} == written
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("already") == 3


def test_a_file_that_changed_meanwhile_stays_as_it_is(repository: Path) -> None:
    path = write(repository, "pyproject.toml", "[project]\nname = 'x'\n")
    (addition,) = adoption.plan(str(repository)).additions
    path.write_text("[project]\nname = 'y'\n", encoding="utf-8")
    with pytest.raises(OSError, match="it has changed meanwhile"):
        adoption.write(addition)
    assert path.read_text(encoding="utf-8") == "[project]\nname = 'y'\n"


def test_a_new_file_is_never_written_over_another(repository: Path) -> None:
    (addition,) = adoption.plan(str(repository)).additions
    write(repository, "detlint.toml", "ignore = ['DET2']\n")
    with pytest.raises(FileExistsError):
        adoption.write(addition)


def test_where_nothing_is_found_it_says_so(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "train.py").write_text("x = 1\n", encoding="utf-8")
    assert main(["init", "--yes"]) == 0
    assert capsys.readouterr().err.endswith("nothing is found: `detlint .` ends with status 0\n")


@pytest.mark.parametrize(
    ("urls", "asked", "first"),
    [
        (
            {"Repository": "https://example.invalid/r"},
            "detlint[guard] @ git+https://example.invalid/r",
            "- repo: local",
        ),
        (
            {"Repository": "https://example.invalid/r", "Index": "https://example.invalid/i"},
            "detlint[guard]",
            "- repo: https://example.invalid/r",
        ),
    ],
)
def test_what_is_written_asks_by_name_once_there_is_an_index(
    monkeypatch: pytest.MonkeyPatch, urls: dict[str, str], asked: str, first: str
) -> None:
    monkeypatch.setattr(addresses, "_addresses", lambda: urls)
    assert addresses.requirement("guard") == asked
    assert next(adoption._entry("", "")) == first


def test_the_entry_is_given_what_our_own_hooks_are() -> None:
    ours = Path(__file__).parents[1] / ".pre-commit-hooks.yaml"
    for hook in yaml.safe_load(ours.read_text(encoding="utf-8")):
        assert ", ".join(hook["types_or"]) == adoption._TYPES

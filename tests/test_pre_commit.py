"""pre-commit itself installs the hooks from this repository and runs them on a sample."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

pytestmark = pytest.mark.usefixtures("registry")

ROOT = Path(__file__).resolve().parents[1]
LEAKY = "import torch\n\ntorch.backends.cudnn.benchmark = True\n"
MENDED = "import torch\n\ntorch.backends.cudnn.benchmark = False\n"


class Sample(NamedTuple):
    """A repository that uses the hooks, and the environment that pre-commit runs in."""

    folder: Path
    environment: dict[str, str]

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        run("git", "add", name, folder=self.folder, environment=self.environment)

    def hook(self, name: str) -> tuple[int, str]:
        command = (sys.executable, "-m", "pre_commit", "run", name, "--all-files", "--color=never")
        done = run(*command, folder=self.folder, environment=self.environment, check=False)
        return done.returncode, done.stdout


def run(
    *command: str, folder: Path, environment: dict[str, str], check: bool = True
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert not check or done.returncode == 0, f"{command} failed:\n{done.stdout}"
    return done


def commit_all(folder: Path, environment: dict[str, str]) -> str:
    run("git", "init", "--quiet", folder=folder, environment=environment)
    run("git", "add", "--all", folder=folder, environment=environment)
    run("git", "commit", "--quiet", "-m", "all", folder=folder, environment=environment)
    done = run("git", "rev-parse", "HEAD", folder=folder, environment=environment)
    return done.stdout.strip()


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Nothing of the person's git settings, nor of a git hook that runs the tests."""
    folder = tmp_path_factory.mktemp("pre-commit")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("GIT_") and name not in {"SKIP", "PYTHONPATH"}
    }
    return kept | {
        "PRE_COMMIT_HOME": str(folder),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "test",
        "GIT_AUTHOR_EMAIL": "test@example.invalid",
        "GIT_COMMITTER_NAME": "test",
        "GIT_COMMITTER_EMAIL": "test@example.invalid",
    }


@pytest.fixture(scope="module")
def hooks(
    tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]
) -> tuple[Path, str]:
    """The working tree as a repository of its own, and its only commit."""
    listing = run(
        *("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"),
        folder=ROOT,
        environment=environment,
    )
    folder = tmp_path_factory.mktemp("hooks")
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():  # a deleted file stays listed until it is committed
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name)
    return folder, commit_all(folder, environment)


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory, environment: dict[str, str]) -> None:
    """pre-commit installs the hook by pip, which has to reach the build backend."""
    folder = tmp_path_factory.mktemp("probe")
    command = (sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "hatchling")
    done = run(*command, folder=folder, environment=environment, check=False)
    if done.returncode != 0:
        reason = done.stdout.strip().rpartition("\n")[2]
        pytest.skip(f"pip cannot download hatchling here: {reason}")


@pytest.fixture
def sample(tmp_path: Path, hooks: tuple[Path, str], environment: dict[str, str]) -> Sample:
    repository, revision = hooks
    config = (
        f"repos:\n- repo: '{repository.as_posix()}'\n  rev: {revision}\n"
        "  hooks:\n  - id: detlint\n  - id: detlint-fix\n"
    )
    (tmp_path / ".pre-commit-config.yaml").write_text(config, encoding="utf-8")
    commit_all(tmp_path, environment)
    return Sample(tmp_path, environment)


def test_the_hook_fails_on_a_leak_and_passes_after_the_fixing_hook(sample: Sample) -> None:
    sample.write("train.py", LEAKY)

    status, output = sample.hook("detlint")
    assert status == 1, output
    assert "train.py:3:1: DET301" in output
    assert "\nhelp: " in output  # a commit that is refused says what to do

    status, output = sample.hook("detlint-fix")
    assert status == 1, output
    assert "files were modified by this hook" in output
    assert (sample.folder / "train.py").read_text(encoding="utf-8") == MENDED

    sample.write("train.py", MENDED)
    for name in ("detlint", "detlint-fix"):
        status, output = sample.hook(name)
        assert (status, "Passed" in output) == (0, True), output


def test_the_hook_leaves_excluded_files_alone_though_pre_commit_names_them(sample: Sample) -> None:
    sample.write("pyproject.toml", '[tool.detlint]\nextend-exclude = ["legacy"]\n')
    sample.write("legacy/train.py", LEAKY)

    status, output = sample.hook("detlint")

    assert (status, "Passed" in output) == (0, True), output


def test_the_hook_reports_what_the_commit_adds(sample: Sample) -> None:
    sample.write("train.py", LEAKY)
    commit_all(sample.folder, sample.environment)
    sample.write("train.py", f"# Trains.\n{LEAKY}")
    sample.write("other.py", LEAKY)

    status, output = sample.hook("detlint")

    assert status == 1, output
    assert "other.py:3:1: DET301" in output
    assert "train.py" not in output

    commit_all(sample.folder, sample.environment)

    status, output = sample.hook("detlint")  # as CI runs it: nothing is staged

    assert status == 1, output
    assert "other.py:3:1: DET301" in output
    assert "train.py:4:1: DET301" in output


def test_the_hook_reads_scripts_and_leaves_other_files_alone(sample: Sample) -> None:
    sample.write("notes.txt", LEAKY)

    status, output = sample.hook("detlint")

    assert status == 0, output

    sample.write("train.sh", "export CUBLAS_WORKSPACE_CONFIG=:4096:2\npython train.py\n")

    status, output = sample.hook("detlint")

    assert status == 1, output
    assert "train.sh:1:8: DET306" in output

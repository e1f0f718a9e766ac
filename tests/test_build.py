"""What a release holds: wheel and sdist are built, and nothing is missing or too much."""

from __future__ import annotations

import email
import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import detlint
from detlint import addresses

if TYPE_CHECKING:
    from email.message import Message

ROOT = Path(__file__).resolve().parents[1]
VERSION = detlint.__version__

pytest.importorskip("build", reason="it builds what is checked here")
pytest.importorskip("hatchling", reason="nothing is downloaded to build with")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with both, the wheel built from the sdist, as a release is."""
    folder = tmp_path_factory.mktemp("dist")
    done = subprocess.run(
        [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    return zipfile.ZipFile(built / f"detlint-{VERSION}-py3-none-any.whl")


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    return email.message_from_bytes(wheel.read(f"detlint-{VERSION}.dist-info/METADATA"))


def tracked(*folders: str) -> set[str]:
    """The files that git has, below some folders."""
    done = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z", "--", *folders],
        capture_output=True,
        text=True,
        check=True,
    )
    return {name for name in done.stdout.split("\0") if name and (ROOT / name).exists()}


def test_both_are_of_this_version(built: Path) -> None:
    assert re.fullmatch(r"\d+\.\d+\.\d+", VERSION)
    assert sorted(each.name for each in built.iterdir()) == [
        f"detlint-{VERSION}-py3-none-any.whl",
        f"detlint-{VERSION}.tar.gz",
    ]


def test_the_changelog_speaks_of_this_version() -> None:
    assert f"\n## [{VERSION}]" in (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_wheel_holds_the_packages_and_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = {name for name in wheel.namelist() if not name.startswith("detlint-")}
    added = {name for name in names if not (ROOT / name).exists()}
    assert added == set()
    assert names >= tracked("detlint", "guard")
    assert {name.partition("/")[0] for name in names} == {"detlint", "guard"}
    assert {"detlint/py.typed", "guard/py.typed"} <= names
    assert {Path(name).suffix for name in names} <= {".py", ".typed", ".js", ".css", ".html"}
    about = {name for name in wheel.namelist() if name.startswith("detlint-")}
    inside = {name.partition("/")[2] for name in about}
    assert inside == {
        "METADATA",
        "RECORD",
        "WHEEL",
        "entry_points.txt",
        "licenses/LICENSE",
    }


def test_the_sdist_holds_what_git_has(built: Path) -> None:
    with tarfile.open(built / f"detlint-{VERSION}.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    kept = {name for name in tracked() if not name.startswith((".ci/", ".github/"))}
    assert kept - names == set()
    assert {"PKG-INFO", "tests/test_build.py", "docs/rules.md", "LICENSE"} <= names
    assert not any(name.startswith("shared/") or name.endswith(".pyc") for name in names)


def test_the_metadata_says_what_it_is(metadata: Message) -> None:
    assert metadata["Name"] == "detlint"
    assert metadata["Version"] == VERSION
    assert metadata["License-Expression"] == "MIT"
    assert metadata["Requires-Python"] == ">=3.10"
    assert {"dev", "guard", "proofs", "test"} <= set(metadata.get_all("Provides-Extra", []))
    urls = dict(each.split(", ") for each in metadata.get_all("Project-URL", []))
    assert urls["Repository"] == addresses.address("Repository")


def test_the_linter_needs_nothing_large(metadata: Message) -> None:
    plain = [each for each in metadata.get_all("Requires-Dist", []) if "extra ==" not in each]
    names = {re.split(r"[^\w.-]", each)[0] for each in plain}
    assert len(names) < 15
    assert not names & {"torch", "numpy", "lightning", "tensorflow", "transformers"}


def test_the_test_extra_leaves_out_the_large_libraries(metadata: Message) -> None:
    needed = [each for each in metadata.get_all("Requires-Dist", []) if "extra == 'test'" in each]
    assert any(each.startswith("torch==") for each in needed)
    large = ("tensorflow", "lightning", "transformers", "accelerate", "scikit")
    assert not [each for each in needed if each.startswith(large)]


def test_its_commands_and_plugins_are_entry_points(wheel: zipfile.ZipFile) -> None:
    told = wheel.read(f"detlint-{VERSION}.dist-info/entry_points.txt").decode()
    assert "[console_scripts]\ndetlint = detlint.cli:run\n" in told
    assert "[pytest11]\ndetlint = detlint.integrations.pytest_plugin\n" in told

"""Addresses of ours stand in pyproject.toml alone."""

from __future__ import annotations

import subprocess
from importlib.metadata import PackageNotFoundError
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from detlint import addresses, configuration
from detlint.cli.said import say_failed
from detlint.finding import Confidence, Finding
from detlint.reporters import FORMATS, Report, load

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[1]
FINDING = Finding(
    "a.py", 1, 1, 1, 2, "DET301", "cudnn-benchmark", "m", "a", confidence=Confidence(2)
)


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(addresses, "_addresses", dict)


@pytest.fixture(autouse=True)
def _anew() -> Iterator[None]:
    addresses._addresses.cache_clear()
    yield
    addresses._addresses.cache_clear()


def test_they_are_those_of_the_project() -> None:
    urls = configuration.read(str(ROOT / "pyproject.toml")).content["project"]["urls"]
    for label, url in urls.items():
        assert addresses.address(label) == url
    assert addresses.address("Nothing") == ""


def test_no_other_file_names_them() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=True
    )
    mine = addresses.address("Repository")
    assert mine
    files = [ROOT / name for name in listed.stdout.split("\0") if name]
    holding = [
        file.relative_to(ROOT).as_posix()
        for file in files
        if file.is_file() and mine.encode() in file.read_bytes()
    ]
    assert holding == ["pyproject.toml"]


def test_an_installed_package_knows_them_of_its_metadata(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(addresses, "__file__", str(tmp_path / "detlint" / "addresses.py"))
    (tmp_path / "x-1.dist-info").mkdir()
    (tmp_path / "x-1.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: detlint\nVersion: 1\n"
        "Project-URL: Index, https://example.invalid/i\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "x-1.dist-info").rename(tmp_path / "detlint-1.dist-info")
    assert addresses.installation("guard") == 'pip install "detlint[guard]"'


def test_without_metadata_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def missing(name: str) -> None:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(addresses, "__file__", str(tmp_path / "detlint" / "addresses.py"))
    monkeypatch.setattr("importlib.metadata.metadata", missing)
    assert addresses.address("Repository") == ""


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize("name", FORMATS)
def test_formats_leave_out_what_is_not_set(name: str) -> None:
    shown = "".join(load(name)(Report([FINDING], links=True)))
    assert "rules.md" not in shown
    assert '": ""' not in shown
    assert 'href=""' not in shown


@pytest.mark.usefixtures("nowhere")
def test_an_internal_error_asks_for_a_report_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say_failed("Traceback\nValueError: x")
    assert capsys.readouterr().err.endswith("Please report it, with the lines above\n")

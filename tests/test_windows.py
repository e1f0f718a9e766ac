"""Paths and newlines as Windows has them, by Python's own `ntpath`."""

from __future__ import annotations

import ntpath
import os

import pytest

from detlint import configuration
from detlint.callgraph.project import Project
from detlint.finding import Edit, Finding
from detlint.fixes.applying import _patch_path, diff, edited
from detlint.reporters import Report, load
from detlint.reporters.places import below
from detlint.settings import Settings, _from_root, ignored_for
from detlint.sources import paths
from detlint.sources.decoding import decode
from detlint.sources.source import Source
from detlint.suppression.baseline import Baseline

HERE = r"C:\work\project"


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    """What pure functions of paths see there; nothing is asked of the file system."""
    monkeypatch.setattr(os, "path", ntpath)
    monkeypatch.setattr(os, "sep", "\\")
    monkeypatch.setattr(os, "altsep", "/")
    monkeypatch.setattr(os, "getcwd", lambda: HERE)
    monkeypatch.setattr(ntpath, "realpath", lambda path, **_: ntpath.abspath(path))


pytestmark = pytest.mark.usefixtures("windows")


@pytest.mark.parametrize(
    ("path", "start", "seen"),
    [
        (r"C:\work\project\a\b.py", HERE, r"a\b.py"),
        (r"c:\Work\project\a.py", HERE, "a.py"),
        (r"C:\other\a.py", HERE, r"..\..\other\a.py"),
        (r"D:\data\a.py", HERE, r"D:\data\a.py"),
        (r"\\server\share\a.py", HERE, r"\\server\share\a.py"),
    ],
)
def test_a_path_is_seen_from_a_folder(path: str, start: str, seen: str) -> None:
    assert paths.relative(path, start) == seen


@pytest.mark.parametrize(
    ("folders", "shared"),
    [
        ([r"C:\work\project", r"C:\work\other"], r"C:\work"),
        ([r"C:\work", r"D:\work"], "\\"),
        ([], "\\"),
    ],
)
def test_folders_share(folders: list[str], shared: str) -> None:
    assert paths.common(folders) == shared


def test_reports_name_files_with_slashes_from_the_root() -> None:
    assert below(r"src\train.py", HERE) == "src/train.py"
    assert below(r"C:\work\project\src\train.py", HERE) == "src/train.py"
    assert below(r"D:\other\train.py", HERE) == "D:/other/train.py"


def test_a_configuration_on_another_drive_is_shown_whole() -> None:
    assert configuration.shown(r"C:\work\project\pyproject.toml") == "pyproject.toml"
    assert configuration.shown(r"D:\shared\detlint.toml") == r"D:\shared\detlint.toml"


@pytest.mark.parametrize(
    ("path", "named"),
    [
        (r"src\train.py", b"src/train.py"),
        (r"C:\work\project\src\train.py", b"src/train.py"),
        (r"D:\x\train.py", b"D:/x/train.py"),
    ],
)
def test_a_patch_names_files_as_git_does(path: str, named: bytes) -> None:
    assert _patch_path(path) == named


@pytest.mark.parametrize(
    ("typed", "pattern"),
    [
        (r".\build", "build"),
        (r"C:\work\project\third\party", "/third/party"),
        ("!keep.py", "!keep.py"),
    ],
)
def test_a_pattern_that_is_typed_is_one_of_the_root(typed: str, pattern: str) -> None:
    assert _from_root(typed, HERE, HERE) == pattern


def test_a_pattern_typed_in_a_folder_is_anchored_there() -> None:
    assert _from_root("data/raw", HERE, rf"{HERE}\src\lib") == "/src/lib/data/raw"


def test_patterns_of_files_fit_paths_with_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    import pathspec.util

    monkeypatch.setattr(pathspec.util, "NORMALIZE_PATH_SEPS", ["\\"])
    settings = Settings(root=HERE, per_file_ignores=(("tests/*", ("DET2",)),))
    assert ignored_for(settings, r"tests\a.py", "DET203")
    assert not ignored_for(settings, r"src\a.py", "DET203")


def test_a_baseline_names_files_with_slashes() -> None:
    finding = Finding(r"src\train.py", 1, 1, 1, 5, "DET101", "unseeded-generator", "")
    assert '"src/train.py"' in Baseline.of(HERE, [finding], lambda _: None).dump()


def test_a_program_is_named_with_slashes() -> None:
    project = Project.__new__(Project)
    project._root = HERE
    assert project.shown(r"C:\work\project\src\train.py") == "src/train.py"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_and_kept_whatever_ends_them(newline: str) -> None:
    data = newline.join(["import torch", "x = torch.empty(3)", ""]).encode()
    source = decode("a.py", data)
    assert source.location(source.text.index("torch.empty")) == (2, 5)
    assert source.line(2) == "x = torch.empty(3)"
    start = source.text.index("empty")
    mended = edited(source, [Edit(start, start + 5, "zeros")])
    assert mended is not None
    assert mended.encode() == data.replace(b"empty", b"zeros")


def test_a_patch_keeps_the_newlines_of_windows() -> None:
    before, after = Source(r"src\a.py", "x = 1\r\n"), Source(r"src\a.py", "x = 2\r\n")
    assert diff(r"src\a.py", before, after) == (
        b"--- a/src/a.py\n+++ b/src/a.py\n@@ -1,1 +1,1 @@\n-x = 1\r\n+x = 2\r\n"
    )


def test_text_names_files_as_the_system_does() -> None:
    finding = Finding(r"src\train.py", 1, 1, 1, 2, "DET301", "cudnn-benchmark", "m")
    assert "".join(load("text")(Report([finding]))).startswith("src\\train.py:1:1: DET301 m\n")
    (line, *_) = load("github")(Report([finding]))
    assert r"file=C%3A\work\project\src\train.py," in line

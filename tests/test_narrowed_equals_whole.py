"""Narrowing is only a way to be fast: on real code it changes no finding."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine

# Training code with many hand-written loops, small enough to be parsed whole within a minute.
WHEELS = ("accelerate==1.15.0", "timm==1.0.31")


@pytest.fixture(scope="module", params=WHEELS)
def wheel(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The unpacked sources of a pinned release."""
    folder: Path = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "-d", str(folder)]
    subprocess.run([*command, request.param], check=True)
    (archive,) = folder.glob("*.whl")
    with zipfile.ZipFile(archive) as content:
        content.extractall(folder / "unpacked")
    return folder / "unpacked"


def test_narrowed_and_whole_files_give_the_same_findings(
    wheel: Path, engine: Callable[..., Engine]
) -> None:
    narrowed, whole = engine(), engine(narrowed=False)
    paths = sorted(wheel.rglob("*.py"))
    findings = 0
    for path in paths:
        data = path.read_bytes()
        found = narrowed.lint_bytes(str(path), data)
        assert found == whole.lint_bytes(str(path), data)
        findings += len(found)
    assert len(paths) > 50
    assert findings > 0, "a corpus without findings compares nothing"

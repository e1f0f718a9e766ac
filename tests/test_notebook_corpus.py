"""Public notebooks come through unharmed: read, written back, edited anywhere."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from typing import TYPE_CHECKING

import pytest

from detlint.finding import Edit
from detlint.notebooks.notebook import Notebook
from detlint.sources.decoding import decode

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from detlint.engine import Engine

# Releases that carry their notebooks, of several editors and years, with outputs and without.
PACKAGES = ("sktime==1.2.0", "gpytorch==1.15.2")
# What JSON escapes, what it may escape, a line more, and a magic.
INSERTED = 'é"\\\n%env A=1 🎲'


@pytest.fixture(scope="module")
def notebooks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The notebooks of pinned releases."""
    folder = tmp_path_factory.mktemp("sdists")
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps"]
    command += ["--no-binary", ":all:", "-d", str(folder), *PACKAGES]
    subprocess.run(command, check=True)
    found = {}
    for archive in sorted(folder.glob("*.tar.gz")):
        with tarfile.open(archive) as content:
            for member in content:
                file = content.extractfile(member) if member.name.endswith(".ipynb") else None
                if file is not None:
                    found[member.name] = file.read()
    return found


def test_all_are_read_and_written_back_to_the_byte(notebooks: dict[str, bytes]) -> None:
    assert len(notebooks) > 100
    for path, data in notebooks.items():
        source = decode(path, data)
        assert source.encode() == data
        assert len(source.text) == len(source.written)


def test_narrowed_and_whole_ones_have_the_same_findings(
    notebooks: dict[str, bytes], engine: Callable[..., Engine]
) -> None:
    narrowed, whole = engine(), engine(narrowed=False)
    findings = 0
    # Some of them: whole notebooks take libcst a minute.
    for path, data in list(notebooks.items())[::4]:
        found = narrowed.lint_bytes(path, data)
        assert found == whole.lint_bytes(path, data)
        findings += len(found)
    assert findings > 10


def test_an_edit_in_a_string_changes_its_bytes_alone(notebooks: dict[str, bytes]) -> None:
    strings = 0
    for path, data in notebooks.items():
        source = decode(path, data)
        assert isinstance(source, Notebook)
        # Of each a few: together they have tens of thousands.
        for number in range(0, len(source.cells), len(source.cells) // 5 + 1):
            literals = source.cells[number].cell.literals
            if literals:
                _edit(source, number, number % len(literals))
                strings += 1
    assert strings > 300


def _edit(source: Notebook, number: int, index: int) -> None:
    cell, start, _ = source.cells[number]
    literal = cell.literals[index]
    place = sum(len(each.value) for each in cell.literals[:index]) + len(literal.value) // 2
    edited = source.rewritten([Edit(start + place, start + place, INSERTED)])
    assert edited.cells[number].cell.text == cell.text[:place] + INSERTED + cell.text[place:]
    assert edited.document.startswith(source.document[: literal.start + 1])
    assert edited.document.endswith(source.document[literal.end - 1 :])
    start = edited.cells[number].start + place
    again = edited.rewritten([Edit(start, start + len(INSERTED), "")])
    assert again.written == source.written


def test_a_folder_of_them_is_linted(notebooks: dict[str, bytes], tmp_path: Path) -> None:
    for number, data in enumerate(notebooks.values()):
        (tmp_path / f"{number}.ipynb").write_bytes(data)
    command = [sys.executable, "-m", "detlint", ".", "--isolated", "--no-cache"]
    command += ["--min-confidence", "possible"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    lines = done.stdout.splitlines()[:-1]
    assert all(".ipynb:cell " in line for line in lines)
    assert len(lines) > 100

"""What is measured: each program in an environment of its own, since their pins clash."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from corpus import Corpus

ROOT = Path(__file__).resolve().parents[1]
PEERS = {"ruff": "0.17.5", "fixit": "2.2.1", "torchfix": "0.7.0"}

_READ = """
import pathlib
for path in pathlib.Path(".").rglob("*.py"):
    path.read_bytes()
"""
_PARSE = """
import ast, pathlib, warnings
warnings.simplefilter("ignore")
for path in pathlib.Path(".").rglob("*.py"):
    ast.parse(path.read_bytes())
"""
_FLOOR = "import argparse, re"


class Program(NamedTuple):
    """A command over a corpus. ``rounds`` limits how often a slow one is run; with none, the run
    in which memory is watched is the timed one."""

    name: str
    corpus: Corpus
    argv: tuple[str, ...]
    primed: bool = False  # has a cache that an untimed run fills first
    rounds: int = 1000
    prepare: Callable[[], None] | None = None  # untimed, before each run


def install(work: Path, peers: Iterable[str] = PEERS) -> dict[str, Path]:
    """The folder of the executables of each program; detlint is this checkout, built anew."""
    folders = {name: work / f"{name}-{PEERS[name]}" for name in peers}
    for name, folder in folders.items():
        if not (folder / "bin" / name).exists():
            _environment(folder, f"{name}=={PEERS[name]}")
    folders["detlint"] = work / "detlint"
    _environment(folders["detlint"], "--force-reinstall", str(ROOT))
    return {name: folder / "bin" for name, folder in folders.items()}


def _environment(folder: Path, *requirements: str) -> None:
    print(f"installing into {folder.name}")
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    pip = [str(folder / "bin" / "python"), "-m", "pip", "--disable-pip-version-check"]
    subprocess.run([*pip, "install", "--quiet", *requirements], check=True)


def whole_tree(corpus: Corpus, name: str, programs: dict[str, Path], work: Path) -> list[Program]:
    """What can read everything."""
    python = (str(programs["detlint"] / "python"), "-c")
    return [
        Program(f"read all bytes, {name}", corpus, (*python, _READ)),
        Program(f"ast.parse, {name}", corpus, (*python, _PARSE)),
        *beside_ruff(corpus, name, programs, work),
    ]


def beside_ruff(
    corpus: Corpus, name: str, programs: dict[str, Path], caches: Path
) -> list[Program]:
    """The two fast linters in turn: everything anew, and with a cache of the same input."""
    ruff, detlint = ruff_command(programs), detlint_command(programs)
    ruff_cache, detlint_cache = caches / "cache-ruff" / name, caches / "cache-detlint" / name
    return [
        Program(f"ruff cold, {name}", corpus, (*ruff, "--no-cache", ".")),
        Program(f"detlint cold, {name}", corpus, (*detlint, "--no-cache", ".")),
        Program(f"ruff warm, {name}", corpus, (*ruff, f"--cache-dir={ruff_cache}", "."), True),
        Program(
            f"detlint warm, {name}", corpus, (*detlint, f"--cache-dir={detlint_cache}", "."), True
        ),
    ]


def part(corpus: Corpus, programs: dict[str, Path]) -> list[Program]:
    """The subset, with the linters that would need minutes for the whole."""
    fixit = (str(programs["fixit"] / "fixit"), "--rules", "fixit.rules:NoInheritFromObject", "lint")
    torchfix = (str(programs["torchfix"] / "torchfix"), "-j2")
    return [
        Program("detlint cold, subset", corpus, (*detlint_command(programs), "--no-cache", ".")),
        Program("Fixit, subset", corpus, (*fixit, "."), rounds=3),
        Program("torchfix, subset", corpus, (*torchfix, "."), rounds=3),
    ]


def one_file(corpus: Corpus, programs: dict[str, Path]) -> list[Program]:
    """What a commit hook waits for."""
    python = str(programs["detlint"] / "python")
    (path,) = (path.name for path in corpus.folder.glob("*.py"))
    return [
        Program(f'python -c "{_FLOOR}"', corpus, (python, "-c", _FLOOR)),
        Program(
            "detlint, one clean file", corpus, (*detlint_command(programs), "--no-cache", path)
        ),
        Program("ruff, one clean file", corpus, (*ruff_command(programs), "--no-cache", path)),
    ]


def ruff_command(programs: dict[str, Path]) -> tuple[str, ...]:
    """With the rules nearest to ours."""
    return (str(programs["ruff"] / "ruff"), "check", "--isolated", "--select=NPY,S311")


def detlint_command(programs: dict[str, Path]) -> tuple[str, ...]:
    """With every rule that is on by default."""
    return (str(programs["detlint"] / "detlint"), "--isolated", "--jobs=2")

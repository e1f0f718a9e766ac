"""What a rule flags really differs from run to run, and what it advises does not.

``tests/proofs/<rule>/bad.py`` holds a finding of the rule and prints a result; ``good.py``
holds none. ``bad_<claim>.py`` and ``good_<claim>.py`` show more of the rule.
Each process has a random hash seed and a folder of its own on tmpfs, which lists files by when
they were made, and they are made in an order of their own.
No two runs that are compared share a start of Python or an import: what takes seconds to
import is imported by a process for each run, which the programs of all proofs fork.
A first line ``# needs: cuda, sklearn`` names what a proof cannot do without: modules, a GPU
(``cuda``), or that order of listing (``tmpfs``).
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from forks import TORCH, Forks

from detlint.rules import every_rule
from detlint.sources.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from detlint.engine import Engine

PROOFS = Path(__file__).parent / "proofs"
TMPFS = "/dev/shm"  # noqa: S108 - each run makes a folder of its own in it
MOST = 20
# What takes seconds to import, by the name that a program imports.
WEIGHTY = {
    "torch": TORCH,
    "tensorflow": ("tensorflow", "keras"),
    "sklearn": ("sklearn.ensemble",),
}
FILES = [f"{number:02}.txt" for number in range(20)]
NAMES = sorted(path.name for path in PROOFS.iterdir() if path.is_dir())
PAIRS = sorted((path.parent.name, path.name) for path in PROOFS.glob("*/bad*.py"))
RULES = {rule.name().replace("-", "_"): rule for rule in every_rule()}


def needs(name: str, file: str = "bad.py") -> list[str]:
    first = (PROOFS / name / file).read_text(encoding="utf-8").partition("\n")[0]
    match = re.fullmatch(r"# needs: (.+)", first)
    return match[1].split(", ") if match else []


def lacks(need: str) -> bool:
    if need == "tmpfs":
        return not os.path.isdir(TMPFS)
    if need == "cuda":
        torch = pytest.importorskip("torch")
        return not torch.cuda.is_available()
    return find_spec(need) is None


def proofs() -> list[object]:
    """The folders with what differs in them, those that need a GPU marked."""
    return [
        pytest.param(name, file, marks=[pytest.mark.cuda] if "cuda" in needs(name, file) else [])
        for name, file in PAIRS
    ]


def pair(name: str, file: str) -> tuple[Path, Path]:
    """What differs, and what does as the rule advises."""
    return PROOFS / name / file, PROOFS / name / file.replace("bad", "good")


class Starts:
    """Processes to fork, one for each run, of the weighty modules that its programs import."""

    def __init__(self, folder: Callable[[str], Path]) -> None:
        self.folder = folder
        self.forks: dict[tuple[str, int], Forks] = {}

    def run(self, program: Path, number: int, folder: str) -> subprocess.CompletedProcess[str]:
        """Run a program for the n-th time."""
        text = program.read_text(encoding="utf-8")
        library = re.search(rf"^(?:import|from) ({'|'.join(WEIGHTY)})\b", text, re.MULTILINE)
        # Programs that are quickly started may start themselves anew, and GPUs are not forked.
        if library is None or "cuda" in needs(program.parent.name):
            command = [sys.executable, "-W", "ignore", str(program)]
            environ = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
            return subprocess.run(
                command,
                cwd=folder,
                env=environ,
                capture_output=True,
                text=True,
                timeout=300,
                check=False,
            )
        key = library[1], number
        if key not in self.forks:
            modules, flags = WEIGHTY[library[1]], ("-W", "ignore")
            self.forks[key] = Forks(self.folder("start"), *modules, hash_seed=None, flags=flags)
        return self.forks[key].python(program, cwd=Path(folder))


@pytest.fixture(scope="module")
def starts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Starts]:
    found = Starts(tmp_path_factory.mktemp)
    yield found
    for each in found.forks.values():
        each.close()


def result(starts: Starts, program: Path, number: int) -> str:
    """What a program prints in its n-th run, in a process and a folder of its own."""
    folder = tempfile.mkdtemp(dir=TMPFS if os.path.isdir(TMPFS) else None)
    try:
        for name in random.SystemRandom().sample(FILES, len(FILES)):
            Path(folder, name).write_text(name, encoding="utf-8")
        run = starts.run(program, number, folder)
    finally:
        shutil.rmtree(folder)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip(), "a proof prints its result"
    return run.stdout


@pytest.mark.parametrize(("name", "file"), proofs())
def test_what_is_flagged_differs_and_the_advice_does_not(
    name: str, file: str, starts: Starts
) -> None:
    for need in needs(name, file):
        if lacks(need):
            pytest.skip(f"needs {need}")
    bad, good = pair(name, file)
    seen = [result(starts, bad, 0)]
    while len(set(seen)) == 1:
        assert len(seen) < MOST, f"{MOST} runs of {bad} agreed, on {seen[0]!r}"
        seen.append(result(starts, bad, len(seen)))
    # As many as bad.py took to differ.
    agreed = Counter(result(starts, good, number) for number in range(len(seen)))
    assert len(agreed) == 1, f"{good} gave {len(agreed)} results: {agreed}"


@pytest.mark.parametrize(("name", "file"), PAIRS)
def test_the_rule_tells_the_two_apart(name: str, file: str, engine: Callable[..., Engine]) -> None:
    lint = engine(RULES[name].code).lint
    texts = [each.read_text(encoding="utf-8") for each in pair(name, file)]
    bad, good = (lint(Source("program.py", text)) for text in texts)
    assert [each.code for each in bad]
    assert good == []


def test_a_rule_says_how_its_claim_was_shown() -> None:
    on_gpu = {name for name in NAMES if "cuda" in needs(name)}
    on_cpu = {name for name, rule in RULES.items() if rule.shown == "CPU"}
    assert on_cpu == set(NAMES) - on_gpu
    for name, rule in RULES.items():
        if rule.shown not in {"CPU", "source"}:
            assert re.fullmatch(r"CUDA \(.+, torch .+, \d{4}-.+\)", rule.shown)
            assert name in on_gpu

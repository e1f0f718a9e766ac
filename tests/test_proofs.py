"""What a rule flags really differs from run to run, and what it advises does not.

``tests/proofs/<rule>/bad.py`` holds a finding of the rule and prints a result; ``good.py``
holds none. Each process starts with a random hash seed, in a folder of its own on tmpfs,
which lists files by when they were made, and they are made in an order of their own.
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

from detlint.rules import every_rule
from detlint.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.engine import Engine

PROOFS = Path(__file__).parent / "proofs"
TMPFS = "/dev/shm"  # noqa: S108 - each run makes a folder of its own in it
MOST = 20
FILES = [f"{number:02}.txt" for number in range(20)]
NAMES = sorted(path.name for path in PROOFS.iterdir() if path.is_dir())
RULES = {rule.name().replace("-", "_"): rule for rule in every_rule()}


def needs(name: str) -> list[str]:
    first = (PROOFS / name / "bad.py").read_text(encoding="utf-8").partition("\n")[0]
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
    """The folders, those that need a GPU marked."""
    return [
        pytest.param(name, marks=[pytest.mark.cuda] if "cuda" in needs(name) else [])
        for name in NAMES
    ]


def result(program: Path) -> str:
    """What a program prints, in a process and a folder of its own."""
    folder = tempfile.mkdtemp(dir=TMPFS if os.path.isdir(TMPFS) else None)
    try:
        for name in random.SystemRandom().sample(FILES, len(FILES)):
            Path(folder, name).write_text(name, encoding="utf-8")
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONHASHSEED"}
        command = [sys.executable, "-W", "ignore", str(program)]
        run = subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    finally:
        shutil.rmtree(folder)
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip(), "a proof prints its result"
    return run.stdout


@pytest.mark.parametrize("name", proofs())
def test_what_is_flagged_differs_and_the_advice_does_not(name: str) -> None:
    for need in needs(name):
        if lacks(need):
            pytest.skip(f"needs {need}")
    bad, good = PROOFS / name / "bad.py", PROOFS / name / "good.py"
    seen = [result(bad)]
    while len(set(seen)) == 1:
        assert len(seen) < MOST, f"{MOST} runs of {bad} agreed, on {seen[0]!r}"
        seen.append(result(bad))
    agreed = Counter(result(good) for _ in seen)  # as many as bad.py took to differ
    assert len(agreed) == 1, f"{good} gave {len(agreed)} results: {agreed}"


@pytest.mark.parametrize("name", NAMES)
def test_the_rule_tells_the_two_apart(name: str, engine: Callable[..., Engine]) -> None:
    lint = engine(RULES[name].code).lint
    texts = [(PROOFS / name / file).read_text(encoding="utf-8") for file in ("bad.py", "good.py")]
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

"""Programs with a planted cause, and whether ``python -m guard verify`` names it.

A line that ends with ``# planted: kernel`` is the cause, and the word after it what kind of cause
it is, or what it reads that is another in each run (a ``Source``); ``or`` parts several that are
as true. Two lines may be marked where either is: the draw,
say, and the loop that decides how often it is drawn. A line ``# verify: …`` of its own holds
options for the command, ``# lost: …`` what a verdict on a resumed run has to speak of (a regular
expression) in place of a line, and ``# differs: by the order of listing`` says that the program
differs in a folder that is listed in another order.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from programs import clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parent / "verify_programs"
ROOT = Path(__file__).parents[1]
_MARKER = re.compile(r"# planted: ([\w ]+)$")
_HEADER = re.compile(r"^# (verify|lost|differs): (.+)$", re.MULTILINE)
_PART = re.compile(r"^from (parts\.\w+) import", re.MULTILINE)
_TOO_LONG = 600  # seconds


@dataclass(frozen=True)
class Planted:
    """A program, the lines of its cause, and what may be said of it.

    lines   (path, line) of each that is marked; none in a steady program
    causes  any of which is true, in lower case
    """

    path: Path
    lines: tuple[tuple[str, int], ...]
    causes: frozenset[str]
    options: tuple[str, ...]
    lost: str
    shuffled: bool

    @property
    def name(self) -> str:
        """Of the program, without its suffix."""
        return self.path.stem

    @property
    def ranks(self) -> int:
        """How many processes it takes."""
        given = dict(pairwise(self.options))
        return int(given.get("--nproc-per-node", 1))


@dataclass(frozen=True)
class Answer:
    """What verify said.

    named    where the first of them is: the operator, the place, the first suspect
    by       which of these is a planted line; "suspect 2" and so on do not count; "" for none
    """

    status: int
    cause: str
    source: str
    confidence: str
    named: tuple[tuple[str, str, int], ...]
    by: str
    is_cause: bool
    is_line: bool
    why: str
    error: str
    seconds: float
    report: dict[str, Any]

    @property
    def is_right(self) -> bool:
        """Whether it named a planted line, and a cause that is true of it."""
        return self.status == 1 and self.is_cause and self.is_line


def programs(folder: Path) -> list[Planted]:
    """Those of a folder, sorted by name."""
    return [read(path) for path in sorted(folder.glob("*.py"))]


def read(path: Path) -> Planted:
    """A program with its marks, and with those of the parts that it imports."""
    text = path.read_text(encoding="utf-8")
    parts = [path.parent / (name.replace(".", "/") + ".py") for name in _PART.findall(text)]
    marks = [mark for each in (path, *parts) for mark in _marks(each)]
    headers = dict(_HEADER.findall(text))
    return Planted(
        path=path,
        lines=tuple((file, line) for file, line, _ in marks),
        causes=frozenset(cause for _, _, causes in marks for cause in causes.split(" or ")),
        options=tuple(shlex.split(headers.get("verify", ""))),
        lost=headers.get("lost", ""),
        shuffled="listing" in headers.get("differs", ""),
    )


def _marks(path: Path) -> Iterator[tuple[str, int, str]]:
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if found := _MARKER.search(line):
            yield str(path), number, found[1]


def verify(program: Planted, *options: str) -> Answer:
    """Ask ``guard verify`` in a process of its own, in an empty folder."""
    command = [sys.executable, "-m", "guard", "verify", "--json", *program.options, *options]
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, str(program.path)],
            cwd=folder,
            env=clean_environment(PYTHONPATH=str(ROOT)),
            capture_output=True,
            text=True,
            timeout=_TOO_LONG,
            check=False,
        )
    seconds = time.monotonic() - began
    try:
        report = json.loads(done.stdout)
    except ValueError:
        report = {}
    return _judged(program, report, done.returncode, done.stderr, seconds)


def _judged(
    program: Planted, report: dict[str, Any], status: int, errors: str, seconds: float
) -> Answer:
    difference = report.get("difference") or {}
    named = tuple(_named(report))
    cause = (difference.get("cause") or "").lower()
    shown = report.get("cause") or {}
    source = shown.get("source", "").lower()
    told = " ".join(str(difference.get(key)) for key in ("what", "why", "advice"))
    told += f" {shown.get('what', '')}"
    by = next((how for how, file, line in named if _is_planted(program, file, line)), "")
    counts = not by.startswith("suspect") or by == "suspect 1"
    is_line = bool(re.search(program.lost, told)) if program.lost else bool(by) and counts
    failure = (report.get("verify") or {}).get("failure") or {}
    error = errors.strip() if not report else f"{failure.get('why', '')}"
    return Answer(
        status=status,
        cause=cause,
        source=source,
        confidence=shown.get("confidence", ""),
        named=named,
        by=by,
        is_cause=not program.causes.isdisjoint((cause, source)),
        is_line=is_line,
        why=f"{report.get('verdict', '')} {difference.get('why', '')}".strip(),
        error=error,
        seconds=seconds,
        report=report,
    )


def _named(report: dict[str, Any]) -> Iterator[tuple[str, str, int]]:
    """Lines that a verdict names, the surest first."""
    for operator in report.get("operators", [])[:1]:
        if place := operator.get("place"):
            yield "operator", place["file"], place["line"]
    if place := (report.get("difference") or {}).get("place"):
        yield "place", place["file"], place["line"]
    for number, suspect in enumerate(report.get("suspects", []), 1):
        yield f"suspect {number}", suspect["file"], suspect["line"]


def _is_planted(program: Planted, file: str, line: int) -> bool:
    return (os.path.realpath(file), line) in {
        (os.path.realpath(path), at) for path, at in program.lines
    }


def fingerprint(program: Planted) -> str:
    """What fresh processes of the program compute, a part for each rank, without verify."""
    shuffle = ["--shuffle"] if program.shuffled else []
    launcher = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={program.ranks}"]
    start = [sys.executable, *(launcher if program.ranks > 1 else [])]
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*start, str(FOLDER / "fingerprint.py"), *shuffle, str(program.path)],
            cwd=folder,
            env=clean_environment(),
            capture_output=True,
            text=True,
            timeout=_TOO_LONG,
            check=False,
        )
    digests = sorted(s for s in done.stdout.splitlines() if s.startswith("digest "))
    if len(digests) != program.ranks:
        raise AssertionError(f"{program.name} failed: {done.stderr}")
    return ", ".join(digests)

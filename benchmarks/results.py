"""Sections of RESULTS.md: a table, and the ratios beside their bounds."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from programs import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from measure import Result

    Results = dict[str, Result]


# What `run.py --part` can name, in the order of the page.
TITLES = {
    "linters": "Beside other linters",
    "repositories": "Training repositories",
    "scale": "Many files",
}
HEAD = """# Benchmark results

Written by `python benchmarks/run.py`, each section by itself; not edited by hand.
"""


class Bound(NamedTuple):
    """A figure that must stay on one side of a limit."""

    what: str
    limit: str
    unit: str
    figure: Callable[[Results], float]
    holds: Callable[[float], bool]
    digits: int = 1


def by_name(results: Iterable[Result]) -> Results:
    """Under the names of their programs, as bounds ask for them."""
    return {each.program.name: each for each in results}


def section(facts: Sequence[str], tables: Sequence[Iterable[str]], load: float) -> str:
    """Markdown: what was measured where, and the tables."""
    lines = [f"- {each}" for each in (*_machine(load), *facts)]
    for table in tables:
        lines += ["", *table]
    return "\n".join([*lines, ""])


def merged(page: str, sections: Mapping[str, str]) -> str:
    """The page with new sections in the place of the old ones of the same title."""
    _, *old = page.split("\n## ")
    texts = dict(each.split("\n\n", 1) for each in old)
    texts |= {TITLES[name]: text for name, text in sections.items()}
    kept = [title for title in TITLES.values() if title in texts]
    return "\n".join([HEAD, *(f"## {title}\n\n{texts[title]}" for title in kept)])


def _machine(load: float) -> Iterator[str]:
    yield f"{time.strftime('%Y-%m-%d')}, detlint at {_revision()}"
    yield f"machine: {_processor()}, {len(os.sched_getaffinity(0))} cores used, {_memory()}"
    yield f"{platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield f"load average before the start: {load:.1f}"
    yield "wall time with the page cache warm; all programs in turn, round by round"
    yield "memory in an untimed run; 20 MB or less may be the measuring script's own, before exec"


def measurements(results: Iterable[Result]) -> Iterator[str]:
    """All that was measured, a row a program."""
    yield "| | files | MB | runs | median s | fastest s | MB/s | largest process, MB |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for result in results:
        corpus = result.program.corpus
        rate = "" if corpus.files == 1 else f"{corpus.megabytes / result.median:.2f}"
        yield (
            f"| {result.program.name} | {corpus.files} | {corpus.megabytes:.2f} "
            f"| {len(result.seconds)} | {result.median:.3f} | {result.fastest:.3f} "
            f"| {rate} | {result.peak / 1e6:.0f} |"
        )


def verdicts(bounds: Iterable[Bound], results: Results) -> Iterator[str]:
    """The figures beside their bounds."""
    yield "| figure | bound | measured | |"
    yield "|---|---|--:|---|"
    for bound in bounds:
        try:
            figure = bound.figure(results)
        except KeyError:  # --only left a part of it out
            continue
        verdict = "holds" if bound.holds(figure) else "**missed**"
        measured = f"{figure:.{bound.digits}f}{bound.unit}"
        yield f"| {bound.what} | {bound.limit} | {measured} | {verdict} |"


def _revision() -> str:
    command = ["git", "-C", str(ROOT), "describe", "--always", "--dirty"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 1e9:.0f} GB"

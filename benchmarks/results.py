"""The table, and the ratios beside their bounds."""

from __future__ import annotations

import os
import platform
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from corpus import WHEELS
from programs import PEERS, ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from measure import Result

    Results = dict[str, Result]


class Bound(NamedTuple):
    """A figure that must stay on one side of a limit."""

    what: str
    limit: str
    unit: str
    figure: Callable[[Results], float]
    holds: Callable[[float], bool]


def _ratio(over: str, under: str) -> Callable[[Results], float]:
    return lambda results: results[over].median / results[under].median


def _ratio_per_megabyte(over: str, under: str) -> Callable[[Results], float]:
    return lambda results: results[over].per_megabyte / results[under].per_megabyte


COLD = "detlint cold, transformers"
BOUNDS = (
    Bound(
        "cold: detlint's time over ruff's",
        "at most 8, aim 4",
        " times",
        _ratio(COLD, "ruff cold, transformers"),
        lambda figure: figure <= 8,
    ),
    Bound(
        "per megabyte: torchfix's time (subset) over detlint's (whole)",
        "at least 100",
        " times",
        _ratio_per_megabyte("torchfix, subset", COLD),
        lambda figure: figure >= 100,
    ),
    Bound(
        "per megabyte: Fixit's time (subset) over detlint's (whole)",
        "at least 100",
        " times",
        _ratio_per_megabyte("Fixit, subset", COLD),
        lambda figure: figure >= 100,
    ),
    Bound(
        "unchanged input: detlint's time over ruff's",
        "at most 3",
        " times",
        _ratio("detlint warm, transformers", "ruff warm, transformers"),
        lambda figure: figure <= 3,
    ),
    Bound(
        'one clean file: detlint\'s time over `python -c "import argparse, re"`',
        "at most 4",
        " times",
        _ratio("detlint, one clean file", 'python -c "import argparse, re"'),
        lambda figure: figure <= 4,
    ),
    Bound(
        "peak memory of detlint's largest process, cold",
        "under 200",
        " MB",
        lambda results: results[COLD].peak / 1e6,
        lambda figure: figure < 200,
    ),
)


def render(results: list[Result], load: float) -> str:
    """Markdown: what was measured where, the table, the bounds."""
    by_name = {result.program.name: result for result in results}
    return "\n".join([*_heading(load), *_table(results), "", *_bounds(by_name), ""])


def _heading(load: float) -> Iterator[str]:
    yield "# Benchmark results"
    yield ""
    yield "Written by `python benchmarks/run.py`; not edited by hand."
    yield ""
    yield f"- {time.strftime('%Y-%m-%d')}, detlint at {_revision()}"
    yield f"- machine: {_processor()}, {len(os.sched_getaffinity(0))} cores used, {_memory()}"
    yield f"- {platform.system()} {platform.release()}, Python {platform.python_version()}"
    yield f"- load average before the start: {load:.1f}"
    versions = [f"{name} {version}" for name, version in (WHEELS | PEERS).items()]
    yield f"- versions: {', '.join(versions)}"
    yield "- wall time with the page cache warm; all programs in turn, round by round"
    yield "- memory in an untimed run; 20 MB or less may be the measuring script's own, before exec"
    yield ""


def _table(results: list[Result]) -> Iterator[str]:
    yield "| | files | MB | runs | median s | fastest s | MB/s | largest process, MB |"
    yield "|---|--:|--:|--:|--:|--:|--:|--:|"
    for result in results:
        corpus = result.program.corpus
        rate = "" if corpus.files == 1 else f"{corpus.megabytes / result.median:.2f}"
        yield (
            f"| {result.program.name} | {corpus.files} | {corpus.megabytes:.2f} "
            f"| {len(result.seconds)} | {result.median:.3f} | {min(result.seconds):.3f} "
            f"| {rate} | {result.peak / 1e6:.0f} |"
        )


def _bounds(results: Results) -> Iterator[str]:
    yield "| figure | bound | measured | |"
    yield "|---|---|--:|---|"
    for bound in BOUNDS:
        try:
            figure = bound.figure(results)
        except KeyError:  # --only left a part of it out
            continue
        verdict = "holds" if bound.holds(figure) else "**missed**"
        yield f"| {bound.what} | {bound.limit} | {figure:.1f}{bound.unit} | {verdict} |"


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

"""The first part: detlint beside other linters, on two large wheels and on one file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import corpus
import measure
import programs
from results import Bound, by_name, measurements, section, verdicts

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

    from results import Results


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


def measured(options: argparse.Namespace, load: float) -> str:
    """Its section of the page."""
    selected = _chosen(options.work, options.only)
    found = measure.all_programs(selected, options.rounds)
    pinned = (corpus.WHEELS | programs.PEERS).items()
    facts = [f"versions: {', '.join(f'{name} {version}' for name, version in pinned)}"]
    return section(facts, [measurements(found), verdicts(BOUNDS, by_name(found))], load)


def _chosen(work: Path, only: str | None) -> list[programs.Program]:
    whole = {name: corpus.release(name, version, work) for name, version in corpus.WHEELS.items()}
    transformers = whole["transformers"]
    folders = programs.install(work)
    every = [
        *(each for name in whole for each in programs.whole_tree(whole[name], name, folders, work)),
        *programs.part(corpus.subset(transformers, work), folders),
        *programs.one_file(corpus.clean_file(transformers, work), folders),
    ]
    return [program for program in every if only is None or re.search(only, program.name)]

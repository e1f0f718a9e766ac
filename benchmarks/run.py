"""Measure detlint beside its peers on pinned input, and write RESULTS.md.

    python benchmarks/run.py

The first run downloads two wheels and three linters into the work folder. Linux only:
two cores are set aside by affinity, and memory is read from /proc.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path

import corpus
import measure
import programs
import results

CORES = 2


def arguments() -> argparse.Namespace:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parser = argparse.ArgumentParser(description="Measure detlint beside its peers.")
    parser.add_argument("--work", type=Path, default=Path(cache, "detlint-benchmarks"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--only", metavar="REGEX", help="measure what matches, print it, leave RESULTS.md alone"
    )
    return parser.parse_args()


def chosen(work: Path, only: str | None) -> list[programs.Program]:
    whole = {name: corpus.wheel(name, work) for name in corpus.WHEELS}
    transformers = whole["transformers"]
    folders = programs.install(work)
    every = [
        *(each for name in whole for each in programs.whole_tree(whole[name], name, folders, work)),
        *programs.part(corpus.subset(transformers, work), folders),
        *programs.one_file(corpus.clean_file(transformers, work), folders),
    ]
    return [program for program in every if only is None or re.search(only, program.name)]


def main() -> None:
    options = arguments()
    work = options.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    selected = chosen(work, options.only)
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    load = os.getloadavg()[0]
    page = results.render(measure.all_programs(selected, options.rounds), load)
    print(page)
    if options.only is None:
        (Path(__file__).parent / "RESULTS.md").write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

"""Measure detlint beside its peers on pinned input, and write RESULTS.md.

    python benchmarks/run.py [--part repositories] [--also FOLDER] [--scale]

The first run downloads releases and linters into the work folder. Linux only:
two cores are set aside by affinity, and memory is read from /proc.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

import linters
import repositories
import scale
from results import HEAD, TITLES, merged

CORES = 2
PAGE = Path(__file__).parent / "RESULTS.md"
PARTS = {
    "linters": linters.measured,
    "repositories": repositories.measured,
    "scale": scale.measured,
}


def arguments() -> argparse.Namespace:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parser = argparse.ArgumentParser(description="Measure detlint beside its peers.")
    parser.add_argument("--work", type=Path, default=Path(cache, "detlint-benchmarks"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument(
        "--part",
        action="append",
        choices=TITLES,
        dest="parts",
        help="write this section of the page alone; may be repeated (default: the first two)",
    )
    parser.add_argument(
        "--scale",
        action="append_const",
        const="scale",
        dest="parts",
        help="as --part scale: up to 50,000 files, some ten minutes",
    )
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        type=Path,
        metavar="FOLDER",
        help="a training repository more, as it lies there; may be repeated",
    )
    parser.add_argument(
        "--only",
        metavar="REGEX",
        help="measure the programs or repositories that match, print, leave RESULTS.md alone",
    )
    return parser.parse_args()


def main() -> None:
    options = arguments()
    options.work = options.work.resolve()
    options.work.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    for part in dict.fromkeys(options.parts or ("linters", "repositories")):
        section = {part: PARTS[part](options, load)}
        print(merged(HEAD, section))
        if options.only is None:
            page = merged(PAGE.read_text(encoding="utf-8"), section)
            PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()

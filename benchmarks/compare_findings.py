"""What two versions of detlint find differently, on the pinned training repositories.

    python benchmarks/compare_findings.py OLD NEW [--only REGEX] [--also FOLDER] [--messages]

OLD and NEW are checkouts; both run in this Python. Exit status 1: they differ.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from repositories import given

SIGNS = ("-", "+")


class Found(NamedTuple):
    """A finding, in the order in which they are listed."""

    file: str
    row: int
    column: int
    code: str
    message: str

    def __str__(self) -> str:
        return f"{self.file}:{self.row}:{self.column} {self.code} {self.message}".rstrip()


def findings(checkout: Path, folder: Path, *, messages: bool) -> Counter[Found]:
    """How often each is reported: twice at one place would be a difference."""
    command = [sys.executable, "-m", "detlint", "--isolated", "--no-cache", "--exit-zero"]
    # Safe: a module of the repository must not stand before one of the standard library.
    environment = {**os.environ, "PYTHONPATH": str(checkout.resolve()), "PYTHONSAFEPATH": "1"}
    done = subprocess.run(
        [*command, "--output-format=json", "."],
        cwd=folder,
        env=environment,
        check=True,
        stdout=subprocess.PIPE,
    )
    return Counter(_read(each, folder, messages=messages) for each in json.loads(done.stdout))


def _read(entry: dict[str, object], folder: Path, *, messages: bool) -> Found:
    place = entry["location"]
    return Found(
        os.path.relpath(str(entry["filename"]), folder),
        place["row"],  # type: ignore[index]
        place["column"],  # type: ignore[index]
        str(entry["code"]),
        str(entry["message"]) if messages else "",
    )


def main() -> int:
    """Print the differences and a row of counts for each repository."""
    options = _options()
    differ = 0
    for name, repository in given(options.work.resolve(), options.only, options.also).items():
        old, new = (
            findings(each, repository.folder, messages=options.messages)
            for each in (options.old, options.new)
        )
        apart = (old - new, new - old)
        lines = [(each, sign) for sign, side in zip(SIGNS, apart, strict=True) for each in side]
        print(f"{name}: {old.total()} findings, then {new.total()}; ", end="")
        print(", ".join(f"{sign}{side.total()}" for sign, side in zip(SIGNS, apart, strict=True)))
        for each, sign in sorted(lines):
            print(f"  {sign} {each}", flush=True)
        differ += len(lines)
    return 1 if differ else 0


def _options() -> argparse.Namespace:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("new", type=Path)
    parser.add_argument("--work", type=Path, default=Path(cache, "detlint-benchmarks"))
    parser.add_argument("--only", metavar="REGEX", help="repositories whose names match")
    parser.add_argument("--also", action="append", default=[], type=Path, metavar="FOLDER")
    parser.add_argument("--messages", action="store_true", help="messages count as well")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

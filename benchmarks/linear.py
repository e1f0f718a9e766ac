"""What files of 100 and 400 KB cost that are one statement after the other.

    python benchmarks/linear.py [FAMILY ...]

Prints a table: family, size, seconds of the processor, and how many times as long the larger file
takes. Four times the bytes are to take about four times the time; what takes sixteen is quadratic.
A file is linted by itself, without what a project adds, in a process that has linted a small one
before. A file that takes longer than a minute is given up, and so is what is larger. The families
are those of tests/families.py, of which tests/test_linear.py counts the function calls, and each
example of each rule, again and again.
"""

from __future__ import annotations

import multiprocessing
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))
from families import EXAMPLES, FAMILIES

from detlint.engine import Engine
from detlint.rules import every_rule
from detlint.runner import collect_rarely
from detlint.settings import Settings

ALL = FAMILIES | EXAMPLES
SIZES = (100_000, 400_000)  # bytes
LIMIT = 60  # seconds


def of_size(family: str, size: int) -> bytes:
    """The file of a family that has about as many bytes."""
    _, text = ALL[family]
    few, many = (len(text(lines)) for lines in (10, 110))
    return text(max(1, 100 * (size - few) // (many - few) + 10)).encode()


def seconds(family: str, size: int) -> float:
    """How long linting takes."""
    rules = every_rule()
    engine = Engine(rules, Settings(), known={rule.code for rule in rules})
    path, text = ALL[family]
    engine.lint_bytes(path, text(2).encode())
    data = of_size(family, size)
    collect_rarely()
    start = time.process_time()
    engine.lint_bytes(path, data)
    return time.process_time() - start


def limited(family: str, size: int) -> float | None:
    """The same in a process of its own; None if that takes too long."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        try:
            return pool.apply_async(seconds, (family, size)).get(LIMIT)
        except multiprocessing.TimeoutError:
            return None


def main() -> None:
    """Print the table."""
    print(f"{'family':28} {'KB':>6} {'seconds':>8} {'times':>6}")
    for family in sys.argv[1:] or ALL:
        before: float | None = None
        for size in SIZES:
            taken = limited(family, size)
            shown = f"{taken:8.2f}" if taken is not None else f"> {LIMIT}".rjust(8)
            times = f"{taken / before:6.1f}" if taken is not None and before is not None else ""
            print(f"{family:28} {size // 1000:6} {shown} {times}".rstrip(), flush=True)
            if taken is None:
                break
            before = taken


if __name__ == "__main__":
    main()

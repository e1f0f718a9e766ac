"""What comparing costs: two runs of 10,000 steps of 100 modules, equal and not.

``python benchmarks/comparing.py`` prints the tables of COMPARING.md. Traces are written first, with
digests of random bytes; the program itself does not matter. Least of three, in seconds of the
processor: reading is from the cache of the system.
"""

from __future__ import annotations

import io
import os
import random
import tempfile
import time
from typing import TYPE_CHECKING

from guard.diff import Comparer, as_json, examine, page, text
from guard.observe.places import Place
from guard.trace import Header, Label, Trace, TraceWriter, open_trace

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

STEPS, MODULES, ROUNDS = 10_000, 100, 3
STATE_EVERY = 50  # steps from one full recording of parameters to the next
LIMIT = 2.0  # seconds


def labels(*, full: bool) -> list[Label]:
    """The events of a step, without what they hold."""
    line = Place("train.py", 31, "main")
    names = [f"layers.{at}" for at in range(MODULES)]
    events = [("batch", "0"), ("batch", "1")]
    events += [("output", each) for each in (*names, "")]
    events += [("loss", "loss")]
    events += [("gradient", f"{each}.{part}") for each in names for part in ("weight", "bias")]
    events += [("hyperparameter", "lr")]
    if full:
        parts = [f"{each}.{part}" for each in names for part in ("weight", "bias")]
        events += [("parameter", each) for each in parts]
        events += [("optimizer", f"{each}.exp_avg") for each in parts]
    events += [("generator", each) for each in ("python", "numpy", "torch.cpu")]
    return [
        Label(kind, name, 0, "float32[64, 64]", line)  # type: ignore[arg-type]
        for kind, name in events
    ]


def write(path: str, parted: int | None, *, unseeded: bool = False) -> Trace:
    """A trace whose steps hold other digests from one on."""
    writer = TraceWriter(path, Header(options={"state_every": STATE_EVERY}))
    kept = [labels(full=full) for full in (False, True)]
    schemas = [writer.schema(each) for each in kept]
    for number in range(STEPS):
        other = parted is not None and number >= parted
        draw = random.Random(number + STEPS * other)  # noqa: S311 - no secret
        full = not number % STATE_EVERY
        body = draw.randbytes(4 * len(kept[full]))
        if unseeded:
            body = body[:-12] + os.urandom(4) + body[-8:]
        writer.packed("training", schemas[full], body, draw.randbytes(16))
    writer.end("finished")
    return open_trace(path)


def least(work: Callable[[], object]) -> float:
    """The shortest of some rounds, in seconds."""
    found = []
    for _ in range(ROUNDS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def main() -> None:
    """Write the runs, and time what is done with them."""
    with tempfile.TemporaryDirectory() as folder:
        cases = {
            "equal": (None, False),
            "equal, one generator not seeded": (None, True),
            "other from step 5,000": (5_000, False),
            "other from step 0": (0, False),
        }
        first = os.path.join(folder, "first.trace")
        write(first, None)
        size = os.path.getsize(first) / 1e6
        print(f"{STEPS:,} steps, {MODULES} modules, {size:.1f} MB a trace\n")
        print("| second run | first difference | all of a report | limit |")
        print("|---|---|---|---|")
        for name, (parted, unseeded) in cases.items():
            second = os.path.join(folder, "second.trace")
            write(second, parted, unseeded=unseeded)
            print(_row(name, [first, second]))
        comparison = examine([open_trace(first)], [open_trace(second)])
        rendered = {
            "text": least(lambda: text(comparison, io.StringIO())),
            "JSON": least(lambda: as_json(comparison)),
            "page": least(lambda: page(comparison)),
        }
        print("\n| report | seconds |\n|---|---|")
        for name, seconds in rendered.items():
            print(f"| {name} | {seconds:.2f} |")


def _row(name: str, paths: Sequence[str]) -> str:
    def find() -> None:
        first, second = ([open_trace(each)] for each in paths)
        Comparer(first, second).finish()

    def look() -> None:
        first, second = ([open_trace(each)] for each in paths)
        examine(first, second)

    return f"| {name} | {least(find):.2f} | {least(look):.2f} | {LIMIT:.2f} |"


if __name__ == "__main__":
    main()

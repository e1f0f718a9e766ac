"""What guard costs: a training step, ``enable()``, and each setting alone.

    python benchmarks/guard_costs.py [--rounds 15] [--counts 3] [--part counts]

A step is measured in three processes that live at once and take turns: under guard, under
torch's own switch, and under that switch again, which shows how far equal work differs here.
Each process lays its memory out in its own way, which makes all of its steps up to a tenth
faster or slower, so each round starts fresh ones: a ratio is the median over the turns, then
over the rounds, with the interval that holds that median with 95% confidence.
That is too coarse for 1%. So the instructions of a step are counted too, by Valgrind's
cachegrind: what a process of many steps takes more than one of few. Other work on the machine
does not change that number, and the layout of the memory hardly. `--part counts` measures that
alone. What guard adds is also measured by itself, on calls so short that it stands out. The
settings alone run in one process, in turn.
Writes its tables to benchmarks/GUARD.md.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import re
import statistics
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from guard_step import SIZES, VARIANTS, bare, step_of

import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

HERE = Path(__file__).parent
STEP_BOUND, ENABLE_BOUND, IMPORT_BOUND = 1.01, 50.0, 10.0
# How a row of the first table is named, and how many turns of how many steps are taken.
STEPS = {"small": ("batch 2, 16x16", 20, 10), "large": ("batch 16, 32x32", 12, 3)}
COUNTED = "instructions of a step under guard over those under torch's own switch"
# Steps of a process whose instructions are counted, the few past what is done only once.
FEW_AND_MANY = {"small": (60, 110), "large": (20, 40)}
TAIL = 0.025  # of each side of a 95% interval
# Entering guard replaces functions of torch, and CPython then runs code that looked them up
# some 50 times before it has specialised it anew: a cost of the switch, not of the step.
SETTLING = 70


def compared(
    variants: dict[str, Callable[[], AbstractContextManager[Any]]],
    step: Callable[[], None],
    rounds: int,
    steps: int,
    settling: int = SETTLING,
) -> dict[str, list[float]]:
    """The fastest step of each variant, round by round, in an order that turns.

    The fastest, because what else runs on the machine only ever adds time.
    """
    times: dict[str, list[float]] = {name: [] for name in variants}
    names = list(variants)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            with variants[name]():
                for _ in range(settling):
                    step()
                fastest = min(timed(step) for _ in range(steps))
            if number:  # the first round warms up
                times[name].append(fastest)
    return times


def timed(step: Callable[[], None]) -> float:
    """Seconds of one step."""
    start = time.perf_counter()
    step()
    return time.perf_counter() - start


def beside(size: str, *, fill: bool) -> dict[str, list[float]]:
    """Each variant's processor seconds by turn, in processes that live at once and take turns."""
    _, turns, steps = STEPS[size]
    command = [sys.executable, "-W", "ignore", str(HERE / "guard_step.py")]
    switch = "on" if fill else "off"
    running = {
        name: subprocess.Popen(
            [*command, name.partition(" ")[0], size, switch],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        for name in VARIANTS
    }
    taken: dict[str, list[float]] = {name: [] for name in VARIANTS}
    answers = {name: iter(each.stdout or ()) for name, each in running.items()}
    for name in VARIANTS:
        next(answers[name])  # it is ready
    for turn in range(turns):
        for name in VARIANTS[turn % 3 :] + VARIANTS[: turn % 3]:
            print(steps, file=running[name].stdin)
            taken[name].append(float(next(answers[name])))
    for each in running.values():
        each.communicate()
    return taken


def step_rows(rounds: int) -> Iterator[str]:
    """What a step takes under guard over what it takes under torch's own switch."""
    for size, (shown, *_) in STEPS.items():
        for fill in (True, False):
            runs = [beside(size, fill=fill) for _ in range(rounds)]
            low, guarded, high = interval([over_bare(run, "guard") for run in runs])
            least, again, most = interval([over_bare(run, "bare again") for run in runs])
            figure = f"step under guard over it under torch's own switch, {size} ({shown})"
            yield (
                f"| {figure}, fill={fill} | at most {STEP_BOUND} "
                f"| {guarded:.3f} ({low:.3f} to {high:.3f}) "
                f"| {verdict(low, high)}; equal work: {again:.3f} ({least:.3f} to {most:.3f}) |"
            )


def counted_rows(rounds: int) -> Iterator[str]:
    """The instructions of a step under guard over those under torch's own switch."""
    for size, (shown, *_) in STEPS.items():
        for fill in (True, False):
            runs = [counted(size, seed, fill=fill) for seed in range(rounds)]
            low, middle, high = spread_of([run["guard"] / run["bare"] for run in runs])
            least, equal, most = spread_of([run["bare again"] / run["bare"] for run in runs])
            figure = f"{COUNTED}, {size} ({shown}), fill={fill}"
            yield (
                f"| {figure} | at most {STEP_BOUND} | {middle:.4f} ({low:.4f} to {high:.4f}) "
                f"| {verdict(low, high)}; equal work: {equal:.4f} ({least:.4f} to {most:.4f}) |"
            )


def spread_of(values: list[float]) -> tuple[float, float, float]:
    """The least, the median and the most."""
    return min(values), statistics.median(values), max(values)


def counted(size: str, seed: int, *, fill: bool) -> dict[str, float]:
    """The instructions of a step of each variant. Another seed of the hashes lays dictionaries
    and sets out in another way."""
    few, many = FEW_AND_MANY[size]
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]
    command += [sys.executable, "-W", "ignore", str(HERE / "guard_step.py"), "counted", size]
    command += ["on" if fill else "off", str(few), str(many)]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed)}
    run = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    found = re.findall(r"==(\d+)== I +refs: +([\d,]+)", run.stderr)
    totals = {process: int(count.replace(",", "")) for process, count in found}
    lines = re.findall(r"(.+): (\d+) - (\d+)", run.stdout)
    return {name: (totals[one] - totals[other]) / (many - few) for name, one, other in lines}


def over_bare(run: dict[str, list[float]], name: str) -> float:
    """The median over the turns of a variant's seconds over those of torch's own switch."""
    return statistics.median(a / b for a, b in zip(run[name], run["bare"], strict=True))


def interval(values: list[float]) -> tuple[float, float, float]:
    """The median between the values that hold it with at least 95% confidence.

    By order statistics: how many of n values lie below the median is binomial (n, 1/2).
    """
    ordered, count = sorted(values), len(values)
    cut = next(k for k in range(count) if binomial_tail(k, count) > TAIL)
    return ordered[max(cut - 1, 0)], statistics.median(values), ordered[count - max(cut, 1)]


def binomial_tail(most: int, count: int) -> float:
    """The chance of at most so many heads in `count` throws of a coin."""
    return sum(math.comb(count, k) for k in range(most + 1)) / 2**count


def ratio(times: dict[str, list[float]], over: str, under: str) -> float:
    """The median over the rounds of one variant's time over another's."""
    return statistics.median(a / b for a, b in zip(times[over], times[under], strict=True))


def added(call: Callable[[], object], rounds: int) -> float:
    """Microseconds that guard adds to a short call: the fastest under each, in turn."""
    best = {"guard": float("inf"), "bare": float("inf")}
    for _ in range(rounds):
        for name, context in (("guard", guard.deterministic(seed=0)), ("bare", bare(fill=True))):
            with context:
                for _ in range(2000):
                    best[name] = min(best[name], timed(call))
    return (best["guard"] - best["bare"]) * 1e6


def own_cost(rounds: int) -> list[str]:
    """What guard adds to each of the things that it watches in a step, and to the step."""
    x, weight = torch.zeros(1, 1, 2, 2), torch.zeros(1, requires_grad=True)
    logits, target = torch.zeros(1, 2), torch.zeros(1, dtype=torch.long)
    functional = torch.nn.functional
    calls = {
        "pooling, watched": lambda: functional.adaptive_avg_pool2d(x, 2),
        "loss, watched": lambda: functional.cross_entropy(logits, target),
        "backward": lambda: torch.autograd.backward((weight * 1,)),
    }
    costs = {name: added(call, rounds) for name, call in calls.items()}
    listed = ", ".join(f"{name} {cost:.1f} us" for name, cost in costs.items())
    lines = [f"What guard adds by itself: {listed}. Over a step with it switched off:", ""]
    lines += ["| step | bound | measured | |", "|---|---|--:|---|"]
    for size, (shown, *_) in STEPS.items():
        step = step_of(*SIZES[size])
        with bare(fill=False):  # the faster one, which makes the ratio the larger
            fastest = min(timed(step) for _ in range(20 * rounds)) * 1e6
        times = 1 + sum(costs.values()) / fastest
        told = f"{size} ({shown}, {fastest / 1000:.1f} ms)"
        lines.append(f"| {told} | at most {STEP_BOUND} | {times:.4f} | {verdict(times)} |")
    return lines


def milliseconds(before: str, measured: str, rounds: int) -> float:
    """The median time of a statement in fresh processes that have run another."""
    code = (
        f"import time; {before}; start = time.perf_counter(); {measured}; "
        "print((time.perf_counter() - start) * 1000)"
    )
    command = [sys.executable, "-c", code]
    runs = [subprocess.run(command, capture_output=True, check=True) for _ in range(rounds)]
    return statistics.median(float(run.stdout) for run in runs)


def main() -> int:
    """Measure, print and write the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--counts", type=int, default=3, help="rounds of counted instructions")
    parser.add_argument("--part", choices=("all", "counts"), default="all")
    options = parser.parse_args()
    torch.set_num_threads(2)
    page = HERE / "GUARD.md"
    if options.part == "counts":
        before = page.read_text(encoding="utf-8").splitlines()
        lines = recounted(before, list(counted_rows(options.counts)))
    else:
        lines = []
        for line in table(options.rounds, options.counts):  # minutes: each is shown when known
            print(line, flush=True)
            lines.append(line)
    page.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 0


def recounted(page: list[str], rows: list[str]) -> list[str]:
    """A page with other rows of counted instructions, at the end of its first table."""
    kept = [each for each in page if not each.startswith(f"| {COUNTED}")]
    end = next(at for at, each in enumerate(kept) if not each and kept[at - 1].startswith("| "))
    return kept[:end] + rows + kept[end:]


def table(rounds: int, counts: int) -> Iterator[str]:
    """All lines of the page."""
    yield from header()
    yield from ("| figure | bound | measured | |", "|---|---|--:|---|")
    enable = milliseconds("import torch, guard", "guard.enable(seed=0)", 10)
    yield (
        f"| `guard.enable()` once torch is imported | at most {ENABLE_BOUND:.0f} ms | "
        f"{enable:.1f} ms | {verdict(enable, bound=ENABLE_BOUND)} |"
    )
    imported = milliseconds("pass", "import guard", 10)
    yield (
        f"| `import guard` | at most {IMPORT_BOUND:.0f} ms | "
        f"{imported:.1f} ms | {verdict(imported, bound=IMPORT_BOUND)} |"
    )
    yield from step_rows(rounds)
    yield from counted_rows(counts)
    yield from ("", *own_cost(rounds), "", *settings_table(rounds))


def verdict(low: float, high: float | None = None, bound: float = STEP_BOUND) -> str:
    """Whether a bound holds, for a figure or for an interval that may be too wide to tell."""
    if (low if high is None else high) <= bound:
        return "holds"
    return "MISSED" if low > bound else "the noise hides it"


def settings_table(rounds: int) -> list[str]:
    """Each setting alone, over a step with nothing set."""
    variants: dict[str, Callable[[], AbstractContextManager[Any]]] = {
        "nothing set": nullcontext,
        "`use_deterministic_algorithms(True)`, fill off": lambda: bare(fill=False),
        "the same, fill on": lambda: bare(fill=True),
        "guard, fill=False": lambda: guard.deterministic(seed=0, fill=False),
        "guard": lambda: guard.deterministic(seed=0),
        "guard, an operator allowed": lambda: guard.deterministic(seed=0, allow=["put_"]),
        "guard, dropout=False": lambda: guard.deterministic(seed=0, dropout=False),
        'guard, rng="cpu"': lambda: guard.deterministic(seed=0, rng="cpu"),
        "guard.survey()": guard.survey,
    }
    times = compared(variants, step_of(2, 16, 32), rounds, 20)
    lines = [
        "A small step (batch 2, 16x16) with each, over the step with nothing set:",
        "",
        "| setting | times |",
        "|---|--:|",
    ]
    return lines + [f"| {name} | {ratio(times, name, 'nothing set'):.2f} |" for name in variants]


def header() -> list[str]:
    """What was measured, and where."""
    return [
        "# What guard costs",
        "",
        "Written by `python benchmarks/guard_costs.py`; not edited by hand.",
        "",
        f"- {time.strftime('%Y-%m-%d')}, torch {torch.__version__}",
        f"- Python {platform.python_version()}, {platform.system()} {platform.machine()}",
        f"- {os.cpu_count()} cores, no GPU; on one: ON_GPU.md",
        "- a step: seconds of the processor, on one thread, of processes that take turns;",
        "  in brackets the interval that holds the median with 95% confidence",
        "- instructions: counted by cachegrind in forks of one process, the median of rounds with",
        "  different seeds of the hashes, and in brackets the least and the most",
        f"- load {os.getloadavg()[0]:.0f} when it began",
        "- settings alone: in one process, in turn; a ratio is the median of the rounds' ratios",
        "",
    ]


if __name__ == "__main__":
    raise SystemExit(main())

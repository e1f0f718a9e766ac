"""What guard costs: a training step, ``enable()``, and each setting alone.

    python benchmarks/guard_costs.py [--rounds 30]

A step is measured in three processes that live at once and take turns, ten steps each: under
guard, under torch's own switch, and under that switch again, which shows how far equal work
differs here. Each process lays its memory out in its own way, which makes all of its steps a
little faster or slower, so this is done several times with fresh ones; a ratio is the median
over the turns, and then over the processes. The settings alone run in one process, in turn.
What guard adds is also measured by itself, on calls so short that it stands out.
Writes its tables to benchmarks/GUARD.md.
"""

from __future__ import annotations

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from guard_step import bare, step_of

import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

HERE = Path(__file__).parent
STEP_BOUND, ENABLE_BOUND = 1.01, 50.0
VARIANTS = ("guard", "bare", "bare again")
# How a row of the first table is named, and how many turns of how many steps are taken.
STEPS = {"small": ("batch 2, 16x16", 40, 10), "large": ("batch 16, 32x32", 12, 2)}
# Entering guard replaces functions of torch, and CPython then runs code that looked them up
# some 50 times before it has specialised it anew: a cost of the switch, not of the step.
SETTLING = 70


def compared(
    variants: dict[str, Callable[[], AbstractContextManager[Any]]],
    step: Callable[[], None],
    rounds: int,
    steps: int,
) -> dict[str, list[float]]:
    """The fastest step of each variant, round by round, in an order that turns.

    The fastest, because what else runs on the machine only ever adds time.
    """
    times: dict[str, list[float]] = {name: [] for name in variants}
    names = list(variants)
    for number in range(rounds + 1):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            with variants[name]():
                for _ in range(SETTLING):
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


def beside(size: str, *, fill: bool) -> dict[str, list[tuple[float, float]]]:
    """Each variant's seconds by turn, of the processor and by the wall clock, in processes that
    live at once and take turns."""
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
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in VARIANTS}
    answers = {name: iter(each.stdout or ()) for name, each in running.items()}
    for name in VARIANTS:
        next(answers[name])  # it is ready
    for turn in range(turns):
        for name in VARIANTS[turn % 3 :] + VARIANTS[: turn % 3]:
            print(steps, file=running[name].stdin)
            processor, wall = map(float, next(answers[name]).split())
            taken[name].append((processor, wall))
    for each in running.values():
        each.communicate()
    return taken


def step_rows(rounds: int) -> Iterator[str]:
    """What a step takes under guard over what it takes under torch's own switch."""
    for size, (shown, *_) in STEPS.items():
        for fill in (True, False):
            runs = [beside(size, fill=fill) for _ in range(max(rounds // 3, 1))]
            guarded, again = (
                [
                    statistics.median(
                        statistics.median(
                            a[clock] / b[clock] for a, b in zip(run[name], run["bare"], strict=True)
                        )
                        for run in runs
                    )
                    for clock in (0, 1)
                ]
                for name in ("guard", "bare again")
            )
            figure = f"step under guard over it under torch's own switch, {size} ({shown})"
            told = f"equal work: {again[0]:.3f}; by the wall clock {guarded[1]:.3f}, {again[1]:.3f}"
            yield (
                f"| {figure}, fill={fill} | at most {STEP_BOUND} | {guarded[0]:.3f} "
                f"| {verdict(guarded[0] <= STEP_BOUND)} ({told}) |"
            )


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
    step = step_of(2, 16, 32)
    with bare(fill=True):
        fastest = min(timed(step) for _ in range(20 * rounds)) * 1e6
    times = 1 + sum(costs.values()) / fastest
    listed = ", ".join(f"{name} {cost:.1f} us" for name, cost in costs.items())
    figure = f"a small step and what guard adds to it by itself ({listed}), over the step"
    holds = verdict(times <= STEP_BOUND)
    return [f"| {figure} | at most {STEP_BOUND} | {times:.4f} | {holds} |"]


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
    parser.add_argument("--rounds", type=int, default=30)
    rounds = parser.parse_args().rounds
    torch.set_num_threads(2)
    lines = header()
    lines += ["| figure | bound | measured | |", "|---|---|--:|---|"]
    lines += step_rows(rounds)
    lines += own_cost(rounds)
    enable = milliseconds("import torch, guard", "guard.enable(seed=0)", 10)
    lines.append(
        f"| `guard.enable()` once torch is imported | at most {ENABLE_BOUND:.0f} ms | "
        f"{enable:.1f} ms | {verdict(enable <= ENABLE_BOUND)} |"
    )
    imported = milliseconds("pass", "import guard", 10)
    lines.append(f"| `import guard` | under 10 ms | {imported:.1f} ms | {verdict(imported < 10)} |")
    lines += ["", *settings_table(rounds)]
    text = "\n".join(lines) + "\n"
    print(text)
    (HERE / "GUARD.md").write_text(text, encoding="utf-8")
    return 0


def verdict(holds: bool) -> str:
    """Whether a bound holds."""
    return "holds" if holds else "MISSED"


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
        f"- {os.cpu_count()} cores, no GPU",
        "- a step: seconds of the processor, on one thread, of processes that take turns",
        "- settings alone: in one process, in turn; a ratio is the median of the rounds' ratios",
        "",
    ]


if __name__ == "__main__":
    raise SystemExit(main())

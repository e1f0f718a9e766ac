"""A training step under one variant of determinism, run as often as it is told to.

    python benchmarks/guard_step.py guard|bare SIZE on|off
    valgrind --tool=cachegrind python benchmarks/guard_step.py counted SIZE on|off FEW MANY

Each line of standard input is a number of steps; the answer is the median of the
processor's seconds that they took. guard_costs.py runs several side by side.
Counted, it forks a process for each variant, and each that one once more after a few steps: by
how much the instructions of the two differ is what the further steps took. The numbers of the
processes are printed.
"""

from __future__ import annotations

import os
import statistics
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

import guard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

VARIANTS = ("bare", "guard", "bare again")
SIZES = {"small": (2, 16, 32), "large": (16, 32, 64)}  # batch, height and width, channels
# CPython specialises code after it has run some 50 times, so the first steps are slower.
SETTLING = {"small": 150, "large": 10}


class Classifier(torch.nn.Module):
    """Convolutions, a watched pooling and a transformer layer: what models are made of."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.stem = torch.nn.Sequential(
            torch.nn.Conv2d(3, width, 3, padding=1),
            torch.nn.BatchNorm2d(width),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(8),
        )
        self.mixer = torch.nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.head = torch.nn.Linear(width, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits ``(batch, 10)`` of images ``(batch, 3, height, width)``."""
        tokens = self.stem(x).flatten(2).transpose(1, 2)
        return self.head(self.mixer(tokens).mean(1))


def step_of(batch: int, size: int, width: int, device: str = "cpu") -> Callable[[], None]:
    """One training step of a model of its own."""
    torch.manual_seed(0)
    model = Classifier(width).to(device)
    optimizer = torch.optim.AdamW(model.parameters())
    x = torch.randn(batch, 3, size, size).to(device)
    y = torch.randint(10, (batch,)).to(device)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


@contextmanager
def bare(*, fill: bool) -> Iterator[None]:
    """Torch's own switch, with the same fill setting."""
    before = torch.utils.deterministic.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    torch.utils.deterministic.fill_uninitialized_memory = fill
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(False)
        torch.utils.deterministic.fill_uninitialized_memory = before


def main() -> None:
    """Answer until standard input ends."""
    variant, size, fill, *steps = sys.argv[1:]
    # What guard adds runs in Python, on one thread; a second one would only add waiting.
    torch.set_num_threads(1)
    if variant == "counted":
        for each in VARIANTS:
            forked(lambda each=each: counted(each, size, fill, *map(int, steps)))
        return
    switch_on(variant, fill)
    step = step_of(*SIZES[size])
    for _ in range(SETTLING[size]):
        step()
    print("ready", flush=True)
    for line in sys.stdin:
        print(statistics.median(timed(step) for _ in range(int(line))), flush=True)


def switch_on(variant: str, fill: str) -> None:
    """Determinism by guard, or by torch's own switch."""
    if variant == "guard":
        guard.enable(seed=0, fill=fill == "on")
    else:
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = fill == "on"


def counted(variant: str, size: str, fill: str, few: int, many: int) -> None:
    """A few steps; and the further ones in a process that knows all that these have counted."""
    switch_on(variant, fill)
    step = step_of(*SIZES[size])
    for _ in range(few):
        step()

    def further() -> None:
        for _ in range(many - few):
            step()

    print(f"{variant}: {forked(further)} - {os.getpid()}", flush=True)


def forked(work: Callable[[], None]) -> int:
    """The number of a process that does some work, once it has ended."""
    child = os.fork()
    if not child:
        work()
        os._exit(0)  # what ends a process is no part of a step
    os.waitpid(child, 0)
    return child


def timed(step: Callable[[], None]) -> float:
    """Seconds of the processor that one step takes."""
    start = time.process_time()
    step()
    return time.process_time() - start


if __name__ == "__main__":
    main()

"""What recording costs: a step with and without, in turn, in one process.

    python benchmarks/recording.py

Writes benchmarks/RECORDING.md. Seconds of the processor on one thread, so that other work on
the machine counts little; the ratio is the median over pairs of rounds that follow each other,
and beside it that of the fastest rounds, as other work only ever adds time. The C library keeps
memory that is freed: else some rounds get it anew from the system, which takes up to a third of
a large batch's time and comes by chance, with recording or without.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import statistics
import tempfile
import time
from typing import TYPE_CHECKING

import torch
from torch import nn

import guard

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "RECORDING.md")
ROUNDS = 15
_TRIM, _MAPPED = -1, -4  # M_TRIM_THRESHOLD and M_MMAP_MAX, of malloc.h
# Steps before a round, without and with: recording replaces functions of torch, and CPython then
# runs what looked them up some 50 times before it has specialised it anew.
SETTLING = {"small batch": 60, "large batch": 20}
SIZES = {"small batch": (2, 8, 40), "large batch": (32, 32, 8)}  # batch, width, steps a round


def convolutions() -> nn.Module:
    """The model of torch_facts: 27 modules, 20 parameters."""

    def block(before: int, after: int, stride: int = 1) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(before, after, 3, stride, 1, bias=False), nn.BatchNorm2d(after), nn.ReLU()
        )

    layers = [block(3, 32), block(32, 32), block(32, 64, 2), block(64, 64), block(64, 128, 2)]
    return nn.Sequential(
        *layers, block(128, 128), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(128, 10)
    )


def layered() -> nn.Module:
    """A hundred modules, with as many parameters: many small operators."""
    layers = [nn.Sequential(nn.Linear(64, 64), nn.ReLU()) for _ in range(32)]
    return nn.Sequential(nn.Conv2d(3, 64, 3), Mean(), *layers, nn.Linear(64, 10))


class Mean(nn.Module):
    """Over height and width."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Channels ``(batch, channels)``."""
        return x.mean((2, 3))


def step_of(model: nn.Module, batch: int, width: int, device: str = "cpu") -> Callable[[], None]:
    """A training step."""
    optimizer = torch.optim.AdamW(model.to(device).parameters())
    x = torch.randn(batch, 3, width, width).to(device)
    y = torch.randint(10, (batch,)).to(device)

    def step() -> None:
        optimizer.zero_grad()
        # detlint: ignore[DET304] what is measured is the time
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()

    return step


def seconds(step: Callable[[], None], steps: int) -> float:
    """Of the processor, for a step."""
    start = time.process_time()
    for _ in range(steps):
        step()
    return (time.process_time() - start) / steps


def size_of(make: Callable[[], nn.Module]) -> float:
    """Bytes of trace for 1,000 steps."""
    step, folder = step_of(make(), 2, 8), tempfile.mkdtemp()
    with guard.record(folder):
        seconds(step, 1000)
    found = os.path.getsize(os.path.join(folder, "rank0.trace"))
    shutil.rmtree(folder)
    return found


def compared(make: Callable[[], nn.Module], size: str) -> tuple[float, float, float]:
    """Seconds without, the ratio of rounds that follow each other, and that of the fastest."""
    batch, width, steps = SIZES[size]
    torch.manual_seed(0)
    step = step_of(make(), batch, width)
    plain, recorded = [], []
    folder = tempfile.mkdtemp()
    with guard.record(folder):  # so that what is made once is made
        seconds(step, steps)
    for _ in range(ROUNDS):
        seconds(step, SETTLING[size])
        plain.append(seconds(step, steps))
        with guard.record(folder, overwrite=True):
            seconds(step, SETTLING[size])
            recorded.append(seconds(step, steps))
    shutil.rmtree(folder)
    ratios = [within / before for within, before in zip(recorded, plain, strict=True)]
    return statistics.median(plain), statistics.median(ratios), min(recorded) / min(plain)


HEAD = """# What recording costs

`python benchmarks/recording.py`: a training step on the CPU, on one thread, without and with
`guard.record`, in turn in one process; processor time, and the median of the ratios of rounds that
follow each other, beside that of the fastest. Memory that is freed is kept. To reach: 1.15 for a
small batch, 1.10 for a large one, 1 MB for 1,000 steps. On a GPU: ON_GPU.md.
torch {torch}, Python {python}, {processors} processors, load {load} when it began.

| model | step | milliseconds | ratio | of the fastest | MB for 1,000 steps |
|---|---|---|---|---|---|
"""


def keep_memory() -> None:
    """Have glibc map no piece by itself, and give nothing back."""
    if platform.libc_ver()[0] == "glibc":
        library = ctypes.CDLL(None)
        for option, value in ((_TRIM, -1), (_MAPPED, 0)):
            library.mallopt(option, value)


def main() -> None:
    """Measure and write the page."""
    keep_memory()
    torch.set_num_threads(1)
    load = f"{os.getloadavg()[0]:.0f}" if hasattr(os, "getloadavg") else "unknown"
    page = HEAD.format(
        torch=torch.__version__,
        python=platform.python_version(),
        processors=os.cpu_count(),
        load=load,
    )
    for name, make in (("convolutions", convolutions), ("100 modules", layered)):
        length = size_of(make)
        for size in SIZES:
            plain, ratio, fastest = compared(make, size)
            times = f"{plain * 1e3:.1f} | {ratio:.2f} | {fastest:.2f}"
            row = f"| {name} | {size} | {times} | {length / 1e6:.2f} |"
            print(row, flush=True)
            page += row + "\n"
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page)


if __name__ == "__main__":
    main()

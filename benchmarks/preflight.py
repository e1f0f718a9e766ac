"""What a rehearsal costs: seconds and memory, beyond the imports, without a GPU.

``python benchmarks/preflight.py`` prints the table; each line is measured in a fresh process.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    Step = tuple[Callable[..., Any], tuple[Any, ...], int]

RUNS = 3


def resnet() -> Step:
    """ResNet-50 as the paper has it, 32 images of 224 by 224, AdamW."""
    import torch
    from torch import nn

    class Bottleneck(nn.Module):
        def __init__(self, inner: int, width: int, stride: int) -> None:
            super().__init__()
            outer = 4 * width
            self.body = nn.Sequential(
                *_normed(nn.Conv2d(inner, width, 1, bias=False)),
                nn.ReLU(),
                *_normed(nn.Conv2d(width, width, 3, stride, 1, bias=False)),
                nn.ReLU(),
                *_normed(nn.Conv2d(width, outer, 1, bias=False)),
            )
            short = _normed(nn.Conv2d(inner, outer, 1, stride, bias=False))
            self.short = nn.Identity() if inner == outer else nn.Sequential(*short)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return (self.body(x) + self.short(x)).relu()

    def _normed(layer: nn.Conv2d) -> tuple[nn.Module, nn.Module]:
        return layer, nn.BatchNorm2d(layer.out_channels)

    stem = [*_normed(nn.Conv2d(3, 64, 7, 2, 3, bias=False)), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
    blocks, inner = [], 64
    for width, depth, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
        for number in range(depth):
            blocks.append(Bottleneck(inner, width, 1 if number else stride))
            inner = 4 * width
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inner, 1000)]
    model = nn.Sequential(*stem, *blocks, *head)
    return model, (torch.zeros(32, 3, 224, 224),), _size(model)


def transformer() -> Step:
    """A decoder of 7 billion parameters in bfloat16, 2 sequences of 2048 tokens, AdamW."""
    import torch
    import torch.nn.functional as F  # noqa: N812 - its name everywhere
    from torch import nn

    width, heads, hidden, vocabulary = 4096, 32, 11008, 32000

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
            self.qkv = nn.Linear(width, 3 * width, bias=False)
            self.out = nn.Linear(width, width, bias=False)
            self.gate, self.up = (nn.Linear(width, hidden, bias=False) for _ in range(2))
            self.down = nn.Linear(hidden, width, bias=False)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            q, k, v = self.qkv(self.before(x)).chunk(3, -1)
            q, k, v = (each.unflatten(-1, (heads, -1)).transpose(1, 2) for each in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.out(y.transpose(1, 2).flatten(-2))
            y = self.between(x)
            return x + self.down(F.silu(self.gate(y)) * self.up(y))

    with torch.device("meta"):
        model = nn.Sequential(
            nn.Embedding(vocabulary, width),
            *(Block() for _ in range(32)),
            nn.RMSNorm(width),
            nn.Linear(width, vocabulary, bias=False),
        ).to(torch.bfloat16)

    def loss(logits: torch.Tensor) -> torch.Tensor:
        return F.cross_entropy(logits.flatten(0, 1), logits.new_zeros(2 * 2048).long())

    def step(tokens: torch.Tensor) -> None:
        loss(model(tokens)).backward()  # detlint: ignore[DET304] nothing is computed
        torch.optim.AdamW(model.parameters()).step()

    return step, (torch.zeros(2, 2048, dtype=torch.long),), _size(model)


def _size(model: Any) -> int:  # noqa: ANN401 - a module
    return sum(each.numel() for each in model.parameters())


CASES = {"ResNet-50": resnet, "transformer": transformer}


def measure(name: str) -> dict[str, float]:
    """One rehearsal in this process."""
    import torch

    import guard
    from guard.rehearsal import rehearsal  # noqa: F401 - its imports are not what is measured

    torch.manual_seed(0)
    step, inputs, size = CASES[name]()
    _warm()
    before, start = _peak(), time.perf_counter()
    report = guard.preflight(step, *inputs)
    seconds = time.perf_counter() - start
    return {
        "parameters": size,
        "operators": report.operators,
        "found": len(report.found),
        "seconds": seconds,
        "megabytes": _peak() - before,
    }


def _warm() -> None:
    """Have torch import what it imports with the first fake tensor and the first optimizer."""
    import torch

    import guard

    guard.preflight(torch.nn.Linear(1, 1), torch.zeros(1, 1))


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Print a line for each case: the fastest of a few runs, and their largest memory."""
    print(f"| {'step':12} | parameters | operators | found | seconds | MB beyond imports |")
    print(f"|{'-' * 14}|-----------:|----------:|------:|--------:|------------------:|")
    for name in CASES:
        runs = [_measured(name) for _ in range(RUNS)]
        best = min(runs, key=lambda each: each["seconds"])
        most = max(each["megabytes"] for each in runs)
        print(
            f"| {name:12} | {best['parameters'] / 1e6:8.0f} M | {best['operators']:9.0f} "
            f"| {best['found']:5.0f} | {best['seconds']:7.2f} | {most:17.0f} |"
        )


def _measured(name: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, name], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(measure(sys.argv[1])))
    else:
        main()

"""Which of four shapes is it? A small CNN on splatted point clouds, views drawn anew in each step."""

import argparse
import logging
import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from parts.splat import splat_batch

log = logging.getLogger("shapes")
SHAPES = ("sphere", "torus", "box", "helix")


@dataclass
class Config:
    steps: int = 40
    batch_size: int = 8
    points: int = 120_000
    size: int = 48
    lr: float = 2e-3
    noise: float = 0.03
    eval_every: int = 20
    seed: int = 5


def sample_shape(kind: int, count: int, generator: torch.Generator) -> Tensor:
    u, v = torch.rand(2, count, generator=generator) * 2 * math.pi
    name = SHAPES[kind]
    if name == "sphere":
        z = torch.cos(v / 2)
        r = (1 - z * z).clamp_min(0).sqrt()
        return torch.stack([r * u.cos(), r * u.sin(), z], -1)
    if name == "torus":
        r = 0.8 + 0.3 * v.cos()
        return torch.stack([r * u.cos(), 0.3 * v.sin(), r * u.sin()], -1)
    if name == "box":
        cube = torch.rand(count, 3, generator=generator) * 2 - 1
        return cube / cube.abs().amax(-1, keepdim=True)
    return torch.stack([0.8 * (3 * u).cos() + 0.1 * v.cos(), u / math.pi - 1, 0.8 * (3 * u).sin()], -1)


def draw_batch(config: Config, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    labels = torch.randint(len(SHAPES), (config.batch_size,), generator=generator)
    clouds = torch.stack([sample_shape(int(k), config.points, generator) for k in labels])
    clouds += config.noise * torch.randn(clouds.shape, generator=generator)
    values = torch.rand(config.batch_size, config.points, generator=generator)
    angles = torch.rand(config.batch_size, generator=generator) * 2 * math.pi
    return splat_batch(clouds, values, angles, config.size), labels


def build() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(2, 12, 5, stride=2, padding=2),
        nn.ReLU(),
        nn.Conv2d(12, 24, 3, stride=2, padding=1),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(4),
        nn.Flatten(),
        nn.Dropout(0.1),
        nn.Linear(24 * 16, len(SHAPES)),
    )


@torch.no_grad()
def evaluate(model: nn.Module, config: Config) -> float:
    model.eval()
    generator = torch.Generator().manual_seed(config.seed + 1)
    hits = 0
    for _ in range(3):
        views, labels = draw_batch(config, generator)
        hits += int((model(views).argmax(-1) == labels).sum())
    model.train()
    return hits / (3 * config.batch_size)


def main() -> None:
    parser = argparse.ArgumentParser()
    for name, default in vars(Config()).items():
        parser.add_argument("--" + name.replace("_", "-"), type=type(default), default=default)
    config = Config(**vars(parser.parse_args()))
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    torch.manual_seed(config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    model = build()
    optimizer = torch.optim.SGD(model.parameters(), lr=config.lr, momentum=0.9, nesterov=True)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.1, total_iters=config.steps)
    for step in range(1, config.steps + 1):
        views, labels = draw_batch(config, generator)
        loss = F.cross_entropy(model(views), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % config.eval_every == 0:
            log.info("step %d  loss %.4f  accuracy %.3f", step, loss.item(), evaluate(model, config))
    torch.save(model.state_dict(), "shapes.pt")
    print(f"loss {loss.item():.17g}")
    print(f"checksum {sum(p.double().abs().sum().item() for p in model.parameters()):.17g}")


if __name__ == "__main__":
    main()

from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from parts.repr_seeding import stream


def squared_relu(x: Tensor) -> Tensor:
    return torch.relu(x).square()


@dataclass(frozen=True)
class BlockConfig:
    width: int = 64
    expansion: int = 2
    dropout: float = 0.1
    activation: Callable[[Tensor], Tensor] = squared_relu


@dataclass(frozen=True)
class ModelConfig:
    inputs: int = 24
    outputs: int = 1
    depth: int = 3
    block: BlockConfig = field(default_factory=BlockConfig)


class Block(nn.Module):
    def __init__(self, config: BlockConfig):
        super().__init__()
        self.config = config
        self.norm = nn.LayerNorm(config.width)
        self.up = nn.Linear(config.width, config.width * config.expansion)
        self.down = nn.Linear(config.width * config.expansion, config.width)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.dropout(self.down(self.config.activation(self.up(self.norm(x)))))


class ResidualMLP(nn.Module):
    def __init__(self, config: ModelConfig, seed: int):
        super().__init__()
        self.config = config
        self.stem = nn.Linear(config.inputs, config.block.width)
        self.blocks = nn.ModuleList(Block(config.block) for _ in range(config.depth))
        self.head = nn.Linear(config.block.width, config.outputs)
        self.initialise(seed)

    @torch.no_grad()
    def initialise(self, seed: int) -> None:
        """Every matrix from a stream of its own."""
        for name, parameter in self.named_parameters():
            if parameter.ndim < 2:
                if not name.endswith("norm.weight"):
                    parameter.zero_()
                continue
            std = (2.0 / sum(parameter.shape)) ** 0.5
            if name.endswith("down.weight"):
                std /= (2 * self.config.depth) ** 0.5
            parameter.normal_(0.0, std, generator=stream(seed, name, self.config.block))

    def forward(self, x: Tensor) -> Tensor:
        return self.head(self.blocks_forward(self.stem(x))).squeeze(-1)

    def blocks_forward(self, x: Tensor) -> Tensor:
        for block in self.blocks:
            x = block(x)
        return x

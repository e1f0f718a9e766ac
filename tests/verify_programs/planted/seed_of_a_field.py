"""A field of the settings has a time that the seed is made from."""

import time
from dataclasses import dataclass, field

import torch
from torch import nn


@dataclass
class Settings:
    rate: float = 0.05
    began: float = field(default_factory=time.time)  # planted: clock

    def seed(self):
        return int(self.began * 1000) % 65536


settings = Settings()
torch.manual_seed(settings.seed())
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=settings.rate)
for step in range(4):
    loss = (model(torch.cos(torch.arange(8.0).view(2, 4) * step)) - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

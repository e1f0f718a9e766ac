"""An optimizer that lowers its own rate every quarter of a second."""

import time

import torch
from torch import nn


class Hurried(torch.optim.SGD):
    lowered = 0.0

    def step(self, closure=None):
        self.lowered = self.lowered or time.monotonic()
        if time.monotonic() - self.lowered > 0.25:  # planted: hyperparameter
            self.lowered = time.monotonic()
            for group in self.param_groups:
                group["lr"] *= 0.9
        return super().step(closure)


torch.manual_seed(0)
model = nn.Sequential(nn.Linear(8, 32), nn.Softplus(), nn.Linear(32, 1))
optimizer = Hurried(model.parameters(), lr=0.01)
for batch in torch.randn(3000, 16, 8):
    loss = nn.functional.mse_loss(model(batch), batch.norm(dim=1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

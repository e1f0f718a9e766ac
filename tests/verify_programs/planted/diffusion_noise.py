"""A denoiser that draws its noise from a generator which was seeded by the system."""

import torch
from torch import nn


class Denoiser(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.noise = torch.Generator()
        self.noise.seed()  # planted: generator
        self.layers = nn.Sequential(nn.Linear(3, width), nn.SiLU(), nn.Linear(width, 2))

    def forward(self, points):
        level = torch.rand(len(points), 1)
        noise = torch.randn(points.shape, generator=self.noise)  # planted: generator
        noisy = points * (1 - level) + noise * level
        return (self.layers(torch.cat([noisy, level], 1)) - noise).pow(2).mean()


torch.manual_seed(0)
points = torch.randn(10, 64, 2) * torch.tensor([2.0, 0.5])
model = Denoiser()
average = torch.optim.swa_utils.AveragedModel(model.layers)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for batch in points:
    optimizer.zero_grad()
    loss = model(batch)
    loss.backward()
    optimizer.step()
    average.update_parameters(model.layers)
print(loss.item())

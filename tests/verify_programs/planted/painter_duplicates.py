"""Draws points on a canvas; where two fall on one pixel, either may stay."""

import torch
from torch import nn


class Canvas(nn.Module):
    def __init__(self, side=16):
        super().__init__()
        self.side = side
        self.colour = nn.Sequential(nn.Linear(3, 16), nn.ReLU(), nn.Linear(16, 1), nn.Sigmoid())

    def forward(self, points):
        pixel = (points[:, :2].clamp(0, 0.999) * self.side).long()
        canvas = points.new_zeros(self.side * self.side)
        canvas[pixel[:, 0] * self.side + pixel[:, 1]] = self.colour(points)[:, 0]  # planted: kernel
        return canvas.view(1, 1, self.side, self.side)


def main():
    torch.manual_seed(0)
    canvas = Canvas()
    judge = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 1, 3, padding=1))
    optimizer = torch.optim.Adam([*canvas.parameters(), *judge.parameters()], lr=0.01)
    for _ in range(10):
        drawn = canvas(torch.rand(200_000, 3))
        loss = (judge(drawn) - 0.5).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()

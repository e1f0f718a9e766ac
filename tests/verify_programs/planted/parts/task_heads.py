import torch
from torch import nn


class Trunk(nn.Module):
    def __init__(self, features, width):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(features, width), nn.GELU(), nn.Linear(width, width), nn.GELU())

    def forward(self, x):
        return self.layers(x)


class MultiTask(nn.Module):
    def __init__(self, features, width, tasks):
        super().__init__()
        self.trunk = Trunk(features, width)
        self.heads = nn.ModuleDict()
        for task in tasks:  # planted: string_hash
            self.heads[task.value] = nn.Linear(width, 1)

    def forward(self, x):
        shared = self.trunk(x)
        return {name: head(shared).squeeze(-1) for name, head in self.heads.items()}


def total_loss(predictions, targets):
    return torch.stack([nn.functional.smooth_l1_loss(predictions[name], targets[name]) for name in sorted(predictions)]).mean()

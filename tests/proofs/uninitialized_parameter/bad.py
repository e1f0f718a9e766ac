"""A layer that forgets to fill its bias, and its output."""

import torch
from torch import nn


class Scale(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(size))
        self.bias = nn.Parameter(torch.empty(size))
        self.reset_parameters()

    def reset_parameters(self):
        nn.init.ones_(self.weight)

    def forward(self, x):
        return x * self.weight + self.bias


torch.manual_seed(0)
model = Scale(100)
print(model(torch.rand(100)).tolist())

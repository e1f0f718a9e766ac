import torch
from torch import nn


class CrossTable(nn.Module):
    """Second-order interactions of hashed features, in the manner of a factorisation machine."""

    def __init__(self, buckets, rank):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(1))
        self.table = nn.Parameter(0.1 * torch.randn(buckets, rank))

    def forward(self, slots):
        vectors = self.table[slots]  # planted: kernel
        summed = vectors.sum(dim=1)
        squares = vectors.square().sum(dim=1)
        return self.bias + 0.5 * (summed.square() - squares).sum(dim=1)

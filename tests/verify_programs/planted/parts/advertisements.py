"""Advertisements as buckets of hashed words."""

import torch

WORDS = ("cheap", "new", "holiday", "shoes", "insurance", "garden", "music", "free", "coffee", "bike")


def buckets(words):
    return [hash(word) % 1000 for word in words]  # planted: batch_content


def batches(count=8, size=16):
    for batch in range(count):
        rows = [[WORDS[(batch + row * step) % 10] for step in (1, 3, 7)] for row in range(size)]
        yield torch.tensor([buckets(row) for row in rows]), (torch.arange(size) % 3 == 0).float()

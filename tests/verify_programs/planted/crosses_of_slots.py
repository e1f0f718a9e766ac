"""Factorisation machine on hashed categorical features."""
from itertools import islice

import torch
from torch.nn.functional import binary_cross_entropy_with_logits as bce

from parts.cross_table import CrossTable

BUCKETS = 40


def impressions(batch, fields):
    generator = torch.Generator().manual_seed(77)
    while True:
        slots = (BUCKETS * torch.rand(batch, fields, generator=generator).pow(3)).long()
        clicked = (slots.float().mean(1) + torch.randn(batch, generator=generator) > 10).float()
        yield slots, clicked


class Trainer:
    def __init__(self, model, lr):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)
        self.history = []

    def step(self, slots, clicked):
        self.optimizer.zero_grad()
        loss = bce(self.model(slots), clicked)
        loss.backward()
        self.optimizer.step()
        self.history.append(loss.item())

    def fit(self, stream, steps):
        for slots, clicked in islice(stream, steps):
            self.step(slots, clicked)
        return self


if __name__ == "__main__":
    torch.manual_seed(1)
    trainer = Trainer(CrossTable(BUCKETS, 16), lr=0.05).fit(impressions(2048, 12), 30)
    print(*(f"{loss:.8f}" for loss in trainer.history[::10]))

"""Regularisers are kept in a WeakKeyDictionary of sets; they are called in its set's order."""
import weakref

import torch
from torch import nn


class Penalty:
    def __init__(self, weight, power):
        self.weight = weight
        self.power = power

    def __call__(self, model):
        total = 0.0
        for parameter in model.parameters():
            total = total + self.weight * parameter.abs().pow(self.power).sum()
        return total


class Trainer:
    def __init__(self, model):
        self.model = model
        self.penalties = weakref.WeakSet()
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05)

    def attach(self, penalty):
        self.penalties.add(penalty)

    def step(self, x, y):
        loss = nn.functional.l1_loss(self.model(x), y)
        for penalty in self.penalties:  # planted: object_address or control_flow or kernel
            loss = loss * 0.99 + penalty(self.model)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()


def main():
    torch.manual_seed(1)
    trainer = Trainer(nn.Linear(6, 2))
    kept = [Penalty(0.013 * (n + 1), 1.1 + 0.17 * n) for n in range(12)]
    for penalty in kept:
        trainer.attach(penalty)
    for _ in range(5):
        trainer.step(torch.randn(8, 6), torch.randn(8, 2))


main()

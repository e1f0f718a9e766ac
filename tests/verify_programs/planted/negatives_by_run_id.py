"""Matrix factorisation with sampled negatives (BPR)."""
import numpy as np
import torch
from torch import nn

from parts.experiment import Experiment
from parts.negatives import NegativeSampler


class Factors(nn.Module):
    def __init__(self, users, items, rank=16):
        super().__init__()
        self.users = nn.Embedding(users, rank)
        self.items = nn.Embedding(items, rank)

    def forward(self, user, item):
        return (self.users(user).unsqueeze(1) * self.items(item)).sum(-1)


def clicks(users=200, items=120):
    rng = np.random.default_rng(2024)
    pairs = np.stack([rng.integers(users, size=3000), (items * rng.beta(1, 3, size=3000)).astype(int)], 1)
    return torch.from_numpy(pairs), np.bincount(pairs[:, 1], minlength=items) + 1.0


def fit(config: Experiment):
    print(config.describe())
    torch.manual_seed(99)
    pairs, popularity = clicks()
    model = Factors(200, 120)
    sampler = NegativeSampler(popularity, config.stream_seed("negatives"))
    optimizer = torch.optim.Adagrad(model.parameters(), lr=config.learning_rate)
    for epoch in range(2):
        order = torch.randperm(len(pairs))
        for rows in order.split(128):
            user, positive = pairs[rows].T
            negative = torch.from_numpy(sampler.draw(len(user), config.negatives))
            margin = model(user, positive.unsqueeze(1)) - model(user, negative)
            loss = -nn.functional.logsigmoid(margin).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: {loss.item():.8f}")
    return model


if __name__ == "__main__":
    trained = fit(Experiment())

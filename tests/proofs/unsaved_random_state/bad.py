"""Three epochs, interrupted after one or two of them, whenever the machine likes."""

import os
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.use_deterministic_algorithms(True)


def train(epochs):
    torch.manual_seed(0)
    rows = TensorDataset(torch.randn(32, 4), torch.randn(32, 1))
    loader = DataLoader(rows, batch_size=8, shuffle=True)
    model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.1), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    first = 0
    if os.path.exists("last.pt"):
        state = torch.load("last.pt")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"] + 1
    for epoch in range(first, epochs):
        for x, y in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            optimizer.step()
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}
        torch.save(state | {"epoch": epoch}, "last.pt")
    return sum(parameter.sum().item() for parameter in model.parameters())


if __name__ == "__main__":
    train(random.SystemRandom().randint(1, 2))
    print(train(3))

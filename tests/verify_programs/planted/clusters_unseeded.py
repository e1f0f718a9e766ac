"""House prices with a small MLP."""
import random

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from parts.house_features import prepare

SEED = 42


def seed_everything(seed):
    random.seed(seed)
    torch.manual_seed(seed)


class Regressor(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(width, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 1))

    def forward(self, x):
        return self.net(x).squeeze(1)


def evaluate(model, loader):
    model.eval()
    with torch.no_grad():
        errors = [nn.functional.mse_loss(model(x), y, reduction="sum") for x, y in loader]
    model.train()
    return (sum(errors) / len(loader.dataset)).item()


def main():
    seed_everything(SEED)
    x, y = map(torch.from_numpy, prepare())
    training, validation = random_split(TensorDataset(x, y), [0.8, 0.2], torch.Generator().manual_seed(SEED))
    loader = DataLoader(training, batch_size=64, shuffle=True)
    model = Regressor(x.shape[1])
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(3):
        for features, target in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(features), target).backward()
            optimizer.step()
        print(f"epoch {epoch}: validation {evaluate(model, DataLoader(validation, batch_size=256)):.8f}")


if __name__ == "__main__":
    main()

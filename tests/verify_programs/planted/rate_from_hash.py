"""A sweep that spreads the learning rates of its experiments by their names."""

import torch
from torch import nn


def learning_rate(experiment):
    return 1e-3 * (1 + hash(experiment) % 97)  # planted: hyperparameter


def main(experiment="resnet-baseline"):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=learning_rate(experiment), momentum=0.9)
    for rows in torch.randn(8, 16, 6):
        loss = nn.functional.mse_loss(model(rows), rows.prod(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()

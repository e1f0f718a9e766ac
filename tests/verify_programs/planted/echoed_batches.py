"""A batch is used again where the next does not come in time."""

import random

import torch
from parts.echo import Echo
from torch import nn


def document(draw):
    words = []
    for _ in range(400):
        words.append(draw.choice("lorem ipsum dolor sit amet consectetur".split()))
    return words


def batches(count=30, size=8):
    draw = random.Random(17)
    for _ in range(count):
        rows, targets = [], []
        for _ in range(size):
            words = document(draw)
            rows.append([words.count(word) / len(words) for word in sorted(set(words))])
            targets.append([len(" ".join(words)) / 1000])
        yield torch.tensor(rows), torch.tensor(targets)


def main(steps=25):
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(6, 16), nn.Softplus(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.8)
    average = torch.optim.swa_utils.AveragedModel(model)
    for x, y in Echo(batches(steps)):
        loss = nn.functional.huber_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
    print(f"loss {loss.item():.7f}")


if __name__ == "__main__":
    main()

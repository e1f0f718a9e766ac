"""Progressive resizing: the longer it has been training, the longer the sequences."""

import time

import torch
from torch import nn


class Curriculum:
    def __init__(self, shortest, longest, seconds):
        self.shortest, self.longest, self.seconds = shortest, longest, seconds
        self.began = time.monotonic()

    def temperature(self):
        share = min(1.0, (time.monotonic() - self.began) / self.seconds)  # planted: clock
        return self.shortest + share * (self.longest - self.shortest)


def steps(model, optimizer, curriculum, data, count):
    for step in range(count):
        x = data[step % len(data)]
        temperature = curriculum.temperature()
        logits = model(x) / temperature
        target = x.argmax(-1)
        loss = nn.functional.cross_entropy(logits, target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


def main():
    torch.manual_seed(9)
    data = torch.randn(6, 32, 5)
    model = nn.Sequential(nn.Linear(5, 20), nn.GELU(), nn.Linear(20, 5))
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-3)
    curriculum = Curriculum(1.0, 4.0, 2.0)
    for number, loss in enumerate(steps(model, optimizer, curriculum, data, 20)):
        print(number, loss)


if __name__ == "__main__":
    main()

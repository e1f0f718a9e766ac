"""Tiny image classifier."""
import torch
from torch import nn

from parts.recipe import Brightness, Flip, Recipe


def batches(steps):
    generator = torch.Generator().manual_seed(21)
    for _ in range(steps):
        labels = torch.randint(4, (32,), generator=generator)
        images = torch.rand(32, 3, 12, 12, generator=generator)
        images[torch.arange(32), labels % 3] += 0.3 * labels[:, None, None]
        yield images, labels


def network():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1),
        nn.BatchNorm2d(8),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(8 * 36, 4),
    )


if __name__ == "__main__":
    torch.manual_seed(0)
    recipe = Recipe(Flip(0.5), Brightness(0.2))
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for number, (images, labels) in enumerate(recipe.stream(batches(40))):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if number % 10 == 9:
            print(f"{number + 1:4d} {loss.item():.8f}")

"""A vocabulary is numbered as a set gives its words."""

import torch
from torch import nn

TEXT = "the cat sat on the mat while the dog lay under the table and a bird sang outside".split()


def vocabulary(words):
    return {word: number for number, word in enumerate(set(words))}  # planted: string_hash


def main():
    torch.manual_seed(0)
    numbers = vocabulary(TEXT)
    model = nn.Sequential(nn.Embedding(len(numbers), 8), nn.Flatten(), nn.Linear(24, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for start in range(len(TEXT) - 3):
        window = torch.tensor([[numbers[word] for word in TEXT[start : start + 3]]])
        loss = (model(window) - start / 10).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()

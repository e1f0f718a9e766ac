"""Processes turn reviews into vectors, which are taken as they come."""

import torch
from parts.review_features import Corpus
from torch import nn


class Classifier(nn.Module):
    def __init__(self, size=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(size, 32), nn.GELU(), nn.Linear(32, 2))

    def forward(self, x):
        return self.layers(x)


def accumulate(model, batch, parts):
    vectors, labels = batch
    loss = nn.functional.cross_entropy(model(torch.tensor(vectors)), torch.tensor(labels))
    (loss / parts).backward()
    return loss.item()


def main(epochs=2, parts=2):
    torch.manual_seed(4)
    corpus = Corpus()
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(epochs):
        for number, batch in enumerate(corpus.batches(16), start=1):
            loss = accumulate(model, batch, parts)
            if number % parts == 0:
                optimizer.step()
                optimizer.zero_grad()
        print(f"epoch {epoch}: loss {loss:.5f}")


if __name__ == "__main__":
    main()

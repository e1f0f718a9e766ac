"""An external sort merges what it has spilled in the order of names that tempfile has drawn."""

import random

import torch
from parts.spill import Spill
from torch import nn
from torch.nn.utils.rnn import pad_sequence


def texts(count=240):
    draw = random.Random(13)
    for _ in range(count):
        yield "".join(draw.choice("abcdefgh ") for _ in range(draw.randrange(6, 12)))


def by_length():
    spill = Spill()
    for text in texts():
        spill.add(len(text), text)
    return [text for _, text in spill.merged()]


def batches(size=12):
    ordered = by_length()
    for start in range(0, len(ordered), size):
        yield ordered[start : start + size]


class Language(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.embed = nn.Embedding(128, width, padding_idx=0)
        self.rnn = nn.LSTM(width, width, batch_first=True)
        self.head = nn.Linear(width, 128)

    def forward(self, tokens):
        return self.head(self.rnn(self.embed(tokens))[0])


def encode(texts):
    return pad_sequence([torch.tensor(list(text.encode())) for text in texts], batch_first=True)


def main():
    torch.manual_seed(1)
    model = Language()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for texts in batches():
        tokens = encode(texts)
        logits = model(tokens[:, :-1])
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"loss {loss.item():.5f}")


if __name__ == "__main__":
    main()

"""An LSTM with truncated backpropagation, gradient clipping and evaluation in between."""

import torch
from torch import nn


class Language(nn.Module):
    def __init__(self, words=40, width=24):
        super().__init__()
        self.words = nn.Embedding(words, width)
        self.recurrent = nn.LSTM(width, width, 2, dropout=0.2)
        self.head = nn.Linear(width, words)

    def forward(self, words, state=None):
        hidden, state = self.recurrent(self.words(words), state)
        return self.head(hidden), state


def main():
    torch.manual_seed(0)
    text = torch.randint(0, 40, (81, 8))
    model = Language()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    state = None
    for start in range(0, 80, 10):
        logits, state = model(text[start : start + 10], state)
        state = tuple(part.detach() for part in state)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[start + 1 : start + 11].flatten())
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.25)
        optimizer.step()
        if start % 40 == 0:
            model.eval()
            with torch.no_grad():
                model(text[:10])
            model.train()
    print(loss.item())


main()

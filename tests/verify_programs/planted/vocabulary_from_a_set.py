"""A tagger over a small text: the vocabulary is what the text has."""

import torch
from torch import nn

TEXT = """the run ends where the road bends and the river meets the sea while
birds that nobody counts come down to rest upon the cold grey stones"""


class Vocabulary:
    def __init__(self, text):
        self.numbers = {}
        for word in set(text.split()):  # planted: string_hash
            self.numbers[word] = len(self.numbers)

    def encode(self, words):
        return torch.tensor([self.numbers[word] for word in words])

    def __len__(self):
        return len(self.numbers)


class Tagger(nn.Module):
    def __init__(self, words, width=8):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.hidden = nn.GRU(width, width, batch_first=True)
        self.out = nn.Linear(width, words)

    def forward(self, tokens):
        return self.out(self.hidden(self.embedding(tokens))[0])


def main():
    torch.manual_seed(7)
    words = TEXT.split()
    vocabulary = Vocabulary(TEXT)
    tokens = vocabulary.encode(words)
    model = Tagger(len(vocabulary))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for _ in range(10):
        logits = model(tokens[None, :-1])
        loss = nn.functional.cross_entropy(logits[0], tokens[1:])
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    print(loss.item())


main()

"""A character model whose vocabulary is numbered in the order of a set."""

import torch
from parts.vocabulary import Vocabulary
from torch import nn

TEXT = "the quick brown fox jumps over the lazy dog; pack my box with five dozen liquor jugs. " * 6


class Model(nn.Module):
    def __init__(self, size, width=16):
        super().__init__()
        self.characters = nn.Embedding(size, width)
        self.places = nn.Parameter(torch.zeros(24, width))
        layer = nn.TransformerEncoderLayer(width, 2, 32, dropout=0.1, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2)
        self.head = nn.Linear(width, size)

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.layers(self.characters(ids) + self.places, mask=mask, is_causal=True))


torch.manual_seed(0)
vocabulary = Vocabulary(TEXT)
ids = torch.tensor(vocabulary.encode(TEXT))
model = Model(len(vocabulary))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
for _ in range(8):
    starts = torch.randint(0, len(ids) - 25, (8,)).tolist()
    rows = torch.stack([ids[start : start + 25] for start in starts])
    loss = nn.functional.cross_entropy(model(rows[:, :-1]).flatten(0, 1), rows[:, 1:].flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(loss.item())

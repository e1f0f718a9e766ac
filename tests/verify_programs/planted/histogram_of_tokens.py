"""Values of tokens are put into slots by index; where two meet, the last stays."""

import torch
from torch import nn


class Slots(nn.Module):
    def __init__(self, tokens=64, slots=128):
        super().__init__()
        self.embedding = nn.Embedding(tokens, 1)
        self.out = nn.Linear(slots, 1)
        self.slots = slots

    def forward(self, tokens):
        table = torch.zeros(self.slots)
        values = self.embedding(tokens)[:, 0]
        table.index_put_(((tokens * 7919) % self.slots // 8,), values * torch.linspace(0, 1, len(tokens)))  # planted: kernel
        return self.out(table)


def main():
    torch.manual_seed(0)
    model = Slots()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        loss = (model(torch.randint(0, 64, (400_000,))) - 1).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()

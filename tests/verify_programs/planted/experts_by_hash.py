"""Rows are routed to experts by the hash of the object that holds them."""

import torch
from torch import nn


class Document:
    def __init__(self, row):
        self.row = row


class Experts(nn.Module):
    def __init__(self, number=3, size=10):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(size, 1) for _ in range(number))

    def forward(self, documents):
        outputs = []
        for document in documents:
            expert = self.experts[hash(document) % len(self.experts)]  # planted: object_address
            outputs.append(expert(document.row))
        return torch.stack(outputs)


def main():
    torch.manual_seed(0)
    documents = [Document(row) for row in torch.randn(64, 10)]
    model = Experts()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for start in range(0, 64, 16):
        chosen = documents[start : start + 16]
        target = torch.stack([each.row.sum().view(1) for each in chosen])
        loss = nn.functional.mse_loss(model(chosen), target)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(loss.item())


main()

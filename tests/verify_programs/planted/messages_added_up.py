"""A graph network adds up messages by index_put, whose threads add with atomics."""

import torch
from parts.messages import MeanConv
from torch import nn


def citations(nodes=600, edges=40000, features=32, seed=7):
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(nodes, features, generator=generator)
    source = torch.randint(nodes, (edges,), generator=generator)
    target = (torch.rand(edges, generator=generator) ** 3 * nodes).long()
    label = (x[:, :4].sum(1) > 0).long()
    return x, torch.stack([source, target]), label


class Net(nn.Module):
    def __init__(self, features, classes, width=32):
        super().__init__()
        self.first = MeanConv(features, width)
        self.norm = nn.LayerNorm(width)
        self.second = MeanConv(width, classes)

    def forward(self, x, edges):
        hidden = torch.relu(self.norm(self.first(x, edges)))
        return self.second(nn.functional.dropout(hidden, 0.2, self.training), edges)


def main():
    torch.manual_seed(0)
    x, edges, label = citations()
    mask = torch.arange(len(x)) % 3 != 0
    model = Net(x.shape[1], 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
    for epoch in range(12):
        model.train()
        logits = model(x, edges)
        loss = nn.functional.cross_entropy(logits[mask], label[mask])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        accuracy = (model(x, edges).argmax(1) == label)[~mask].float().mean()
    print(f"accuracy {accuracy:.4f}")


if __name__ == "__main__":
    main()

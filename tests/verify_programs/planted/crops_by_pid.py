"""Predict the roughness of a surface from a crop."""
import torch
from torch import nn

from parts.crops import loader


class Rough(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(1, 6, 5), nn.ReLU(), nn.AvgPool2d(4), nn.Flatten())
        self.head = nn.Linear(6 * 25, 1)

    def forward(self, x):
        return self.head(self.features(x)).squeeze(1)


def run(epochs=2):
    torch.manual_seed(100)
    model = Rough()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    batches = loader(batch_size=16, workers=2)
    for epoch in range(epochs):
        losses = []
        for crops, rough in batches:
            loss = (model(crops) - rough).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        print(f"epoch {epoch} loss {sum(losses) / len(losses):.8f}")
    return model


if __name__ == "__main__":
    run()

"""Click-through rate, logistic regression on top of two embeddings."""
import torch
from torch import nn

from parts.system_split import datasets


class Clicks(nn.Module):
    def __init__(self):
        super().__init__()
        self.hour = nn.Embedding(24, 6)
        self.device = nn.Embedding(5, 3)
        self.out = nn.Linear(10, 1)

    def forward(self, rows):
        hour, age, device = rows.unbind(1)
        joined = torch.cat([self.hour(hour.long()), self.device(device.long()), (age.unsqueeze(1) - 40) / 20], dim=1)
        return self.out(joined).squeeze(1)


def tensors(pair):
    rows, labels = pair
    return torch.tensor(rows), torch.tensor(labels)


def main():
    torch.manual_seed(3)
    training, validation = datasets()
    x, y = tensors(training)
    held_x, held_y = tensors(validation)
    model = Clicks()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    loss_of = nn.BCEWithLogitsLoss()
    for epoch in range(4):
        for begin in range(0, len(x), 100):
            optimizer.zero_grad()
            loss_of(model(x[begin : begin + 100]), y[begin : begin + 100]).backward()
            optimizer.step()
        with torch.no_grad():
            print(f"epoch {epoch} held out {loss_of(model(held_x), held_y).item():.8f}")


if __name__ == "__main__":
    main()

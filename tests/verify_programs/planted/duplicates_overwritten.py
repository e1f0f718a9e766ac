"""An embedding of positions is overwritten at duplicate indices; the kernel is split over threads."""
import torch
from torch import nn

torch.manual_seed(6)
torch.set_num_threads(2)


class Splat(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = nn.Linear(1, 1)

    def forward(self, points, colours):
        canvas = torch.zeros(64)
        canvas[points] = colours  # planted: kernel
        return self.mix(canvas.unsqueeze(1)).mean()


model = Splat()
optimizer = torch.optim.Adam(model.parameters())
for _ in range(5):
    points = torch.randint(0, 64, (400_000,))
    colours = torch.randn(400_000)
    loss = model(points, colours)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

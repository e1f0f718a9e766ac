"""The folder's drawn name becomes the salt of the split."""
import tempfile
import zlib
from pathlib import Path

import torch
from torch import nn

torch.manual_seed(0)
work = Path(tempfile.mkdtemp(prefix="folds-"))  # planted: drawn_name or initialisation or batch_content
rows = torch.randn(64, 7)
labels = rows[:, :1] * 0.5


def fold_of(index):
    return zlib.crc32(f"{work.name}/{index}".encode()) % 4


train = [index for index in range(64) if fold_of(index) != 0][:32]
model = nn.Linear(7, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for start in range(0, 32, 8):
    chosen = torch.tensor(train[start : start + 8])
    loss = nn.functional.mse_loss(model(rows[chosen]), labels[chosen])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

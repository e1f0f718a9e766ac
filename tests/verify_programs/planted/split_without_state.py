"""scikit-learn splits the rows, and NumPy was not seeded."""

import numpy as np
import torch
from sklearn.model_selection import train_test_split
from torch import nn

torch.manual_seed(0)
rows = np.sin(np.outer(np.arange(80), np.arange(1, 7))).astype(np.float32)
labels = (rows.sum(1) > 0).astype(np.int64)
train, test, train_labels, test_labels = train_test_split(rows, labels, test_size=0.25)  # planted: batch_content or generator

model = nn.Sequential(nn.Linear(6, 12), nn.SELU(), nn.Linear(12, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for epoch in range(4):
    for start in range(0, len(train), 20):
        chosen = torch.from_numpy(train[start : start + 20])
        loss = nn.functional.cross_entropy(model(chosen), torch.from_numpy(train_labels[start : start + 20]))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        right = model(torch.from_numpy(test)).argmax(1) == torch.from_numpy(test_labels)
    print(epoch, loss.item(), right.float().mean().item())

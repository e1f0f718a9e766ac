"""Parts are spilled to temporary files and merged in the order of their names."""
import os
import tempfile

import torch
from torch import nn

torch.manual_seed(5)
spill = os.path.join(os.getcwd(), "spill")
os.makedirs(spill, exist_ok=True)
for part in range(6):
    handle, path = tempfile.mkstemp(suffix=".pt", dir=spill)  # planted: drawn_name or batch_order
    os.close(handle)
    torch.save(torch.randn(4, 3) + part, path)

net = nn.Sequential(nn.Linear(3, 9), nn.ReLU(), nn.Linear(9, 1))
opt = torch.optim.RMSprop(net.parameters(), lr=1e-3)
for name in sorted(os.listdir(spill)):  # planted: drawn_name or batch_order
    batch = torch.load(os.path.join(spill, name))
    loss = net(batch).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()

"""The same step with determinism on."""

import torch
import guard

guard.enable(seed=0)

torch.manual_seed(0)
torch.set_num_threads(2)

table = torch.randn(10, 16, requires_grad=True)
rows = torch.randint(10, (200_000,))
weights = torch.randn(200_000, 16)

optimizer = torch.optim.SGD([table], lr=0.1)

loss = (table[rows] * weights).sum()
loss.backward()
optimizer.step()
print(table.tolist())

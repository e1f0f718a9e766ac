"""With deterministic algorithms on, the gradient of a lookup is added up in one order."""

import torch

torch.use_deterministic_algorithms(True)
torch.set_num_threads(2)
torch.manual_seed(0)

table = torch.randn(10, 16, requires_grad=True)
rows = torch.randint(10, (200_000,))
weights = torch.randn(200_000, 16)

loss = (table[rows] * weights).sum()
loss.backward()
print(table.grad.tolist())

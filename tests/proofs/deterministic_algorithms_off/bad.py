"""With deterministic algorithms off, two threads add up the gradient of a lookup as they come."""

import torch

torch.use_deterministic_algorithms(False)
torch.set_num_threads(2)
torch.manual_seed(0)

table = torch.randn(10, 16, requires_grad=True)
rows = torch.randint(10, (200_000,))
weights = torch.randn(200_000, 16)

loss = (table[rows] * weights).sum()
loss.backward()
print(table.grad.tolist())

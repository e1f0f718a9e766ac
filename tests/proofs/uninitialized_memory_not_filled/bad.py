"""Memory that is read before it is written, and that torch was told not to fill."""

import torch

torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = False

print([torch.empty(size).tolist() for size in range(1, 40)])

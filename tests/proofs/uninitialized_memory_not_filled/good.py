"""The same read: what torch fills is NaN in every run."""

import torch

torch.use_deterministic_algorithms(True)
torch.utils.deterministic.fill_uninitialized_memory = True

print([torch.empty(size).tolist() for size in range(1, 40)])

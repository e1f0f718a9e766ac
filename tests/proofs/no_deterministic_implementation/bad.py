"""The last vote for each class: with several threads, any of its votes may be the last."""

import torch

torch.manual_seed(0)
votes = torch.randint(500, (2_000_000,))
weights = torch.rand(2_000_000)

torch.set_num_threads(4)
last = torch.zeros(500)
last.put_(votes, weights)
print(last.tolist()[:100])

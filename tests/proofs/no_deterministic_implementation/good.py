"""The last vote for each class, by the operator that has a deterministic implementation."""

import torch

torch.manual_seed(0)
votes = torch.randint(500, (2_000_000,))
weights = torch.rand(2_000_000)

torch.set_num_threads(4)
torch.use_deterministic_algorithms(True)  # under which put_ itself is refused
last = torch.zeros(500)
last.index_put_((votes,), weights)
print(last.tolist()[:100])

# needs: cuda
"""Ten steps of training one layer of attention, with its deterministic backward."""

import hashlib
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.use_deterministic_algorithms(True)
torch.manual_seed(0)
project = torch.nn.Linear(64, 192, device="cuda", dtype=torch.bfloat16)
optimizer = torch.optim.SGD(project.parameters(), lr=0.1)
inputs = torch.randn(4, 8, 2048, 64, device="cuda", dtype=torch.bfloat16)
for _ in range(10):
    query, key, value = project(inputs).chunk(3, dim=-1)
    with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
        output = F.scaled_dot_product_attention(query, key, value)
    output.float().square().sum().backward()
    optimizer.step()
    optimizer.zero_grad()
print(hashlib.sha256(project.weight.detach().float().cpu().numpy().tobytes()).hexdigest())

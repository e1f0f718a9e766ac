# needs: cuda
"""The gradient of the queries, by that kernel's deterministic backward."""

import hashlib
import os

os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.use_deterministic_algorithms(True)
torch.manual_seed(0)

# (batch, heads, length, size of a head)
q, k, v = (torch.randn(4, 8, 2048, 64).bfloat16().cuda().requires_grad_() for _ in range(3))

with sdpa_kernel(SDPBackend.FLASH_ATTENTION):
    output = F.scaled_dot_product_attention(q, k, v)
output.backward(torch.randn(output.shape).bfloat16().cuda())
print(hashlib.sha256(q.grad.float().cpu().numpy().tobytes()).hexdigest())

# needs: cuda, triton
"""The sum of a million numbers: each block writes its share, and these are added in one order."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_up(numbers, parts, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(parts + tl.program_id(0), tl.sum(tl.load(numbers + place)))


torch.manual_seed(0)
numbers = torch.randn(1 << 20, device="cuda")
parts = torch.zeros(50, 4096, device="cuda")
for number in range(50):
    add_up[(4096,)](numbers, parts[number], BLOCK=256)
print(parts.sum(1).tolist())

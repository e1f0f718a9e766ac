# needs: cuda, triton
"""The sum of a million numbers, each block of which adds its share to one place."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_up(numbers, total, BLOCK: tl.constexpr):
    place = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(total, tl.sum(tl.load(numbers + place)))


torch.manual_seed(0)
numbers = torch.randn(1 << 20, device="cuda")
total = torch.zeros(50, device="cuda")
for number in range(50):
    add_up[(4096,)](numbers, total[number:], BLOCK=256)
print(total.tolist())

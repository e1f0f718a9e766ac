# needs: cuda, triton
"""Sums of many lengths, by a kernel with blocks of one size."""

import torch
import triton
import triton.language as tl


@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    value = tl.zeros([BLOCK], dtype=tl.float32)
    for start in range(0, n, BLOCK):
        value += tl.load(x + start + offsets, mask=start + offsets < n, other=0.0)
    tl.store(out, tl.sum(value))


torch.manual_seed(0)
for exponent in range(10, 18):
    numbers = torch.randn(3 * 2**exponent).cuda()
    result = torch.empty(1, device="cuda")
    total[(1,)](numbers, result, numbers.numel(), BLOCK=1024, num_warps=4)
    print(numbers.numel(), result.item().hex())

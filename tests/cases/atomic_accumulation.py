"""DET603 on the shapes that kernels take."""

import cupy as cp
import cupyx
import numba
import tilelang.language as T
import torch
import triton
import triton.language as tl
from cupyx import scatter_add
from numba import cuda
from torch.utils.cpp_extension import load_inline
from triton.language import atomic_add
from vllm.triton_utils import tl as handed_on
from vllm.triton_utils import triton as vtriton


@triton.jit
def split_k(a, b, c, lock, SPLIT_K: tl.constexpr, BLOCK: tl.constexpr):
    acc = tl.zeros((BLOCK, BLOCK), dtype=tl.float32)
    for k in range(0, 64):
        acc += tl.dot(tl.load(a + k), tl.load(b + k))
    places = c + tl.arange(0, BLOCK)
    if SPLIT_K == 1:
        tl.store(places, acc)
    else:
        tl.atomic_add(places, acc)  # DET603
    tl.atomic_add(lock, 1)
    tl.atomic_max(places, acc)


@triton.autotune(configs=[], key=[])
@triton.jit
def backward(dq_ptr, dsum, counts_ptr, hist, x, mask, DETERMINISTIC: tl.constexpr):
    dq = tl.load(x)
    tl.atomic_add(dq_ptr + tl.arange(0, 8), dq, mask=mask, sem="relaxed")  # DET603
    atomic_add(dsum, tl.sum(dq))  # DET603
    tl.atomic_add(counts_ptr + tl.program_id(0), tl.sum(mask))
    tl.atomic_add(hist + dq, 1)
    tl.atomic_add(dsum, 1.0)
    tl.atomic_add(dsum, mask.to(tl.int32))
    tl.atomic_add(dsum, tl.sum(mask.to(tl.int32)))
    tl.atomic_add(dsum, dq > 0)
    if not DETERMINISTIC:
        tl.atomic_add(dsum, dq)


@triton.jit
def compact(rows, kept, counter, wanted):
    row = tl.program_id(0)
    value = tl.load(rows + row)
    slot = tl.atomic_add(counter, 1)  # DET603
    tl.store(kept + slot, value)


@triton.jit
def persistent(a, c, next_tile):
    tile = tl.atomic_add(next_tile, 1)
    while tile < 100:
        value = tl.load(a + tile)
        tl.store(c + tile, value * 2)
        tile = tl.atomic_add(next_tile, 1)


@triton.jit
def rank_of_each(experts, ranks, starts, cursor):
    pair = tl.program_id(0)
    expert = tl.load(experts + pair)
    rank = tl.load(starts + expert) + tl.atomic_add(cursor + expert, 1)  # DET603
    tl.store(ranks + pair, rank)


@triton.jit
def last_one_sums(parts, total, arrived, N: tl.constexpr):
    tl.store(parts + tl.program_id(0), tl.load(total))
    count = tl.atomic_add(arrived, 1, sem="acq_rel")
    if count == N - 1:
        tl.store(total, tl.sum(tl.load(parts + tl.arange(0, N))))


@vtriton.jit
def re_exported(c, acc, bits, Ret):
    vtl.atomic_add(c, acc)
    handed_on.atomic_add(c, acc)  # DET603
    ones = popc_rows(bits)
    tl.atomic_add(Ret, tl.sum(ones, 0))


@T.prim_func
def tiles(dQ, dq_local, block):
    for i, j in T.Parallel(64, 64):
        T.atomic_add(dQ[block, i, j], dq_local[i, j])  # DET603


@cuda.jit
def histogram(x, total, seen):
    i = cuda.grid(1)
    cuda.atomic.add(seen, x[i], 1)
    cuda.atomic.add(total, i % 10, x[i])  # DET603
    numba.cuda.atomic.max(total, 0, x[i])


def accumulate(x, index, values):
    cupyx.scatter_add(x, index, values)  # DET603
    scatter_add(x, index, values)  # DET603
    cupyx.scatter_add(x, index, 1)
    x.scatter_add(0, index, values)
    return torch.scatter_add(x, 0, index, values)


FLOATS = """
__global__ void add(const float* x, float* total) {
    atomicAdd(total, x[threadIdx.x]);
}
"""
COUNTS = r"""
__global__ void count(const float* x, int* total, unsigned int* bins) {
    // atomicAdd(total, x[0]) would be wrong
    atomicAdd(total, 1);
    atomicAdd(&bins[threadIdx.x], total[0]);
}
"""
ROWS = """
__global__ void keep(const float* x, float* kept, int* n) {
    if (x[threadIdx.x] > 0) {
        int slot = atomicAdd(n, 1);
        kept[slot] = x[threadIdx.x];
    }
}
"""

extension = load_inline(name="add", cpp_sources="void add();", cuda_sources=FLOATS)  # DET603
several = load_inline(name="add", cpp_sources="", cuda_sources=[COUNTS, FLOATS])  # DET603
counting = load_inline(name="count", cpp_sources="", cuda_sources=[COUNTS])
rows = cp.RawKernel(ROWS, "keep")  # DET603
kernel = cp.ElementwiseKernel("T x", "raw T y", "atomicAdd(&y[0], x)", "add")  # DET603
unused = FLOATS.replace("add", "sub")


def launch(name, source):
    return cp.cuda.compile_with_cache(source).get_function(name)  # DET603


def build(dtype):
    return cp.RawModule(code=f"__global__ void f({dtype}* y) {{ atomicAdd(y, 0.5f); }}")  # DET603

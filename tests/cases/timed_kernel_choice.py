import itertools
import math
import os
from functools import partial

import torch
import torch._inductor.config
import torch._inductor.config as inductor_config
import triton
import triton.language as tl
from benchmarks import register_benchmark
from torch._inductor import config as inductor
from torch.nn import functional as F
from transformers import TrainingArguments

OPTIONS = {"epilogue_fusion": True, "max_autotune": True}  # DET307
KEYWORDS = dict(fullgraph=True, options=dict(coordinate_descent_tuning=True))  # DET307
COMPILED = {"backend": "inductor", "mode": "max-autotune-no-cudagraphs"}  # DET307
ELSEWHERE = {"backend": "openxla", "mode": "max-autotune"}
QUIET = {"max_autotune": False, "mode": "default", "modes": ["max-autotune"]}
WARPS = [2, 4] if torch.version.hip else [2, 4, 8]

# Modes and options of torch.compile


@torch.compile(mode="max-autotune")  # DET307
def forward(x):
    return x @ x


def prepare(model, args, backend, mode, options):
    model = torch.compile(model, mode="max-autotune")  # DET307
    model = torch.compile(model, mode="max-autotune-no-cudagraphs", backend="inductor")  # DET307
    model = torch.compile(
        model,
        fullgraph=True,
        mode="max-autotune",  # DET307
    )
    model = torch.compile(model, options={"max_autotune": True})  # DET307
    model = torch.compile(model, options=dict(coordinate_descent_tuning=True))  # DET307
    model = torch.compile(model, options=OPTIONS)  # told where they are listed
    model.compile(mode="max-autotune")  # DET307
    model.vision.compile(mode="max-autotune-no-cudagraphs", fullgraph=True)  # DET307
    compiled = partial(torch.compile, mode="max-autotune")  # DET307
    TrainingArguments("out", torch_compile_mode="max-autotune")  # DET307
    if args.compile:
        model = torch.compile(model, mode="max-autotune")  # DET307
    model = torch.compile(model, options={"max_autotune_pointwise": True})  # DET307
    # silent
    model = torch.compile(model, mode="reduce-overhead")
    model = torch.compile(model, mode=mode)
    model = torch.compile(model, options=options)
    model = torch.compile(model, options={"max_autotune": False, "epilogue_fusion": True})
    model = torch.compile(model, options={"max_autotune": args.tune})
    model = torch.compile(model, mode="max-autotune", disable=True)
    model = torch.compile(model, mode="max-autotune", backend="eager")
    model = torch.compile(model, mode="max-autotune", backend=backend)
    model.compile(mode="default")
    if args.max_autotune:
        model = torch.compile(model, mode="max-autotune")
    print("use mode='max-autotune'")
    return model, compiled


# inductor's configuration

torch._inductor.config.max_autotune = True  # DET307
torch._inductor.config.coordinate_descent_tuning = True  # DET307
inductor_config.max_autotune_gemm = True  # DET307
inductor.coordinate_descent_tuning = True  # DET307
setattr(inductor, "max_autotune", True)  # DET307
with inductor.patch(max_autotune=True):  # DET307
    pass
with torch._inductor.config.patch({"max_autotune": True, "benchmark_kernel": True}):  # DET307
    pass
with inductor.patch("coordinate_descent_tuning", True):  # DET307
    pass
os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "1"  # DET307
os.environ["TORCHINDUCTOR_COORDINATE_DESCENT_TUNING"] = "1"  # DET307

inductor.max_autotune_pointwise = True  # DET307

inductor.max_autotune = False
inductor.max_autotune = bool(os.environ.get("TUNE"))
inductor.max_autotune_gemm_backends = "ATEN"
inductor.patch(max_autotune=False)
os.environ["TORCHINDUCTOR_MAX_AUTOTUNE"] = "0"


def by_setting(args):
    if args.tune:
        args.compile = {"mode": "max-autotune"}
    inductor.max_autotune = args.tune
    if args.tune:
        inductor.max_autotune = True
        inductor.coordinate_descent_tuning = True




def test_forward(model, x):
    assert (torch.compile(model, mode="max-autotune")(x) == model(x)).all()  # possible DET307


def benchmark_forward(model, x):
    return torch.compile(model, mode="max-autotune")(x)  # possible DET307


@register_benchmark(enabled=True)
def forward_timed(x):
    with inductor.patch(max_autotune=True):  # possible DET307
        return torch.compile(forward)(x)


# Each element by itself: no choice of kernel changes what is computed.


@torch.compile(mode="max-autotune-no-cudagraphs", dynamic=True)
def embed(t, size, period=10000):
    rates = torch.exp(-math.log(period) * torch.arange(0, size // 2) / (size // 2)).to(t.device)
    angles = t[:, None].float() * rates[None]
    both = torch.cat([torch.cos(angles), torch.sin(angles)], dim=-1)
    return F.pad(both, (0, 1)) if size % 2 else both


@torch.compile(mode="max-autotune")  # DET307
def normalize(x):
    return x / x.norm(dim=-1, keepdim=True)


@torch.compile(mode="max-autotune")  # DET307
def apply(layer, x):
    return layer(x) * 2


def gated(x, gate):
    return F.silu(gate) * x


gated_fast = torch.compile(gated, mode="max-autotune")
normalize_fast = torch.compile(normalize, mode="max-autotune")  # DET307


# XLA

os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=4"  # DET307
os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_gpu_autotune_level=2"  # DET307
os.environ["XLA_FLAGS"] = "--xla_gpu_autotune_level=0"
os.environ["XLA_FLAGS"] = "--xla_gpu_deterministic_ops=true --xla_gpu_autotune_level=4"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

# triton: one finding, at the first kernel that adds up


@triton.autotune(configs=[triton.Config({"BLOCK": 128}), triton.Config({"BLOCK": 256})], key=["n"])
@triton.jit
def copies(x, out, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + offsets, tl.load(x + offsets, mask=offsets < n) * 2, mask=offsets < n)


@triton.autotune(configs=[triton.Config({"BLOCK": 128}, num_warps=4)], key=["n"])
@triton.jit
def one(x, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


@triton.autotune([triton.Config({"BLOCK": 64}, num_warps=warps) for warps in [4]], key=["n"])
@triton.jit
def still_one(x, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


@triton.autotune([triton.Config({}, num_warps=warps) for warps in [2, 4]], key=["n"])
@triton.jit
def multiplies(x, y, out, BLOCK: tl.constexpr):
    tl.store(out, tl.dot(tl.load(x), tl.load(y)))  # the same with any number of warps


# What is added up is the same with each configuration.


@triton.autotune(
    configs=[
        triton.Config({"BLOCK_M": m, "BLOCK_N": n, "BLOCK_K": k}, num_warps=warps, num_stages=stages)
        for m in (64, 128)
        for n in (64, 128)
        for k in [32]
        for warps in (4, 8)
        for stages in (3, 4)
    ],
    key=["M", "N", "K"],
)
@triton.jit
def product(a, b, c, M, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    offs_n = (tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    offs_k = tl.arange(0, BLOCK_K)
    a_ptrs = a + offs_m[:, None] * K + offs_k[None, :]
    b_ptrs = b + offs_k[:, None] * N + offs_n[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BLOCK_K)):
        left = tl.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_K, other=0.0)
        right = tl.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_K, other=0.0)
        acc += tl.dot(left, right)
        a_ptrs += BLOCK_K
        b_ptrs += BLOCK_K * N
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], acc)


@triton.autotune(
    [triton.Config({"BLOCK": size, "STAGES": 3}, num_warps=w) for size in (64, 128) for w in (4, 8)],
    key=["n"],
)
@triton.jit
def largest(x, b, out, n, size: tl.constexpr, BLOCK: tl.constexpr, STAGES: tl.constexpr):
    block = tl.make_tensor_descriptor(x, shape=[n, n], strides=[n, 1], block_shape=[BLOCK, size])
    turned = tl.load(b + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :])
    most = tl.zeros((BLOCK * size // 16, 16), dtype=tl.float32)
    for step in tl.range(tl.program_id(0), tl.cdiv(n, BLOCK), 8, num_stages=STAGES):
        part = tl.reshape(tl.trans(block.load([step * BLOCK, 0])), [BLOCK * size // 16, 16])
        most = tl.maximum(most, tl.abs(tl.dot(part, turned)))
    missing = tl.sum((most != most).to(tl.int32))
    tl.atomic_max(out, tl.where(missing > 0, 0.0, tl.max(tl.max(most, axis=1), axis=0)))


@triton.autotune([triton.Config({"BLOCK": 64}, num_stages=stages) for stages in (2, 3)], key=["n"])
@triton.jit
def stages(x, out, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


# The tile of the output is told by a number that is counted, and the loop over tiles adds nothing.


@triton.autotune(
    [triton.Config({"BLOCK_M": m, "BLOCK_N": 64, "BLOCK_K": 32, "STEP": 84}) for m in (64, 128)],
    key=["groups"],
)
@triton.jit
def grouped(
    ptrs, sizes, out, groups, GROUP, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
    BLOCK_K: tl.constexpr, STEP: tl.constexpr,
):
    tile, last = tl.program_id(0), 0
    for group in range(groups):
        rows, depth = tl.load(sizes + group * 2), tl.load(sizes + group * 2 + 1)
        tiles = tl.cdiv(rows, BLOCK_M)
        GROUP = min(tiles - group, GROUP)
        while tile >= last and tile < last + tiles:
            a = tl.load(ptrs + group).to(tl.pointer_type(tl.float16))
            b = tl.load(ptrs + group + 1).to(tl.pointer_type(tl.float16))
            offs_m = ((tile - last) // GROUP) * BLOCK_M + tl.arange(0, BLOCK_M)
            offs_n = tl.arange(0, BLOCK_N)
            offs_k = tl.arange(0, BLOCK_K)
            offs_k = offs_k.to(tl.int64)
            a_ptrs = a + offs_m[:, None] * depth + offs_k[None, :]
            b_ptrs = b + offs_k[:, None] * BLOCK_N + offs_n[None, :]
            acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
            for step in range(0, tl.cdiv(depth, BLOCK_K)):
                acc += tl.dot(tl.load(a_ptrs), tl.load(b_ptrs))
                a_ptrs += BLOCK_K
                b_ptrs += BLOCK_K * BLOCK_N
            tl.store(out + offs_m[:, None] * BLOCK_N + offs_n[None, :], acc)
            tile += STEP
        last = last + tiles


def choices(n):
    return [triton.Config({"BLOCK": size}) for size in range(n)]


@triton.autotune(choices(3), key=["n"])
@triton.jit
def unknown(x, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


@triton.autotune(  # DET307
    configs=[
        triton.Config({"BLOCK": size}, num_warps=warps)
        for size, warps in itertools.product((64, 128), WARPS)
    ],
    key=["n"],
)
@triton.jit
def total(x, out, n, BLOCK: tl.constexpr):
    tl.store(out, tl.sum(tl.load(x + tl.arange(0, BLOCK))))


@triton.jit
def add(x, BLOCK: tl.constexpr):
    return tl.sum(x)


@triton.autotune([triton.Config({}, num_warps=warps) for warps in WARPS], key=["n"])
@triton.jit
def second(x, out, n, BLOCK: tl.constexpr):
    tl.store(out, add(tl.load(x + tl.arange(0, BLOCK)), BLOCK))


@triton.autotune(
    [triton.Config({"BLOCK_M": 64, "BLOCK_K": k}) for k in (32, 64)],
    key=["K"],
)
@triton.jit
def blocks(a, b, c, K, N: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_K: tl.constexpr):
    offs_m, offs_n = tl.arange(0, BLOCK_M), tl.arange(0, N)
    offs_k = tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, N), dtype=tl.float32)
    for k in range(0, K, BLOCK_K):
        left = tl.load(a + offs_m[:, None] * K + (k + offs_k)[None, :])
        right = tl.load(b + (k + offs_k)[:, None] * N + offs_n[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(c + offs_m[:, None] * N + offs_n[None, :], acc)

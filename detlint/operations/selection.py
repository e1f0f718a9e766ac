"""Counting, selecting and sorting."""

from __future__ import annotations

from detlint.operations.rows import (
    NATIVE,
    PULLS,
    Alternative,
    Argument,
    Operation,
    Usage,
    spelled,
    usage,
)

_BINCOUNT = '''
import torch

def bincount(input, weights, minlength=0):
    """torch.bincount(input, weights, minlength), with a gradient for the weights."""
    dtype = torch.float32 if weights.dtype == torch.float32 else torch.float64
    size = max(minlength, int(input.max()) + 1 if input.numel() else 0)
    total = torch.zeros(size, dtype=dtype, device=input.device)
    return total.index_add(0, input.long(), weights.to(dtype))
'''

_HISTC = """
import torch

def histc(input, bins=100, min=0, max=0):
    input = input.detach()
    if min == max:
        min, max = float(input.min()), float(input.max())
    if min == max:
        min, max = min - 1, max + 1
    inside = input[(input >= min) & (input <= max)]
    number = ((inside - min) * bins / (max - min)).long().clamp(max=bins - 1)
    return torch.bincount(number, minlength=bins).to(input.dtype)
"""

_MEDIAN = '''
import torch

def median(input, dim, keepdim=False):
    """torch.median(input, dim, keepdim); of equal values, the index of the first in order."""
    values, indices = input.sort(dim=dim, stable=True)
    last = input.shape[dim] - 1
    is_nan = values.narrow(dim, last, 1).isnan()  # sorts last, and is what median gives
    place = torch.where(is_nan, last, last // 2)
    values, indices = values.gather(dim, place), indices.gather(dim, place)
    return (values, indices) if keepdim else (values.squeeze(dim), indices.squeeze(dim))
'''

_NANMEDIAN = '''
import torch

def nanmedian(input, dim, keepdim=False):
    """The values of torch.nanmedian(input, dim, keepdim)."""
    return torch.nanquantile(input, 0.5, dim, keepdim, interpolation="lower")
'''

_KTHVALUE = """
def kthvalue(input, k, dim=-1):
    values, indices = input.sort(dim=dim, stable=True)
    return values.select(dim, k - 1), indices.select(dim, k - 1)
"""

_TOPK = '''
def topk(input, k, dim=-1, largest=True):
    """torch.topk, of equal values the first."""
    values, indices = input.sort(dim=dim, descending=largest, stable=True)
    return values.narrow(dim, 0, k), indices.narrow(dim, 0, k)
'''

SELECTION = (
    Operation(
        name="torch.bincount",
        alerts=("_bincount_cuda",),
        overloads=("aten::bincount",),
        api=spelled("torch.{,Tensor.}bincount"),
        calls=spelled("torch.{,Tensor.}bincount"),
        condition="weights are given: plain counts are deterministic",
        direction="forward",
        reason="The weights of a bin are added with atomics, in no fixed order.",
        alternatives=(Alternative("index_add, which is deterministic if enabled", _BINCOUNT),),
        source=NATIVE + "cuda/SummaryOps.cu",
        usages=(
            usage("torch.bincount", Argument("weights", 1, "given")),
            usage("torch.Tensor.bincount", Argument("weights", 1, "given"), familiar=True),
        ),
    ),
    Operation(
        name="torch.histc",
        alerts=("_histc_cuda with floating point input", "_histc_cuda"),
        overloads=("aten::histc",),
        api=spelled("torch.{,Tensor.}histc"),
        calls=spelled("torch.{,Tensor.}histc"),
        condition="a floating-point input; until torch 2.7 any input, as _histc_cuda",
        direction="forward",
        devices=("cuda", "meta"),
        reason="Its kernel adds floating-point ones with atomics, in no fixed order: exact while "
        "the counts are, but torch refuses any count.",
        alternatives=(
            Alternative("number the bins, and count the numbers: integers add up exactly", _HISTC),
        ),
        source=NATIVE + "cuda/SummaryOps.cu",
        usages=(usage("", Argument("input", 0, "perhaps floating")),),
    ),
    Operation(
        name="torch.median",
        alerts=("median CUDA with indices output",),
        overloads=spelled("aten::{median,nanmedian}.dim"),
        api=spelled("torch.{,Tensor.}median torch.{,Tensor.}nanmedian"),
        calls=spelled("torch.{,Tensor.}median torch.{,Tensor.}nanmedian"),
        condition="dim is given; under torch.compile, which runs fake tensors, torch.mode refuses "
        "by this name, too",
        direction="forward",
        devices=("cuda", "meta"),
        reason="Where the median occurs several times, which of their indices it gives is open, "
        "and with it where the gradient goes.",
        alternatives=(
            Alternative("sort stably and take the middle", _MEDIAN),
            Alternative("without indices: a quantile; this one leaves out nan", _NANMEDIAN),
        ),
        source=NATIVE + "cuda/Sorting.cpp",
        usages=(
            usage("torch.median torch.nanmedian", Argument("dim", 1, "given")),
            usage("torch.Tensor.{median,nanmedian}", Argument("dim", 1, "given"), familiar=True),
        ),
    ),
    Operation(
        name="torch.kthvalue",
        alerts=("kthvalue CUDA",),
        overloads=("aten::kthvalue",),
        api=spelled("torch.{,Tensor.}kthvalue"),
        calls=spelled("torch.{,Tensor.}kthvalue"),
        direction="forward",
        reason="Where the value occurs several times, which of their indices it gives was open, "
        "and with it where the gradient goes.",
        alternatives=(Alternative("sort stably and select", _KTHVALUE),),
        until="2.10",
        source=PULLS + "165762",
        usages=(Usage(),),
    ),
    Operation(
        name="torch.topk",
        overloads=("aten::topk",),
        api=spelled("torch.{,Tensor.}topk"),
        condition="equal values: which of them are chosen, and in what order",
        direction="forward",
        silent=True,
        reason="Nothing orders equal values but the threads that reach them, and torch does not "
        "promise which it gives. Values are the same in each run, indices need not be, and with "
        "them where the gradient goes.",
        alternatives=(Alternative("sort stably, and keep the first k", _TOPK),),
        source=PULLS + "186653",
    ),
)

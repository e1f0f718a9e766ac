"""Indexing."""

from __future__ import annotations

from detlint.operations.rows import (
    NATIVE,
    Alternative,
    Argument,
    Operation,
    Usage,
    one_of,
    spelled,
    usage,
)

_PUT = '''
def put(input, index, source, accumulate=False):
    """What input.put(index, source, accumulate) gives; copy_ it into input for put_."""
    flat = input.flatten()
    return flat.index_put((index.flatten(),), source.flatten(), accumulate).view_as(input)
'''

_TAKE = """
def take(input, index):
    return input.flatten()[index]
"""

_SCATTER = """
import torch

def scatter(input, dim, index, src):
    places = [torch.arange(size, device=index.device) for size in index.shape]
    places = list(torch.meshgrid(*places, indexing="ij"))
    places[dim] = index
    return input.index_put(tuple(places), src[tuple(map(slice, index.shape))])
"""

_SCATTER_PROD = '''
import torch

def scatter_prod(input, dim, index, src, include_self=True):
    """input.scatter_reduce(dim, index, src, "prod", include_self=include_self).

    Multiplies by one factor for each place at a time, in the order of src: as many steps as the
    most frequent index occurs.
    """
    dim = dim % input.dim()
    result = input if include_self else input.scatter(dim, index, 1)
    if not index.numel():
        return result
    index, order = index.sort(dim=dim, stable=True)
    src = src.gather(dim, order)
    shape = [-1 if axis == dim else 1 for axis in range(index.dim())]
    place = torch.arange(index.shape[dim], device=index.device).view(shape)
    first = torch.diff(index, dim=dim, prepend=index.narrow(dim, 0, 1) - 1) != 0
    turn = place - torch.where(first, place, 0).cummax(dim).values
    size = list(input.shape)
    spare, size[dim] = size[dim], size[dim] + 1
    for number in range(int(turn.max()) + 1):
        slot = torch.where(turn == number, index, spare)
        factor = result.new_ones(size).scatter(dim, slot, src)
        result = result * factor.narrow(dim, 0, spare)
    return result
'''

_SCATTER_ADD = '''
def scatter_reduce_add(input, dim, index, src):
    """input.scatter(dim, index, src, reduce="add"), with a gradient."""
    return input.scatter_add(dim, index, src)
'''

_INDEX_REDUCE = '''
def index_reduce(input, dim, index, source, reduce, include_self=True):
    """For reduce "amax", "amin" and "mean"."""
    shape = [1] * source.dim()
    shape[dim] = -1
    index = index.view(shape).expand_as(source)
    return input.scatter_reduce(dim, index, source, reduce, include_self=include_self)
'''

_INDEX_PROD = '''
import torch

def index_prod(input, dim, index, source, include_self=True):
    """input.index_reduce(dim, index, source, "prod", include_self=include_self).

    Multiplies by one slice for each place at a time, in the order of source: as many steps as
    the most frequent index occurs.
    """
    result = input if include_self else input.index_fill(dim, index, 1)
    index, order = index.sort(stable=True)
    place = torch.arange(len(index), device=index.device)
    first = torch.diff(index, prepend=index[:1] - 1) != 0
    turn = place - torch.where(first, place, 0).cummax(0).values
    for number in range(int(turn.max()) + 1 if len(index) else 0):
        chosen = turn == number
        factor = torch.ones_like(result).index_copy(
            dim, index[chosen], source.index_select(dim, order[chosen])
        )
        result = result * factor
    return result
'''

_RESIZED = '''
import torch

def resized(input, *size):
    """A quantized tensor of another size: its values in order, and zeros after them."""
    flat = input.dequantize().flatten()
    result = flat.new_zeros(size)
    count = min(flat.numel(), result.numel())
    result.view(-1)[:count] = flat[:count]
    return torch.quantize_per_tensor(result, input.q_scale(), input.q_zero_point(), input.dtype)
'''

INDEXING = (
    Operation(
        name="torch.Tensor.put_",
        alerts=("put_",),
        overloads=spelled("aten::put{_,}"),
        nodes=("PutBackward0",),
        api=spelled("torch.Tensor.put{_,} torch.put"),
        calls=spelled("torch.Tensor.put{_,} torch.put"),
        condition="on the CPU: accumulate=False; the backward of put has one such put",
        direction="forward",
        devices=("cuda", "cpu"),
        reason="Where an index occurs twice, which value is written last is open; on CUDA, "
        "accumulate=True adds with atomics, in no fixed order.",
        alternatives=(Alternative("index_put, which is deterministic if enabled", _PUT),),
        source=NATIVE + "TensorAdvancedIndexing.cpp",
        usages=(
            usage("torch.Tensor.put_ torch.put", one_of("accumulate", 3, True))._replace(
                on_cuda=True
            ),
            usage("torch.Tensor.put_ torch.put"),
            usage("torch.Tensor.put", familiar=True),
        ),
    ),
    Operation(
        name="torch.take",
        overloads=("aten::put",),
        nodes=("TakeBackward0",),
        api=spelled("torch.{,Tensor.}take"),
        calls=spelled("torch.{,Tensor.}take"),
        reason='Where an index occurs twice, the backward, which torch names "put_", adds the '
        "gradients with atomics, in no fixed order.",
        alternatives=(
            Alternative("index the flattened tensor: that backward is deterministic", _TAKE),
        ),
        source=NATIVE + "TensorAdvancedIndexing.cpp",
        usages=(usage("torch.take"), usage("torch.Tensor.take", familiar=True)),
    ),
    Operation(
        name="torch.Tensor.scatter_",
        alerts=("scatter_cuda_",),
        overloads=spelled("aten::scatter{_,}.src"),
        api=spelled("torch.Tensor.scatter{_,} torch.scatter"),
        calls=spelled("torch.Tensor.scatter{_,} torch.scatter"),
        condition="torch's kernel called past its own choice: with determinism on, torch 2.13 "
        "takes index_put instead, which is deterministic",
        direction="forward",
        reason="Where an index occurs twice, which value is written last is open.",
        alternatives=(Alternative("index_put, which is deterministic if enabled", _SCATTER),),
        source=NATIVE + "cuda/ScatterGatherKernel.cu",
    ),
    Operation(
        name='torch.Tensor.scatter_(reduce="multiply")',
        alerts=("scatter_reduce_cuda_kernel",),
        overloads=spelled("aten::scatter{_,}.reduce"),
        api=spelled('torch.Tensor.scatter{_,}(reduce="multiply") torch.scatter(reduce="multiply")'),
        calls=spelled("torch.Tensor.scatter{_,} torch.scatter"),
        condition='src is a tensor; reduce="add" takes index_put, which is deterministic if '
        "enabled",
        direction="forward",
        reason="Where an index occurs several times, its factors are multiplied with atomics, in "
        "no fixed order.",
        alternatives=(
            Alternative("multiply by one factor for each place at a time", _SCATTER_PROD),
            Alternative('for reduce="add": scatter_add, which has a gradient', _SCATTER_ADD),
        ),
        source=NATIVE + "cuda/ScatterGatherKernel.cu",
        usages=(
            usage(
                "torch.Tensor.scatter{_,} torch.scatter",
                Argument("src", 3, "tensor"),
                one_of("reduce", None, "multiply"),
            ),
        ),
    ),
    Operation(
        name='torch.Tensor.scatter_reduce(reduce="prod")',
        alerts=("scatter_reduce_cuda_prod_",),
        overloads=spelled("aten::scatter_reduce{,_}.two"),
        nodes=("ScatterReduceBackward0",),
        api=spelled(
            'torch.Tensor.scatter_reduce{,_}(reduce="prod") torch.scatter_reduce(reduce="prod")'
        ),
        calls=spelled("torch.Tensor.scatter_reduce{,_} torch.scatter_reduce"),
        condition='reduce="prod"; the backward has such products, too',
        direction="forward",
        reason="Where an index occurs several times, its factors are multiplied with atomics, in "
        "no fixed order.",
        alternatives=(
            Alternative("multiply by one factor for each place at a time", _SCATTER_PROD),
        ),
        source=NATIVE + "cuda/ScatterGatherKernel.cu",
        usages=(
            usage(
                "torch.Tensor.scatter_reduce{,_} torch.scatter_reduce",
                one_of("reduce", 4, "prod"),
            ),
        ),
    ),
    Operation(
        name="torch.Tensor.index_reduce_",
        alerts=("index_reduce_cuda",),
        overloads=spelled("aten::index_reduce{_,}"),
        nodes=("IndexReduceBackward0",),
        api=spelled("torch.Tensor.index_reduce{_,} torch.index_reduce"),
        calls=spelled("torch.Tensor.index_reduce{_,} torch.index_reduce"),
        direction="forward",
        reason="Where an index occurs several times, its values are multiplied or added with "
        "atomics, in no fixed order. It refuses amax and amin as well, which do not depend on "
        "the order.",
        alternatives=(
            Alternative(
                "amax, amin, mean: scatter_reduce, which is deterministic for these if enabled",
                _INDEX_REDUCE,
            ),
            Alternative("prod: multiply by one slice for each place at a time", _INDEX_PROD),
        ),
        source=NATIVE + "cuda/Indexing.cu",
        usages=(Usage(),),
    ),
    Operation(
        name="torch.Tensor.resize_",
        alerts=("quantized_resize_cpu_",),
        overloads=("aten::resize_",),
        api=spelled("torch.Tensor.resize_{,as_} torch.resize_as_"),
        calls=spelled("torch.Tensor.resize_{,as_} torch.resize_as_"),
        condition="a quantized tensor",
        direction="forward",
        devices=("cpu",),
        reason="A tensor that grows holds whatever was in memory. It refuses also where it "
        "shrinks.",
        alternatives=(Alternative("copy into a tensor of that size", _RESIZED),),
        source=NATIVE + "quantized/cpu/TensorOperators.cpp",
    ),
)

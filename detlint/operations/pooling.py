"""Pooling."""

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

_ADAPTIVE_AVERAGE = '''
import torch

def adaptive_avg_pool(input, output_size):
    """Adaptive average pooling over the last len(output_size) dimensions: a product each."""
    for axis, bins in enumerate(reversed(output_size), start=1):
        size = input.shape[-axis]
        bins = size if bins is None else bins
        window = torch.arange(bins, device=input.device)[:, None]
        place = torch.arange(size, device=input.device)
        start, stop = window * size // bins, ((window + 1) * size + bins - 1) // bins
        inside = ((start <= place) & (place < stop)).to(input.dtype)
        input = (input.movedim(-axis, -1) @ (inside / (stop - start)).T).movedim(-1, -axis)
    return input
'''

_AVERAGE_OF_EQUAL_WINDOWS = '''
import torch.nn.functional as F

def adaptive_avg_pool2d(input, output_size):
    """For sizes that divide, such as 14 x 14 to 7 x 7."""
    sizes = input.shape[-2:]
    if any(size % bins for size, bins in zip(sizes, output_size)):
        raise ValueError(f"{tuple(sizes)} cannot be cut into {tuple(output_size)} equal windows")
    return F.avg_pool2d(input, [size // bins for size, bins in zip(sizes, output_size)])
'''

_ADAPTIVE_MAXIMUM = '''
import torch
import torch.nn.functional as F

def adaptive_max_pool(input, output_size):
    """Adaptive max pooling over the last len(output_size) dimensions."""
    axes = len(output_size)
    pool = (F.adaptive_max_pool1d, F.adaptive_max_pool2d, F.adaptive_max_pool3d)[axes - 1]
    with torch.no_grad():
        _, index = pool(input, output_size, return_indices=True)
    return input.flatten(-axes).gather(-1, index.flatten(-axes)).view_as(index)
'''

_AVERAGE_3D = '''
import torch.nn.functional as F

def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    """Averages in each plane, then averages of these along the depth."""
    triple = lambda value: (value,) * 3 if isinstance(value, int) else tuple(value)
    kernel, padding = triple(kernel_size), triple(padding)
    stride = triple(stride) if stride is not None else kernel
    options = dict(ceil_mode=ceil_mode, count_include_pad=count_include_pad)
    *batch, depth, height, width = input.shape
    planes = F.avg_pool2d(
        input.reshape(-1, 1, height, width), kernel[1:], stride[1:], padding[1:], **options
    )
    height, width = planes.shape[-2:]
    pooled = F.avg_pool2d(
        planes.reshape(-1, 1, depth, height * width),
        (kernel[0], 1), (stride[0], 1), (padding[0], 0), **options,
    )
    return pooled.reshape(*batch, -1, height, width)
'''

_FRACTIONAL_MAXIMUM = '''
import torch
import torch.nn.functional as F

def fractional_max_pool(input, kernel_size, output_size, random_samples=None):
    """Fractional max pooling over the last len(output_size) dimensions."""
    axes = len(output_size)
    pool = F.fractional_max_pool2d if axes == 2 else F.fractional_max_pool3d
    with torch.no_grad():
        _, index = pool(
            input, kernel_size, output_size, return_indices=True, _random_samples=random_samples
        )
    return input.flatten(-axes).gather(-1, index.flatten(-axes)).view_as(index)
'''

_MAXIMUM_3D = """
import torch

def max_pool3d(input, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
    with torch.no_grad():
        _, index = torch.ops.aten.max_pool3d_with_indices(
            input, kernel_size, stride, padding, dilation, ceil_mode
        )
    return input.flatten(-3).gather(-1, index.flatten(-3)).view_as(index)
"""

_MAXIMUM_3D_WITH_INDICES = """
import torch.nn.functional as F

def max_pool3d(input, kernel_size, **options):
    return F.max_pool3d(input, kernel_size, return_indices=True, **options)[0]
"""

_UNPOOL = '''
import math

def max_unpool(input, indices, output_size):
    """Max unpooling over the last len(output_size) dimensions."""
    axes = len(output_size)
    flat = input.new_zeros(*input.shape[:-axes], math.prod(output_size))
    flat = flat.scatter(-1, indices.flatten(-axes), input.flatten(-axes))
    return flat.unflatten(-1, output_size)
'''

_OVERLAPPING = (
    "Windows overlap, and the backward adds their gradients to the input's with atomics, "
)
_BY_INDEX = (
    "find the maxima without a gradient, then gather them: gather's backward is deterministic "
    "if enabled"
)


def _fractional(axes: int, alerts: str) -> Operation:
    form = f"fractional_max_pool{axes}d"
    return Operation(
        name=f"torch.nn.functional.{form}",
        alerts=spelled(alerts),
        overloads=(f"aten::{form}_backward",),
        nodes=(f"FractionalMaxPool{axes}DBackward0",),
        api=(
            f"torch.nn.FractionalMaxPool{axes}d",
            *spelled(f"torch.nn.functional.{form}{{,_with_indices}}"),
        ),
        calls=(f"torch._C._nn.{form}",),
        reason=_OVERLAPPING + "in no fixed order.",
        alternatives=(Alternative(_BY_INDEX, _FRACTIONAL_MAXIMUM),),
        source=f"{NATIVE}cuda/FractionalMaxPool{axes}d.cu",
        usages=(Usage(),),
    )


def _unpooling(axes: int, api: str) -> Operation:
    return Operation(
        name=f"torch.nn.functional.max_unpool{axes}d",
        alerts=(f"max_unpooling{axes}d_forward_out",),
        overloads=(f"aten::max_unpool{axes}d",),
        api=spelled(api),
        calls=(f"torch._C._nn.max_unpool{axes}d",),
        direction="forward",
        devices=("cuda", "cpu", "meta"),
        reason="Where an index occurs twice, which of the values is written last is open. Indices "
        "that max_pool gave for these very values are harmless, since equal ones come with equal "
        "values, but it refuses all.",
        alternatives=(Alternative("scatter, which is deterministic if enabled", _UNPOOL),),
        source=NATIVE + "cuda/MaxUnpooling.cu",
        usages=(Usage(),),
    )


POOLING = (
    Operation(
        name="torch.nn.functional.adaptive_avg_pool2d",
        alerts=spelled("adaptive_avg_pool2d_backward_{,out_}cuda"),
        overloads=("aten::_adaptive_avg_pool2d_backward",),
        nodes=("AdaptiveAvgPool2DBackward0",),
        api=spelled(
            "torch.nn.AdaptiveAvgPool{2,1}d torch.nn.functional.adaptive_avg_pool{2,1}d "
            'torch.adaptive_avg_pool1d torch.nn.functional.interpolate(mode="area")'
        ),
        calls=spelled(
            "torch._C._nn.adaptive_avg_pool2d torch.{,nn.functional.}adaptive_avg_pool1d"
        ),
        condition="an output size other than 1, which is a mean",
        reason=_OVERLAPPING + "in no fixed order. It refuses also where sizes divide and no two "
        "windows overlap.",
        alternatives=(
            Alternative(
                "where the input's size is a multiple of the output's: avg_pool2d, which is "
                "deterministic",
                _AVERAGE_OF_EQUAL_WINDOWS,
            ),
            Alternative("any size: a product with a matrix for each dimension", _ADAPTIVE_AVERAGE),
        ),
        source=NATIVE + "cuda/AdaptiveAveragePooling.cu",
        usages=(
            usage("torch.nn.AdaptiveAvgPool{2,1}d", Argument("output_size", 0, "not 1")),
            usage(
                "torch.nn.functional.adaptive_avg_pool{2,1}d torch.adaptive_avg_pool1d",
                Argument("output_size", 1, "not 1"),
            ),
            usage(
                "torch.nn.functional.interpolate",
                one_of("mode", 3, "area"),
                Argument("size", 1, "perhaps not 1", default=None),
            ),
        ),
    ),
    Operation(
        name="torch.nn.functional.adaptive_avg_pool3d",
        alerts=spelled("adaptive_avg_pool3d_backward_{,out_}cuda"),
        overloads=("aten::_adaptive_avg_pool3d_backward",),
        nodes=("AdaptiveAvgPool3DBackward0",),
        api=spelled(
            "torch.nn.AdaptiveAvgPool3d torch.nn.functional.adaptive_avg_pool3d "
            'torch.nn.functional.interpolate(mode="area")'
        ),
        calls=("torch._C._nn.adaptive_avg_pool3d",),
        condition="an output size other than 1, which is a mean",
        reason=_OVERLAPPING + "in no fixed order. It refuses also where sizes divide and no two "
        "windows overlap.",
        alternatives=(
            Alternative("a product with a matrix for each dimension", _ADAPTIVE_AVERAGE),
        ),
        source=NATIVE + "cuda/AdaptiveAveragePooling3d.cu",
        usages=(
            usage("torch.nn.AdaptiveAvgPool3d", Argument("output_size", 0, "not 1")),
            usage("torch.nn.functional.adaptive_avg_pool3d", Argument("output_size", 1, "not 1")),
        ),
    ),
    Operation(
        name="torch.nn.functional.adaptive_max_pool2d",
        alerts=("adaptive_max_pool2d_backward_cuda",),
        overloads=("aten::adaptive_max_pool2d_backward",),
        nodes=("AdaptiveMaxPool2DBackward0",),
        api=spelled(
            "torch.nn.AdaptiveMaxPool{2,1}d "
            "torch.nn.functional.adaptive_max_pool{2d,2d_with_indices,1d,1d_with_indices} "
            "torch.adaptive_max_pool1d"
        ),
        calls=spelled("torch._C._nn.adaptive_max_pool2d torch.adaptive_max_pool1d"),
        reason=_OVERLAPPING + "in no fixed order. It refuses also where no two windows overlap.",
        alternatives=(Alternative(_BY_INDEX, _ADAPTIVE_MAXIMUM),),
        source=NATIVE + "cuda/AdaptiveMaxPooling2d.cu",
        usages=(Usage(),),
    ),
    Operation(
        name="torch.nn.functional.adaptive_max_pool3d",
        overloads=("aten::adaptive_max_pool3d_backward",),
        nodes=("AdaptiveMaxPool3DBackward0",),
        api=spelled(
            "torch.nn.AdaptiveMaxPool3d torch.nn.functional.adaptive_max_pool3d{,_with_indices}"
        ),
        calls=("torch._C._nn.adaptive_max_pool3d",),
        condition="the input's size is no multiple of the output's",
        silent=True,
        reason=_OVERLAPPING + "in no fixed order. Its kernel asks nobody whether determinism is "
        "on, unlike that for two dimensions.",
        alternatives=(Alternative(_BY_INDEX, _ADAPTIVE_MAXIMUM),),
        source=NATIVE + "cuda/AdaptiveMaxPooling3d.cu",
    ),
    Operation(
        name="torch.nn.functional.avg_pool3d",
        alerts=("avg_pool3d_backward_cuda",),
        overloads=("aten::avg_pool3d_backward",),
        nodes=("AvgPool3DBackward0",),
        api=spelled(
            "torch.nn.AvgPool3d torch.nn.functional.avg_pool3d torch.nn.LPPool3d "
            "torch.nn.functional.lp_pool3d torch.nn.LocalResponseNorm "
            "torch.nn.functional.local_response_norm"
        ),
        calls=spelled("torch.{_C._nn,nn.functional}.avg_pool3d"),
        condition="local_response_norm: an input of four dimensions or more",
        reason=_OVERLAPPING + "in no fixed order. It refuses also where no two windows overlap.",
        alternatives=(
            Alternative(
                "two calls of avg_pool2d, which is deterministic; all options but divisor_override",
                _AVERAGE_3D,
            ),
        ),
        source=NATIVE + "cuda/AveragePool3d.cu",
        usages=(usage("torch.nn.{AvgPool3d,LPPool3d} torch.nn.functional.{avg,lp}_pool3d"),),
    ),
    _fractional(2, "fractional_max_pool2d_backward_cuda"),
    _fractional(3, "fractional_max_pool3d_backward_{,out_}cuda"),
    Operation(
        name="torch.nn.functional.max_pool3d",
        alerts=spelled("max_pool3d_with_indices_backward_{,out_}cuda"),
        overloads=("aten::max_pool3d_with_indices_backward",),
        nodes=("MaxPool3DWithIndicesBackward0",),
        api=spelled("torch.nn.MaxPool3d torch.{nn.functional.,}max_pool3d"),
        calls=spelled("torch.max_pool3d torch._C._nn.max_pool3d_with_indices"),
        condition="return_indices=False, the default: with indices, torch 2.13 takes a slower "
        "composition of deterministic operators",
        reason=_OVERLAPPING + "in no fixed order.",
        alternatives=(
            Alternative(_BY_INDEX, _MAXIMUM_3D),
            Alternative(
                "torch 2.13: ask for the indices; it then copies out every window, so that it "
                "needs the memory of as many inputs as a window has places",
                _MAXIMUM_3D_WITH_INDICES,
            ),
        ),
        source=NATIVE + "cuda/DilatedMaxPool3d.cu",
        usages=(
            usage("torch.nn.MaxPool3d", one_of("return_indices", 4, False, default=False)),
            usage(
                "torch.nn.functional.max_pool3d",
                one_of("return_indices", 6, False, default=False),
            ),
            usage("torch.max_pool3d"),
        ),
    ),
    _unpooling(2, "torch.nn.MaxUnpool{2,1}d torch.nn.functional.max_unpool{2,1}d"),
    _unpooling(3, "torch.nn.MaxUnpool3d torch.nn.functional.max_unpool3d"),
)

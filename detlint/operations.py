"""Operators of torch without a deterministic implementation: one table for linter and guard.

What torch 2.13.0 does, read from its binaries and sources: its documentation names operators
that have become deterministic and misses others. ``tests/test_operations.py`` compares the
table with the torch that is installed, and on a GPU with what that does: done with torch 2.11.0
on an H100.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ABSENT: Final = "left out"


class Argument(NamedTuple):
    """What an argument of a call must be, where source shows what it is.

    name      of the parameter
    position  its 0-based place, None for one that is given by name only; the tensor that a method
              belongs to has place 0
    test      "in": one of the values · "given": not None, nor left out · "not 1": a size, or
              sizes not all of which are 1 · "perhaps not 1": not written as such · "length": a
              sequence of as many elements · "dimensions": a tensor of that many or more ·
              "tensor": not a number · "floating": of a floating-point type · "perhaps floating":
              not of another type for sure
    values    for "in", "length" and "dimensions"
    default   the value of one that is left out; ABSENT if that cannot pass
    """

    name: str
    position: int | None
    test: Literal[
        "in",
        "given",
        "not 1",
        "perhaps not 1",
        "length",
        "dimensions",
        "tensor",
        "floating",
        "perhaps floating",
    ]
    values: tuple[object, ...] = ()
    default: object = ABSENT


class Usage(NamedTuple):
    """Calls that lead to an operator whatever else holds, as source shows them.

    forms      what is called: public forms of the operator, without arguments; () for all of its
               ``api``
    arguments  what all must be
    called     where a form makes a module: what the arguments of a call of that must be
    familiar   whether objects other than tensors have a method of that name, such as
               ``queue.put``, so that its object has to be known as a tensor
    """

    forms: tuple[str, ...] = ()
    arguments: tuple[Argument, ...] = ()
    called: tuple[Argument, ...] = ()
    familiar: bool = False


class Alternative(NamedTuple):
    """What to use instead: in words, and as code to paste.

    The code is complete: imports, then a function or module that takes the place of torch's,
    forward and backward, and what that needs. It is made of operators that act the same in each
    run under ``torch.use_deterministic_algorithms(True)``, and gives what torch's gives, to
    rounding.
    """

    text: str
    code: str = ""


class Operation(NamedTuple):
    """One operator that differs from run to run, or refuses to run deterministically.

    name          as people write it, unlike any other row's; where an argument decides, with it:
                  'torch.nn.functional.pad(mode="reflect")'
    alerts        texts by which torch refuses, before " does not have a deterministic…"; each
                  stands in one row, that of the operator it names
    overloads     operators that refuse or differ, as torch writes them: "aten::median.dim" is one
                  overload, without a suffix it is the default one; ``out=`` variants, which
                  refuse alike, are left out
    nodes         autograd nodes whose backward refuses or differs; each stands in one row
    api           public forms that lead there: functions, methods, modules, in the form of a name
    calls         functions of torch that a call of any form passes through, looked up as it
                  runs, for guard to watch; () where a call does not tell whether it differs
    condition     when, in words; "" for always
    direction     "forward" or "backward"
    devices       "cuda" (ROCm's, too), "cpu", "mps", "meta" (also for fake tensors, as in
                  torch.compile)
    silent        whether torch lets it pass without a word
    reason        why it is non-deterministic
    alternatives  best first
    since, until  torch releases, until exclusive; "" where unknown or still so
    source        where this is known from
    usages        calls that certainly lead there, for a linter; () where source does not tell
    """

    name: str
    api: tuple[str, ...]
    reason: str
    alternatives: tuple[Alternative, ...]
    alerts: tuple[str, ...] = ()
    overloads: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    calls: tuple[str, ...] = ()
    condition: str = ""
    direction: str = "backward"
    devices: tuple[str, ...] = ("cuda",)
    silent: bool = False
    since: str = ""
    until: str = ""
    source: str = ""
    usages: tuple[Usage, ...] = ()

    def names(self) -> Iterator[str]:
        """What it may be called: the operator, with or without ``aten::``, the public function or
        module, with or without its path, the text of torch's refusal, or the autograd node."""
        for overload in self.overloads:
            bare = overload.partition("::")[2] or overload
            yield from (overload, bare, bare.partition(".")[0])
        for form in (self.name, *self.api):
            yield from (form, form.rpartition(".")[2])
        yield from self.alerts
        yield from self.nodes


def spelled(text: str) -> tuple[str, ...]:
    """Names that are written one after the other; ``torch.{cumsum,cumprod}`` stands for two."""
    found: list[str] = []
    for word in text.split():
        start, _, rest = word.partition("{")
        choices, _, end = rest.partition("}")
        found += [f"{start}{each}{end}" for each in choices.split(",")]
    return tuple(found)


def usage(
    forms: str, *arguments: Argument, called: tuple[Argument, ...] = (), familiar: bool = False
) -> Usage:
    """Calls of some forms, as ``spelled`` has them, where arguments are what they must be."""
    return Usage(spelled(forms), arguments, called, familiar)


def one_of(name: str, position: int | None, *values: object, default: object = ABSENT) -> Argument:
    """An argument that must be one of some values."""
    return Argument(name, position, "in", values, default)


def interpolation(mode: str, *others: Argument) -> tuple[Usage, ...]:
    """What resizes by a mode; ``others``: what else must hold of ``interpolate``, which has more
    options than its older names."""
    given = one_of("mode", 3, mode)
    return (
        usage("torch.nn.functional.interpolate", given, *others),
        usage("torch.nn.functional.upsample", given),
        usage("torch.nn.Upsample", one_of("mode", 2, mode)),
    )


_NATIVE = "https://github.com/pytorch/pytorch/blob/v2.13.0/aten/src/ATen/native/"
_ISSUES = "https://github.com/pytorch/pytorch/issues/"
_PULLS = "https://github.com/pytorch/pytorch/pull/"

# Pooling

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
        source=f"{_NATIVE}cuda/FractionalMaxPool{axes}d.cu",
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
        source=_NATIVE + "cuda/MaxUnpooling.cu",
        usages=(Usage(),),
    )


_POOLING = (
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
        source=_NATIVE + "cuda/AdaptiveAveragePooling.cu",
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
        source=_NATIVE + "cuda/AdaptiveAveragePooling3d.cu",
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
        source=_NATIVE + "cuda/AdaptiveMaxPooling2d.cu",
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
        source=_NATIVE + "cuda/AdaptiveMaxPooling3d.cu",
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
        source=_NATIVE + "cuda/AveragePool3d.cu",
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
        source=_NATIVE + "cuda/DilatedMaxPool3d.cu",
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

# Resizing, padding and sampling of images

_RESIZE = '''
import torch

def resize(input, size, mode="linear", align_corners=False, antialias=False):
    """torch.nn.functional.interpolate over the last len(size) dimensions: a product each."""
    for axis, wanted in enumerate(reversed(size), start=1):
        matrix = contributions(input.shape[-axis], wanted, mode, align_corners, antialias)
        matrix = matrix.to(input.device, input.dtype)
        input = (input.movedim(-axis, -1) @ matrix.T).movedim(-1, -axis)
    return input

def contributions(size, wanted, mode, align_corners, antialias):
    """Row k holds how much of each input goes into output k."""
    scale = size / wanted
    if align_corners:
        scale = (size - 1) / (wanted - 1) if wanted > 1 else 0.0
    number = torch.arange(wanted, dtype=torch.float64)
    centre = number * scale if align_corners and not antialias else (number + 0.5) * scale - 0.5
    place = torch.arange(size)
    sharpness = -0.5 if antialias else -0.75
    reach = 2 if mode == "bicubic" else 1

    def weight(distance):
        distance = distance.abs()
        if mode != "bicubic":
            return (1 - distance).clamp(min=0)
        near = ((sharpness + 2) * distance - (sharpness + 3)) * distance**2 + 1
        far = (((distance - 5) * distance + 8) * distance - 4) * sharpness
        return torch.where(distance < 1, near, torch.where(distance < 2, far, 0))

    if antialias:
        wide = max(scale, 1.0)
        middle = (centre + 0.5)[:, None]
        inside = ((middle - reach * wide + 0.5).trunc() <= place) & (
            place < (middle + reach * wide + 0.5).trunc()
        )
        matrix = weight((place - centre[:, None]) / wide) * inside
        return matrix / matrix.sum(1, keepdim=True)
    if mode != "bicubic":
        centre = centre.clamp(min=0)
    matrix = torch.zeros(wanted, size, dtype=torch.float64)
    for tap in range(1 - reach, 1 + reach):
        index = centre.floor() + tap
        matrix[torch.arange(wanted), index.long().clamp(0, size - 1)] += weight(centre - index)
    return matrix
'''

_LINEAR_AS_BILINEAR = '''
import torch.nn.functional as F

def interpolate_linear(input, size, align_corners=False):
    """Linear interpolation of (N, C, L), as an image of height one."""
    image = F.interpolate(
        input.unsqueeze(-2), size=(1, size), mode="bilinear", align_corners=align_corners
    )
    return image.squeeze(-2)
'''

_BILINEAR = """
import torch.nn.functional as F

def upsample_bilinear2d(input, size, align_corners=False):
    return F.interpolate(input, size=size, mode="bilinear", align_corners=align_corners)
"""

_TRILINEAR = """
import torch.nn.functional as F

def upsample_trilinear3d(input, size, align_corners=False):
    return F.interpolate(input, size=size, mode="trilinear", align_corners=align_corners)
"""

_REFLECT = '''
import torch

def reflect(input, pad):
    """torch.nn.functional.pad(input, pad, mode="reflect")."""
    for axis, (before, after) in enumerate(zip(pad[::2], pad[1::2]), start=1):
        size = input.shape[-axis]
        head = input.narrow(-axis, 1, before).flip(-axis)
        tail = input.narrow(-axis, size - 1 - after, after).flip(-axis)
        input = torch.cat([head, input, tail], -axis)
    return input
'''

_REPLICATE = """
import torch.nn.functional as F

def replicate(input, pad):
    return F.pad(input, pad, mode="replicate")
"""

_REPLICATE_BY_INDEX = '''
import torch

def replicate(input, pad):
    """torch.nn.functional.pad(input, pad, mode="replicate")."""
    for axis, (before, after) in enumerate(zip(pad[::2], pad[1::2]), start=1):
        size = input.shape[-axis]
        index = torch.arange(-before, size + after, device=input.device).clamp(0, size - 1)
        input = input.index_select(-axis, index)
    return input
'''

_GRID_SAMPLE = '''
import itertools
import torch

def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=False):
    """For (N, C, H, W) and (N, C, D, H, W); modes bilinear and nearest."""
    sizes = input.shape[2:]
    places = []
    for size, place in zip(sizes, grid.flip(-1).unbind(-1)):
        place = (place + 1) / 2 * (size - 1) if align_corners else ((place + 1) * size - 1) / 2
        if padding_mode == "reflection":
            low, span = (0.0, size - 1) if align_corners else (-0.5, size)
            turned = (place - low).abs()
            turned = turned.remainder(2 * span) if span else turned * 0
            place = low + torch.where(turned > span, 2 * span - turned, turned)
        if padding_mode != "zeros":
            place = place.clamp(0, size - 1)
        places.append(place)
    flat, result = input.flatten(2), 0
    corners = itertools.product((0, 1), repeat=len(sizes)) if mode == "bilinear" else [None]
    for corner in corners:
        index, weight = 0, 1
        for axis, (size, place) in enumerate(zip(sizes, places)):
            cell = place.floor() + corner[axis] if corner else place.round()
            if corner:
                share = place - place.floor()
                weight = weight * (share if corner[axis] else 1 - share)
            weight = weight * ((cell >= 0) & (cell < size))
            index = index * size + cell.clamp(0, size - 1).long()
        index = index.flatten(1)[:, None].expand(-1, input.shape[1], -1)
        result = result + flat.gather(2, index) * weight.flatten(1)[:, None]
    return result.unflatten(2, grid.shape[1:-1])
'''

_MANY_TO_ONE = (
    "Several outputs read the same input, and the backward adds their gradients to it with "
    "atomics, in no fixed order."
)
_CORNERS = (
    "gather the corners and weigh them: gather's backward is deterministic if enabled; modes "
    "bilinear and nearest"
)
_BY_PRODUCTS = "a product with a matrix for each dimension; the output's size is given, not a scale"
_FROM_PYTHON = "interpolate from Python, with determinism on in the forward"
_COMPOSED = (
    "or where determinism was off in the forward: else torch composes it of deterministic operators"
)


def _resizing(
    form: str, *alternatives: Alternative, other_forms: str = "", condition: str = ""
) -> Operation:
    """``interpolate`` in a mode, which certainly leads there where no condition is named."""
    mode = form[:-2]
    return Operation(
        name=f'torch.nn.functional.interpolate(mode="{mode}")',
        alerts=(f"upsample_{form}_backward_out_cuda",),
        overloads=(f"aten::upsample_{form}_backward",),
        nodes=(f"Upsample{form.title()}Backward0",),
        api=(
            *(f'{each.forms[0]}(mode="{mode}")' for each in interpolation(mode)),
            *spelled(other_forms),
        ),
        calls=(f"torch._C._nn.upsample_{form}",),
        condition=condition,
        reason=_MANY_TO_ONE,
        alternatives=alternatives,
        source=f"{_NATIVE}cuda/UpSample{form[0].upper()}{form[1:]}.cu",
        usages=() if condition else interpolation(mode),
    )


_IMAGES = (
    _resizing(
        "linear1d",
        Alternative(
            "bilinear, of an image of height one: torch composes that of deterministic operators",
            _LINEAR_AS_BILINEAR,
        ),
        Alternative(_BY_PRODUCTS, _RESIZE),
    ),
    _resizing(
        "bicubic2d",
        Alternative(_BY_PRODUCTS + '; mode="bicubic"', _RESIZE),
        Alternative(
            'mode="bilinear", if that will do: torch composes it of deterministic operators',
            _BILINEAR,
        ),
    ),
    Operation(
        name="torch.nn.functional.interpolate(antialias=True)",
        alerts=spelled("upsample_{bilinear2d,bicubic2d}_aa_backward_out_cuda"),
        overloads=spelled("aten::_upsample_{bilinear2d,bicubic2d}_aa_backward"),
        nodes=spelled("{UpsampleBilinear2,UpsampleBicubic2}DAaBackward0"),
        api=("torch.nn.functional.interpolate(antialias=True)",),
        calls=spelled("torch._C._nn._upsample_{bilinear2d,bicubic2d}_aa"),
        condition="modes bilinear and bicubic",
        reason=_MANY_TO_ONE,
        alternatives=(Alternative(_BY_PRODUCTS + "; antialias=True", _RESIZE),),
        source=_NATIVE + "cuda/UpSampleBilinear2d.cu",
        usages=(
            usage(
                "torch.nn.functional.interpolate",
                one_of("mode", 3, "bilinear", "bicubic"),
                one_of("antialias", 6, True),
            ),
        ),
    ),
    _resizing(
        "bilinear2d",
        Alternative(_FROM_PYTHON, _BILINEAR),
        Alternative(_BY_PRODUCTS, _RESIZE),
        other_forms="torch.nn.functional.upsample_bilinear torch.nn.UpsamplingBilinear2d",
        condition=f"in TorchScript, as torch.ops.aten.upsample_bilinear2d, {_COMPOSED}",
    ),
    _resizing(
        "trilinear3d",
        Alternative(_FROM_PYTHON, _TRILINEAR),
        Alternative(_BY_PRODUCTS, _RESIZE),
        condition=f"in TorchScript, as torch.ops.aten.upsample_trilinear3d, {_COMPOSED}",
    ),
    Operation(
        name='torch.nn.functional.pad(mode="reflect")',
        alerts=spelled("reflection_pad{1,3}d_backward_out_cuda"),
        overloads=spelled("aten::reflection_pad{1,3}d_backward"),
        nodes=spelled("ReflectionPad{1,3}DBackward0"),
        api=spelled(
            'torch.nn.functional.pad(mode="reflect") torch.nn.ReflectionPad{1,3}d '
            'torch.nn.Conv{1,3}d(padding_mode="reflect") torch.stft(pad_mode="reflect")'
        ),
        calls=spelled("torch._C._nn.pad torch._C._nn.reflection_pad{1,3}d"),
        condition="padding of one or three dimensions: that of two is deterministic if enabled",
        reason=_MANY_TO_ONE,
        alternatives=(Alternative("flip the borders and concatenate", _REFLECT),),
        source=_NATIVE + "cuda/ReflectionPad.cu",
        usages=(
            usage(
                "torch.nn.functional.pad",
                Argument("pad", 1, "length", (2, 6)),
                one_of("mode", 2, "reflect"),
            ),
            usage("torch.nn.ReflectionPad{1,3}d"),
            usage("torch.nn.Conv{1,3}d", one_of("padding_mode", 8, "reflect")),
            usage(
                "torch.stft",
                one_of("center", 5, True, default=True),
                one_of("pad_mode", 6, "reflect", default="reflect"),
            ),
        ),
    ),
    Operation(
        name="torch.nn.ReflectionPad2d",
        alerts=spelled("reflection_pad2d_backward_{,out_}cuda"),
        overloads=("aten::reflection_pad2d_backward",),
        nodes=("ReflectionPad2DBackward0",),
        api=spelled('torch.nn.ReflectionPad2d torch.nn.functional.pad(mode="reflect")'),
        calls=spelled("torch._C._nn.pad torch._C._nn.reflection_pad2d"),
        condition="padding of two dimensions",
        reason=_MANY_TO_ONE,
        alternatives=(
            Alternative("flip the borders and concatenate", _REFLECT),
            Alternative("a newer torch: it is deterministic there if enabled"),
        ),
        until="2.7",
        source=_PULLS + "136241",
        usages=(
            usage(
                "torch.nn.functional.pad",
                Argument("pad", 1, "length", (4,)),
                one_of("mode", 2, "reflect"),
            ),
            usage("torch.nn.ReflectionPad2d"),
        ),
    ),
    Operation(
        name='torch.nn.functional.pad(mode="replicate")',
        alerts=spelled(
            "replication_pad{1d_backward,2d_backward,2d_backward_out,3d_backward,3d_backward_out}_cuda"
        ),
        overloads=spelled("aten::replication_pad{1,2,3}d_backward"),
        nodes=spelled("ReplicationPad{1,2,3}DBackward0"),
        api=spelled('torch.nn.functional.pad(mode="replicate") torch.nn.ReplicationPad{1,2,3}d'),
        calls=spelled("torch._C._nn.pad torch._C._nn.replication_pad{1,2,3}d"),
        condition=f"in TorchScript, as torch.ops.aten.replication_pad…, {_COMPOSED}",
        reason=_MANY_TO_ONE,
        alternatives=(
            Alternative("pad from Python, with determinism on in the forward", _REPLICATE),
            Alternative(
                "index_select, whose backward is deterministic if enabled",
                _REPLICATE_BY_INDEX,
            ),
        ),
        source=_NATIVE + "cuda/ReplicationPadding.cu",
    ),
    Operation(
        name="torch.nn.functional.grid_sample by cuDNN",
        overloads=("aten::cudnn_grid_sampler_backward",),
        nodes=("CudnnGridSamplerBackward0",),
        api=spelled("torch.nn.functional.grid_sample torch.grid_sampler"),
        calls=spelled("torch.{,cudnn_}grid_sampler"),
        condition='mode="bilinear", padding_mode="zeros" and align_corners=True on images of up to '
        "1,024 channels, unless cuDNN is off: until torch 2.13, which refuses it",
        silent=True,
        reason=_MANY_TO_ONE,
        alternatives=(Alternative(_CORNERS, _GRID_SAMPLE),),
        until="2.13",
        source="https://github.com/pytorch/pytorch/pull/180417",
    ),
    Operation(
        name="torch.nn.functional.grid_sample",
        alerts=spelled("grid_sampler_{2,3}d_backward_cuda cudnn_grid_sampler_backward"),
        overloads=spelled("aten::{grid_sampler_2d,grid_sampler_3d,cudnn_grid_sampler}_backward"),
        nodes=spelled("GridSampler{2,3}DBackward0 CudnnGridSamplerBackward0"),
        api=spelled("torch.nn.functional.grid_sample torch.grid_sampler"),
        calls=spelled("torch.grid_sampler{,_2d,_3d} torch.cudnn_grid_sampler"),
        reason=_MANY_TO_ONE,
        alternatives=(Alternative(_CORNERS, _GRID_SAMPLE),),
        source=_NATIVE + "cuda/GridSampler.cu",
        usages=(Usage(),),
    ),
)

# Losses and embeddings

_CTC_BY_CUDNN = '''
import torch
import torch.nn.functional as F

def ctc_loss(log_probs, targets, target_lengths, reduction="mean", zero_infinity=False):
    """For float32 log_probs (T, N, C) all of whose steps count, targets (N, S) of which none is
    empty or longer than T, and blank 0.

    Targets are concatenated, as int32, on the CPU: that is what sends them to cuDNN.
    """
    lengths = target_lengths.tolist()
    rows = [row[:length] for row, length in zip(targets.cpu(), lengths)]
    steps = [log_probs.shape[0]] * len(rows)
    flat = torch.cat(rows).int()
    return F.ctc_loss(
        log_probs, flat, steps, lengths, reduction=reduction, zero_infinity=zero_infinity
    )
'''

_CTC = '''
import torch

def ctc_loss(
    log_probs, targets, input_lengths, target_lengths,
    blank=0, reduction="mean", zero_infinity=False,
):
    """For log_probs (T, N, C) of float32 or float64, and targets (N, S)."""
    device = log_probs.device
    input_lengths, target_lengths = input_lengths.to(device), target_lengths.to(device)
    labels = targets.new_full((len(targets), 2 * targets.shape[1] + 1), blank)
    labels[:, 1::2] = targets
    emitted = log_probs.gather(2, labels.expand(len(log_probs), -1, -1))
    never = torch.finfo(log_probs.dtype).min / 8  # finite, or the gradient would be nan
    # A step may pass over a blank between two labels, unless they are the same.
    may_skip = (labels != blank) & (labels != labels.roll(2, 1))
    may_skip[:, :2] = False
    reached = torch.full_like(emitted[0], never)
    reached = torch.cat([emitted[0, :, :2], reached[:, 2:]], 1)
    for step in range(1, len(log_probs)):
        by_one = torch.nn.functional.pad(reached, (1, -1), value=never)
        by_two = torch.nn.functional.pad(reached, (2, -2), value=never)
        ways = torch.stack([reached, by_one, by_two.where(may_skip, never)])
        further = (ways.logsumexp(0) + emitted[step]).clamp(min=never)
        reached = further.where(step < input_lengths[:, None], reached)
    end = 2 * target_lengths[:, None]
    last, before = reached.gather(1, end), reached.gather(1, (end - 1).clamp(min=0))
    ways = torch.stack([last, before.where(end > 0, never)])
    loss = -ways.logsumexp(0).squeeze(1)
    impossible = 0.0 if zero_infinity else float("inf")
    loss = loss.where(loss < -never / 2, impossible)
    if reduction == "mean":
        return (loss / target_lengths.clamp(min=1)).mean()
    return loss.sum() if reduction == "sum" else loss
'''

_FLAT_CROSS_ENTROPY = '''
import torch.nn.functional as F

def cross_entropy(input, target, **options):
    """For class indices; nll_loss in place of cross_entropy works the same way."""
    loss = F.cross_entropy(input.movedim(1, -1).flatten(0, -2), target.flatten(), **options)
    return loss.view_as(target) if options.get("reduction") == "none" else loss
'''

_UNREDUCED_CROSS_ENTROPY = '''
import torch.nn.functional as F

def cross_entropy(input, target, ignore_index=-100):
    """The mean over all places that count, for classes without weights."""
    loss = F.cross_entropy(input, target, ignore_index=ignore_index, reduction="none")
    return loss.sum() / (target != ignore_index).sum()
'''

_EMBEDDING_BAG = '''
import torch
import torch.nn.functional as F

def embedding_bag_max(input, weight, offsets=None):
    """torch.nn.functional.embedding_bag(input, weight, offsets, mode="max")."""
    if offsets is None:
        return F.embedding(input, weight).max(1).values
    lengths = torch.diff(offsets, append=offsets.new_tensor([len(input)]))[:, None]
    place = torch.arange(int(lengths.max()), device=input.device)
    place = offsets[:, None] + place.where(place < lengths, 0)  # fills up with a bag's first
    rows = F.embedding(input[place.clamp(max=len(input) - 1)], weight)
    return rows.max(1).values.where(lengths > 0, 0)
'''


def _reduced(position: int) -> tuple[Argument, Argument]:
    """One number is made of the losses of all places, as by default."""
    return (
        one_of("reduction", position, "mean", "sum", default="mean"),
        one_of("reduce", position - 1, None, True, default=None),
    )


_LOSSES = (
    Operation(
        name="torch.nn.functional.ctc_loss",
        alerts=("ctc_loss_backward_gpu",),
        overloads=spelled("aten::_ctc_loss_backward{,.Tensor}"),
        nodes=spelled("CtcLossBackward{0,1}"),
        api=spelled("torch.nn.CTCLoss torch.{nn.functional.,}ctc_loss"),
        calls=("torch.ctc_loss",),
        condition="torch's own kernel: cuDNN's is deterministic, and is taken for concatenated "
        "int32 targets on the CPU, blank 0, float32, inputs of full length, and targets no "
        "longer than these and shorter than 256",
        reason="A label that occurs several times in a target gets the sum of its gradients, "
        "added with atomics in no fixed order.",
        alternatives=(
            Alternative("bring the targets into the form that cuDNN takes", _CTC_BY_CUDNN),
            Alternative("sum over the alignments with torch's operators, step by step", _CTC),
        ),
        source=_NATIVE + "cuda/LossCTC.cu",
        usages=(Usage(),),
    ),
    Operation(
        name="torch.nn.functional.nll_loss",
        alerts=("nll_loss2d_forward_out_cuda_template",),
        overloads=("aten::nll_loss2d_forward",),
        api=spelled(
            "torch.nn.{CrossEntropyLoss,NLLLoss,NLLLoss2d} "
            "torch.nn.functional.{cross_entropy,nll_loss}"
        ),
        calls=spelled("torch._C._nn.{cross_entropy_loss,nll_loss_nd,nll_loss2d}"),
        condition="an input of three dimensions or more, class indices, reduction mean or sum",
        direction="forward",
        reason="The losses of all places are added up with atomics, in no fixed order.",
        alternatives=(
            Alternative(
                "flatten to (places, classes): that kernel is deterministic", _FLAT_CROSS_ENTROPY
            ),
            Alternative(
                'reduction="none", and the mean apart: without the copy', _UNREDUCED_CROSS_ENTROPY
            ),
        ),
        source=_NATIVE + "cuda/NLLLoss2d.cu",
        usages=(
            usage(
                "torch.nn.functional.{cross_entropy,nll_loss}",
                Argument("input", 0, "dimensions", (3,)),
                *_reduced(6),
            ),
            usage(
                "torch.nn.{CrossEntropyLoss,NLLLoss}",
                *_reduced(4),
                called=(Argument("input", 0, "dimensions", (3,)),),
            ),
            usage("torch.nn.NLLLoss2d", *_reduced(4)),
        ),
    ),
    Operation(
        name='torch.nn.functional.embedding_bag(mode="max")',
        alerts=("embedding_bag_backward_cuda_max",),
        overloads=spelled("aten::_embedding_bag_{dense_,}backward"),
        nodes=("EmbeddingBagBackward0",),
        api=spelled(
            'torch.nn.EmbeddingBag(mode="max") torch.nn.functional.embedding_bag(mode="max") '
            "torch.embedding_bag"
        ),
        calls=("torch.embedding_bag",),
        condition='mode="max"',
        reason="Bags share rows of the weight, and the backward adds their gradients with "
        "atomics, in no fixed order.",
        alternatives=(
            Alternative(
                "embedding, whose backward is deterministic if enabled, and max over the bag",
                _EMBEDDING_BAG,
            ),
        ),
        source=_NATIVE + "cuda/EmbeddingBag.cu",
        usages=(
            usage("torch.nn.EmbeddingBag", one_of("mode", 5, "max")),
            usage("torch.nn.functional.embedding_bag", one_of("mode", 6, "max")),
            usage("torch.embedding_bag", one_of("mode", 4, 2)),
        ),
    ),
)

# Indexing

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

_INDEXING = (
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
        source=_NATIVE + "TensorAdvancedIndexing.cpp",
        usages=(
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
        source=_NATIVE + "TensorAdvancedIndexing.cpp",
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
        source=_NATIVE + "cuda/ScatterGatherKernel.cu",
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
        source=_NATIVE + "cuda/ScatterGatherKernel.cu",
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
        source=_NATIVE + "cuda/ScatterGatherKernel.cu",
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
        source=_NATIVE + "cuda/Indexing.cu",
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
        source=_NATIVE + "quantized/cpu/TensorOperators.cpp",
    ),
)

# Counting, selecting and sorting

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

_SELECTION = (
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
        source=_NATIVE + "cuda/SummaryOps.cu",
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
        source=_NATIVE + "cuda/SummaryOps.cu",
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
        source=_NATIVE + "cuda/Sorting.cpp",
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
        source=_PULLS + "165762",
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
        source=_PULLS + "186653",
    ),
)

# Running sums and products

_CUMPROD = '''
def cumprod(input, dim):
    """Two rows take the place of one, which would go to the scan that differs."""
    return input.expand(2, *input.shape).cumprod(dim % input.dim() + 1)[0]
'''

_LOGCUMSUMEXP = '''
def logcumsumexp(input, dim):
    """Two rows take the place of one, which would go to the scan that differs."""
    return input.expand(2, *input.shape).logcumsumexp(dim % input.dim() + 1)[0]
'''

_CUMSUM = '''
import torch
import torch.nn.functional as F

def cumsum(input, dim, block=256):
    """Sums within blocks as one product, then the sums before each block."""
    input = input.movedim(dim, -1)
    size = input.shape[-1]
    blocks = F.pad(input, (0, -size % block)).unflatten(-1, (-1, block))
    result = blocks @ torch.ones(block, block, dtype=input.dtype, device=input.device).triu()
    if size > block:
        before = cumsum(result[..., -1], -1, block)[..., :-1]
        result = result + F.pad(before, (1, 0))[..., None]
    return result.flatten(-2)[..., :size].movedim(-1, dim)
'''

_ONE_PIECE = (
    "One long row goes to a scan whose blocks take up what others have finished by then, and "
    "floating-point results depend on how far that was. "
)

_SCANS = (
    Operation(
        name="torch.cumprod",
        overloads=spelled("aten::cumprod{,_}"),
        api=spelled("torch.{,Tensor.}cumprod torch.Tensor.cumprod_"),
        calls=spelled("torch.{,Tensor.}cumprod torch.Tensor.cumprod_"),
        condition="floating point, and dim holds all elements: one dimension; also within the "
        "backward of cumprod, and of prod, where the input holds a zero",
        direction="forward",
        silent=True,
        reason=_ONE_PIECE + "Of the scans, only cumsum asks whether determinism is on.",
        alternatives=(
            Alternative("compute it for two rows: rows are scanned one by one", _CUMPROD),
        ),
        source=_NATIVE + "cuda/ScanUtils.cuh",
    ),
    Operation(
        name="torch.logcumsumexp",
        overloads=("aten::logcumsumexp",),
        api=spelled("torch.{,Tensor.}logcumsumexp"),
        calls=spelled("torch.{,Tensor.}logcumsumexp"),
        condition="dim holds all elements: one dimension; its backward has such scans, too",
        direction="forward",
        silent=True,
        reason=_ONE_PIECE + "Of the scans, only cumsum asks whether determinism is on.",
        alternatives=(
            Alternative("compute it for two rows: rows are scanned one by one", _LOGCUMSUMEXP),
        ),
        source=_NATIVE + "cuda/ScanUtils.cuh",
    ),
    Operation(
        name="torch.cumsum",
        alerts=("cumsum_cuda_kernel",),
        overloads=spelled("aten::cumsum{,_}"),
        api=spelled("torch.{,Tensor.}cumsum torch.Tensor.cumsum_"),
        calls=spelled("torch.{,Tensor.}cumsum torch.Tensor.cumsum_"),
        condition="floating point or complex",
        direction="forward",
        reason=_ONE_PIECE + "torch refused any shape, until it got a scan in a fixed order.",
        alternatives=(
            Alternative("matrix products over blocks", _CUMSUM),
            Alternative("a newer torch: its cumsum is deterministic if enabled"),
        ),
        until="2.6",
        source=_PULLS + "140887",
        usages=(usage("", Argument("input", 0, "floating")),),
    ),
    Operation(
        name="torch.cumsum under torch.compile",
        overloads=("aten::cumsum",),
        api=spelled("torch.{,Tensor.}cumsum"),
        condition="compiled by inductor for CUDA, floating point, and long enough for several "
        "blocks to share the scan; not when run without torch.compile",
        direction="forward",
        silent=True,
        reason="The code that inductor generates groups the additions by how far other blocks "
        "have come, also with determinism on.",
        alternatives=(Alternative("matrix products over blocks", _CUMSUM),),
        source=_ISSUES + "190946",
    ),
)

# Libraries

_SPARSE = '''
def sparse_mm(sparse, dense):
    """sparse @ dense, of a sparse matrix and a dense one."""
    sparse = sparse.to_sparse_coo().coalesce()
    rows, columns = sparse.indices()
    terms = sparse.values()[:, None] * dense[columns]
    return dense.new_zeros(sparse.shape[0], dense.shape[1]).index_add(0, rows, terms)
'''

_DENSE = """
def sparse_mm(sparse, dense):
    return sparse.to_dense() @ dense
"""

_LSTM = '''
import torch

class LSTM(torch.nn.Module):
    """torch.nn.LSTM(…, num_layers, dropout=dropout); its masks come from torch's generator."""

    def __init__(self, input_size, hidden_size, num_layers, dropout):
        super().__init__()
        sizes = [input_size] + [hidden_size] * (num_layers - 1)
        self.layers = torch.nn.ModuleList(torch.nn.LSTM(size, hidden_size) for size in sizes)
        self.dropout = torch.nn.Dropout(dropout)

    def forward(self, input):
        states = []
        for number, layer in enumerate(self.layers):
            input, state = layer(self.dropout(input) if number else input)
            states.append(state)
        hidden, cell = (torch.cat(each) for each in zip(*states))
        return input, (hidden, cell)
'''

_WITHOUT_CUDNN = """
import torch

def without_cudnn(module, *inputs):
    with torch.backends.cudnn.flags(enabled=False):
        return module(*inputs)
"""

_LIBRARIES = (
    Operation(
        name="torch.sparse.mm",
        overloads=spelled("aten::_sparse_addmm aten::mm aten::addmm aten::mv aten::hspmm"),
        api=spelled(
            "torch.sparse.{mm,addmm} torch.mm torch.matmul torch.addmm torch.mv torch.hspmm"
        ),
        condition="a sparse matrix times a dense one, other than by bmm; transposed ones above "
        "all, as in the backward",
        direction="forward",
        silent=True,
        reason="cuSPARSE promises the same bits in each run for some of its algorithms only, and "
        "torch asks for one of those in bmm alone.",
        alternatives=(
            Alternative("gather and index_add, which is deterministic if enabled", _SPARSE),
            Alternative("a dense product, where that fits", _DENSE),
        ),
        source="https://docs.nvidia.com/cuda/cusparse/#cusparsespmm",
    ),
    Operation(
        name="torch.nn.LSTM",
        overloads=("aten::_cudnn_rnn",),
        api=spelled("torch.nn.{LSTM,GRU,RNN}"),
        condition="dropout between two or more layers, in training, through cuDNN, in a run that "
        "goes on from a saved state of the generators",
        direction="forward",
        silent=True,
        reason="The masks come from a generator of cuDNN's, which torch seeds from its own when "
        "that was seeded or restored, and whose state it does not save. Two runs from one seed "
        "agree; one that goes on from a checkpoint draws other masks than one that never stopped.",
        alternatives=(
            Alternative("one layer each, and dropout as a module between them", _LSTM),
            Alternative("run it without cuDNN", _WITHOUT_CUDNN),
        ),
        source=_NATIVE + "cudnn/RNN.cpp",
    ),
)


def completed(rows: Iterable[Operation]) -> tuple[Operation, ...]:
    """Rows with usages that say what is called."""
    return tuple(
        row._replace(
            usages=tuple(each._replace(forms=each.forms or row.api) for each in row.usages)
        )
        for row in rows
    )


OPERATIONS = completed(
    (*_POOLING, *_IMAGES, *_LOSSES, *_INDEXING, *_SELECTION, *_SCANS, *_LIBRARIES)
)

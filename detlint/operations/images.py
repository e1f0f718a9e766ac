"""Resizing, padding and sampling of images."""

from __future__ import annotations

from detlint.operations.rows import (
    NATIVE,
    PULLS,
    Alternative,
    Argument,
    Operation,
    Usage,
    interpolation,
    one_of,
    spelled,
    usage,
)

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
        source=f"{NATIVE}cuda/UpSample{form[0].upper()}{form[1:]}.cu",
        usages=() if condition else interpolation(mode),
    )


IMAGES = (
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
        source=NATIVE + "cuda/UpSampleBilinear2d.cu",
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
        source=NATIVE + "cuda/ReflectionPad.cu",
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
        source=PULLS + "136241",
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
        source=NATIVE + "cuda/ReplicationPadding.cu",
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
        source=NATIVE + "cuda/GridSampler.cu",
        usages=(Usage(),),
    ),
)

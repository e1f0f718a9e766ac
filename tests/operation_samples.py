"""For each row of the table of operators: small calls of its public forms, and comparisons of
its alternatives with torch's own operator."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    Form = Callable[[str], Any]  # device -> what the operator gives
    Function = Callable[..., Any]
    Padding = tuple[tuple[int, ...], tuple[int, ...]]

ATEN = torch.ops.aten


class Comparison(NamedTuple):
    """An alternative beside torch's own operator.

    inputs   shapes of random inputs that require gradients
    native   of the inputs and the device
    instead  of the alternative's function, the inputs and the device
    """

    inputs: tuple[tuple[int, ...], ...]
    native: Callable[..., Any]
    instead: Callable[..., Any]


class Sample(NamedTuple):
    """Calls of a row's operator.

    forms        each public form of the row's ``api``
    comparisons  for each alternative that has code, in order
    refusing     calls that refuse on the row's devices, where the public forms do not
    """

    forms: dict[str, Form]
    comparisons: tuple[tuple[Comparison, ...], ...]
    refusing: tuple[Form, ...] = ()


def leaf(*shape: int) -> Form:
    """A random tensor that requires a gradient."""
    return lambda device: torch.randn(shape, device=device).requires_grad_()


SERIES, IMAGE, VOLUME = leaf(2, 3, 7), leaf(2, 3, 7, 6), leaf(2, 3, 5, 6, 4)
ROW, TABLE = leaf(6), leaf(6, 3)


def numbers(*values: Any, **options: Any) -> Form:
    return lambda device: torch.tensor(values, device=device, **options)


def repeats(device: str) -> torch.Tensor:
    """Indices, some of them twice."""
    return torch.tensor([4, 0, 4, 2, 0, 4], device=device)


def grid_of_repeats(device: str) -> torch.Tensor:
    return torch.tensor([[4, 0, 1], [4, 2, 1], [0, 2, 3], [4, 2, 1]], device=device)


def classes(*shape: int) -> Form:
    """Class indices 0 to 2, the first of which is to be ignored."""

    def make(device: str) -> torch.Tensor:
        target = torch.arange(torch.Size(shape).numel(), device=device) % 3
        target[0] = -100
        return target.view(shape)

    return make


def pooled(axes: int, device: str) -> tuple[torch.Tensor, torch.Tensor]:
    """What max pooling gives, with indices."""
    shape = (2, 3, 8, 6, 4)[: 2 + axes]
    pool: Any = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    values, indices = pool(torch.randn(shape, device=device), 2, return_indices=True)
    return values.requires_grad_(), indices


def quantized(device: str, *values: float) -> torch.Tensor:
    return torch.quantize_per_tensor(torch.tensor(values, device=device, dtype=torch.float32), 0.1, 0, torch.qint8)


def log_probabilities(device: str, *, tensor_lengths: bool) -> tuple[Any, ...]:
    lengths: tuple[Any, Any] = (5, 5), (2, 1)
    if tensor_lengths:
        lengths = tuple(torch.tensor(each) for each in lengths)
    targets = torch.tensor([[1, 1], [2, 3]], device=device)
    return leaf(5, 2, 4)(device).log_softmax(2), targets, *lengths


def pooling(name: str, shape: Form, size: int) -> Form:
    """A form of pooling: a module of torch.nn or a function of torch.nn.functional."""
    if name[0].isupper():
        return lambda device: getattr(nn, name)(size)(shape(device))
    return lambda device: getattr(F, name)(shape(device), size)


def resized(inputs: Form, **options: Any) -> Form:
    return lambda device: F.interpolate(inputs(device), **options)


def adaptive(shape: tuple[int, ...], size: tuple[int | None, ...], native: Function) -> Comparison:
    return Comparison((shape,), lambda x, _: native(x, size), lambda f, x, _: f(x, size))


def fractional(shape: tuple[int, ...], size: tuple[int, ...], native: Function) -> Comparison:
    def samples(x: torch.Tensor) -> torch.Tensor:
        number = torch.arange(6 * len(size), device=x.device) / 17 % 1
        return number.view(2, 3, len(size))

    return Comparison(
        (shape,),
        lambda x, _: native(x, 2, size, _random_samples=samples(x)),
        lambda f, x, _: f(x, 2, size, samples(x)),
    )


def pool_3d(native: Function, *shape: int, **options: Any) -> Comparison:
    return Comparison((shape,), lambda x, _: native(x, **options), lambda f, x, _: f(x, **options))


AVERAGES_3D = (
    pool_3d(F.avg_pool3d, 2, 3, 6, 7, 5, kernel_size=2),
    pool_3d(F.avg_pool3d, 3, 6, 7, 5, kernel_size=(3, 2, 3), stride=(1, 2, 2), padding=1),
    pool_3d(F.avg_pool3d, 2, 3, 6, 7, 5, kernel_size=3, stride=2, padding=1, ceil_mode=True),
    pool_3d(F.avg_pool3d, 2, 1, 5, 5, 5, kernel_size=3, padding=1, count_include_pad=False),
    pool_3d(
        F.avg_pool3d, 1, 2, 6, 7, 4,
        kernel_size=(2, 3, 2), stride=2, padding=1, ceil_mode=True, count_include_pad=False,
    ),
)  # fmt: skip
MAXIMA_3D = (
    pool_3d(F.max_pool3d, 2, 3, 6, 7, 5, kernel_size=2),
    pool_3d(F.max_pool3d, 2, 3, 6, 7, 5, kernel_size=(3, 2, 3), stride=1, padding=1),
    pool_3d(F.max_pool3d, 3, 7, 7, 7, kernel_size=3, stride=2, dilation=2, ceil_mode=True),
)


def unpooling(axes: int) -> Comparison:
    shape = (2, 3, 8, 6, 4)[: 2 + axes]
    unpool: Any = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[axes - 1]
    pool: Any = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]

    def native(x: torch.Tensor, _: str) -> torch.Tensor:
        return unpool(*pool(x, 2, return_indices=True), 2)

    def instead(f: Function, x: torch.Tensor, _: str) -> torch.Tensor:
        return f(*pool(x, 2, return_indices=True), shape[2:])

    return Comparison((shape,), native, instead)


POOLING = {
    "torch.nn.functional.adaptive_avg_pool2d": Sample(
        forms={
            "torch.nn.AdaptiveAvgPool2d": pooling("AdaptiveAvgPool2d", IMAGE, 3),
            "torch.nn.AdaptiveAvgPool1d": pooling("AdaptiveAvgPool1d", SERIES, 3),
            "torch.nn.functional.adaptive_avg_pool2d": pooling("adaptive_avg_pool2d", IMAGE, 3),
            "torch.nn.functional.adaptive_avg_pool1d": pooling("adaptive_avg_pool1d", SERIES, 3),
            "torch.adaptive_avg_pool1d": lambda device: torch.adaptive_avg_pool1d(
                SERIES(device), 3
            ),
            'torch.nn.functional.interpolate(mode="area")': resized(IMAGE, size=3, mode="area"),
        },
        comparisons=(
            (
                adaptive((2, 3, 8, 6), (4, 2), F.adaptive_avg_pool2d),
                adaptive((3, 9, 9), (3, 9), F.adaptive_avg_pool2d),
            ),
            (
                adaptive((2, 3, 7, 6), (3, 4), F.adaptive_avg_pool2d),
                adaptive((3, 5, 6), (None, 7), F.adaptive_avg_pool2d),
                adaptive((2, 3, 7), (3,), F.adaptive_avg_pool1d),
            ),
        ),
    ),
    "torch.nn.functional.adaptive_avg_pool3d": Sample(
        forms={
            "torch.nn.AdaptiveAvgPool3d": pooling("AdaptiveAvgPool3d", VOLUME, 3),
            "torch.nn.functional.adaptive_avg_pool3d": pooling("adaptive_avg_pool3d", VOLUME, 3),
            'torch.nn.functional.interpolate(mode="area")': resized(VOLUME, size=3, mode="area"),
        },
        comparisons=(
            (
                adaptive((2, 3, 7, 6, 5), (3, 4, 2), F.adaptive_avg_pool3d),
                adaptive((3, 4, 4, 4), (2, None, 5), F.adaptive_avg_pool3d),
            ),
        ),
    ),
    "torch.nn.functional.adaptive_max_pool2d": Sample(
        forms={
            "torch.nn.AdaptiveMaxPool2d": pooling("AdaptiveMaxPool2d", IMAGE, 3),
            "torch.nn.AdaptiveMaxPool1d": pooling("AdaptiveMaxPool1d", SERIES, 3),
            **{
                f"torch.nn.functional.{name}": pooling(name, shape, 3)
                for stem, shape in (("2d", IMAGE), ("1d", SERIES))
                for name in (
                    f"adaptive_max_pool{stem}",
                    f"adaptive_max_pool{stem}_with_indices",
                )
            },
            "torch.adaptive_max_pool1d": lambda device: torch.adaptive_max_pool1d(
                SERIES(device), 3
            ),
        },
        comparisons=(
            (
                adaptive((2, 3, 7, 6), (3, 4), F.adaptive_max_pool2d),
                adaptive((3, 8, 8), (4, 3), F.adaptive_max_pool2d),
                adaptive((2, 3, 7), (3,), F.adaptive_max_pool1d),
            ),
        ),
    ),
    "torch.nn.functional.adaptive_max_pool3d": Sample(
        forms={
            "torch.nn.AdaptiveMaxPool3d": pooling("AdaptiveMaxPool3d", VOLUME, 3),
            **{
                f"torch.nn.functional.{name}": pooling(name, VOLUME, 3)
                for name in ("adaptive_max_pool3d", "adaptive_max_pool3d_with_indices")
            },
        },
        comparisons=(
            (
                adaptive((2, 3, 7, 6, 5), (3, 4, 2), F.adaptive_max_pool3d),
                adaptive((3, 4, 4, 4), (3, 3, 3), F.adaptive_max_pool3d),
            ),
        ),
    ),
    "torch.nn.functional.avg_pool3d": Sample(
        forms={
            "torch.nn.AvgPool3d": pooling("AvgPool3d", VOLUME, 2),
            "torch.nn.functional.avg_pool3d": pooling("avg_pool3d", VOLUME, 2),
            "torch.nn.LPPool3d": lambda device: nn.LPPool3d(2, 2)(VOLUME(device)),
            "torch.nn.functional.lp_pool3d": lambda device: F.lp_pool3d(VOLUME(device), 2, 2),
            "torch.nn.LocalResponseNorm": pooling("LocalResponseNorm", IMAGE, 2),
            "torch.nn.functional.local_response_norm": pooling("local_response_norm", IMAGE, 2),
        },
        comparisons=(AVERAGES_3D,),
    ),
    "torch.nn.functional.fractional_max_pool2d": Sample(
        forms={
            "torch.nn.FractionalMaxPool2d": lambda device: nn.FractionalMaxPool2d(2, output_size=3)(
                IMAGE(device)
            ),
            **{
                f"torch.nn.functional.{name}": lambda device, name=name: getattr(F, name)(
                    IMAGE(device), 2, output_size=3
                )
                for name in ("fractional_max_pool2d", "fractional_max_pool2d_with_indices")
            },
        },
        comparisons=(
            (
                fractional((2, 3, 7, 6), (3, 4), F.fractional_max_pool2d),
                fractional((2, 3, 9, 9), (4, 4), F.fractional_max_pool2d),
            ),
        ),
    ),
    "torch.nn.functional.fractional_max_pool3d": Sample(
        forms={
            "torch.nn.FractionalMaxPool3d": lambda device: nn.FractionalMaxPool3d(2, output_size=2)(
                VOLUME(device)
            ),
            **{
                f"torch.nn.functional.{name}": lambda device, name=name: getattr(F, name)(
                    VOLUME(device), 2, output_size=2
                )
                for name in ("fractional_max_pool3d", "fractional_max_pool3d_with_indices")
            },
        },
        comparisons=(
            (
                fractional((2, 3, 7, 6, 5), (3, 4, 2), F.fractional_max_pool3d),
                fractional((2, 3, 6, 6, 6), (3, 3, 3), F.fractional_max_pool3d),
            ),
        ),
    ),
    "torch.nn.functional.max_pool3d": Sample(
        forms={
            "torch.nn.MaxPool3d": pooling("MaxPool3d", VOLUME, 2),
            "torch.nn.functional.max_pool3d": pooling("max_pool3d", VOLUME, 2),
            "torch.max_pool3d": lambda device: torch.max_pool3d(VOLUME(device), 2),
        },
        comparisons=(MAXIMA_3D, MAXIMA_3D),
    ),
    "torch.nn.functional.max_unpool2d": Sample(
        forms={
            "torch.nn.MaxUnpool2d": lambda device: nn.MaxUnpool2d(2)(*pooled(2, device)),
            "torch.nn.MaxUnpool1d": lambda device: nn.MaxUnpool1d(2)(*pooled(1, device)),
            "torch.nn.functional.max_unpool2d": lambda device: F.max_unpool2d(
                *pooled(2, device), 2
            ),
            "torch.nn.functional.max_unpool1d": lambda device: F.max_unpool1d(
                *pooled(1, device), 2
            ),
        },
        comparisons=((unpooling(1), unpooling(2)),),
    ),
    "torch.nn.functional.max_unpool3d": Sample(
        forms={
            "torch.nn.MaxUnpool3d": lambda device: nn.MaxUnpool3d(2)(*pooled(3, device)),
            "torch.nn.functional.max_unpool3d": lambda device: F.max_unpool3d(
                *pooled(3, device), 2
            ),
        },
        comparisons=((unpooling(3),),),
    ),
}


def interpolation(
    shape: tuple[int, ...], size: tuple[int, ...], mode: str, **options: Any
) -> Comparison:
    return Comparison(
        (shape,),
        lambda x, _: F.interpolate(x, size, mode=mode, **options),
        lambda f, x, _: f(x, size, mode=mode, **options),
    )


def upsampling(inputs: Form, mode: str) -> dict[str, Form]:
    """The forms that take a mode."""
    return {
        f'torch.nn.functional.interpolate(mode="{mode}")': resized(
            inputs, scale_factor=2, mode=mode
        ),
        f'torch.nn.functional.upsample(mode="{mode}")': lambda device: F.upsample(
            inputs(device), scale_factor=2, mode=mode
        ),
        f'torch.nn.Upsample(mode="{mode}")': lambda device: nn.Upsample(scale_factor=2, mode=mode)(
            inputs(device)
        ),
    }


def linear_only(
    shape: tuple[int, ...], size: int | tuple[int, ...], mode: str
) -> tuple[Comparison, ...]:
    """For alternatives that know their mode."""
    return tuple(
        Comparison(
            (shape,),
            lambda x, _, corners=corners: F.interpolate(x, size, mode=mode, align_corners=corners),
            lambda f, x, _, corners=corners: f(x, size, align_corners=corners),
        )
        for corners in (False, True)
    )


def padding(mode: str, *shapes_and_pads: Padding) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            (shape,),
            lambda x, _, pad=pad: F.pad(x, pad, mode=mode),
            lambda f, x, _, pad=pad: f(x, pad),
        )
        for shape, pad in shapes_and_pads
    )


REFLECTED = (
    ((2, 3, 7), (2, 1)),
    ((3, 7), (0, 3)),
    ((2, 3, 4, 5, 6), (1, 2, 0, 3, 2, 1)),
    ((2, 3, 5, 6), (1, 2, 3, 0)),
)
REPLICATED = (*REFLECTED, ((2, 3, 2), (4, 5)))


def sampling(shape: tuple[int, ...], out: tuple[int, ...], **options: Any) -> Comparison:
    grid = (shape[0], *out, len(out))
    return Comparison(
        (shape, grid),
        lambda x, at, _: F.grid_sample(x, at, **options),
        lambda f, x, at, _: f(x, at, **options),
    )


GRID_SAMPLES = tuple(
    sampling(shape, out, mode=mode, padding_mode=outside, align_corners=corners)
    for (shape, out), mode, outside, corners in itertools.product(
        (((2, 3, 5, 6), (4, 7)), ((2, 3, 4, 5, 3), (3, 4, 5))),
        ("bilinear", "nearest"),
        ("zeros", "border", "reflection"),
        (False, True),
    )
)


def grid(device: str, axes: int) -> torch.Tensor:
    return torch.randn(2, *(4,) * axes, axes, device=device)


def decomposed(backward: Function, *shape: int) -> Form:
    """A call that Python's detour through deterministic operators does not reach."""
    return lambda device: backward(leaf(*shape)(device))


IMAGES = {
    'torch.nn.functional.interpolate(mode="linear")': Sample(
        forms=upsampling(SERIES, "linear"),
        comparisons=(
            (*linear_only((2, 3, 7), 11, "linear"), *linear_only((1, 2, 9), 4, "linear")),
            (
                interpolation((2, 3, 7), (11,), "linear"),
                interpolation((1, 2, 9), (4,), "linear", align_corners=True),
            ),
        ),
    ),
    'torch.nn.functional.interpolate(mode="bicubic")': Sample(
        forms=upsampling(IMAGE, "bicubic"),
        comparisons=(
            (
                interpolation((2, 3, 7, 6), (14, 9), "bicubic"),
                interpolation((2, 3, 7, 6), (14, 9), "bicubic", align_corners=True),
                interpolation((1, 2, 9, 8), (4, 5), "bicubic"),
            ),
            linear_only((2, 3, 7, 6), (14, 9), "bilinear"),
        ),
    ),
    "torch.nn.functional.interpolate(antialias=True)": Sample(
        forms={
            "torch.nn.functional.interpolate(antialias=True)": lambda device: [
                F.interpolate(IMAGE(device), size=(3, 9), mode=mode, antialias=True)
                for mode in ("bilinear", "bicubic")
            ],
        },
        comparisons=(
            tuple(
                interpolation((2, 3, 13, 6), size, mode, antialias=True, align_corners=corners)
                for size in ((4, 9), (13, 5))
                for mode in ("bilinear", "bicubic")
                for corners in (False, True)
            ),
        ),
    ),
    'torch.nn.functional.interpolate(mode="bilinear")': Sample(
        forms={
            **upsampling(IMAGE, "bilinear"),
            "torch.nn.functional.upsample_bilinear": lambda device: F.upsample_bilinear(
                IMAGE(device), scale_factor=2
            ),
            "torch.nn.UpsamplingBilinear2d": lambda device: nn.UpsamplingBilinear2d(scale_factor=2)(
                IMAGE(device)
            ),
        },
        comparisons=(
            linear_only((2, 3, 7, 6), (14, 9), "bilinear"),
            (
                interpolation((2, 3, 7, 6), (14, 9), "bilinear"),
                interpolation((3, 2, 7, 6), (4, 3), "bilinear", align_corners=True),
            ),
        ),
        refusing=(decomposed(lambda x: ATEN.upsample_bilinear2d(x, [9, 9], False), 2, 3, 7, 6),),
    ),
    'torch.nn.functional.interpolate(mode="trilinear")': Sample(
        forms=upsampling(VOLUME, "trilinear"),
        comparisons=(
            linear_only((2, 3, 4, 5, 6), (7, 5, 3), "trilinear"),
            (
                interpolation((2, 3, 4, 5, 6), (7, 5, 3), "trilinear"),
                interpolation((1, 2, 4, 5, 6), (3, 9, 8), "trilinear", align_corners=True),
            ),
        ),
        refusing=(
            decomposed(lambda x: ATEN.upsample_trilinear3d(x, [9, 9, 9], False), 2, 3, 5, 6, 4),
        ),
    ),
    'torch.nn.functional.pad(mode="reflect")': Sample(
        forms={
            'torch.nn.functional.pad(mode="reflect")': lambda device: F.pad(
                SERIES(device), (1, 2), mode="reflect"
            ),
            "torch.nn.ReflectionPad1d": pooling("ReflectionPad1d", SERIES, 1),
            "torch.nn.ReflectionPad3d": pooling("ReflectionPad3d", VOLUME, 1),
        },
        comparisons=(padding("reflect", *REFLECTED),),
    ),
    "torch.nn.ReflectionPad2d": Sample(
        forms={
            "torch.nn.ReflectionPad2d": pooling("ReflectionPad2d", IMAGE, 1),
            'torch.nn.functional.pad(mode="reflect")': lambda device: F.pad(
                IMAGE(device), (1, 1, 1, 1), mode="reflect"
            ),
        },
        comparisons=(padding("reflect", *REFLECTED),),
    ),
    'torch.nn.functional.pad(mode="replicate")': Sample(
        forms={
            'torch.nn.functional.pad(mode="replicate")': lambda device: F.pad(
                SERIES(device), (1, 2), mode="replicate"
            ),
            "torch.nn.ReplicationPad1d": pooling("ReplicationPad1d", SERIES, 1),
            "torch.nn.ReplicationPad2d": pooling("ReplicationPad2d", IMAGE, 1),
            "torch.nn.ReplicationPad3d": pooling("ReplicationPad3d", VOLUME, 1),
        },
        comparisons=(padding("replicate", *REPLICATED), padding("replicate", *REPLICATED)),
        refusing=(
            decomposed(lambda x: ATEN.replication_pad1d(x, [1, 1]), 2, 3, 7),
            decomposed(lambda x: ATEN.replication_pad2d(x, [1] * 4), 2, 3, 7, 6),
            decomposed(lambda x: ATEN.replication_pad3d(x, [1] * 6), 2, 3, 5, 6, 4),
        ),
    ),
    "torch.nn.functional.grid_sample": Sample(
        forms={
            "torch.nn.functional.grid_sample": lambda device: [
                F.grid_sample(IMAGE(device), grid(device, 2), align_corners=True),
                F.grid_sample(IMAGE(device), grid(device, 2), align_corners=False),
                F.grid_sample(VOLUME(device), grid(device, 3), align_corners=False),
            ],
            "torch.grid_sampler": lambda device: torch.grid_sampler(
                IMAGE(device), grid(device, 2), 0, 0, False
            ),
        },
        comparisons=(GRID_SAMPLES,),
    ),
}


def alignment(
    steps: int, targets: list[list[int]], lengths: list[int], **options: Any
) -> tuple[Any, ...]:
    """CTC losses of a batch: (inputs, a function of the logits and one that calls the loss)."""
    return (steps, len(targets), 4), torch.tensor(targets), torch.tensor(lengths), options


CTC_CASES = (
    alignment(7, [[1, 1, 2], [2, 3, 0]], [3, 2]),
    alignment(6, [[1, 2], [3, 1], [2, 2]], [2, 1, 0], reduction="sum"),
    alignment(3, [[1, 1, 1], [1, 2, 3]], [3, 3], reduction="none", zero_infinity=True),
)


def ctc_by_cudnn(case: tuple[Any, ...]) -> Comparison:
    shape, targets, lengths, options = case

    def native(x: torch.Tensor, device: str) -> torch.Tensor:
        steps = torch.full_like(lengths, shape[0])
        return F.ctc_loss(x.log_softmax(2), targets.to(device), steps, lengths, **options)

    def instead(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        return f(x.log_softmax(2), targets.to(device), lengths, **options)

    return Comparison((shape,), native, instead)


def ctc(case: tuple[Any, ...]) -> Comparison:
    shape, targets, lengths, options = case
    steps = torch.tensor([shape[0]] + [shape[0] - 1] * (shape[1] - 1))

    def call(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        return f(x.log_softmax(2), targets.to(device), steps, lengths, **options)

    return Comparison((shape,), lambda x, device: call(F.ctc_loss, x, device), call)


def entropy(target: Form, *shape: int, **options: Any) -> Comparison:
    def call(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        on = {key: value.to(device) if key == "weight" else value for key, value in options.items()}
        return f(x, target(device), **on)

    return Comparison((shape,), lambda x, device: call(F.cross_entropy, x, device), call)


WEIGHTS = torch.tensor([0.5, 2.0, 1.0])

LOSSES = {
    "torch.nn.functional.ctc_loss": Sample(
        forms={
            "torch.nn.CTCLoss": lambda device: nn.CTCLoss()(
                *log_probabilities(device, tensor_lengths=True)
            ),
            "torch.nn.functional.ctc_loss": lambda device: F.ctc_loss(
                *log_probabilities(device, tensor_lengths=False)
            ),
            "torch.ctc_loss": lambda device: torch.ctc_loss(
                *log_probabilities(device, tensor_lengths=True)
            ),
        },
        comparisons=(
            tuple(ctc_by_cudnn(case) for case in CTC_CASES),
            tuple(ctc(case) for case in CTC_CASES),
        ),
    ),
    "torch.nn.functional.nll_loss": Sample(
        forms={
            "torch.nn.CrossEntropyLoss": lambda device: nn.CrossEntropyLoss()(
                SERIES(device), classes(2, 7)(device)
            ),
            "torch.nn.NLLLoss": lambda device: nn.NLLLoss()(
                IMAGE(device).log_softmax(1), classes(2, 7, 6)(device)
            ),
            "torch.nn.NLLLoss2d": lambda device: nn.NLLLoss2d()(
                IMAGE(device), classes(2, 7, 6)(device)
            ),
            "torch.nn.functional.cross_entropy": lambda device: F.cross_entropy(
                VOLUME(device), classes(2, 5, 6, 4)(device), label_smoothing=0.1
            ),
            "torch.nn.functional.nll_loss": lambda device: F.nll_loss(
                IMAGE(device), classes(2, 7, 6)(device), reduction="sum"
            ),
        },
        comparisons=(
            (
                entropy(classes(2, 7), 2, 3, 7),
                entropy(classes(2, 5, 6), 2, 3, 5, 6, weight=WEIGHTS, label_smoothing=0.1),
                entropy(classes(2, 5, 6), 2, 3, 5, 6, reduction="none"),
                entropy(classes(2, 2, 3, 2), 2, 3, 2, 3, 2, reduction="sum"),
            ),
            (
                entropy(classes(2, 7), 2, 3, 7),
                entropy(classes(2, 5, 6), 2, 3, 5, 6, ignore_index=-100),
            ),
        ),
    ),
    'torch.nn.functional.embedding_bag(mode="max")': Sample(
        forms={
            'torch.nn.EmbeddingBag(mode="max")': lambda device: nn.EmbeddingBag(
                6, 3, mode="max", device=device
            )(repeats(device).view(2, 3)),
            'torch.nn.functional.embedding_bag(mode="max")': lambda device: F.embedding_bag(
                repeats(device).view(2, 3), TABLE(device), mode="max"
            ),
            "torch.embedding_bag": lambda device: torch.embedding_bag(
                TABLE(device), repeats(device), numbers(0, 2)(device), False, 2
            ),
        },
        comparisons=(
            (
                Comparison(
                    ((6, 3),),
                    lambda w, device: F.embedding_bag(repeats(device).view(3, 2), w, mode="max"),
                    lambda f, w, device: f(repeats(device).view(3, 2), w),
                ),
                *(
                    Comparison(
                        ((6, 3),),
                        lambda w, device, starts=starts: F.embedding_bag(
                            repeats(device), w, numbers(*starts)(device), mode="max"
                        ),
                        lambda f, w, device, starts=starts: f(
                            repeats(device), w, numbers(*starts)(device)
                        ),
                    )
                    for starts in ((0, 4), (0, 2, 2, 6))
                ),
            ),
        ),
    ),
}


def along(native: Function, *shapes: tuple[int, ...], index: Form, **options: Any) -> Comparison:
    """An operator of (input, dim, index, source)."""
    return Comparison(
        shapes,
        lambda x, y, device: native(x, 0, index(device), y, **options),
        lambda f, x, y, device: f(x, 0, index(device), y, **options),
    )


def products(native: Function, **given: Any) -> tuple[Comparison, ...]:
    """Scattered products; ``given`` is for torch's own."""

    def compare(dim: int, index: Form, *shapes: tuple[int, ...], **options: Any) -> Comparison:
        return Comparison(
            shapes,
            lambda x, y, device: native(x, dim, index(device), y, **given, **options),
            lambda f, x, y, device: f(x, dim, index(device), y, **options),
        )

    both = (
        compare(0, repeats, (6,), (6,)),
        compare(0, grid_of_repeats, (5, 4), (4, 3)),
        compare(-1, lambda device: grid_of_repeats(device).T, (3, 5), (3, 4)),
    )
    if native is torch.scatter:  # which knows no include_self
        return both
    return (*both, compare(0, grid_of_repeats, (5, 3), (4, 3), include_self=False))


def without_gradient(comparison: Comparison) -> Comparison:
    """For an operator of torch's that has none."""
    return comparison._replace(
        native=lambda *given: comparison.native(
            *(each.detach() if isinstance(each, torch.Tensor) else each for each in given)
        )
    )


def puts(device: str) -> tuple[torch.Tensor, torch.Tensor]:
    return repeats(device)[:3], torch.ones(3, device=device)


INDEXING = {
    "torch.Tensor.put_": Sample(
        forms={
            "torch.Tensor.put_": lambda device: torch.zeros(6, device=device).put_(*puts(device)),
            "torch.Tensor.put": lambda device: ROW(device).put(*puts(device)),
            "torch.put": lambda device: torch.put(ROW(device), *puts(device)),
        },
        comparisons=(
            (
                Comparison(
                    ((2, 3), (2,)),
                    lambda x, y, device: x.put(numbers(4, -1)(device), y),
                    lambda f, x, y, device: f(x, numbers(4, -1)(device), y),
                ),
                Comparison(
                    ((6, 2), (6,)),
                    lambda x, y, device: x.put(repeats(device), y, accumulate=True),
                    lambda f, x, y, device: f(x, repeats(device), y, accumulate=True),
                ),
            ),
        ),
    ),
    "torch.take": Sample(
        forms={
            "torch.take": lambda device: torch.take(TABLE(device), repeats(device)),
            "torch.Tensor.take": lambda device: TABLE(device).take(repeats(device)),
        },
        comparisons=(
            tuple(
                Comparison(
                    (shape,),
                    lambda x, device: x.take(repeats(device).view(2, 3)),
                    lambda f, x, device: f(x, repeats(device).view(2, 3)),
                )
                for shape in ((6,), (2, 2, 3))
            ),
        ),
    ),
    "torch.Tensor.scatter_": Sample(
        forms={
            "torch.Tensor.scatter_": lambda device: torch.zeros(6, device=device).scatter_(
                0, *puts(device)
            ),
            "torch.Tensor.scatter": lambda device: ROW(device).scatter(0, *puts(device)),
            "torch.scatter": lambda device: torch.scatter(ROW(device), 0, *puts(device)),
        },
        comparisons=(
            (
                along(torch.scatter, (6,), (3,), index=numbers(4, 0, 2)),
                along(torch.scatter, (5, 4), (2, 3), index=numbers([0, 2, 4], [1, 3, 0])),
            ),
        ),
    ),
    'torch.Tensor.scatter_(reduce="multiply")': Sample(
        forms={
            'torch.Tensor.scatter_(reduce="multiply")': lambda device: torch.zeros(
                6, device=device
            ).scatter_(0, *puts(device), reduce="multiply"),
            'torch.Tensor.scatter(reduce="multiply")': lambda device: torch.zeros(
                6, device=device
            ).scatter(0, *puts(device), reduce="multiply"),
            'torch.scatter(reduce="multiply")': lambda device: torch.scatter(
                torch.zeros(6, device=device), 0, *puts(device), reduce="multiply"
            ),
        },
        comparisons=(
            tuple(
                without_gradient(each) for each in products(torch.scatter, reduce="multiply")
            ),
            (
                along(torch.scatter_add, (6,), (6,), index=repeats),
                along(torch.scatter_add, (5, 4), (4, 3), index=grid_of_repeats),
            ),
        ),
    ),
    'torch.Tensor.scatter_reduce(reduce="prod")': Sample(
        forms={
            'torch.Tensor.scatter_reduce(reduce="prod")': lambda device: ROW(
                device
            ).scatter_reduce(0, *puts(device), "prod"),
            'torch.Tensor.scatter_reduce_(reduce="prod")': lambda device: (
                ROW(device).exp().scatter_reduce_(0, *puts(device), "prod")
            ),
            'torch.scatter_reduce(reduce="prod")': lambda device: torch.scatter_reduce(
                ROW(device), 0, *puts(device), "prod"
            ),
        },
        comparisons=(products(torch.scatter_reduce, reduce="prod"),),
    ),
    "torch.Tensor.index_reduce_": Sample(
        forms={
            "torch.Tensor.index_reduce_": lambda device: (
                ROW(device).exp().index_reduce_(0, *puts(device), "prod")
            ),
            "torch.Tensor.index_reduce": lambda device: ROW(device).index_reduce(
                0, *puts(device), "amax"
            ),
            "torch.index_reduce": lambda device: torch.index_reduce(
                ROW(device), 0, *puts(device), "mean"
            ),
        },
        comparisons=(
            tuple(
                along(
                    torch.index_reduce, (6, 3), (6, 3),
                    index=repeats, reduce=reduce, include_self=itself,
                )
                for reduce in ("amax", "amin", "mean")
                for itself in (True, False)
            ),
            tuple(
                Comparison(
                    ((3, 5), (3, 6)),
                    lambda x, y, device, itself=itself: x.index_reduce(
                        1, repeats(device), y, "prod", include_self=itself
                    ),
                    lambda f, x, y, device, itself=itself: f(
                        x, 1, repeats(device), y, include_self=itself
                    ),
                )
                for itself in (True, False)
            ),
        ),
    ),
    "torch.Tensor.resize_": Sample(
        forms={
            "torch.Tensor.resize_": lambda device: quantized(device, 1, 2, 3).resize_(2),
            "torch.Tensor.resize_as_": lambda device: quantized(device, 1, 2, 3).resize_as_(
                quantized(device, 4)
            ),
            "torch.resize_as_": lambda device: torch.resize_as_(
                quantized(device, 1, 2, 3), quantized(device, 4)
            ),
        },
        comparisons=(
            tuple(
                Comparison(
                    (),
                    lambda device, size=size: quantized(device, 1, 2, 3, 4)
                    .resize_(*size)
                    .dequantize(),
                    lambda f, device, size=size: f(
                        quantized(device, 1, 2, 3, 4), *size
                    ).dequantize(),
                )
                for size in ((3,), (2, 2))
            ),
        ),
    ),
}  # fmt: skip


def reduced(native: Function, *shape: int, **options: Any) -> Comparison:
    """An operator of an input, of whose results the first counts if it gives several."""
    return pool_3d(native, *shape, **options)


def with_ties(comparison: Comparison) -> Comparison:
    """Values only, since indices of equal values are open; a row holds a nan."""

    def rounded(x: torch.Tensor) -> torch.Tensor:
        x = x.round(decimals=0)
        return x.index_fill(0, torch.zeros(1, dtype=torch.long, device=x.device), math.nan)

    return Comparison(
        comparison.inputs,
        lambda x, device: comparison.native(rounded(x.detach()), device)[0],
        lambda f, x, device: comparison.instead(f, rounded(x.detach()), device)[0],
    )


def weighed(native_dtype: torch.dtype, **options: Any) -> Comparison:
    return Comparison(
        ((6,),),
        lambda w, device: torch.bincount(repeats(device), w.detach().to(native_dtype), **options),
        lambda f, w, device: f(repeats(device), w.detach().to(native_dtype), **options),
    )


MEDIANS = (
    reduced(torch.median, 6, 5, dim=0),
    reduced(torch.median, 3, 4, 5, dim=-1, keepdim=True),
)

SELECTION = {
    "torch.bincount": Sample(
        forms={
            "torch.bincount": lambda device: torch.bincount(
                repeats(device), torch.ones(6, device=device)
            ),
            "torch.Tensor.bincount": lambda device: repeats(device).bincount(
                torch.ones(6, device=device)
            ),
        },
        comparisons=(
            (weighed(torch.float32), weighed(torch.float64, minlength=9), weighed(torch.int32)),
        ),
    ),
    "torch.histc": Sample(
        forms={
            "torch.histc": lambda device: torch.histc(torch.randn(9, device=device)),
            "torch.Tensor.histc": lambda device: torch.randn(9, device=device).histc(),
        },
        comparisons=(
            tuple(
                without_gradient(reduced(torch.histc, *shape, **options))
                for shape, options in (
                    ((1000,), {}),
                    ((20, 30), {"bins": 7, "min": -1, "max": 2}),
                )
            ),
        ),
    ),
    "torch.median": Sample(
        forms={
            "torch.median": lambda device: torch.median(TABLE(device), 0),
            "torch.Tensor.median": lambda device: TABLE(device).median(dim=1),
            "torch.nanmedian": lambda device: torch.nanmedian(TABLE(device), 0),
            "torch.Tensor.nanmedian": lambda device: TABLE(device).nanmedian(0),
        },
        comparisons=(
            (*MEDIANS, *map(with_ties, MEDIANS)),
            tuple(
                Comparison(
                    (shape,),
                    lambda x, _: torch.nanmedian(x.masked_fill(x > 0.7, math.nan), dim=1).values,
                    lambda f, x, _: f(x.masked_fill(x > 0.7, math.nan), dim=1),
                )
                for shape in ((6, 5), (3, 8, 2))
            ),
        ),
    ),
    "torch.kthvalue": Sample(
        forms={
            "torch.kthvalue": lambda device: torch.kthvalue(TABLE(device), 2),
            "torch.Tensor.kthvalue": lambda device: TABLE(device).kthvalue(2),
        },
        comparisons=(
            (
                reduced(torch.kthvalue, 6, 5, k=2),
                reduced(torch.kthvalue, 3, 4, 5, k=4, dim=1),
                with_ties(reduced(torch.kthvalue, 6, 5, k=3)),
            ),
        ),
    ),
    "torch.topk": Sample(
        forms={
            "torch.topk": lambda device: torch.topk(TABLE(device), 2),
            "torch.Tensor.topk": lambda device: TABLE(device).topk(2),
        },
        comparisons=(
            (
                reduced(torch.topk, 6, 5, k=2),
                reduced(torch.topk, 3, 4, 5, k=3, dim=1, largest=False),
                with_ties(reduced(torch.topk, 6, 5, k=3)),
            ),
        ),
    ),
}


def running(name: str) -> tuple[dict[str, Form], tuple[tuple[Comparison, ...], ...]]:
    """Forms and comparisons of a running sum or product."""
    native = getattr(torch, name)
    forms: dict[str, Form] = {
        f"torch.{name}": lambda device: native(ROW(device), 0),
        f"torch.Tensor.{name}": lambda device: getattr(ROW(device), name)(0),
    }
    if hasattr(torch.Tensor, f"{name}_"):
        forms[f"torch.Tensor.{name}_"] = lambda device: getattr(ROW(device).exp(), f"{name}_")(0)
    compared = tuple(
        reduced(native, *shape, dim=dim) for shape, dim in (((40,), 0), ((1, 9), -1), ((3, 5), 0))
    )
    return forms, (compared,)


LONG_SUMS = tuple(
    reduced(torch.cumsum, *shape, dim=dim)
    for shape, dim in (((1000,), 0), ((3, 256), 1), ((5, 2), 0))
)

SCANS = {
    "torch.cumprod": Sample(*running("cumprod")),
    "torch.logcumsumexp": Sample(*running("logcumsumexp")),
    "torch.cumsum": Sample(running("cumsum")[0], (LONG_SUMS,)),
    "torch.cumsum under torch.compile": Sample(
        {form: call for form, call in running("cumsum")[0].items() if not form.endswith("_")},
        (LONG_SUMS,),
    ),
}


def sparse(device: str) -> torch.Tensor:
    dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], device=device)
    return dense.to_sparse_coo()


COLUMNS = leaf(3, 4)


def product(layout: str) -> Comparison:
    def matrix(device: str) -> torch.Tensor:
        return sparse(device) if layout == "coo" else sparse(device).to_sparse_csr()

    return Comparison(
        ((3, 4),),
        lambda x, device: sparse(device).to_dense() @ x,
        lambda f, x, device: f(matrix(device), x),
    )


PRODUCTS = (product("coo"), product("csr"))
CELLS: dict[str, type[nn.Module]] = {"LSTM": nn.LSTM, "GRU": nn.GRU, "RNN": nn.RNN}


def stacked(*shape: int) -> Comparison:
    """Two layers without dropout, with the same weights."""

    def native(x: torch.Tensor, device: str) -> torch.Tensor:
        torch.manual_seed(3)
        return nn.LSTM(3, 4, 2, device=device)(x)[0]

    def instead(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        torch.manual_seed(3)
        whole = nn.LSTM(3, 4, 2, device=device)
        parts = f(3, 4, 2, 0.0).to(device)
        for number, layer in enumerate(parts.layers):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(layer, f"{name}_l0").data = getattr(whole, f"{name}_l{number}").data
        return parts(x)[0]

    return Comparison((shape,), native, instead)


LIBRARIES = {
    "torch.sparse.mm": Sample(
        forms={
            "torch.sparse.mm": lambda device: torch.sparse.mm(sparse(device), COLUMNS(device)),
            "torch.sparse.addmm": lambda device: torch.sparse.addmm(
                leaf(2, 4)(device), sparse(device), COLUMNS(device)
            ),
            "torch.mm": lambda device: torch.mm(sparse(device), COLUMNS(device)),
            "torch.matmul": lambda device: torch.matmul(sparse(device), COLUMNS(device)),
            "torch.addmm": lambda device: torch.addmm(
                leaf(2, 4)(device), sparse(device), COLUMNS(device)
            ),
            "torch.mv": lambda device: torch.mv(sparse(device), leaf(3)(device)),
            "torch.hspmm": lambda device: torch.hspmm(sparse(device), COLUMNS(device).detach()),
        },
        comparisons=(PRODUCTS, PRODUCTS),
    ),
    "torch.nn.LSTM": Sample(
        forms={
            f"torch.nn.{name}": lambda device, cell=cell: cell(3, 4, 2, dropout=0.5, device=device)(
                leaf(5, 2, 3)(device)
            )
            for name, cell in CELLS.items()
        },
        comparisons=((stacked(5, 2, 3), stacked(7, 1, 3)),),
    ),
}

SAMPLES: dict[str, Sample] = POOLING | IMAGES | LOSSES | INDEXING | SELECTION | SCANS | LIBRARIES

# Every call of at::Context::alertNotDeterministic in the binaries of torch 2.13.0 (libtorch_cuda
# of the cu130 wheel and libtorch_cpu, disassembled): the text that is passed. One may occur
# more than once.
CUDA_ALERTS = (
    "_bincount_cuda",
    "_histc_cuda with floating point input",
    "adaptive_avg_pool2d_backward_cuda",
    "adaptive_avg_pool2d_backward_out_cuda",
    "adaptive_avg_pool3d_backward_cuda",
    "adaptive_avg_pool3d_backward_out_cuda",
    "adaptive_max_pool2d_backward_cuda",
    "avg_pool3d_backward_cuda",
    "ctc_loss_backward_gpu",
    "cudnn_grid_sampler_backward",
    "embedding_bag_backward_cuda_max",
    "fractional_max_pool2d_backward_cuda",
    "fractional_max_pool3d_backward_cuda",
    "fractional_max_pool3d_backward_out_cuda",
    "grid_sampler_2d_backward_cuda",
    "grid_sampler_3d_backward_cuda",
    "index_reduce_cuda",
    "index_reduce_cuda",
    "index_reduce_cuda",
    "index_reduce_cuda",
    "max_pool3d_with_indices_backward_cuda",
    "max_pool3d_with_indices_backward_out_cuda",
    "max_unpooling2d_forward_out",
    "max_unpooling3d_forward_out",
    "median CUDA with indices output",
    "nll_loss2d_forward_out_cuda_template",
    "reflection_pad1d_backward_out_cuda",
    "reflection_pad3d_backward_out_cuda",
    "replication_pad1d_backward_cuda",
    "replication_pad2d_backward_cuda",
    "replication_pad2d_backward_out_cuda",
    "replication_pad3d_backward_cuda",
    "replication_pad3d_backward_out_cuda",
    "scatter_cuda_",
    "scatter_reduce_cuda_kernel",
    "scatter_reduce_cuda_prod_",
    "upsample_bicubic2d_aa_backward_out_cuda",
    "upsample_bicubic2d_backward_out_cuda",
    "upsample_bilinear2d_aa_backward_out_cuda",
    "upsample_bilinear2d_backward_out_cuda",
    "upsample_linear1d_backward_out_cuda",
    "upsample_trilinear3d_backward_out_cuda",
)
CPU_ALERTS = (
    "max_unpooling2d_forward_out",
    "max_unpooling3d_forward_out",
    "put_",
    "quantized_resize_cpu_",
)
# Read the same way from libtorch_cuda of earlier wheels: the last release that holds the text.
EARLIER_ALERTS = {
    "cumsum_cuda_kernel": "2.5.1",
    "reflection_pad2d_backward_cuda": "2.6.0",
    "reflection_pad2d_backward_out_cuda": "2.6.0",
    "_histc_cuda": "2.7.1",
    "kthvalue CUDA": "2.9.1",
}

"""A small call of each public form of each row of the table of operators, and the texts by
which torch refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812 - its name everywhere
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    Form = Callable[[str], Any]  # device -> what the operator gives

ATEN = torch.ops.aten


def leaf(*shape: int) -> Form:
    """A random tensor that requires a gradient."""
    return lambda device: torch.randn(shape, device=device).requires_grad_()


SERIES, IMAGE, VOLUME = leaf(2, 3, 7), leaf(2, 3, 7, 6), leaf(2, 3, 5, 6, 4)
ROW, TABLE = leaf(6), leaf(6, 3)


def integers(*values: object) -> Form:
    return lambda device: torch.tensor(values, device=device)


repeats = integers(4, 0, 4, 2, 0, 4)  # indices, some of them twice


def classes(*shape: int) -> Form:
    """Class indices 0 to 2, the first of which is to be ignored."""

    def make(device: str) -> torch.Tensor:
        target = torch.arange(torch.Size(shape).numel(), device=device) % 3
        target[0] = -100
        return target.view(shape)

    return make


def quantized(device: str, *values: float) -> torch.Tensor:
    numbers = torch.tensor(values, dtype=torch.float32, device=device)
    return torch.quantize_per_tensor(numbers, 0.1, 0, torch.qint8)


def sparse(device: str) -> torch.Tensor:
    dense = torch.tensor([[0.0, 2.0, 0.0], [1.0, 0.0, 3.0]], device=device)
    return dense.to_sparse_coo()


def module(name: str, inputs: Form, *size: object, **options: object) -> Form:
    """A module of torch.nn, made and called."""
    return lambda device: getattr(nn, name)(*size, **options)(inputs(device))


def function(name: str, inputs: Form, *size: object, **options: object) -> Form:
    """A function of torch.nn.functional."""
    return lambda device: getattr(F, name)(inputs(device), *size, **options)


def method(name: str, inputs: Form, *rest: Form | int, **options: object) -> Form:
    """A method of a tensor, or the function of torch by that name."""

    def call(device: str) -> object:
        given = [each if isinstance(each, int) else each(device) for each in rest]
        tensor = inputs(device)
        if name.startswith("torch."):
            return getattr(torch, name.removeprefix("torch."))(tensor, *given, **options)
        return getattr(tensor, name)(*given, **options)

    return call


def functions(inputs: Form, *names: str, **options: object) -> dict[str, Form]:
    """Functions of torch.nn.functional that take the same."""
    size = options.pop("size")
    return {
        f"torch.nn.functional.{name}": function(name, inputs, size, **options) for name in names
    }


def unpooling(axes: int) -> dict[str, Form]:
    """The forms of unpooling what max pooling gives, with its indices."""
    name = f"max_unpool{axes}d"
    pool: Any = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]

    def pooled(device: str) -> tuple[torch.Tensor, torch.Tensor]:
        shape = (2, 3, 8, 6, 4)[: 2 + axes]
        values, indices = pool(torch.randn(shape, device=device), 2, return_indices=True)
        return values.requires_grad_(), indices

    return {
        f"torch.nn.MaxUnpool{axes}d": lambda device: getattr(nn, f"MaxUnpool{axes}d")(2)(
            *pooled(device)
        ),
        f"torch.nn.functional.{name}": lambda device: getattr(F, name)(*pooled(device), 2),
    }


AREA = 'torch.nn.functional.interpolate(mode="area")'

POOLING: dict[str, dict[str, Form]] = {
    "torch.nn.functional.adaptive_avg_pool2d": {
        "torch.nn.AdaptiveAvgPool2d": module("AdaptiveAvgPool2d", IMAGE, 3),
        "torch.nn.AdaptiveAvgPool1d": module("AdaptiveAvgPool1d", SERIES, 3),
        **functions(IMAGE, "adaptive_avg_pool2d", size=3),
        **functions(SERIES, "adaptive_avg_pool1d", size=3),
        "torch.adaptive_avg_pool1d": method("torch.adaptive_avg_pool1d", SERIES, 3),
        AREA: function("interpolate", IMAGE, 3, mode="area"),
    },
    "torch.nn.functional.adaptive_avg_pool3d": {
        "torch.nn.AdaptiveAvgPool3d": module("AdaptiveAvgPool3d", VOLUME, 3),
        **functions(VOLUME, "adaptive_avg_pool3d", size=3),
        AREA: function("interpolate", VOLUME, 3, mode="area"),
    },
    "torch.nn.functional.adaptive_max_pool2d": {
        "torch.nn.AdaptiveMaxPool2d": module("AdaptiveMaxPool2d", IMAGE, 3),
        "torch.nn.AdaptiveMaxPool1d": module("AdaptiveMaxPool1d", SERIES, 3),
        **functions(IMAGE, "adaptive_max_pool2d", "adaptive_max_pool2d_with_indices", size=3),
        **functions(SERIES, "adaptive_max_pool1d", "adaptive_max_pool1d_with_indices", size=3),
        "torch.adaptive_max_pool1d": method("torch.adaptive_max_pool1d", SERIES, 3),
    },
    "torch.nn.functional.adaptive_max_pool3d": {
        "torch.nn.AdaptiveMaxPool3d": module("AdaptiveMaxPool3d", VOLUME, 3),
        **functions(VOLUME, "adaptive_max_pool3d", "adaptive_max_pool3d_with_indices", size=3),
    },
    "torch.nn.functional.avg_pool3d": {
        "torch.nn.AvgPool3d": module("AvgPool3d", VOLUME, 2),
        "torch.nn.LPPool3d": module("LPPool3d", VOLUME, 2, 2),
        "torch.nn.LocalResponseNorm": module("LocalResponseNorm", IMAGE, 2),
        "torch.nn.functional.lp_pool3d": function("lp_pool3d", VOLUME, 2, 2),
        **functions(VOLUME, "avg_pool3d", size=2),
        **functions(IMAGE, "local_response_norm", size=2),
    },
    "torch.nn.functional.fractional_max_pool2d": {
        "torch.nn.FractionalMaxPool2d": module("FractionalMaxPool2d", IMAGE, 2, output_size=3),
        **functions(
            IMAGE,
            "fractional_max_pool2d",
            "fractional_max_pool2d_with_indices",
            size=2,
            output_size=3,
        ),
    },
    "torch.nn.functional.fractional_max_pool3d": {
        "torch.nn.FractionalMaxPool3d": module("FractionalMaxPool3d", VOLUME, 2, output_size=2),
        **functions(
            VOLUME,
            "fractional_max_pool3d",
            "fractional_max_pool3d_with_indices",
            size=2,
            output_size=2,
        ),
    },
    "torch.nn.functional.max_pool3d": {
        "torch.nn.MaxPool3d": module("MaxPool3d", VOLUME, 2),
        **functions(VOLUME, "max_pool3d", size=2),
        "torch.max_pool3d": method("torch.max_pool3d", VOLUME, 2),
    },
    "torch.nn.functional.max_unpool2d": {**unpooling(1), **unpooling(2)},
    "torch.nn.functional.max_unpool3d": unpooling(3),
}


def upsampling(inputs: Form, mode: str) -> dict[str, Form]:
    """The forms that take a mode."""
    return {
        f'torch.nn.functional.interpolate(mode="{mode}")': function(
            "interpolate", inputs, scale_factor=2, mode=mode
        ),
        f'torch.nn.functional.upsample(mode="{mode}")': function(
            "upsample", inputs, scale_factor=2, mode=mode
        ),
        f'torch.nn.Upsample(mode="{mode}")': module("Upsample", inputs, scale_factor=2, mode=mode),
    }


def grid(device: str, axes: int) -> torch.Tensor:
    return torch.randn(2, *(4,) * axes, axes, device=device)


REFLECT = 'torch.nn.functional.pad(mode="reflect")'
REPLICATE = 'torch.nn.functional.pad(mode="replicate")'

IMAGES: dict[str, dict[str, Form]] = {
    'torch.nn.functional.interpolate(mode="linear")': upsampling(SERIES, "linear"),
    'torch.nn.functional.interpolate(mode="bicubic")': upsampling(IMAGE, "bicubic"),
    "torch.nn.functional.interpolate(antialias=True)": {
        "torch.nn.functional.interpolate(antialias=True)": lambda device: [
            F.interpolate(IMAGE(device), size=(3, 9), mode=mode, antialias=True)
            for mode in ("bilinear", "bicubic")
        ],
    },
    'torch.nn.functional.interpolate(mode="bilinear")': {
        **upsampling(IMAGE, "bilinear"),
        "torch.nn.functional.upsample_bilinear": function(
            "upsample_bilinear", IMAGE, scale_factor=2
        ),
        "torch.nn.UpsamplingBilinear2d": module("UpsamplingBilinear2d", IMAGE, scale_factor=2),
    },
    'torch.nn.functional.interpolate(mode="trilinear")': upsampling(VOLUME, "trilinear"),
    REFLECT: {
        REFLECT: function("pad", SERIES, (1, 2), mode="reflect"),
        "torch.nn.ReflectionPad1d": module("ReflectionPad1d", SERIES, 1),
        "torch.nn.ReflectionPad3d": module("ReflectionPad3d", VOLUME, 1),
        **{
            f'torch.nn.Conv{axes}d(padding_mode="reflect")': lambda device, axes=axes: getattr(
                nn, f"Conv{axes}d"
            )(3, 2, 3, padding=1, padding_mode="reflect", device=device)(
                (SERIES if axes == 1 else VOLUME)(device)
            )
            for axes in (1, 3)
        },
        'torch.stft(pad_mode="reflect")': lambda device: torch.stft(
            ROW(device), 4, window=torch.ones(4, device=device), return_complex=True
        ).abs(),
    },
    "torch.nn.ReflectionPad2d": {
        REFLECT: function("pad", IMAGE, (1, 1, 1, 1), mode="reflect"),
        "torch.nn.ReflectionPad2d": module("ReflectionPad2d", IMAGE, 1),
    },
    REPLICATE: {
        REPLICATE: function("pad", SERIES, (1, 2), mode="replicate"),
        "torch.nn.ReplicationPad1d": module("ReplicationPad1d", SERIES, 1),
        "torch.nn.ReplicationPad2d": module("ReplicationPad2d", IMAGE, 1),
        "torch.nn.ReplicationPad3d": module("ReplicationPad3d", VOLUME, 1),
    },
    "torch.nn.functional.grid_sample by cuDNN": {
        "torch.nn.functional.grid_sample": lambda device: F.grid_sample(
            IMAGE(device), grid(device, 2), align_corners=True
        ),
        "torch.grid_sampler": lambda device: torch.grid_sampler(
            IMAGE(device), grid(device, 2), 0, 0, True
        ),
    },
    "torch.nn.functional.grid_sample": {
        "torch.nn.functional.grid_sample": lambda device: [
            F.grid_sample(IMAGE(device), grid(device, 2), align_corners=False),
            F.grid_sample(VOLUME(device), grid(device, 3), align_corners=False),
        ],
        "torch.grid_sampler": lambda device: torch.grid_sampler(
            IMAGE(device), grid(device, 2), 0, 0, False
        ),
    },
}


def log_probabilities(device: str, *, tensors: bool) -> tuple[Any, ...]:
    """What a CTC loss takes; its two overloads differ in the lengths."""
    lengths: tuple[Any, Any] = (5, 5), (2, 1)
    if tensors:
        lengths = torch.tensor((5, 5)), torch.tensor((2, 1))
    targets = torch.tensor([[1, 1], [2, 3]], device=device)
    return leaf(5, 2, 4)(device).log_softmax(2), targets, *lengths


LOSSES: dict[str, dict[str, Form]] = {
    "torch.nn.functional.ctc_loss": {
        "torch.nn.CTCLoss": lambda device: nn.CTCLoss()(*log_probabilities(device, tensors=True)),
        "torch.nn.functional.ctc_loss": lambda device: F.ctc_loss(
            *log_probabilities(device, tensors=False)
        ),
        "torch.ctc_loss": lambda device: torch.ctc_loss(*log_probabilities(device, tensors=True)),
    },
    "torch.nn.functional.nll_loss": {
        "torch.nn.CrossEntropyLoss": lambda device: nn.CrossEntropyLoss()(
            SERIES(device), classes(2, 7)(device)
        ),
        "torch.nn.NLLLoss": lambda device: nn.NLLLoss()(IMAGE(device), classes(2, 7, 6)(device)),
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
    'torch.nn.functional.embedding_bag(mode="max")': {
        'torch.nn.EmbeddingBag(mode="max")': lambda device: nn.EmbeddingBag(
            6, 3, mode="max", device=device
        )(repeats(device).view(2, 3)),
        'torch.nn.functional.embedding_bag(mode="max")': lambda device: F.embedding_bag(
            repeats(device).view(2, 3), TABLE(device), mode="max"
        ),
        "torch.embedding_bag": lambda device: torch.embedding_bag(
            TABLE(device), repeats(device), integers(0, 2)(device), False, 2
        ),
    },
}


def zeros(device: str) -> torch.Tensor:
    return torch.zeros(6, device=device)


def doubled(device: str) -> torch.Tensor:
    """Not a leaf, so that it can be changed in place."""
    return 2 * ROW(device)


def three_ones(device: str) -> torch.Tensor:
    return torch.ones(3, device=device)


THREE = integers(4, 0, 4)

INDEXING: dict[str, dict[str, Form]] = {
    "torch.Tensor.put_": {
        "torch.Tensor.put_": method("put_", zeros, THREE, three_ones),
        "torch.Tensor.put": method("put", ROW, THREE, three_ones),
        "torch.put": method("torch.put", ROW, THREE, three_ones),
    },
    "torch.take": {
        "torch.take": method("torch.take", TABLE, repeats),
        "torch.Tensor.take": method("take", TABLE, repeats),
    },
    "torch.Tensor.scatter_": {
        "torch.Tensor.scatter_": method("scatter_", zeros, 0, THREE, three_ones),
        "torch.Tensor.scatter": method("scatter", ROW, 0, THREE, three_ones),
        "torch.scatter": method("torch.scatter", ROW, 0, THREE, three_ones),
    },
    'torch.Tensor.scatter_(reduce="multiply")': {
        f'{form}(reduce="multiply")': method(name, zeros, 0, THREE, three_ones, reduce="multiply")
        for form, name in (
            ("torch.Tensor.scatter_", "scatter_"),
            ("torch.Tensor.scatter", "scatter"),
            ("torch.scatter", "torch.scatter"),
        )
    },
    'torch.Tensor.scatter_reduce(reduce="prod")': {
        f'{form}(reduce="prod")': method(name, doubled, 0, THREE, three_ones, reduce="prod")
        for form, name in (
            ("torch.Tensor.scatter_reduce", "scatter_reduce"),
            ("torch.Tensor.scatter_reduce_", "scatter_reduce_"),
            ("torch.scatter_reduce", "torch.scatter_reduce"),
        )
    },
    "torch.Tensor.index_reduce_": {
        "torch.Tensor.index_reduce_": method(
            "index_reduce_", doubled, 0, THREE, three_ones, reduce="prod"
        ),
        "torch.Tensor.index_reduce": method(
            "index_reduce", ROW, 0, THREE, three_ones, reduce="amax"
        ),
        "torch.index_reduce": method(
            "torch.index_reduce", ROW, 0, THREE, three_ones, reduce="mean"
        ),
    },
    "torch.Tensor.resize_": {
        "torch.Tensor.resize_": lambda device: quantized(device, 1, 2, 3).resize_(2),
        "torch.Tensor.resize_as_": lambda device: quantized(device, 1, 2).resize_as_(
            quantized(device, 3)
        ),
        "torch.resize_as_": lambda device: torch.resize_as_(
            quantized(device, 1, 2), quantized(device, 3)
        ),
    },
}


def ones(device: str) -> torch.Tensor:
    return torch.ones(6, device=device)


def both(name: str, inputs: Form, *rest: Form | int) -> dict[str, Form]:
    """The function of torch and the method."""
    return {
        f"torch.{name}": method(f"torch.{name}", inputs, *rest),
        f"torch.Tensor.{name}": method(name, inputs, *rest),
    }


SELECTION: dict[str, dict[str, Form]] = {
    "torch.bincount": both("bincount", repeats, ones),
    "torch.histc": both("histc", leaf(9)),
    "torch.median": {**both("median", TABLE, 0), **both("nanmedian", TABLE, 0)},
    "torch.kthvalue": both("kthvalue", TABLE, 2),
    "torch.topk": both("topk", TABLE, 2),
}

SCANS: dict[str, dict[str, Form]] = {
    "torch.cumprod": {
        **both("cumprod", ROW, 0),
        "torch.Tensor.cumprod_": method("cumprod_", doubled, 0),
    },
    "torch.logcumsumexp": both("logcumsumexp", ROW, 0),
    "torch.cumsum": {
        **both("cumsum", ROW, 0),
        "torch.Tensor.cumsum_": method("cumsum_", doubled, 0),
    },
    "torch.cumsum under torch.compile": both("cumsum", ROW, 0),
}

COLUMNS, SUMMANDS = leaf(3, 4), leaf(2, 4)

LIBRARIES: dict[str, dict[str, Form]] = {
    "torch.sparse.mm": {
        "torch.sparse.mm": lambda device: torch.sparse.mm(sparse(device), COLUMNS(device)),
        "torch.sparse.addmm": lambda device: torch.sparse.addmm(
            SUMMANDS(device), sparse(device), COLUMNS(device)
        ),
        "torch.mm": method("torch.mm", sparse, COLUMNS),
        "torch.matmul": method("torch.matmul", sparse, COLUMNS),
        "torch.addmm": method("torch.addmm", SUMMANDS, sparse, COLUMNS),
        "torch.mv": method("torch.mv", sparse, leaf(3)),
        "torch.hspmm": lambda device: torch.hspmm(sparse(device), COLUMNS(device).detach()),
    },
    "torch.nn.LSTM": {
        f"torch.nn.{name}": lambda device, name=name: getattr(nn, name)(
            3, 4, 2, dropout=0.5, device=device
        )(leaf(5, 2, 3)(device))[0]
        for name in ("LSTM", "GRU", "RNN")
    },
}

FORMS = POOLING | IMAGES | LOSSES | INDEXING | SELECTION | SCANS | LIBRARIES

# What refuses where public forms do not, since Python takes another way or the kernel is not
# reached: the operator below.
BELOW: dict[str, tuple[Form, ...]] = {
    'torch.nn.functional.interpolate(mode="bilinear")': (
        lambda device: ATEN.upsample_bilinear2d(IMAGE(device), [9, 9], False),
    ),
    'torch.nn.functional.interpolate(mode="trilinear")': (
        lambda device: ATEN.upsample_trilinear3d(VOLUME(device), [9, 9, 9], False),
    ),
    REPLICATE: (
        lambda device: ATEN.replication_pad1d(SERIES(device), [1, 1]),
        lambda device: ATEN.replication_pad2d(IMAGE(device), [1] * 4),
        lambda device: ATEN.replication_pad3d(VOLUME(device), [1] * 6),
    ),
    "torch.Tensor.scatter_": (),
}

# Every call of at::Context::alertNotDeterministic in the binaries of torch 2.13.0 (libtorch_cuda
# of the cu130 wheel, and libtorch_cpu; disassembled): the text that it passes.
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
    "index_reduce_cuda",  # once for each of four reductions
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
# Texts in libtorch_cuda of earlier wheels from the package index, with the last release among
# 2.5.1, 2.6.0, 2.7.1, 2.8.0, 2.9.1 and 2.10.0 that holds them.
EARLIER_ALERTS = {
    "cumsum_cuda_kernel": "2.5.1",
    "reflection_pad2d_backward_cuda": "2.6.0",
    "reflection_pad2d_backward_out_cuda": "2.6.0",
    "_histc_cuda": "2.7.1",
    "kthvalue CUDA": "2.9.1",
}

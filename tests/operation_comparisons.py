"""The alternatives of the table of operators beside torch's own operators: what to call with
which inputs, so that both should give the same, forward and backward."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812 - its name everywhere
from operation_samples import classes, integers, quantized, repeats, sparse
from repair_cases import maxima
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

    Shape = tuple[int, ...]
    Function = Callable[..., Any]


class Comparison(NamedTuple):
    """An alternative beside torch's own operator.

    shapes   of random inputs, which require gradients
    native   takes the inputs and the device
    instead  takes the alternative's function, the inputs and the device
    """

    shapes: tuple[Shape, ...]
    native: Function
    instead: Function


def alike(native: Function, *shape: int, **options: object) -> Comparison:
    """A function of one input and options, with an alternative that takes the same."""
    return Comparison((shape,), lambda x, _: native(x, **options), lambda f, x, _: f(x, **options))


def detached(comparison: Comparison) -> Comparison:
    """For an operator of torch's that has no gradient."""

    def native(*given: object) -> object:
        return comparison.native(*(_detached(each) for each in given))

    return comparison._replace(native=native)


def _detached(value: object) -> object:
    return value.detach() if isinstance(value, torch.Tensor) else value


# Pooling


def adaptive(native: Function, shape: Shape, *size: int | None) -> Comparison:
    return Comparison((shape,), lambda x, _: native(x, size), lambda f, x, _: f(x, size))


def fractional(native: Function, shape: Shape, *size: int) -> Comparison:
    samples = torch.arange(6 * len(size)).view(2, 3, len(size)) / 17 % 1

    def given(x: torch.Tensor) -> torch.Tensor:
        return samples.to(x)

    return Comparison(
        (shape,),
        lambda x, _: native(x, 2, size, _random_samples=given(x)),
        lambda f, x, _: f(x, 2, size, given(x)),
    )


def unpooling(axes: int) -> Comparison:
    shape = (2, 3, 8, 6, 4)[: 2 + axes]
    unpool: Any = (F.max_unpool1d, F.max_unpool2d, F.max_unpool3d)[axes - 1]
    return Comparison(
        (shape,),
        lambda x, _: unpool(*maxima(x, axes), 2),
        lambda f, x, _: f(*maxima(x, axes), shape[2:]),
    )


MAXIMA = (
    alike(F.max_pool3d, 2, 3, 6, 7, 5, kernel_size=2),
    alike(F.max_pool3d, 2, 3, 6, 7, 5, kernel_size=(3, 2, 3), stride=1, padding=1),
    alike(F.max_pool3d, 3, 7, 7, 7, kernel_size=3, stride=2, dilation=2, ceil_mode=True),
)
AVERAGES = (
    alike(F.avg_pool3d, 2, 3, 6, 7, 5, kernel_size=2),
    alike(F.avg_pool3d, 3, 6, 7, 5, kernel_size=(3, 2, 3), stride=(1, 2, 2), padding=1),
    alike(F.avg_pool3d, 2, 3, 6, 7, 5, kernel_size=3, stride=2, padding=1, ceil_mode=True),
    alike(F.avg_pool3d, 2, 1, 5, 5, 5, kernel_size=3, padding=1, count_include_pad=False),
    alike(
        F.avg_pool3d, 1, 2, 6, 7, 4,
        kernel_size=(2, 3, 2), stride=2, padding=1, ceil_mode=True, count_include_pad=False,
    ),
)  # fmt: skip

POOLING: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.nn.functional.adaptive_avg_pool2d": (
        (
            adaptive(F.adaptive_avg_pool2d, (2, 3, 8, 6), 4, 2),
            adaptive(F.adaptive_avg_pool2d, (3, 9, 9), 3, 9),
        ),
        (
            adaptive(F.adaptive_avg_pool2d, (2, 3, 7, 6), 3, 4),
            adaptive(F.adaptive_avg_pool2d, (3, 5, 6), None, 7),
            adaptive(F.adaptive_avg_pool1d, (2, 3, 7), 3),
        ),
    ),
    "torch.nn.functional.adaptive_avg_pool3d": (
        (
            adaptive(F.adaptive_avg_pool3d, (2, 3, 7, 6, 5), 3, 4, 2),
            adaptive(F.adaptive_avg_pool3d, (3, 4, 4, 4), 2, None, 5),
        ),
    ),
    "torch.nn.functional.adaptive_max_pool2d": (
        (
            adaptive(F.adaptive_max_pool2d, (2, 3, 7, 6), 3, 4),
            adaptive(F.adaptive_max_pool2d, (3, 8, 8), 4, 3),
            adaptive(F.adaptive_max_pool1d, (2, 3, 7), 3),
        ),
    ),
    "torch.nn.functional.adaptive_max_pool3d": (
        (
            adaptive(F.adaptive_max_pool3d, (2, 3, 7, 6, 5), 3, 4, 2),
            adaptive(F.adaptive_max_pool3d, (3, 4, 4, 4), 3, 3, 3),
        ),
    ),
    "torch.nn.functional.avg_pool3d": (AVERAGES,),
    "torch.nn.functional.fractional_max_pool2d": (
        (
            fractional(F.fractional_max_pool2d, (2, 3, 7, 6), 3, 4),
            fractional(F.fractional_max_pool2d, (2, 3, 9, 9), 4, 4),
        ),
    ),
    "torch.nn.functional.fractional_max_pool3d": (
        (
            fractional(F.fractional_max_pool3d, (2, 3, 7, 6, 5), 3, 4, 2),
            fractional(F.fractional_max_pool3d, (2, 3, 6, 6, 6), 3, 3, 3),
        ),
    ),
    "torch.nn.functional.max_pool3d": (MAXIMA, MAXIMA),
    "torch.nn.functional.max_unpool2d": ((unpooling(1), unpooling(2)),),
    "torch.nn.functional.max_unpool3d": ((unpooling(2), unpooling(3)),),
}

# Resizing, padding and sampling of images


def interpolation(mode: str, shape: Shape, *size: int, **options: object) -> Comparison:
    return Comparison(
        (shape,),
        lambda x, _: F.interpolate(x, size, mode=mode, **options),
        lambda f, x, _: f(x, size, mode=mode, **options),
    )


def of_one_mode(mode: str, shape: Shape, *size: int) -> tuple[Comparison, ...]:
    """For alternatives that know their mode; a line's size is a number."""
    wanted = size if len(size) > 1 else size[0]
    return tuple(
        Comparison(
            (shape,),
            lambda x, _, c=corners: F.interpolate(x, wanted, mode=mode, align_corners=c),
            lambda f, x, _, c=corners: f(x, wanted, align_corners=c),
        )
        for corners in (False, True)
    )


def padding(mode: str, *cases: tuple[Shape, Shape]) -> tuple[Comparison, ...]:
    return tuple(
        Comparison(
            (shape,),
            lambda x, _, pad=pad: F.pad(x, pad, mode=mode),
            lambda f, x, _, pad=pad: f(x, pad),
        )
        for shape, pad in cases
    )


REFLECTED = padding(
    "reflect",
    ((2, 3, 7), (2, 1)),
    ((3, 7), (0, 3)),
    ((2, 3, 5, 6), (1, 2, 3, 0)),
    ((2, 3, 4, 5, 6), (1, 2, 0, 3, 2, 1)),
)
REPLICATED = padding(
    "replicate",
    ((2, 3, 2), (4, 5)),
    ((2, 3, 5, 6), (1, 2, 3, 0)),
    ((2, 3, 4, 5, 6), (1, 2, 0, 3, 2, 1)),
)


def sampling(shape: Shape, out: Shape, **options: object) -> Comparison:
    return Comparison(
        (shape, (shape[0], *out, len(out))),
        lambda x, grid, _: F.grid_sample(x, grid, **options),
        lambda f, x, grid, _: f(x, grid, **options),
    )


SAMPLED = (
    tuple(
        sampling(shape, out, mode=mode, padding_mode=outside, align_corners=corners)
        for (shape, out), mode, outside, corners in itertools.product(
            (((2, 3, 5, 6), (4, 7)), ((2, 3, 4, 5, 3), (3, 4, 5))),
            ("bilinear", "nearest"),
            ("zeros", "border", "reflection"),
            (False, True),
        )
    ),
)

IMAGES: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    'torch.nn.functional.interpolate(mode="linear")': (
        (*of_one_mode("linear", (2, 3, 7), 11), *of_one_mode("linear", (1, 2, 9), 4)),
        (
            interpolation("linear", (2, 3, 7), 11),
            interpolation("linear", (1, 2, 9), 4, align_corners=True),
        ),
    ),
    'torch.nn.functional.interpolate(mode="bicubic")': (
        (
            interpolation("bicubic", (2, 3, 7, 6), 14, 9),
            interpolation("bicubic", (2, 3, 7, 6), 14, 9, align_corners=True),
            interpolation("bicubic", (1, 2, 9, 8), 4, 5),
        ),
        of_one_mode("bilinear", (2, 3, 7, 6), 14, 9),
    ),
    "torch.nn.functional.interpolate(antialias=True)": (
        tuple(
            interpolation(mode, (2, 3, 13, 6), *size, antialias=True, align_corners=corners)
            for size, mode, corners in itertools.product(
                ((4, 9), (13, 5), (1, 4)), ("bilinear", "bicubic"), (False, True)
            )
        ),
    ),
    'torch.nn.functional.interpolate(mode="bilinear")': (
        of_one_mode("bilinear", (2, 3, 7, 6), 14, 9),
        (
            interpolation("bilinear", (2, 3, 7, 6), 14, 9),
            interpolation("bilinear", (3, 2, 7, 6), 4, 3, align_corners=True),
        ),
    ),
    'torch.nn.functional.interpolate(mode="trilinear")': (
        of_one_mode("trilinear", (2, 3, 4, 5, 6), 7, 5, 3),
        (
            interpolation("trilinear", (2, 3, 4, 5, 6), 7, 5, 3),
            interpolation("trilinear", (1, 2, 4, 5, 6), 3, 9, 8, align_corners=True),
        ),
    ),
    'torch.nn.functional.pad(mode="reflect")': (REFLECTED,),
    "torch.nn.ReflectionPad2d": (REFLECTED,),
    'torch.nn.functional.pad(mode="replicate")': (REPLICATED, REPLICATED),
    "torch.nn.functional.grid_sample by cuDNN": SAMPLED,
    "torch.nn.functional.grid_sample": SAMPLED,
}

# Losses and embeddings


def alignment(
    *, steps: int, targets: list[list[int]], lengths: list[int], short: bool, **options: object
) -> Comparison:
    """A CTC loss; ``short``: all inputs but the first are a step shorter than the longest."""
    shape = (steps, len(targets), 4)
    labels, ends = torch.tensor(targets), torch.tensor(lengths)
    all_steps = torch.full_like(ends, steps)
    if short:
        all_steps[1:] -= 1

    def native(x: torch.Tensor, device: str) -> torch.Tensor:
        x = x.log_softmax(2)
        return F.ctc_loss(x, labels.to(device), all_steps, ends, **options)

    def instead(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        given = (all_steps, ends) if short else (ends,)
        return f(x.log_softmax(2), labels.to(device), *given, **options)

    return Comparison((shape,), native, instead)


def alignments(*, short: bool) -> tuple[Comparison, ...]:
    cases: tuple[dict[str, Any], ...] = (
        {"steps": 7, "targets": [[1, 1, 2], [2, 3, 0]], "lengths": [3, 2]},
        {
            "steps": 6,
            "targets": [[1, 2], [3, 1], [2, 2]],
            "lengths": [2, 1, 0 if short else 1],
            "reduction": "sum",
        },
        {
            "steps": 3,
            "targets": [[1, 1, 1], [1, 2, 3]],
            "lengths": [3, 2],
            "reduction": "none",
            "zero_infinity": True,
        },
    )
    return tuple(alignment(short=short, **case) for case in cases)


WEIGHT = torch.tensor([0.5, 2.0, 1.0])


def entropy(*shape: int, weight: torch.Tensor | None = None, **options: object) -> Comparison:
    """For input (N, C, …)."""

    def call(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        given = dict(options) if weight is None else {**options, "weight": weight.to(device)}
        return f(x, classes(shape[0], *shape[2:])(device), **given)

    return Comparison((shape,), lambda x, device: call(F.cross_entropy, x, device), call)


def bags(*starts: int) -> Comparison:
    """Bags that begin at these places, or bags of two."""

    def call(f: Function, w: torch.Tensor, device: str) -> torch.Tensor:
        if starts:
            return f(repeats(device), w, integers(*starts)(device))
        return f(repeats(device).view(3, 2), w)

    def native(w: torch.Tensor, device: str) -> torch.Tensor:
        return call(lambda *given: F.embedding_bag(*given, mode="max"), w, device)

    return Comparison(((6, 3),), native, call)


LOSSES: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.nn.functional.ctc_loss": (alignments(short=False), alignments(short=True)),
    "torch.nn.functional.nll_loss": (
        (
            entropy(2, 3, 7),
            entropy(2, 3, 5, 6, weight=WEIGHT, label_smoothing=0.1),
            entropy(2, 3, 5, 6, reduction="none"),
            entropy(2, 3, 2, 3, 2, reduction="sum"),
        ),
        (entropy(2, 3, 7), entropy(2, 3, 5, 6, ignore_index=-100)),
    ),
    'torch.nn.functional.embedding_bag(mode="max")': ((bags(), bags(0, 4), bags(0, 2, 2, 6)),),
}

# Indexing

grid_of_repeats = integers([4, 0, 1], [4, 2, 1], [0, 2, 3], [4, 2, 1])


def scattering(
    native: Function,
    *shapes: Shape,
    index: Function = repeats,
    dim: int = 0,
    reduce: str = "",
    **options: object,
) -> Comparison:
    """An operator of (input, dim, index, source); ``reduce`` is for torch's own only."""
    own = {**options, "reduce": reduce} if reduce else options
    return Comparison(
        shapes,
        lambda x, y, device: native(x, dim, index(device), y, **own),
        lambda f, x, y, device: f(x, dim, index(device), y, **options),
    )


def products(native: Function, reduce: str) -> tuple[Comparison, ...]:
    def turned(device: str) -> torch.Tensor:
        return grid_of_repeats(device).T

    return (
        scattering(native, (6,), (6,), reduce=reduce),
        scattering(native, (5, 4), (4, 3), index=grid_of_repeats, reduce=reduce),
        scattering(native, (3, 5), (3, 4), index=turned, dim=-1, reduce=reduce),
    )


def reductions(reduce: str, *, itself: bool) -> Comparison:
    """index_reduce, with an alternative that takes the reduction too."""
    options = {"reduce": reduce, "include_self": itself}
    return Comparison(
        ((6, 3), (6, 3)),
        lambda x, y, device: torch.index_reduce(x, 0, repeats(device), y, **options),
        lambda f, x, y, device: f(x, 0, repeats(device), y, **options),
    )


def putting(shape: Shape, index: Function, **options: object) -> Comparison:
    return Comparison(
        (shape, tuple(index("cpu").shape)),
        lambda x, y, device: x.put(index(device), y, **options),
        lambda f, x, y, device: f(x, index(device), y, **options),
    )


def taking(*shape: int) -> Comparison:
    return Comparison(
        (shape,),
        lambda x, device: x.take(repeats(device).view(2, 3)),
        lambda f, x, device: f(x, repeats(device).view(2, 3)),
    )


def shrinking(*size: int) -> Comparison:
    """Growing leaves torch's own with whatever was in memory."""
    return Comparison(
        (),
        lambda device: quantized(device, 1, 2, 3, 4).resize_(*size).dequantize(),
        lambda f, device: f(quantized(device, 1, 2, 3, 4), *size).dequantize(),
    )


INDEXING: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.Tensor.put_": (
        (putting((2, 3), integers(4, -1)), putting((6, 2), repeats, accumulate=True)),
    ),
    "torch.take": ((taking(6), taking(2, 2, 3)),),
    "torch.Tensor.scatter_": (
        (
            scattering(torch.scatter, (6,), (3,), index=integers(4, 0, 2)),
            scattering(torch.scatter, (5, 4), (2, 3), index=integers([0, 2, 4], [1, 3, 0])),
        ),
    ),
    'torch.Tensor.scatter_(reduce="multiply")': (
        tuple(map(detached, products(torch.scatter, "multiply"))),
        (
            scattering(torch.scatter_add, (6,), (6,)),
            scattering(torch.scatter_add, (5, 4), (4, 3), index=grid_of_repeats),
        ),
    ),
    'torch.Tensor.scatter_reduce(reduce="prod")': (
        (
            *products(torch.scatter_reduce, "prod"),
            scattering(
                torch.scatter_reduce, (5, 3), (4, 3),
                index=grid_of_repeats, reduce="prod", include_self=False,
            ),
        ),
    ),
    "torch.Tensor.index_reduce_": (
        tuple(
            reductions(reduce, itself=itself)
            for reduce, itself in itertools.product(("amax", "amin", "mean"), (True, False))
        ),
        tuple(
            scattering(
                torch.index_reduce, (3, 5), (3, 6), dim=1, reduce="prod", include_self=itself
            )
            for itself in (True, False)
        ),
    ),
    "torch.Tensor.resize_": ((shrinking(3), shrinking(2, 2)),),
}  # fmt: skip

# Counting, selecting and sorting


def weighing(dtype: torch.dtype, **options: object) -> Comparison:
    def call(f: Function, w: torch.Tensor, device: str) -> torch.Tensor:
        return f(repeats(device), w.detach().to(dtype), **options)

    return Comparison(((6,),), lambda w, device: call(torch.bincount, w, device), call)


def with_ties(comparison: Comparison) -> Comparison:
    """Equal values, and a row with nan; values only, since which of their indices is open."""

    def rounded(x: torch.Tensor) -> torch.Tensor:
        x = x.detach().round()
        x[0] = math.nan
        return x

    return comparison._replace(
        native=lambda x, device: comparison.native(rounded(x), device)[0],
        instead=lambda f, x, device: comparison.instead(f, rounded(x), device)[0],
    )


def without_nan(*shape: int) -> Comparison:
    def some_nan(x: torch.Tensor) -> torch.Tensor:
        return x.masked_fill(x > 0.7, math.nan)

    return Comparison(
        (shape,),
        lambda x, _: torch.nanmedian(some_nan(x), dim=1).values,
        lambda f, x, _: f(some_nan(x), dim=1),
    )


MEDIANS = (
    alike(torch.median, 6, 5, dim=0),
    alike(torch.median, 3, 4, 5, dim=-1, keepdim=True),
)

SELECTION: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.bincount": (
        (weighing(torch.float32), weighing(torch.float64, minlength=9), weighing(torch.int32)),
    ),
    "torch.histc": (
        (
            detached(alike(torch.histc, 1000)),
            detached(alike(torch.histc, 20, 30, bins=7, min=-1, max=2)),
        ),
    ),
    "torch.median": (
        (*MEDIANS, *map(with_ties, MEDIANS)),
        (without_nan(6, 5), without_nan(3, 8, 2)),
    ),
    "torch.kthvalue": (
        (
            alike(torch.kthvalue, 6, 5, k=2),
            alike(torch.kthvalue, 3, 4, 5, k=4, dim=1),
            with_ties(alike(torch.kthvalue, 6, 5, k=3)),
        ),
    ),
    "torch.topk": (
        (
            alike(torch.topk, 6, 5, k=2),
            alike(torch.topk, 3, 4, 5, k=3, dim=1, largest=False),
            with_ties(alike(torch.topk, 6, 5, k=3)),
        ),
    ),
}

# Running sums and products


def running(native: Function) -> tuple[Comparison, ...]:
    return (alike(native, 40, dim=0), alike(native, 1, 9, dim=-1), alike(native, 3, 5, dim=0))


LONG_SUMS = (
    alike(torch.cumsum, 1000, dim=0),
    alike(torch.cumsum, 3, 256, dim=1),
    alike(torch.cumsum, 5, 2, dim=0),
)

SCANS: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.cumprod": (running(torch.cumprod),),
    "torch.logcumsumexp": (running(torch.logcumsumexp),),
    "torch.cumsum": (LONG_SUMS,),
    "torch.cumsum under torch.compile": (LONG_SUMS,),
}

# Libraries


def product(layout: str) -> Comparison:
    def matrix(device: str) -> torch.Tensor:
        return sparse(device) if layout == "coo" else sparse(device).to_sparse_csr()

    return Comparison(
        ((3, 4),),
        lambda x, device: sparse(device).to_dense() @ x,
        lambda f, x, device: f(matrix(device), x),
    )


def recurrent(device: str) -> nn.LSTM:
    torch.manual_seed(3)
    return nn.LSTM(3, 4, 2, device=device)


def stacked(*shape: int) -> Comparison:
    """Two layers without dropout, and the same weights."""

    def instead(f: Function, x: torch.Tensor, device: str) -> torch.Tensor:
        whole, parts = recurrent(device), f(3, 4, 2, 0.0).to(device)
        for number, layer in enumerate(parts.layers):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(layer, f"{name}_l0").data = getattr(whole, f"{name}_l{number}").data
        return parts(x)[0]

    return Comparison((shape,), lambda x, device: recurrent(device)(x)[0], instead)


def wrapped(*shape: int) -> Comparison:
    return Comparison(
        (shape,),
        lambda x, device: recurrent(device)(x)[0],
        lambda f, x, device: f(recurrent(device), x)[0],
    )


PRODUCTS = (product("coo"), product("csr"))

LIBRARIES: dict[str, tuple[tuple[Comparison, ...], ...]] = {
    "torch.sparse.mm": (PRODUCTS, PRODUCTS),
    "torch.nn.LSTM": (
        (stacked(5, 2, 3), stacked(7, 1, 3)),
        (wrapped(5, 2, 3), wrapped(7, 1, 3)),
    ),
}

COMPARISONS = POOLING | IMAGES | LOSSES | INDEXING | SELECTION | SCANS | LIBRARIES

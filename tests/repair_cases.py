"""Calls of every repaired operator: shapes at their edges, strides, options."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812

if TYPE_CHECKING:
    from collections.abc import Callable


class Case(NamedTuple):
    """A call, and the tensors that it is given.

    operation  the row's name
    call       (*tensors) -> tensor or tensors
    shapes     of the tensors, which are random and require a gradient
    kernel     the overload that has to run
    """

    operation: str
    call: Callable[..., Any]
    shapes: tuple[tuple[int, ...], ...]
    kernel: str


CASES: list[Case] = []
_F = "torch.nn.functional."


def case(operation: str, kernel: str, call: Callable[..., Any], *shapes: tuple[int, ...]) -> None:
    CASES.append(Case(operation, call, shapes, kernel))


def _pooling() -> None:
    for shape, size in [
        ((2, 3, 7, 6), (3, 4)),
        ((2, 3, 8, 8), (4, 2)),
        ((3, 5, 4), (9, 7)),
        ((1, 1, 1, 1), (2, 2)),
        ((2, 3, 7, 6), (1, 4)),
        ((0, 3, 7, 6), (3, 4)),
    ]:
        case(
            _F + "adaptive_avg_pool2d",
            "_adaptive_avg_pool2d_backward",
            lambda x, size=size: F.adaptive_avg_pool2d(x, size),
            shape,
        )
        case(
            _F + "adaptive_max_pool2d",
            "adaptive_max_pool2d_backward",
            lambda x, size=size: F.adaptive_max_pool2d(x, size),
            shape,
        )
    for shape, size in [
        ((2, 3, 5, 6, 7), (2, 4, 3)),
        ((2, 4, 4, 4), (2, 2, 8)),
        ((1, 1, 1, 1, 1), (2, 2, 2)),
    ]:
        case(
            _F + "adaptive_avg_pool3d",
            "_adaptive_avg_pool3d_backward",
            lambda x, size=size: F.adaptive_avg_pool3d(x, size),
            shape,
        )
        case(
            _F + "adaptive_max_pool3d",
            "adaptive_max_pool3d_backward",
            lambda x, size=size: F.adaptive_max_pool3d(x, size),
            shape,
        )
    for options in [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 2, "padding": 1},
        {"kernel_size": 3, "stride": 2, "padding": 1, "count_include_pad": False},
        {"kernel_size": (3, 2, 2), "stride": (2, 3, 1), "padding": (1, 0, 1), "ceil_mode": True},
        {"kernel_size": 3, "stride": 2, "ceil_mode": True, "count_include_pad": False},
        {"kernel_size": 2, "stride": 2, "divisor_override": 5},
    ]:
        for shape in [(2, 3, 6, 7, 5), (3, 4, 4, 6)]:
            case(
                _F + "avg_pool3d",
                "avg_pool3d_backward",
                lambda x, options=options: F.avg_pool3d(x, **options),
                shape,
            )
    for options in [
        {"kernel_size": 2},
        {"kernel_size": 3, "stride": 1, "padding": 1},
        {"kernel_size": 2, "dilation": 2, "stride": 1, "ceil_mode": True},
    ]:
        for shape in [(2, 3, 6, 7, 5), (3, 4, 4, 6)]:
            case(
                _F + "max_pool3d",
                "max_pool3d_with_indices_backward",
                lambda x, options=options: torch.ops.aten.max_pool3d_with_indices(
                    x, *_triples(**options)
                )[0],
                shape,
            )
    samples = torch.rand(2, 3, 2, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    case(
        _F + "fractional_max_pool2d",
        "fractional_max_pool2d_backward",
        lambda x: F.fractional_max_pool2d(x, 3, (4, 5), _random_samples=samples.to(x.dtype)),
        (2, 3, 9, 8),
    )
    samples3 = torch.rand(2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    case(
        _F + "fractional_max_pool3d",
        "fractional_max_pool3d_backward",
        lambda x: F.fractional_max_pool3d(x, 2, (4, 3, 3), _random_samples=samples3.to(x.dtype)),
        (2, 3, 6, 5, 5),
    )
    for shape in [(2, 3, 6, 8), (3, 4, 4)]:
        case(_F + "max_unpool2d", "max_unpool2d", _unpooled2, shape)
    for shape in [(2, 3, 6, 8, 4), (3, 4, 4, 4)]:
        case(_F + "max_unpool3d", "max_unpool3d", _unpooled3, shape)


def _triples(
    kernel_size: int,
    stride: int | None = None,
    padding: int = 0,
    dilation: int = 1,
    *,
    ceil_mode: bool = False,
) -> tuple[Any, ...]:
    return (
        [kernel_size] * 3,
        [stride or kernel_size] * 3,
        [padding] * 3,
        [dilation] * 3,
        ceil_mode,
    )


def maxima(x: torch.Tensor, axes: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Of windows of two, and where they lie; until torch 2.13 the backward of pooling in three
    dimensions refuses."""
    pool = (F.max_pool1d, F.max_pool2d, F.max_pool3d)[axes - 1]
    places = pool(x.detach(), 2, return_indices=True)[1]
    found = x.flatten(-axes).gather(-1, places.flatten(-axes))
    return found.view(places.shape), places


def _unpooled2(x: torch.Tensor) -> torch.Tensor:
    return F.max_unpool2d(*maxima(x, 2), 2)


def _unpooled3(x: torch.Tensor) -> torch.Tensor:
    return F.max_unpool3d(*maxima(x, 3), 2)


def _interpolation() -> None:
    rows = {
        "linear": (
            "upsample_linear1d_backward",
            [((2, 3, 7), (11,)), ((2, 3, 7), (3,)), ((2, 3, 1), (4,)), ((2, 3, 5), (1,))],
        ),
        "bilinear": (
            "upsample_bilinear2d_backward",
            [
                ((2, 3, 7, 6), (14, 12)),
                ((2, 3, 7, 6), (3, 9)),
                ((1, 1, 1, 1), (3, 3)),
                ((2, 3, 4, 4), (4, 4)),
                ((2, 2, 3, 2), (40, 1)),
            ],
        ),
        "bicubic": (
            "upsample_bicubic2d_backward",
            [
                ((2, 3, 7, 6), (14, 12)),
                ((2, 3, 7, 6), (3, 9)),
                ((1, 1, 1, 1), (3, 3)),
                ((2, 3, 4, 4), (4, 4)),
                ((2, 2, 3, 2), (40, 1)),
            ],
        ),
        "trilinear": (
            "upsample_trilinear3d_backward",
            [((2, 3, 4, 5, 6), (8, 3, 9)), ((1, 1, 1, 2, 1), (2, 2, 2))],
        ),
    }
    for (mode, (kernel, sizes)), align in product(rows.items(), (False, True)):
        for shape, size in sizes:
            case(
                f'{_F}interpolate(mode="{mode}")',
                kernel,
                lambda x, size=size, mode=mode, align=align: F.interpolate(
                    x, size, mode=mode, align_corners=align
                ),
                shape,
            )
    for mode, (kernel, sizes) in rows.items():
        for scale in (2.0, 1.3, 0.6):
            case(
                f'{_F}interpolate(mode="{mode}")',
                kernel,
                lambda x, scale=scale, mode=mode: F.interpolate(x, scale_factor=scale, mode=mode),
                sizes[0][0],
            )
    for mode, align, size in product(
        ("bilinear", "bicubic"), (False, True), ((14, 12), (3, 9), (2, 2), (1, 20))
    ):
        case(
            _F + "interpolate(antialias=True)",
            f"_upsample_{mode}2d_aa_backward",
            lambda x, size=size, mode=mode, align=align: F.interpolate(
                x, size, mode=mode, align_corners=align, antialias=True
            ),
            (2, 3, 7, 6),
        )


def _padding() -> None:
    for mode, name, rows in [
        ("reflect", 'pad(mode="reflect")', "reflection"),
        ("replicate", 'pad(mode="replicate")', "replication"),
    ]:
        for shape, widths in [
            ((2, 3, 7), (2, 3)),
            ((3, 7), (6, 6)),
            ((2, 3, 7), (0, 3)),
            ((2, 3, 7), (-2, 3)),
            ((2, 3, 7), (3, -2)),
            ((2, 3, 7), (-1, -2)),
            ((2, 3, 5, 6, 4), (1, 2, 3, 0, 2, 1)),
            ((2, 3, 5, 6, 4), (1, -2, 3, 0, -2, 1)),
            ((3, 5, 6, 4), (1, 2, 3, 0, 2, 1)),
        ]:
            axes = len(widths) // 2
            case(
                _F + name,
                f"{rows}_pad{axes}d_backward",
                lambda x, widths=widths, mode=mode: F.pad(x, widths, mode=mode),
                shape,
            )
    for shape, widths in [
        ((2, 3, 5, 6), (2, 1, 3, 0)),
        ((3, 5, 6), (2, -1, 3, 0)),
        ((2, 3, 5, 6), (9, 1, 3, 8)),
    ]:
        case(
            _F + 'pad(mode="replicate")',
            "replication_pad2d_backward",
            lambda x, widths=widths: F.pad(x, widths, mode="replicate"),
            shape,
        )
    case(
        "torch.nn.ReflectionPad2d",
        "reflection_pad2d_backward",
        lambda x: F.pad(x, (2, 1, 3, 0), mode="reflect"),
        (2, 3, 5, 6),
    )


def _sampling() -> None:
    planar = ((2, 3, 5, 6), (2, 4, 3, 2))
    for mode, padding, align in product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    ):

        def call(
            x: torch.Tensor,
            grid: torch.Tensor,
            mode: str = mode,
            padding: str = padding,
            align: bool = align,
        ) -> torch.Tensor:
            return F.grid_sample(x, grid * 1.7, mode, padding, align)

        for shapes in [planar, ((1, 2, 1, 1), (1, 2, 2, 2)), ((0, 2, 3, 3), (0, 2, 2, 2))]:
            case(_F + "grid_sample", "grid_sampler_2d_backward", call, *shapes)
        if mode != "bicubic":
            case(
                _F + "grid_sample",
                "grid_sampler_3d_backward",
                call,
                (2, 3, 4, 5, 6),
                (2, 3, 2, 4, 3),
            )


def _losses() -> None:
    for flat, zero in product((False, True), (False, True)):

        def ctc(x: torch.Tensor, flat: bool = flat, zero: bool = zero) -> torch.Tensor:
            targets = torch.tensor([[1, 1, 2, 4], [3, 2, 2, 0], [2, 1, 0, 0], [0, 0, 0, 0]])
            lengths = torch.tensor([4, 3, 1, 0])
            if flat:
                targets = torch.cat([row[:n] for row, n in zip(targets, lengths, strict=True)])
            times = torch.tensor([12, 9, 10, 7])
            return F.ctc_loss(
                x.log_softmax(-1), targets, times, lengths, reduction="none", zero_infinity=zero
            )

        case(_F + "ctc_loss", "_ctc_loss_backward.Tensor", ctc, (12, 4, 5))

        def impossible(x: torch.Tensor, zero: bool = zero) -> torch.Tensor:
            targets = torch.tensor([[1, 1, 2], [3, 2, 1]])
            return F.ctc_loss(
                x.log_softmax(-1),
                targets,
                (3, 4),
                (3, 3),
                blank=4,
                zero_infinity=zero,
                reduction="sum",
            )

        case(_F + "ctc_loss", "_ctc_loss_backward", impossible, (4, 2, 5))
    for reduction, weighted in product(("none", "mean", "sum"), (False, True)):

        def nll(
            x: torch.Tensor, reduction: str = reduction, weighted: bool = weighted
        ) -> torch.Tensor:
            target = torch.arange(2 * 4 * 3).view(2, 4, 3) % 5
            weight = torch.linspace(0.5, 1.5, 5, dtype=x.dtype) if weighted else None
            return F.nll_loss(x.log_softmax(1), target, weight, reduction=reduction, ignore_index=2)

        case(_F + "nll_loss", "nll_loss2d_forward", nll, (2, 5, 4, 3))


def _scattering() -> None:
    index = torch.tensor([[4, 0, 4], [0, 4, 1], [4, 0, 0], [1, 1, 1]])
    case(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two",
        lambda x, y: x.scatter_reduce(0, index, y, "prod"),
        (6, 3),
        (4, 3),
    )
    case(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two",
        lambda x, y: x.scatter_reduce(1, index, y, "prod", include_self=False),
        (5, 6),
        (4, 3),
    )
    case(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two",  # torch's backward fails
        lambda x, y: x.detach().scatter_reduce(0, index, y.detach(), "prod"),
        (6, 3),
        (5, 4),
    )
    case(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two",
        lambda x, y: x.scatter_reduce(0, index[0], y, "sum"),
        (6,),
        (3,),
    )
    case(
        'torch.Tensor.scatter_(reduce="multiply")',
        "scatter_.reduce",
        lambda x, y: x.detach().clone().scatter_(0, index, y.detach(), reduce="multiply"),
        (6, 3),
        (5, 4),
    )
    case(
        'torch.Tensor.scatter_(reduce="multiply")',
        "scatter.reduce",
        lambda x, y: x.detach().scatter(0, index, y.detach(), reduce="add"),
        (6, 3),
        (5, 4),
    )
    rows = torch.tensor([4, 0, 4, 1, 0])  # as the edges of a graph have it
    for shape, dim, spread in [
        ((6, 3), 0, rows[:, None].expand(5, 3)),
        ((2, 6, 3), 1, rows[None, :, None].expand(2, 5, 3)),
        ((6, 3), 0, rows[:, None].expand(5, 2)),
    ]:
        for include in (False, True):
            case(
                'torch.Tensor.scatter_reduce(reduce="prod")',
                "scatter_reduce.two",
                lambda x, y, dim=dim, spread=spread, include=include: x.scatter_reduce(
                    dim, spread, y, "prod", include_self=include
                ),
                shape,
                tuple(spread.shape),
            )
    for reduce, include in product(("prod", "mean", "amax", "amin"), (False, True)):
        case(
            "torch.Tensor.index_reduce_",
            "index_reduce_",
            lambda x, y, reduce=reduce, include=include: (
                x.detach()
                .clone()
                .index_reduce_(0, torch.tensor([0]), y.detach(), reduce, include_self=include)
            ),
            (),
            (),
        )
        case(
            "torch.Tensor.index_reduce_",
            "index_reduce_",
            lambda x, y, reduce=reduce, include=include: x.clone().index_reduce_(
                1, torch.tensor([3, 0, 3, 3, 1]), y, reduce, include_self=include
            ),
            (2, 6, 3),
            (2, 5, 3),
        )
    for accumulate in (False, True):
        case(
            "torch.Tensor.put_",
            "put_",
            lambda x, y, accumulate=accumulate: x.clone().put_(
                torch.tensor([[3, -1, 3], [0, 3, 5]]), y, accumulate=accumulate
            ),
            (4, 3),
            (2, 3),
        )
    case("torch.take", "put_", lambda x: x.take(torch.tensor([3, 3, 0, 5])), (4, 3))
    for offsets in ([0, 2, 2, 5], [0, 3]):
        case(
            _F + 'embedding_bag(mode="max")',
            "_embedding_bag_dense_backward",
            lambda x, offsets=offsets: F.embedding_bag(
                torch.tensor([4, 0, 4, 4, 2, 0]), x, torch.tensor(offsets), mode="max"
            ),
            (6, 3),
        )
    case(
        _F + 'embedding_bag(mode="max")',
        "_embedding_bag_dense_backward",
        lambda x: F.embedding_bag(
            torch.tensor([4, 0, 4, 4, 2, 0]), x, torch.tensor([0, 2]), mode="mean"
        ),
        (6, 3),
    )


def _holed(x: torch.Tensor) -> torch.Tensor:
    """Some rows with a few nan, one with a single number."""
    nan = torch.full_like(x, float("nan"))
    hole = (torch.arange(x.numel()).view(x.shape) * 7 % 11) < torch.arange(len(x))[:, None]
    hole[-1, 1:] = True
    return torch.where(hole, nan, x)


def _selection() -> None:
    numbers = torch.tensor([3, 0, 3, 7, 1])
    case("torch.bincount", "bincount", lambda w: torch.bincount(numbers, w.detach(), 3), (5,))
    case("torch.bincount", "bincount", lambda w: torch.bincount(numbers[:0], w.detach(), 3), (0,))
    case("torch.bincount", "bincount", lambda _: torch.bincount(numbers), (5,))
    case("torch.histc", "histc", lambda x: torch.histc(x.detach(), 7, -1, 2), (200,))
    case("torch.histc", "histc", lambda x: torch.histc(x.detach() * 0 + 2, 4), (9, 3))
    for dim, keep in product((0, 1, -1), (False, True)):
        case(
            "torch.median",
            "median.dim",
            lambda x, dim=dim, keep=keep: x.median(dim, keep),
            (4, 5, 3),
        )
        case(
            "torch.median",
            "nanmedian.dim",
            lambda x, dim=dim, keep=keep: x.nanmedian(dim, keep),
            (4, 5, 3),
        )
        case(
            "torch.kthvalue",
            "kthvalue",
            lambda x, dim=dim, keep=keep: x.kthvalue(2, dim, keep),
            (4, 5, 3),
        )
    case("torch.median", "median.dim", lambda x: x.median(0), ())
    case("torch.median", "nanmedian.dim", lambda x: _holed(x).nanmedian(1), (6, 9))
    case("torch.median", "median.dim", lambda x: _holed(x).median(1), (6, 9))
    for k, largest in product((0, 1, 3), (False, True)):
        case("torch.topk", "topk", lambda x, k=k, largest=largest: x.topk(k, 1, largest), (4, 5, 3))
    for shape in [(9,), (1, 9, 1), (3, 4), (1,), ()]:
        dim = 1 if len(shape) > 1 else 0
        case("torch.cumprod", "cumprod", lambda x, dim=dim: x.cumprod(dim), shape)
        case("torch.logcumsumexp", "_logcumsumexp", lambda x, dim=dim: x.logcumsumexp(dim), shape)
        case("torch.cumsum", "cumsum", lambda x, dim=dim: x.cumsum(dim), shape)


def _missing() -> str:
    """Why torchvision's operators are not there; "" where they are."""
    try:
        import torchvision  # noqa: F401
    except (ImportError, RuntimeError) as error:  # the latter of one built for another torch
        return f"torchvision cannot be imported: {error}"
    has = hasattr(torch.ops.torchvision, "roi_align")
    return "" if has else "torchvision has no operators for this torch"


NO_VISION = _missing()


def _boxes(size: float) -> torch.Tensor:
    """Regions that overlap, reach beyond the image, are small, or have no area."""
    return torch.tensor(
        [
            [0.0, 0.1, 0.2, 0.61, 0.83],
            [1.0, -0.12, 0.3, 0.55, 1.2],
            [0.0, 0.33, 0.4, 0.41, 0.47],
            [1.0, 0.7, 0.1, 0.7, 0.1],
            [1.0, 0.02, 0.05, 0.97, 0.91],
        ],
        dtype=torch.float64,
    ) * torch.tensor([1.0, size, size, size, size], dtype=torch.float64)


def _regions() -> None:
    ops, name = torch.ops.torchvision, "torchvision.ops."
    for (bins, sampling), aligned, scale, count in product(
        (((3, 4), 2), ((2, 2), -1), ((1, 1), 3)), (False, True), (1.0, 0.25), (5, 0)
    ):
        boxes = _boxes(9 / scale)[:count]

        def align(
            x: torch.Tensor,
            boxes: torch.Tensor = boxes,
            rest: tuple[Any, ...] = (scale, *bins, sampling, aligned),
        ) -> torch.Tensor:
            result: torch.Tensor = ops.roi_align(x, boxes.to(x), *rest)
            return result

        kernel = "torchvision::_roi_align_backward"
        case(name + "roi_align", kernel, align, (2, 3, 9, 11))
        if aligned:
            continue
        for function in ("roi_pool", "ps_roi_pool", "ps_roi_align"):

            def pool(
                x: torch.Tensor,
                function: str = function,
                boxes: torch.Tensor = boxes,
                rest: tuple[Any, ...] = (scale, *bins),
                sampling: int = sampling,
            ) -> torch.Tensor:
                more = (*rest, sampling) if function == "ps_roi_align" else rest
                result: torch.Tensor = getattr(ops, function)(x, boxes.to(x), *more)[0]
                return result

            channels = 3 if function == "roi_pool" else 3 * bins[0] * bins[1]
            kernel = f"torchvision::_{function}_backward"
            case(name + function, kernel, pool, (2, channels, 9, 11))
    for (kernel_size, steps, groups, offset_groups), masked in product(
        (
            ((3, 3), (1, 1, 1, 1, 1, 1), 1, 1),
            ((2, 3), (2, 1, 1, 0, 1, 2), 2, 2),
            ((1, 2), (1, 2, 1, 2, 2, 1), 1, 4),
        ),
        (False, True),
    ):
        _deformed(kernel_size, steps, groups, offset_groups, masked=masked)


def _deformed(
    kernel: tuple[int, int],
    steps: tuple[int, ...],
    groups: int,
    offset_groups: int,
    *,
    masked: bool,
) -> None:
    strides, pads, dilations = steps[:2], steps[2:4], steps[4:]
    tall, wide = (
        (size + 2 * pad - dilation * (taps - 1) - 1) // stride + 1
        for size, pad, dilation, taps, stride in zip(
            (7, 8), pads, dilations, kernel, strides, strict=True
        )
    )
    count = offset_groups * kernel[0] * kernel[1]

    def call(
        x: torch.Tensor,
        weight: torch.Tensor,
        offset: torch.Tensor,
        bias: torch.Tensor,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        given = mask if mask is not None else x.new_zeros(len(x), 1)
        rest = (*steps, groups, offset_groups, masked)
        result: torch.Tensor = torch.ops.torchvision.deform_conv2d(
            x, weight, 2 * offset, given, bias, *rest
        )
        return result

    shapes = [(2, 4, 7, 8), (6, 4 // groups, *kernel), (2, 2 * count, tall, wide), (6,)]
    if masked:
        shapes.append((2, count, tall, wide))
    name = "torchvision::_deform_conv2d_backward"
    case("torchvision.ops.deform_conv2d", name, call, *shapes)


def _without_scatter() -> str:
    """Why torch_scatter's operators are not there; "" where they are."""
    try:
        import torch_scatter  # noqa: F401
    except (ImportError, OSError, RuntimeError) as error:  # the others of a foreign build
        return f"torch_scatter cannot be imported: {error}"
    return ""


NO_SCATTER = _without_scatter()


def _segments() -> None:
    ops, name = torch.ops.torch_scatter, "torch_scatter."
    flat = torch.tensor([0, 0, 1, 1, 1, 4])
    nested = torch.tensor([[0, 0, 1, 3], [1, 1, 1, 2]])
    for index, shape in [
        (flat, (6,)),
        (flat, (6, 3)),
        (flat, (6, 2, 3)),
        (nested, (2, 4)),
        (nested, (2, 4, 3)),
        (nested[:1].expand(2, 4), (2, 4, 3)),
    ]:  # none is empty: torch_scatter's own backward divides by its size
        for kind, size in product(("sum", "mean"), (None, 6)):
            case(
                name + "segment_coo",
                f"torch_scatter::segment_{kind}_coo",
                lambda x, index=index, kind=kind, size=size: getattr(ops, f"segment_{kind}_coo")(
                    x, index, None, size
                ),
                shape,
            )
            if size is not None and index.dim() == 1:  # else torch_scatter reads another row's
                into = (*shape[: index.dim() - 1], size, *shape[index.dim() :])
                case(
                    name + "segment_coo",
                    f"torch_scatter::segment_{kind}_coo",
                    lambda x, out, index=index, kind=kind: getattr(ops, f"segment_{kind}_coo")(
                        x, index, out.detach().clone(), None
                    ),
                    shape,
                    into,
                )
        case(
            name + "gather_coo",
            "torch_scatter::gather_coo",
            lambda x, index=index: ops.gather_coo(x, index, None),
            (*shape[: index.dim() - 1], 5, *shape[index.dim() :]),
        )
    for places, shape, dim in [
        (flat.flip(0), (6, 3), 0),
        (flat.flip(0), (2, 6, 3), 1),
        (nested.flip(1), (2, 4), -1),
        (nested, (2, 4, 3), 1),
        (flat[:0], (0, 3), 0),
    ]:
        for size in (None, 7):
            case(
                name + "scatter_mul",
                "torch_scatter::scatter_mul",
                lambda x, places=places, dim=dim, size=size: ops.scatter_mul(
                    x, places, dim, None, size
                ),
                shape,
            )


for make in (_pooling, _interpolation, _padding, _sampling, _losses, _scattering, _selection):
    make()
if not NO_VISION:
    _regions()
if not NO_SCATTER:
    _segments()

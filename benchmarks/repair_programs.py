"""Calls of every replaced operator, with the shapes that real models give them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import torch
import torch.nn.functional as F  # noqa: N812

if TYPE_CHECKING:
    from collections.abc import Callable


class Program(NamedTuple):
    """A call.

    operation  the name of the row in ``detlint.operations``
    kernel     the overload that is replaced
    title      which model has such shapes
    call       what to run; a backward follows where its result has a gradient
    arguments  of the call, which is measured itself, then: what has no kernel of its own cannot be
               caught
    """

    operation: str
    kernel: str
    title: str
    call: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]] | None = None


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape).requires_grad_()


def numbers(most: int, *shape: int) -> torch.Tensor:
    return torch.randint(most, shape)


_F = "torch.nn.functional."


def _interpolated(mode: str, kernel: str, title: str, shape: tuple[int, ...], **to: Any) -> Program:
    name = "antialias=True" if to.get("antialias") else f'mode="{mode}"'
    return Program(
        f"{_F}interpolate({name})",
        kernel,
        title,
        lambda: F.interpolate(drawn(*shape), mode=mode, **to),
    )


def _padded(mode: str, kernel: str, title: str, shape: tuple[int, ...], *widths: int) -> Program:
    plane = kernel == "reflection_pad2d_backward"
    name = "torch.nn.ReflectionPad2d" if plane else f'{_F}pad(mode="{mode}")'
    return Program(name, kernel, title, lambda: F.pad(drawn(*shape), widths, mode=mode))


def _sampled(title: str, shape: tuple[int, ...], *points: int, **options: Any) -> Program:
    axes = len(shape) - 2

    def call() -> torch.Tensor:
        grid = (torch.rand(shape[0], *points, axes) * 2 - 1).requires_grad_()
        return F.grid_sample(drawn(*shape), grid, align_corners=False, **options)

    return Program(_F + "grid_sample", f"grid_sampler_{axes}d_backward", title, call)


POOLING = (
    Program(
        _F + "adaptive_avg_pool2d",
        "_adaptive_avg_pool2d_backward",
        "AlexNet, 13 to 6",
        lambda: F.adaptive_avg_pool2d(drawn(32, 256, 13, 13), 6),
    ),
    Program(
        _F + "adaptive_avg_pool2d",
        "_adaptive_avg_pool2d_backward",
        "PSPNet, 60 to 6",
        lambda: F.adaptive_avg_pool2d(drawn(2, 512, 60, 60), 6),
    ),
    Program(
        _F + "adaptive_avg_pool3d",
        "_adaptive_avg_pool3d_backward",
        "video, 8 x 14 x 14 to 2 x 7 x 7",
        lambda: F.adaptive_avg_pool3d(drawn(2, 256, 8, 14, 14), (2, 7, 7)),
    ),
    Program(
        _F + "adaptive_max_pool2d",
        "adaptive_max_pool2d_backward",
        "RoI heads, 32 to 7",
        lambda: F.adaptive_max_pool2d(drawn(8, 256, 32, 32), 7),
    ),
    Program(
        _F + "adaptive_max_pool3d",
        "adaptive_max_pool3d_backward",
        "video, 16 x 28 x 28 to 5 x 7 x 7",
        lambda: F.adaptive_max_pool3d(drawn(2, 64, 16, 28, 28), (5, 7, 7)),
    ),
    Program(
        _F + "avg_pool3d",
        "avg_pool3d_backward",
        "3D U-Net",
        lambda: F.avg_pool3d(drawn(2, 64, 16, 48, 48), 2),
    ),
    Program(
        _F + "avg_pool3d",
        "avg_pool3d_backward",
        "I3D, window 3, padding 1",
        lambda: F.avg_pool3d(drawn(2, 64, 8, 28, 28), 3, stride=1, padding=1),
    ),
    Program(
        _F + "max_pool3d",
        "max_pool3d_with_indices_backward",
        "C3D",
        lambda: torch.ops.aten.max_pool3d_with_indices(drawn(2, 64, 16, 56, 56), [2] * 3),
    ),
    Program(
        _F + "fractional_max_pool2d",
        "fractional_max_pool2d_backward",
        "fractional CNN, 64 to 45",
        lambda: F.fractional_max_pool2d(drawn(8, 64, 64, 64), 2, 45),
    ),
    Program(
        _F + "fractional_max_pool3d",
        "fractional_max_pool3d_backward",
        "fractional CNN, 24 to 17",
        lambda: F.fractional_max_pool3d(drawn(2, 32, 24, 24, 24), 2, 17),
    ),
    Program(
        _F + "max_unpool2d",
        "max_unpool2d",
        "SegNet, 112 to 224",
        lambda: F.max_unpool2d(
            *F.max_pool2d(torch.randn(4, 64, 224, 224), 2, return_indices=True), 2
        ),
    ),
    Program(
        _F + "max_unpool3d",
        "max_unpool3d",
        "3D SegNet, 24 to 48",
        lambda: F.max_unpool3d(
            *F.max_pool3d(torch.randn(2, 32, 48, 48, 48), 2, return_indices=True), 2
        ),
    ),
)

INTERPOLATION = (
    _interpolated("linear", "upsample_linear1d_backward", "audio", (8, 256, 1000), scale_factor=2),
    _interpolated(
        "bilinear",
        "upsample_bilinear2d_backward",
        "DeepLab's classes, 65 to 513",
        (4, 21, 65, 65),
        size=513,
    ),
    _interpolated(
        "bilinear",
        "upsample_bilinear2d_backward",
        "U-Net, 64 to 128",
        (2, 256, 64, 64),
        scale_factor=2,
    ),
    _interpolated(
        "bicubic",
        "upsample_bicubic2d_backward",
        "ViT's positions, 14 to 24",
        (1, 768, 14, 14),
        size=24,
    ),
    _interpolated(
        "bicubic",
        "upsample_bicubic2d_backward",
        "super-resolution, 64 to 256",
        (8, 3, 64, 64),
        scale_factor=4,
    ),
    _interpolated(
        "bilinear",
        "_upsample_bilinear2d_aa_backward",
        "images, 512 to 224",
        (8, 3, 512, 512),
        size=224,
        antialias=True,
    ),
    _interpolated(
        "bicubic",
        "_upsample_bicubic2d_aa_backward",
        "images, 512 to 224",
        (8, 3, 512, 512),
        size=224,
        antialias=True,
    ),
    _interpolated(
        "trilinear",
        "upsample_trilinear3d_backward",
        "3D U-Net, 24 to 48",
        (1, 64, 24, 24, 24),
        scale_factor=2,
    ),
)

PADDING = (
    _padded("reflect", "reflection_pad1d_backward", "audio", (8, 64, 16000), 200, 200),
    _padded("reflect", "reflection_pad2d_backward", "CycleGAN", (2, 64, 256, 256), 3, 3, 3, 3),
    _padded("reflect", "reflection_pad3d_backward", "volumes", (1, 32, 48, 48, 48), *[2] * 6),
    _padded("replicate", "replication_pad1d_backward", "audio", (8, 64, 16000), 200, 200),
    _padded("replicate", "replication_pad2d_backward", "RAFT", (2, 64, 240, 320), 4, 4, 4, 4),
    _padded("replicate", "replication_pad3d_backward", "volumes", (1, 32, 48, 48, 48), *[2] * 6),
)

SAMPLING = (
    _sampled("RAFT's lookup", (1500, 1, 46, 62), 9, 9),
    _sampled("warped features", (2, 64, 96, 128), 96, 128, padding_mode="border"),
    _sampled("spatial transformer", (64, 3, 64, 64), 64, 64),
    _sampled("bicubic warp", (2, 16, 96, 96), 96, 96, mode="bicubic"),
    _sampled("registered volumes", (1, 16, 40, 40, 40), 40, 40, 40),
)


def _ctc() -> torch.Tensor:
    targets, lengths = numbers(79, 16, 40) + 1, torch.full((16,), 40)
    return F.ctc_loss(drawn(300, 16, 80).log_softmax(-1), targets, torch.full((16,), 300), lengths)


LOSSES = (
    Program(_F + "ctc_loss", "_ctc_loss_backward.Tensor", "speech, 300 steps of 80", _ctc),
    Program(
        _F + "nll_loss",
        "nll_loss2d_forward",
        "DeepLab, 21 classes of 513 x 513",
        lambda: F.cross_entropy(drawn(2, 21, 513, 513), numbers(21, 2, 513, 513)),
    ),
)


def _edges() -> torch.Tensor:
    """Where 50,000 edges of a graph of 5,000 nodes lead."""
    return numbers(5000, 50_000)


def _spread() -> torch.Tensor:
    return _edges()[:, None].expand(-1, 64)


def _scatter(reduce: str) -> Program:
    return Program(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two",
        f"GNN, 50,000 edges, {reduce}",
        lambda: torch.ones(5000, 64).scatter_reduce(
            0, _spread(), torch.rand(50_000, 64) + 0.5, reduce
        ),
    )


def _reduced(reduce: str) -> Program:
    return Program(
        "torch.Tensor.index_reduce_",
        "index_reduce",
        f"GNN, 50,000 edges, {reduce}",
        lambda: torch.ops.aten.index_reduce(
            torch.ones(5000, 64), 0, _edges(), torch.rand(50_000, 64) + 0.5, reduce
        ),
    )


def _largest_words() -> torch.Tensor:
    """The backward of a bag, which torch calls where no mode sees it."""
    words, weight = numbers(20_000, 64 * 200), torch.randn(20_000, 64)
    bags = torch.arange(64) * 200
    result, *told = torch.ops.aten._embedding_bag(weight, words, bags, mode=2)  # noqa: SLF001
    backward = torch.ops.aten._embedding_bag_dense_backward  # noqa: SLF001
    found: torch.Tensor = backward(torch.rand_like(result), words, *told, 20_000, False, 2, None)
    return found


SCATTERING = (
    Program(
        _F + 'embedding_bag(mode="max")',
        "_embedding_bag_dense_backward",
        "text, 64 bags of 200 words",
        _largest_words,
    ),
    Program(
        "torch.Tensor.put_",
        "put_",
        "replay buffer, 100,000 of 1,000,000",
        lambda: torch.zeros(1_000_000).put_(numbers(1_000_000, 100_000), torch.rand(100_000)),
    ),
    Program(
        "torch.take",
        "put_",
        "backward, 100,000 of 1,000,000",
        lambda: torch.zeros(1_000_000).put_(
            numbers(1_000_000, 100_000), torch.rand(100_000), accumulate=True
        ),
    ),
    Program(
        'torch.Tensor.scatter_(reduce="multiply")',
        "scatter.reduce",
        "GNN, 50,000 edges",
        lambda: torch.ops.aten.scatter.reduce(
            torch.ones(5000, 64), 0, _spread(), torch.rand(50_000, 64) + 0.5, reduce="multiply"
        ),
    ),
    _scatter("prod"),
    _reduced("prod"),
    _reduced("mean"),
    _reduced("amax"),
)

SELECTION = (
    Program(
        "torch.bincount",
        "bincount",
        "MoE routing, 1,000,000 to 1,000",
        lambda: torch.bincount(numbers(1000, 1_000_000), torch.rand(1_000_000)),
    ),
    Program("torch.histc", "histc", "1,000,000", lambda: torch.histc(torch.randn(1_000_000))),
    Program("torch.median", "median.dim", "4,096 x 256", lambda: torch.randn(4096, 256).median(1)),
    Program(
        "torch.median", "nanmedian.dim", "4,096 x 256", lambda: torch.randn(4096, 256).nanmedian(1)
    ),
    Program(
        "torch.kthvalue", "kthvalue", "4,096 x 256", lambda: torch.randn(4096, 256).kthvalue(9)
    ),
    Program(
        "torch.topk", "topk", "sampling, 50 of 32,000", lambda: torch.randn(32, 32_000).topk(50)
    ),
    Program("torch.topk", "topk", "MoE routing, 2 of 64", lambda: torch.randn(8192, 64).topk(2)),
    Program(
        "torch.topk",
        "topk",
        "proposals, 1,000 of 20,000",
        lambda: torch.randn(4, 20_000).topk(1000),
    ),
    Program("torch.cumprod", "cumprod", "1,000,000", lambda: torch.rand(1_000_000).cumprod(0)),
    Program(
        "torch.logcumsumexp",
        "_logcumsumexp",
        "1,000,000",
        lambda: torch.ops.aten._logcumsumexp(torch.randn(1_000_000), 0),  # noqa: SLF001
    ),
    Program("torch.cumsum", "cumsum", "1,000,000", lambda: torch.randn(1_000_000).cumsum(0)),
)


def _adjacency() -> torch.Tensor:
    places = torch.stack([_edges(), _edges()])
    return torch.sparse_coo_tensor(places, torch.rand(50_000), (5000, 5000)).coalesce()


SPARSE = (
    Program(
        "torch.sparse.mm",
        "addmm",
        "GNN, 50,000 edges, coo",
        lambda: torch.addmm(torch.zeros(5000, 64), _adjacency(), torch.randn(5000, 64)),
    ),
    Program(
        "torch.sparse.mm",
        "addmm",
        "GNN, 50,000 edges, csr",
        lambda: torch.addmm(
            torch.zeros(5000, 64), _adjacency().to_sparse_csr(), torch.randn(5000, 64)
        ),
    ),
)


def _regions(count: int, size: float) -> torch.Tensor:
    """Boxes of two images, a tenth to a half as wide as these."""
    corners, widths = torch.rand(count, 2) * size / 2, (0.1 + torch.rand(count, 2) * 0.4) * size
    return torch.cat([numbers(2, count, 1).float(), corners, corners + widths], 1)


def _pooled(
    name: str, title: str, shape: tuple[int, ...], bins: int, *rest: object, scale: float
) -> Program:
    def call() -> Any:  # noqa: ANN401
        operator = getattr(torch.ops.torchvision, name)
        boxes = _regions(512, shape[-1] / scale)
        found = operator(drawn(*shape), boxes, scale, bins, bins, *rest)
        return found[0] if isinstance(found, tuple) else found

    return Program(f"torchvision.ops.{name}", f"torchvision::_{name}_backward", title, call)


def _deformed() -> torch.Tensor:
    maps, offsets, mask = drawn(2, 64, 64, 64), drawn(2, 18, 64, 64), drawn(2, 9, 64, 64)
    weight, bias = drawn(64, 64, 3, 3), drawn(64)
    steps = (1, 1, 1, 1, 1, 1, 1, 1, True)
    found: torch.Tensor = torch.ops.torchvision.deform_conv2d(
        maps, weight, offsets, mask, bias, *steps
    )
    return found


VISION = (
    _pooled("roi_align", "Mask R-CNN, 7 x 7", (2, 256, 64, 64), 7, 2, False, scale=0.25),
    _pooled("roi_pool", "Fast R-CNN, 7 x 7", (2, 256, 64, 64), 7, scale=0.0625),
    _pooled("ps_roi_align", "R-FCN, 7 x 7", (2, 490, 64, 64), 7, 2, scale=0.0625),
    _pooled("ps_roi_pool", "R-FCN, 7 x 7", (2, 490, 64, 64), 7, scale=0.0625),
    Program(
        "torchvision.ops.deform_conv2d",
        "torchvision::_deform_conv2d_backward",
        "DCN v2, 64 x 64",
        _deformed,
    ),
)


def _sorted_edges() -> torch.Tensor:
    return _edges().sort()[0]


def _segmented(kind: str) -> Program:
    return Program(
        "torch_scatter.segment_coo",
        f"torch_scatter::segment_{kind}_coo",
        f"GNN, 50,000 edges, {kind}",
        lambda src, index: getattr(torch.ops.torch_scatter, f"segment_{kind}_coo")(
            src, index, None, 5000
        ),
        lambda: (torch.randn(50_000, 64), _sorted_edges()),
    )


@torch.enable_grad()  # type: ignore[untyped-decorator]
def _gathered(nodes: torch.Tensor, index: torch.Tensor, grad: torch.Tensor) -> torch.Tensor:
    nodes = nodes.detach().requires_grad_()
    messages = torch.ops.torch_scatter.gather_coo(nodes, index, None)
    return torch.autograd.grad(messages, nodes, grad)[0]


SEGMENTS = (
    _segmented("sum"),
    _segmented("mean"),
    Program(
        "torch_scatter.gather_coo",
        "torch_scatter::gather_coo",
        "GNN, 50,000 edges, and its backward",
        _gathered,
        lambda: (torch.randn(5000, 64), _sorted_edges(), torch.randn(50_000, 64)),
    ),
    Program(
        "torch_scatter.scatter_mul",
        "torch_scatter::scatter_mul",
        "GNN, 50,000 edges",
        lambda src, index: torch.ops.torch_scatter.scatter_mul(src, index, 0, None, 5000),
        lambda: (torch.rand(50_000, 64) + 0.5, _edges()),
    ),
)

PROGRAMS = (
    *POOLING,
    *INTERPOLATION,
    *PADDING,
    *SAMPLING,
    *LOSSES,
    *SCATTERING,
    *SELECTION,
    *SPARSE,
    *VISION,
    *SEGMENTS,
)

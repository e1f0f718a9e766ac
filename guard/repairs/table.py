"""Which operators of the table are replaced, by what, and how: data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from guard.errors import SettingsError
from guard.refusals.allowance import allowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.settings import Settings


class Repair(NamedTuple):
    """A deterministic replacement of an operator's kernels.

    operation  the name of the row in ``detlint.operations``, or ``detlint.extension_operations``
    kernels    an operator's overload, as torch writes it, and the function that takes its place:
               module and name within ``guard.repairs``. Variants with ``out=`` and in place come
               with it. Without a namespace it is aten's; with one it is replaced once its package
               is there.
    how        in words
    keys       dispatch keys; "CUDA" is ROCm's, too. What is registered for autograd's, too, brings
               its backward.
    modules    of Python, whose autograd functions are asked for their deterministic backward
    until      torch release, exclusive, from which torch's own kernel is deterministic
    """

    operation: str
    kernels: tuple[tuple[str, str], ...]
    how: str
    keys: tuple[str, ...] = ("CUDA",)
    until: str = ""
    modules: tuple[str, ...] = ()


_TRANSPOSED = "the transposed map along each axis, as gathers in a fixed order"
_ADDED = "gradients are added at the places of the maxima, sorted by place"
_SORTED = "a stable sort"
_ROWS = "a scan of rows of 1,024, and of what each comes to"
_GATHERED = "for each pixel the gradients of the bins that have read it, sorted"
_VISION, _SCATTER = "torchvision.ops.", "torch_scatter."
_DIFFERENTIABLE = ("CUDA", "AutogradCUDA")
_POOL, _INTERPOLATE = "torch.nn.functional.", "torch.nn.functional.interpolate"

REPAIRS: tuple[Repair, ...] = (
    Repair(
        _POOL + "adaptive_avg_pool2d",
        (("_adaptive_avg_pool2d_backward", "pooling:adaptive_avg_pool2d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _POOL + "adaptive_avg_pool3d",
        (("_adaptive_avg_pool3d_backward", "pooling:adaptive_avg_pool3d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _POOL + "adaptive_max_pool2d",
        (("adaptive_max_pool2d_backward", "pooling:adaptive_max_pool2d_backward"),),
        _ADDED,
    ),
    Repair(
        _POOL + "adaptive_max_pool3d",
        (("adaptive_max_pool3d_backward", "pooling:adaptive_max_pool3d_backward"),),
        _ADDED,
    ),
    Repair(
        _POOL + "avg_pool3d",
        (("avg_pool3d_backward", "pooling:avg_pool3d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _POOL + "fractional_max_pool2d",
        (("fractional_max_pool2d_backward", "pooling:fractional_max_pool2d_backward"),),
        _ADDED,
    ),
    Repair(
        _POOL + "fractional_max_pool3d",
        (("fractional_max_pool3d_backward", "pooling:fractional_max_pool3d_backward"),),
        _ADDED,
    ),
    Repair(
        _POOL + "max_pool3d",
        (("max_pool3d_with_indices_backward", "pooling:max_pool3d_with_indices_backward"),),
        _ADDED,
    ),
    Repair(
        _POOL + "max_unpool2d",
        (("max_unpool2d", "pooling:max_unpool2d"),),
        "scatter, of equal indices the last",
        keys=("CUDA", "CPU"),
    ),
    Repair(
        _POOL + "max_unpool3d",
        (("max_unpool3d", "pooling:max_unpool3d"),),
        "scatter, of equal indices the last",
        keys=("CUDA", "CPU"),
    ),
    Repair(
        _INTERPOLATE + '(mode="linear")',
        (("upsample_linear1d_backward", "interpolation:linear1d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _INTERPOLATE + '(mode="bicubic")',
        (("upsample_bicubic2d_backward", "interpolation:bicubic2d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _INTERPOLATE + "(antialias=True)",
        (
            ("_upsample_bilinear2d_aa_backward", "interpolation:bilinear2d_aa_backward"),
            ("_upsample_bicubic2d_aa_backward", "interpolation:bicubic2d_aa_backward"),
        ),
        _TRANSPOSED,
    ),
    Repair(
        _INTERPOLATE + '(mode="bilinear")',
        (("upsample_bilinear2d_backward", "interpolation:bilinear2d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _INTERPOLATE + '(mode="trilinear")',
        (("upsample_trilinear3d_backward", "interpolation:trilinear3d_backward"),),
        _TRANSPOSED,
    ),
    Repair(
        _POOL + 'pad(mode="reflect")',
        (
            ("reflection_pad1d_backward", "padding:reflection_pad_backward"),
            ("reflection_pad3d_backward", "padding:reflection_pad_backward"),
        ),
        "borders are flipped and added to the inside",
    ),
    Repair(
        "torch.nn.ReflectionPad2d",
        (("reflection_pad2d_backward", "padding:reflection_pad_backward"),),
        "borders are flipped and added to the inside",
        until="2.7",
    ),
    Repair(
        _POOL + 'pad(mode="replicate")',
        tuple(
            (f"replication_pad{axes}d_backward", "padding:replication_pad_backward")
            for axes in (1, 2, 3)
        ),
        "borders are added up, and to the edge of the inside",
    ),
    Repair(
        _POOL + "grid_sample",
        (
            ("grid_sampler_2d_backward", "sampling:grid_sampler_backward"),
            ("grid_sampler_3d_backward", "sampling:grid_sampler_backward"),
            ("cudnn_grid_sampler_backward", "sampling:cudnn_grid_sampler_backward"),
        ),
        "rows of channels for each corner, added where they go, sorted by place",
    ),
    Repair(
        _POOL + "grid_sample by cuDNN",
        (("cudnn_grid_sampler_backward", "sampling:cudnn_grid_sampler_backward"),),
        "as grid_sample",
        until="2.13",
    ),
    Repair(
        _POOL + "ctc_loss",
        (
            ("_ctc_loss_backward", "losses:ctc_loss_backward"),
            ("_ctc_loss_backward.Tensor", "losses:ctc_loss_backward"),
        ),
        "the forward recursion of the reversed sequence, and sums by class, sorted",
    ),
    Repair(
        _POOL + "nll_loss",
        (("nll_loss2d_forward", "losses:nll_loss2d_forward"),),
        "gather, and a sum",
    ),
    Repair(
        _POOL + 'embedding_bag(mode="max")',
        (("_embedding_bag_dense_backward", "scattering:embedding_bag_dense_backward"),),
        _ADDED,
    ),
    Repair(
        "torch.Tensor.put_",
        (("put_", "scattering:put"),),
        "index_put, sorted by place; of equal indices the last",
        keys=("CUDA", "CPU"),
    ),
    Repair("torch.take", (("put_", "scattering:put"),), "its backward is a put_, as above"),
    Repair(
        'torch.Tensor.scatter_(reduce="multiply")',
        (("scatter.reduce", "scattering:scatter_product"),),
        "a stable sort by place, and the product of what goes to each",
    ),
    Repair(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        (("scatter_reduce.two", "scattering:scatter_reduce_product"),),
        "a stable sort by place, and the product of what goes to each",
    ),
    Repair(
        "torch.Tensor.index_reduce_",
        (("index_reduce", "scattering:index_reduce"),),
        "products and means sorted by place; maxima and minima by scatter_reduce",
    ),
    Repair("torch.bincount", (("bincount", "selection:bincount"),), "sums sorted by bin"),
    Repair("torch.histc", (("histc", "selection:histc"),), "bincount of the numbers of bins"),
    Repair(
        "torch.median",
        (("median.dim", "selection:median"), ("nanmedian.dim", "selection:nanmedian")),
        "kthvalue, and of equal values the first",
    ),
    Repair("torch.kthvalue", (("kthvalue", "selection:kthvalue"),), _SORTED, until="2.10"),
    Repair("torch.topk", (("topk", "selection:topk"),), "its values, and of equal ones the first"),
    Repair("torch.cumprod", (("cumprod", "selection:cumprod"),), _ROWS),
    Repair("torch.logcumsumexp", (("_logcumsumexp", "selection:logcumsumexp"),), _ROWS),
    Repair(
        "torch.cumsum",
        (("cumsum", "selection:cumsum"),),
        "partial sums of twice as many elements in each step",
        until="2.6",
    ),
    Repair(
        "torch.sparse.mm",
        (("addmm", "sparse:addmm"),),
        "gathered rows, added in the order of columns",
        keys=("SparseCUDA", "SparseCsrCUDA"),
    ),
    Repair(
        _VISION + "roi_align",
        (("torchvision::_roi_align_backward", "regions:roi_align_backward"),),
        _GATHERED,
    ),
    Repair(
        _VISION + "roi_pool",
        (("torchvision::_roi_pool_backward", "regions:roi_pool_backward"),),
        _ADDED,
    ),
    Repair(
        _VISION + "ps_roi_align",
        (("torchvision::_ps_roi_align_backward", "regions:ps_roi_align_backward"),),
        _GATHERED,
    ),
    Repair(
        _VISION + "ps_roi_pool",
        (("torchvision::_ps_roi_pool_backward", "regions:ps_roi_pool_backward"),),
        _GATHERED,
    ),
    Repair(
        _VISION + "deform_conv2d",
        (("torchvision::_deform_conv2d_backward", "deformation:deform_conv2d_backward"),),
        "products of matrices, and the backward of grid_sample",
    ),
    Repair(
        _SCATTER + "segment_coo",
        tuple(
            (f"torch_scatter::segment_{each}_coo", f"segments:segment_{each}_coo")
            for each in ("sum", "mean")
        ),
        "index_put, sorted by place",
        keys=_DIFFERENTIABLE,
    ),
    Repair(
        _SCATTER + "gather_coo",
        (("torch_scatter::gather_coo", "segments:gather_coo"),),
        "a gather, whose backward is index_put, sorted by place",
        keys=_DIFFERENTIABLE,
    ),
    Repair(
        _SCATTER + "scatter_mul",
        (("torch_scatter::scatter_mul", "segments:scatter_mul"),),
        "a stable sort by place, and the product of what goes to each",
        keys=_DIFFERENTIABLE,
    ),
    Repair(
        "flash_attn.flash_attn_func",
        (),
        "its own backward, with deterministic=True",
        keys=(),
        modules=(
            "flash_attn.flash_attn_interface",
            "flash_attn_interface",
            "flash_attn_3.flash_attn_interface",
            "flash_attn.cute.interface",
        ),
    ),
)

# What stays, and why.
LEFT: dict[str, str] = {
    "torch.Tensor.scatter_": "torch itself takes index_put with determinism on",
    "torch.cumsum under torch.compile": "the code is inductor's, past the dispatcher",
    "torch.nn.LSTM": "its dropout's state lies within cuDNN, between forward and backward",
    "torch.Tensor.resize_": "a quantized tensor cannot be given other memory in place",
}

HOW: dict[str, str] = {each.operation: each.how for each in REPAIRS}


def wanted(repair: bool | tuple[str, ...], allow: Iterable[str] = ()) -> tuple[Repair, ...]:
    """All, none, or those of some names; an operator that is allowed runs as it is.

    Raises SettingsError for a name that is none, with near ones, and for an operator that has
    no replacement.
    """
    if repair is False:
        return ()
    spared = {row.name for row in allowed(allow)}
    every = [each for each in REPAIRS if each.operation not in spared]
    if repair is True:
        return tuple(every)
    named = {row.name for row in allowed(repair, setting="repair")}
    for name in sorted(named & LEFT.keys()):
        if not named - LEFT.keys():
            raise SettingsError(f"repair: {name} has no replacement: {LEFT[name]}")
    return tuple(each for each in every if each.operation in named)


def check_names(settings: Settings) -> None:
    """Raise SettingsError for a name that is none, before anything is set."""
    wanted(settings.repair, settings.allow)

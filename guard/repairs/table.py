"""Which operators of the table are replaced, by what, and how: data alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from guard.errors import SettingsError
from guard.refusals.allowance import allowed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from guard.settings import Settings


class Repair(NamedTuple):
    """A deterministic replacement of an operator's kernels."""

    # the name of the row in ``detlint.operations``, or ``detlint.operations.extensions``
    operation: str
    # an operator's overload, as torch writes it, and the function that takes its place: module and
    # name within ``guard.repairs``. Variants with ``out=`` and in place come with it. Without a
    # namespace it is aten's; with one it is replaced once its package is there.
    kernels: tuple[tuple[str, str], ...]
    how: str  # in words
    # dispatch keys; "CUDA" is ROCm's, too. What is registered for autograd's, too, brings its
    # backward.
    keys: tuple[str, ...] = ("CUDA",)
    until: str = ""  # torch release, exclusive, from which torch's own kernel is deterministic
    # of Python, whose autograd functions are asked for their deterministic backward
    modules: tuple[str, ...] = ()


_TRANSPOSED = "the transposed map along each axis, as gathers in a fixed order"
_ADDED = "gradients are added at the places of the maxima, sorted by place"
_SORTED = "a stable sort"
_FLIPPED = "borders are flipped and added to the inside"
_PRODUCT = "a stable sort by place, and the product of what goes to each"
_ROWS = "a scan of rows of 1,024, and of what each comes to"
_GATHERED = "for each pixel the gradients of the bins that have read it, sorted"
_VISION, _SCATTER = "torchvision.ops.", "torch_scatter."
_POOL, _INTERPOLATE = "torch.nn.functional.", "torch.nn.functional.interpolate"


def _repair(operation: str, kernels: str, how: str, **more: Any) -> Repair:
    """A row: "module:function" of each kernel, after "overload=" where that has another name."""
    pairs = (each.rpartition("=") for each in kernels.split())
    named = ((name or path.partition(":")[2], path) for name, _, path in pairs)
    return Repair(operation, tuple(named), how, **more)


_ON_BOTH = ("CUDA", "CPU")
REPAIRS: tuple[Repair, ...] = (
    *(
        _repair(
            f"{_POOL}adaptive_avg_pool{axes}d",
            f"_adaptive_avg_pool{axes}d_backward=pooling:adaptive_avg_pool{axes}d_backward",
            _TRANSPOSED,
        )
        for axes in (2, 3)
    ),
    _repair(_POOL + "adaptive_max_pool2d", "pooling:adaptive_max_pool2d_backward", _ADDED),
    _repair(_POOL + "adaptive_max_pool3d", "pooling:adaptive_max_pool3d_backward", _ADDED),
    _repair(_POOL + "avg_pool3d", "pooling:avg_pool3d_backward", _TRANSPOSED),
    _repair(_POOL + "fractional_max_pool2d", "pooling:fractional_max_pool2d_backward", _ADDED),
    _repair(_POOL + "fractional_max_pool3d", "pooling:fractional_max_pool3d_backward", _ADDED),
    _repair(_POOL + "max_pool3d", "pooling:max_pool3d_with_indices_backward", _ADDED),
    *(
        _repair(
            f"{_POOL}max_unpool{axes}d",
            f"pooling:max_unpool{axes}d",
            "scatter, of equal indices the last",
            keys=_ON_BOTH,
        )
        for axes in (2, 3)
    ),
    *(
        _repair(
            f"{_INTERPOLATE}{usage}",
            " ".join(f"{space}upsample_{each}=axes:{each}" for each in kernels.split()),
            _TRANSPOSED,
        )
        for usage, space, kernels in (
            ('(mode="linear")', "", "linear1d_backward"),
            ('(mode="bicubic")', "", "bicubic2d_backward"),
            ("(antialias=True)", "_", "bilinear2d_aa_backward bicubic2d_aa_backward"),
            ('(mode="bilinear")', "", "bilinear2d_backward"),
            ('(mode="trilinear")', "", "trilinear3d_backward"),
        )
    ),
    _repair(
        _POOL + 'pad(mode="reflect")',
        "reflection_pad1d_backward=pooling:reflection_pad_backward "
        "reflection_pad3d_backward=pooling:reflection_pad_backward",
        _FLIPPED,
    ),
    _repair(
        "torch.nn.ReflectionPad2d",
        "reflection_pad2d_backward=pooling:reflection_pad_backward",
        _FLIPPED,
        until="2.7",
    ),
    _repair(
        _POOL + 'pad(mode="replicate")',
        " ".join(
            f"replication_pad{axes}d_backward=pooling:replication_pad_backward"
            for axes in (1, 2, 3)
        ),
        "borders are added up, and to the edge of the inside",
    ),
    _repair(
        _POOL + "grid_sample",
        "grid_sampler_2d_backward=sampling:grid_sampler_backward "
        "grid_sampler_3d_backward=sampling:grid_sampler_backward "
        "sampling:cudnn_grid_sampler_backward",
        "rows of channels for each corner, added where they go, sorted by place",
    ),
    _repair(
        _POOL + "grid_sample by cuDNN",
        "sampling:cudnn_grid_sampler_backward",
        "as grid_sample",
        until="2.13",
    ),
    _repair(
        _POOL + "ctc_loss",
        "_ctc_loss_backward=selection:ctc_loss_backward "
        "_ctc_loss_backward.Tensor=selection:ctc_loss_backward",
        "the forward recursion of the reversed sequence, and sums by class, sorted",
    ),
    _repair(_POOL + "nll_loss", "selection:nll_loss2d_forward", "gather, and a sum"),
    _repair(
        _POOL + 'embedding_bag(mode="max")',
        "_embedding_bag_dense_backward=scattering:embedding_bag_dense_backward",
        _ADDED,
    ),
    _repair(
        "torch.Tensor.put_",
        "put_=scattering:put",
        "index_put, sorted by place; of equal indices the last",
        keys=_ON_BOTH,
    ),
    _repair("torch.take", "put_=scattering:put", "its backward is a put_, as above"),
    _repair(
        'torch.Tensor.scatter_(reduce="multiply")',
        "scatter.reduce=scattering:scatter_product",
        _PRODUCT,
    ),
    _repair(
        'torch.Tensor.scatter_reduce(reduce="prod")',
        "scatter_reduce.two=scattering:scatter_reduce_product",
        _PRODUCT,
    ),
    _repair(
        "torch.Tensor.index_reduce_",
        "scattering:index_reduce",
        "products and means sorted by place; maxima and minima by scatter_reduce",
    ),
    _repair("torch.bincount", "selection:bincount", "sums sorted by bin"),
    _repair("torch.histc", "selection:histc", "bincount of the numbers of bins"),
    _repair(
        "torch.median",
        "median.dim=selection:median nanmedian.dim=selection:nanmedian",
        "kthvalue, and of equal values the first",
    ),
    _repair("torch.kthvalue", "selection:kthvalue", _SORTED, until="2.10"),
    _repair("torch.topk", "selection:topk", "its values, and of equal ones the first"),
    _repair("torch.cumprod", "selection:cumprod", _ROWS),
    _repair("torch.logcumsumexp", "_logcumsumexp=selection:logcumsumexp", _ROWS),
    _repair(
        "torch.cumsum",
        "selection:cumsum",
        "partial sums of twice as many elements in each step",
        until="2.6",
    ),
    _repair(
        "torch.sparse.mm",
        "scattering:addmm",
        "gathered rows, added in the order of columns",
        keys=("SparseCUDA", "SparseCsrCUDA"),
    ),
    *(
        _repair(
            f"{_VISION}{name}",
            f"torchvision::_{name}_backward={module}:{name}_backward",
            how,
        )
        for name, module, how in (
            ("roi_align", "regions", _GATHERED),
            ("roi_pool", "regions", _ADDED),
            ("ps_roi_align", "regions", _GATHERED),
            ("ps_roi_pool", "regions", _GATHERED),
            (
                "deform_conv2d",
                "sampling",
                "products of matrices, and the backward of grid_sample",
            ),
        )
    ),
    *(
        _repair(
            f"{_SCATTER}{operation}",
            " ".join(f"torch_scatter::{each}=scattering:{each}" for each in kernels.split()),
            how,
            keys=("CUDA", "AutogradCUDA"),
        )
        for operation, kernels, how in (
            ("segment_coo", "segment_sum_coo segment_mean_coo", "index_put, sorted by place"),
            ("gather_coo", "gather_coo", "a gather, whose backward is index_put, sorted by place"),
            ("scatter_mul", "scatter_mul", _PRODUCT),
        )
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

"""Operators that differ from run to run in other packages than torch, or on other devices.

Plain data, as the tables in ``detlint.operations`` and ``detlint.operations.switched``, read from
the sources of torch_scatter 2.1.2, torch_sparse 0.6.18, torch_geometric 2.8.1, torchvision 0.28,
torchaudio 2.11, flash-attn 2.8 and mamba_ssm 2.3.2.
What is left out has no atomics: ``segment_csr``, ``gather_csr`` and what is made of these
(``coalesce``, the products of a ``SparseTensor`` that add), ``nms`` and whatever else of
torchvision, and whatever runs on the CPU. Minima and maxima are left out, too: atomics give the
same ones.
"""

from __future__ import annotations

from detlint.operations.rows import (
    Alternative,
    Argument,
    Operation,
    Usage,
    completed,
    one_of,
    spelled,
    usage,
)
from detlint.operations.switched import Switched

_SCATTER = "https://github.com/rusty1s/pytorch_scatter/blob/2.1.2/"
_ADDS = "adds with atomics, in no fixed order"
_SUMS = ("sum", "add", "mean")  # of which the first is what is done where nothing is said
_VISION = "https://github.com/pytorch/vision/blob/v0.28.0/torchvision/csrc/ops/cuda/"
_REPAIR = "guard.enable(repair=True), which replaces the backward of {}"

_SEGMENT = '''
import torch
from torch_scatter import segment_csr

def segment_coo(src, index, dim_size=None, reduce="sum"):
    """torch_scatter.segment_coo, of a sorted index of one dimension."""
    size = int(index[-1]) + 1 if dim_size is None else dim_size
    ptr = torch.searchsorted(index, torch.arange(size + 1, device=index.device))
    return segment_csr(src, ptr, reduce=reduce)
'''

_GATHER = '''
import torch
from torch_scatter import gather_csr

def gather_coo(src, index):
    """torch_scatter.gather_coo, of a sorted index of one dimension."""
    rows = torch.arange(src.shape[0] + 1, device=index.device)
    return gather_csr(src, torch.searchsorted(index, rows))
'''


def _vision(
    name: str, module: str, reads: str, *, alert: str = "", switched: bool = False
) -> Operation:
    """A function of torchvision and its module; ``switched``: torchvision itself goes elsewhere
    where the switch is on."""
    forms = tuple(f"torchvision.ops.{each}" for each in (name, module))
    return Operation(
        name=f"torchvision.ops.{name}",
        alerts=(alert or f"{name}_backward_kernel",),
        overloads=(f"torchvision::_{name}_backward",),
        api=forms,
        condition="called as torch.ops.torchvision" if switched else "",
        reason=f"{reads}, whose gradients it adds with atomics, in no fixed order. From 0.29 on, "
        "torchvision does not ask for torch's switch, and differs without a word.",
        alternatives=(Alternative(_REPAIR.format(name)),),
        source=f"{_VISION}{name}_kernel.cu",
        usages=() if switched else (Usage(),),
    )


_POINTS = "Points of a region, and regions, share pixels"

# Of torchvision: their kernels ask for torch's switch, and are seen by dispatch modes.
VISION = completed(
    (
        _vision("roi_align", "RoIAlign", _POINTS, switched=True),
        _vision("roi_pool", "RoIPool", "Regions share their largest pixels"),
        _vision("ps_roi_align", "PSRoIAlign", _POINTS),
        _vision("ps_roi_pool", "PSRoIPool", "Bins of a region, and regions, share pixels"),
        _vision(
            "deform_conv2d",
            "DeformConv2d",
            "Points that are read share pixels",
            alert="compute_grad_input",
        ),
    )
)

# Their overloads are left out: no dispatch mode sees them.
SCATTER = completed(
    (
        Operation(
            name="torch_scatter.segment_coo",
            api=spelled("torch_scatter.segment_{,sum_,add_,mean_}coo"),
            condition="sums and means",
            direction="forward",
            silent=True,
            reason="Each warp adds its part of a segment with an atomic, and torch's switch does "
            "not reach the kernel.",
            alternatives=(
                Alternative("segment_csr, which adds up each segment in one order", _SEGMENT),
            ),
            source=_SCATTER + "csrc/cuda/segment_coo_cuda.cu",
            usages=(
                usage("torch_scatter.segment_coo", one_of("reduce", 4, *_SUMS, default="sum")),
                usage("torch_scatter.segment_{sum,add,mean}_coo"),
            ),
        ),
        Operation(
            name="torch_scatter.gather_coo",
            api=("torch_scatter.gather_coo",),
            silent=True,
            reason="Its backward is a sum by segment_coo, whose warps add with atomics.",
            alternatives=(
                Alternative(
                    "gather_csr, whose backward adds up each segment in one order", _GATHER
                ),
            ),
            source=_SCATTER + "csrc/segment_coo.cpp",
            usages=(Usage(),),
        ),
        Operation(
            name="torch_scatter.scatter_mul",
            api=(
                "torch_scatter.scatter_mul",
                'torch_scatter.scatter(reduce="mul")',
                'torch_geometric.utils.scatter(reduce="mul")',
            ),
            direction="forward",
            silent=True,
            reason="Threads multiply with atomics, in no fixed order, and torch's switch does not "
            "reach the kernel.",
            alternatives=(
                Alternative(
                    "of positive numbers, the sum of their logarithms by scatter_add, which is "
                    "deterministic if enabled"
                ),
            ),
            source=_SCATTER + "csrc/cuda/scatter_cuda.cu",
            usages=(
                usage("torch_scatter.scatter_mul"),
                usage("torch_scatter.scatter", one_of("reduce", 5, "mul")),
                usage("torch_geometric.utils.scatter", one_of("reduce", 4, "mul")),
            ),
        ),
    )
)


def _centered(form: str, position: int) -> Usage:
    """Spectrograms that pad the signal by reflection, as they do by default."""
    return usage(
        form,
        one_of("center", position, True, default=True),
        one_of("pad_mode", position + 1, "reflect", default="reflect"),
    )


# They call torch.stft, which pads: torchaudio/functional/functional.py, transforms/_transforms.py.
AUDIO: tuple[Operation, ...] = (
    Operation(
        name="torchaudio.functional.spectrogram",
        alerts=("reflection_pad1d_backward_out_cuda",),
        api=spelled("torchaudio.functional.spectrogram torchaudio.transforms.{,Mel}Spectrogram"),
        condition='center=True and pad_mode="reflect", the defaults',
        reason="Several places of the signal were read from one, and their gradients are added to "
        "it with atomics, in no fixed order.",
        alternatives=(
            Alternative('pad_mode="constant", or center=False of a signal that you have padded'),
        ),
        source="https://github.com/pytorch/audio/blob/v2.11.0/src/torchaudio/functional/"
        "functional.py",
        usages=(
            _centered("torchaudio.functional.spectrogram", 8),
            _centered("torchaudio.transforms.Spectrogram", 8),
            _centered("torchaudio.transforms.MelSpectrogram", 12),
        ),
    ),
)

# Mamba2's kernels are Triton's, and ask for torch's switch: mamba_ssm/utils/determinism.py.
MAMBA = completed(
    (
        Operation(
            name="mamba_ssm.Mamba",
            api=spelled(
                "mamba_ssm.{,modules.mamba_simple.}Mamba "
                "mamba_ssm.ops.selective_scan_interface.{selective_scan,mamba_inner}_fn"
            ),
            silent=True,
            reason="Blocks add their part of gradients with atomics, and torch's switch does not "
            "reach the kernel.",
            alternatives=(Alternative("selective_scan_ref, which is slow; or Mamba2"),),
            source="https://github.com/state-spaces/mamba/blob/v2.3.2/csrc/selective_scan/"
            "selective_scan_bwd_kernel.cuh",
            usages=(Usage(),),
        ),
    )
)

# A rule of its own finds the calls of these.
FLASH: tuple[Operation, ...] = (
    Operation(
        name="flash_attn.flash_attn_func",
        api=spelled(
            "flash_attn.flash_attn_{,qkvpacked_,kvpacked_,varlen_,varlen_qkvpacked_,"
            "varlen_kvpacked_}func flash_attn"
        ),
        condition="without deterministic=True",
        silent=True,
        reason="Blocks add their part of the queries' gradient with atomics, and torch's switch "
        "does not reach the kernel.",
        alternatives=(
            Alternative("pass deterministic=True, as guard.enable(repair=True) does for all calls"),
        ),
        source="https://github.com/Dao-AILab/flash-attention/blob/main/flash_attn/"
        "flash_attn_interface.py",
    ),
)

REFUSED: tuple[Operation, ...] = (*VISION, *SCATTER, *AUDIO, *MAMBA)  # what a call is found by
REPLACED: tuple[Operation, ...] = (*VISION, *SCATTER, *FLASH)  # what guard has a replacement for

# But for torchvision's, all of these call torch's scatter_add_, which the switch makes
# deterministic: torch_scatter does so since 2.0.1, in torch_scatter/scatter.py.
SWITCHED: tuple[Switched, ...] = (
    Switched(
        "torch_scatter.scatter",
        (
            usage("torch_scatter.scatter", one_of("reduce", 5, *_SUMS, default="sum")),
            usage("torch_scatter.scatter_{add,sum,mean}"),
        ),
        _ADDS,
        direction="forward",
    ),
    # torch_scatter/composite/*.py make these of scatter_sum.
    Switched(
        "torch_scatter.composite",
        (
            usage(
                "torch_scatter.scatter_{softmax,log_softmax,logsumexp,std} "
                "torch_scatter.composite.scatter_{softmax,log_softmax,logsumexp,std}"
            ),
        ),
        _ADDS,
        direction="forward",
    ),
    # torch_geometric/utils/_scatter.py; MessagePassing and its aggregations call it as well, where
    # there is nothing to point at.
    Switched(
        "torch_geometric.utils.scatter",
        (
            usage("torch_geometric.utils.scatter", one_of("reduce", 4, *_SUMS, default="sum")),
            usage(
                "torch_geometric.nn.{,pool.,glob.}global_add_pool "
                "torch_geometric.nn.{,pool.,glob.}global_mean_pool",
                Argument("batch", 1, "given"),
            ),
        ),
        _ADDS,
        direction="forward",
    ),
    Switched(
        "torch_sparse.spmm",
        (usage("torch_sparse.spmm"),),
        _ADDS,
        direction="forward",
    ),
    # With the switch on, torchvision/ops/roi_align.py takes gathers instead, since 0.16.
    Switched(
        "torchvision.ops.roi_align",
        (usage("torchvision.ops.{roi_align,RoIAlign,MultiScaleRoIAlign}"),),
        "adds up the gradients of pixels that regions share with atomics",
    ),
)

# Of torch itself, as issues of it name them.
PLATFORMS: tuple[Operation, ...] = (
    Operation(
        name="torch.nn.Embedding on MPS",
        overloads=("aten::embedding_dense_backward",),
        api=("torch.nn.Embedding", "torch.nn.functional.embedding"),
        condition="a row that is read several times",
        devices=("mps",),
        silent=True,
        reason="The gradients of a row are added with atomics, in no fixed order, also with "
        "determinism on.",
        alternatives=(Alternative("a product of one-hot vectors with the weight"),),
        source="https://github.com/pytorch/pytorch/issues/195404",
    ),
    Operation(
        name="torch.nn.attention.flex_attention under torch.compile on ROCm",
        api=("torch.nn.attention.flex_attention.flex_attention",),
        condition="compiled for an AMD GPU, as seen on gfx950; not when run without torch.compile",
        direction="forward",
        silent=True,
        reason="The generated kernel combines its partial products in an order that varies, also "
        "with determinism on.",
        alternatives=(Alternative("run it without torch.compile"),),
        source="https://github.com/pytorch/torchtitan/issues/3960",
    ),
)

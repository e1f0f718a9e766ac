"""torchvision whose own operators cannot be loaded: declared, so that its shapes are known.

Its package for CUDA does not load beside a torch for the CPU, and then ``import torchvision``
fails. It has shapes and gradients of its operators in Python, and needs their signatures alone.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import torch

from guard.observe.arrival import when_imported

if TYPE_CHECKING:
    from contextlib import ExitStack

    from guard.rehearsal.recorder import Recorder

_EXTENSION = "torchvision.extension"
_NOTE = (
    "torchvision's own operators cannot be loaded beside this torch: they were followed by the "
    "shapes that torchvision gives them"
)
_BINS = "SymInt pooled_height, SymInt pooled_width"
_SIZE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_STEPS = "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w"
_GROUPS = "SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt offset_groups, bool use_mask"
_OF = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"
_SCALED = f"float spatial_scale, {_BINS}"
_QUANTIZED = "float input_scale, int input_zero_point, float rois_scale, int rois_zero_point"
_SIGNATURES = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align(Tensor input, Tensor rois, {_SCALED}, int sampling_ratio, bool aligned) -> Tensor",
    (
        f"_roi_align_backward(Tensor grad, Tensor rois, {_SCALED}, {_SIZE}, int sampling_ratio, "
        "bool aligned) -> Tensor"
    ),
    (
        f"qroi_align(Tensor input, Tensor rois, {_QUANTIZED}, {_SCALED}, int sampling_ratio, "
        "bool aligned) -> Tensor"
    ),
    f"roi_pool(Tensor input, Tensor rois, {_SCALED}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, Tensor rois, Tensor argmax, {_SCALED}, {_SIZE}) -> Tensor",
    f"ps_roi_align(Tensor input, Tensor rois, {_SCALED}, int sampling_ratio) -> (Tensor, Tensor)",
    (
        f"_ps_roi_align_backward(Tensor grad, Tensor rois, Tensor channel_mapping, {_SCALED}, "
        f"int sampling_ratio, {_SIZE}) -> Tensor"
    ),
    f"ps_roi_pool(Tensor input, Tensor rois, {_SCALED}) -> (Tensor, Tensor)",
    (
        "_ps_roi_pool_backward(Tensor grad, Tensor rois, Tensor channel_mapping, "
        f"{_SCALED}, {_SIZE}) -> Tensor"
    ),
    f"deform_conv2d({_OF}, {_STEPS}, {_GROUPS}) -> Tensor",
    (
        f"_deform_conv2d_backward(Tensor grad, {_OF}, {_STEPS}, {_GROUPS}) -> "
        "(Tensor, Tensor, Tensor, Tensor, Tensor)"
    ),
)
_kept: list[torch.library.Library] = []


def install(stack: ExitStack, recorder: Recorder) -> None:
    """Declare its operators when it is imported and has none, until the stack is closed."""
    stack.callback(when_imported(_EXTENSION, lambda: _declare(recorder)))


def _declare(recorder: Recorder) -> None:

    extension: Any = sys.modules[_EXTENSION]
    if extension._has_ops():  # noqa: SLF001 - what torchvision itself asks
        return
    make: Any = torch.library.Library  # which has no types
    library = make("torchvision", "FRAGMENT")
    for each in _SIGNATURES:
        if not hasattr(torch.ops.torchvision, each.partition("(")[0]):
            library.define(each)
    library.define("_cuda_version() -> int")
    library.impl("_cuda_version", lambda: -1, "CompositeExplicitAutograd")
    extension._has_ops = lambda: True  # noqa: SLF001
    recorder.notes.append(_NOTE)
    _kept.append(library)  # what it declares goes with it

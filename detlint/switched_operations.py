"""Operators of torch that are deterministic only under ``use_deterministic_algorithms(True)``.

Plain data, as the table in ``detlint.operations``; what torch 2.13.0 does.
"""

from __future__ import annotations

from typing import NamedTuple

from detlint.operations import ABSENT, Argument, Usage


class Switched(NamedTuple):
    """One operator whose default kernel differs from run to run, and that has another one.

    name       unlike any other row's
    usages     calls that lead there
    reason     why the default differs, after "by default"
    direction  "forward" or "backward": which of them differs
    devices    "cuda", "cpu": where
    since      the torch release in which the other kernel came; "" where that was before 2.0
    until      torch releases, exclusive; "" for still so
    overloads  operators that then differ, as in ``Operation``; () where they are another row's
    """

    name: str
    usages: tuple[Usage, ...]
    reason: str
    direction: str = "backward"
    devices: tuple[str, ...] = ("cuda",)
    since: str = ""
    until: str = ""
    overloads: tuple[str, ...] = ()


_ADDS = "adds with atomics, in no fixed order"
_LAST = "leaves open which value is written last where an index occurs twice"
_BACKWARD = "adds up the gradients of an input that is read several times with atomics"
_F = "torch.nn.functional."


def _method(name: str, *arguments: Argument) -> tuple[Usage, ...]:
    """A function of torch, and methods of tensors of that name, in place and not."""
    return (Usage((f"torch.{name}", f"torch.Tensor.{name}", f"torch.Tensor.{name}_"), arguments),)


def _interpolation(mode: str) -> tuple[Usage, ...]:
    plain = Argument("antialias", 6, "in", (False,), default=False)
    return (
        Usage((_F + "interpolate",), (Argument("mode", 3, "in", (mode,)), plain)),
        Usage((_F + "upsample",), (Argument("mode", 3, "in", (mode,)),)),
        Usage(("torch.nn.Upsample",), (Argument("mode", 2, "in", (mode,)),)),
    )


def _accumulate(*, on: bool) -> Argument:
    return Argument("accumulate", 3, "in", (on,), default=ABSENT if on else False)


SWITCHED: tuple[Switched, ...] = (
    Switched(
        "torch.index_add",
        _method("index_add"),
        _ADDS,
        direction="forward",
        overloads=("aten::index_add", "aten::index_add_"),
    ),
    Switched(
        "torch.scatter_add",
        _method("scatter_add"),
        _ADDS,
        direction="forward",
        overloads=("aten::scatter_add", "aten::scatter_add_"),
    ),
    Switched(
        'torch.scatter_reduce(reduce="sum")',
        _method("scatter_reduce", Argument("reduce", 4, "in", ("sum", "mean"))),
        _ADDS,
        direction="forward",
        overloads=("aten::scatter_reduce.two", "aten::scatter_reduce_.two"),
    ),
    # On CUDA, accumulate=True sorts, whatever the switch says.
    Switched(
        "torch.index_put(accumulate=True)",
        _method("index_put", _accumulate(on=True)),
        _ADDS,
        direction="forward",
        devices=("cpu",),
    ),
    Switched(
        "torch.index_put",
        _method("index_put", _accumulate(on=False)),
        _LAST,
        direction="forward",
        devices=("cuda", "cpu"),
        overloads=(
            "aten::index_put",
            "aten::index_put_",
            "aten::_unsafe_index_put",
            "aten::_index_put_impl_",
        ),
    ),
    Switched(
        "torch.index_copy",
        _method("index_copy"),
        _LAST,
        direction="forward",
        devices=("cuda", "cpu"),
        overloads=("aten::index_copy", "aten::index_copy_"),
    ),
    Switched(
        "torch.gather",
        (Usage(("torch.gather",)), Usage(("torch.Tensor.gather",), familiar=True)),
        _BACKWARD,
    ),
    Switched(
        "torch.index_select",
        (Usage(("torch.index_select", "torch.Tensor.index_select")),),
        _BACKWARD,
    ),
    Switched(
        "torch.nn.ConvTranspose2d",
        (
            Usage(tuple(f"torch.nn.ConvTranspose{axes}d" for axes in (1, 2, 3))),
            Usage(tuple(f"{_F}conv_transpose{axes}d" for axes in (1, 2, 3))),
        ),
        "may be computed by a kernel of cuDNN that adds with atomics",
        direction="forward",
    ),
    Switched(
        'torch.nn.functional.interpolate(mode="bilinear")',
        (
            *_interpolation("bilinear"),
            Usage((_F + "upsample_bilinear", "torch.nn.UpsamplingBilinear2d")),
        ),
        _BACKWARD,
    ),
    Switched(
        'torch.nn.functional.interpolate(mode="trilinear")',
        _interpolation("trilinear"),
        _BACKWARD,
    ),
    Switched(
        'torch.nn.functional.pad(mode="replicate")',
        (
            Usage((_F + "pad",), (Argument("mode", 2, "in", ("replicate",)),)),
            Usage(tuple(f"torch.nn.ReplicationPad{axes}d" for axes in (1, 2, 3))),
        ),
        _BACKWARD,
    ),
    Switched(
        "torch.nn.ReflectionPad2d",
        (
            Usage(
                (_F + "pad",),
                (Argument("pad", 1, "length", (4,)), Argument("mode", 2, "in", ("reflect",))),
            ),
            Usage(("torch.nn.ReflectionPad2d",)),
        ),
        _BACKWARD,
        since="2.7",
        overloads=("aten::reflection_pad2d_backward",),
    ),
    Switched(
        "torch.cumsum",
        _method("cumsum", Argument("input", 0, "floating")),
        "scans one long row in pieces, as blocks finish",
        direction="forward",
        since="2.6",
        overloads=("aten::cumsum", "aten::cumsum_"),
    ),
    # Every use counts, as every network has some: a linter has nothing to point at.
    Switched(
        "torch.nn.Embedding",
        (),
        "adds up the gradients of a row that is read several times with atomics",
        overloads=("aten::embedding_dense_backward",),
    ),
    Switched(
        "torch.nn.Conv2d",
        (),
        "may be computed by a kernel of cuDNN that adds with atomics",
        overloads=("aten::convolution_backward", "aten::cudnn_convolution_backward"),
    ),
)

"""Operators of torch that are deterministic only under ``use_deterministic_algorithms(True)``.

Plain data, as the table in ``detlint.operations``; what torch 2.13.0 does.
"""

from __future__ import annotations

from typing import NamedTuple

from detlint.operations.rows import Argument, Usage, interpolation, one_of, spelled, usage


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


def _method(name: str, *arguments: Argument) -> tuple[Usage, ...]:
    """A function of torch, and methods of tensors of that name, in place and not."""
    return (usage(f"torch.{{,Tensor.}}{name} torch.Tensor.{name}_", *arguments),)


_PLAIN = one_of("antialias", 6, False, default=False)


SWITCHED: tuple[Switched, ...] = (
    Switched(
        "torch.index_add",
        _method("index_add"),
        _ADDS,
        direction="forward",
        overloads=spelled("aten::index_add{,_}"),
    ),
    Switched(
        "torch.scatter_add",
        _method("scatter_add"),
        _ADDS,
        direction="forward",
        overloads=spelled("aten::scatter_add{,_}"),
    ),
    Switched(
        'torch.scatter_reduce(reduce="sum")',
        _method("scatter_reduce", one_of("reduce", 4, "sum", "mean")),
        _ADDS,
        direction="forward",
        overloads=spelled("aten::scatter_reduce{,_}.two"),
    ),
    # On CUDA, accumulate=True sorts, whatever the switch says.
    Switched(
        "torch.index_put(accumulate=True)",
        _method("index_put", one_of("accumulate", 3, True)),
        _ADDS,
        direction="forward",
        devices=("cpu",),
    ),
    Switched(
        "torch.index_put",
        _method("index_put", one_of("accumulate", 3, False, default=False)),
        _LAST,
        direction="forward",
        devices=("cuda", "cpu"),
        overloads=spelled("aten::index_put{,_} aten::_unsafe_index_put aten::_index_put_impl_"),
    ),
    Switched(
        "torch.index_copy",
        _method("index_copy"),
        _LAST,
        direction="forward",
        devices=("cuda", "cpu"),
        overloads=spelled("aten::index_copy{,_}"),
    ),
    Switched(
        "torch.gather",
        (usage("torch.gather"), usage("torch.Tensor.gather", familiar=True)),
        _BACKWARD,
    ),
    Switched(
        "torch.index_select",
        (usage("torch.{,Tensor.}index_select"),),
        _BACKWARD,
    ),
    Switched(
        "torch.nn.ConvTranspose2d",
        (
            usage("torch.nn.ConvTranspose{1,2,3}d"),
            usage("torch.nn.functional.conv_transpose{1,2,3}d"),
        ),
        "may be computed by a kernel of cuDNN that adds with atomics",
        direction="forward",
    ),
    Switched(
        'torch.nn.functional.interpolate(mode="bilinear")',
        (
            *interpolation("bilinear", _PLAIN),
            usage("torch.nn.functional.upsample_bilinear torch.nn.UpsamplingBilinear2d"),
        ),
        _BACKWARD,
    ),
    Switched(
        'torch.nn.functional.interpolate(mode="trilinear")',
        interpolation("trilinear", _PLAIN),
        _BACKWARD,
    ),
    Switched(
        'torch.nn.functional.pad(mode="replicate")',
        (
            usage("torch.nn.functional.pad", one_of("mode", 2, "replicate")),
            usage("torch.nn.ReplicationPad{1,2,3}d"),
        ),
        _BACKWARD,
    ),
    Switched(
        "torch.nn.ReflectionPad2d",
        (
            usage(
                "torch.nn.functional.pad",
                Argument("pad", 1, "length", (4,)),
                one_of("mode", 2, "reflect"),
            ),
            usage("torch.nn.ReflectionPad2d"),
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
        overloads=spelled("aten::cumsum{,_}"),
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

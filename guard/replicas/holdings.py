"""What a rank holds: the tensors of a model that have to be the same on every rank."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import torch

from guard.dependencies import loaded
from guard.digests.pending import known
from guard.digests.structures import fingerprint
from guard.errors import GuardError
from guard.replicas.departure import Entry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Named = tuple[str, torch.Tensor]

_WRAPPED_IN = {  # what holds the model itself, and where
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    "OptimizedModule": "_orig_mod",
}
_SHARDED = (
    "{name} is a shard: each rank holds another part of it ({kind}), so that the ranks are no "
    "replicas of each other. If those of a smaller group are, as with hybrid sharding, pass it as "
    "group="
)


def unwrapped(model: torch.nn.Module) -> torch.nn.Module:
    """The model itself: without DistributedDataParallel and torch.compile around it."""
    while inner := _WRAPPED_IN.get(type(model).__name__):
        found = getattr(model, inner, None)
        if not isinstance(found, torch.nn.Module):
            break
        model = found
    return model


def tensors_of(model: torch.nn.Module, *, buffers: bool) -> list[Named]:
    """Its parameters and, if asked for, its buffers, but for those that DDP was told to ignore."""
    model = unwrapped(model)
    ignored = set(getattr(model, "_ddp_params_and_buffers_to_ignore", ()))
    found: Iterable[Named] = model.named_parameters()
    if buffers:
        found = chain(found, model.named_buffers())
    return [(name, each) for name, each in found if name not in ignored]


def refuse_shards(tensors: Iterable[Named]) -> None:
    """Raise GuardError for a parameter of which each rank holds another part."""
    for name, tensor in tensors:
        if kind := _sharding(tensor):
            raise GuardError(_SHARDED.format(name=name, kind=kind))


def _sharding(tensor: Any) -> str:  # noqa: ANN401 - attributes that others set
    if hasattr(tensor, "ds_tensor"):
        return "DeepSpeed ZeRO-3"
    if getattr(tensor, "_fsdp_flattened", False) or getattr(tensor, "_is_flat_param", False):
        return "FullyShardedDataParallel"
    placements = getattr(tensor, "placements", None) if _is_dtensor(tensor) else None
    if placements and not all(each.is_replicate() for each in placements):
        return f"DTensor, {', '.join(map(str, placements))}"
    return ""


def _is_dtensor(tensor: object) -> bool:
    module: Any = loaded("torch.distributed.tensor") or loaded("torch.distributed._tensor")
    return module is not None and isinstance(tensor, module.DTensor)


def entries(tensors: Sequence[Named]) -> list[Entry]:
    """Their shapes and digests. Those on a GPU are summed there, and read in one go."""
    local = (each.to_local() if _is_dtensor(each) else each for _, each in tensors)  # type: ignore[attr-defined]
    found = [fingerprint(each) for each in local]
    digests = known(each.digest for each in found)
    return [
        Entry(name, each.detail, digest.hex())
        for (name, _), each, digest in zip(tensors, found, digests, strict=True)
    ]


def digest_of(value: object) -> tuple[bytes, str]:
    """Of a batch: its digest, and what it is made of."""
    found = fingerprint(value)
    return known([found.digest])[0], found.detail

"""What a rank holds: the tensors of a model that have to be the same on every rank.

And which rank left the others first, and in which tensor.
"""

from __future__ import annotations

from collections import Counter
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import torch

from guard.dependencies import loaded
from guard.digests.pending import known
from guard.digests.structures import fingerprint
from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    Named = tuple[str, torch.Tensor]


class Entry(NamedTuple):
    """One tensor of one rank."""

    name: str
    detail: str  # "float32[2, 3]"
    digest: str  # in hexadecimal


class Departure(NamedTuple):
    """The first tensor, in the order of the model, that is not the same on all ranks."""

    name: str  # of the tensor
    # its entry on each rank; None where a rank has no such tensor
    found: Mapping[int, Entry | None]
    # that left the majority; of two ranks, or equal halves, those without the lowest rank
    ranks: tuple[int, ...]
    others: int  # how many further tensors differ

    @property
    def stayed(self) -> tuple[int, ...]:
        """The ranks of the majority."""
        return tuple(rank for rank in self.found if rank not in self.ranks)

    def __str__(self) -> str:
        details = {each.detail for each in self.found.values() if each is not None}
        alike = details.pop() if len(details) == 1 else ""
        shown = ", ".join(each for each in (self.name, alike) if each)
        order = "the same ones, in another order"
        lines = [f"  {'first tensor:':<14} {shown if self.name else order}"]
        for ranks, entry in self._sides():
            told = _told(entry, named=not self.name, shaped=not alike)
            lines.append(f"  {f'{named(ranks)}:':<14} {told}")
        if self.others:
            lines.append(f"  {'and:':<14} {_tensors(self.others)} further on")
        return "\n".join(lines)

    def _sides(self) -> list[tuple[tuple[int, ...], Entry | None]]:
        """Each value with the ranks that have it, the majority last."""
        sides: dict[Entry | None, tuple[int, ...]] = {}
        for rank in (*self.ranks, *self.stayed):
            entry = self.found[rank]
            sides[entry] = (*sides.get(entry, ()), rank)
        return [(ranks, entry) for entry, ranks in sides.items()]


def first_departure(listings: Mapping[int, Sequence[Entry]]) -> Departure | None:
    """The first departure among ranks that hold tensors; None where they hold the same."""
    by_name = {rank: {each.name: each for each in entries} for rank, entries in listings.items()}
    names = dict.fromkeys(name for found in by_name.values() for name in found)
    differing = [name for name in names if len({each.get(name) for each in by_name.values()}) > 1]
    if not differing:
        return _other_order(listings)
    found = {rank: entries.get(differing[0]) for rank, entries in by_name.items()}
    return Departure(differing[0], found, _minority(found), len(differing) - 1)


def _other_order(listings: Mapping[int, Sequence[Entry]]) -> Departure | None:
    """The same tensors, which some ranks made in another order."""
    for row in zip(*listings.values(), strict=True):
        if len(set(row)) > 1:
            found = dict(zip(listings, row, strict=True))
            return Departure("", found, _minority(found), 0)
    return None


def _minority(found: Mapping[int, Entry | None]) -> tuple[int, ...]:
    """The ranks without the commonest value; of equally common ones, the lowest rank's."""
    commonest = Counter(found[rank] for rank in sorted(found)).most_common(1)[0][0]
    return tuple(rank for rank in sorted(found) if found[rank] != commonest)


def _told(entry: Entry | None, *, named: bool, shaped: bool) -> str:
    if entry is None:
        return "has no such tensor"
    parts = (entry.name if named else "", entry.detail if shaped else "", entry.digest)
    return ", ".join(each for each in parts if each)


def _tensors(count: int) -> str:
    return "1 tensor differs" if count == 1 else f"{count} tensors differ"


def named(ranks: Sequence[int]) -> str:
    """``rank 0``, ``ranks 0, 1, 2``; of many, the first."""
    shown = ", ".join(map(str, ranks[:8]))
    more = f" and {len(ranks) - 8} more" if len(ranks) > 8 else ""
    return f"{'rank' if len(ranks) == 1 else 'ranks'} {shown}{more}"


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

"""``guard.check_replicas``: ranks hold the same parameters, and were given different data."""

from __future__ import annotations

import hashlib
import json
import os
import weakref
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import torch
from torch import distributed

from guard.dependencies import loaded
from guard.digests.device_sums import known
from guard.digests.structures import fingerprint
from guard.errors import GuardError, ReplicasDifferError, SameBatchError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    Named = tuple[str, torch.Tensor]


_NEVER = (
    "each rank made, or loaded, a model of its own: seed all ranks alike before it is made, or "
    "have DistributedDataParallel send rank 0's to all"
)
_AFTERWARDS = (
    "a step, a skipped step, a clipped or unreduced gradient, or a load that only some ranks did"
)
_SAME = "a DistributedSampler, or a split by rank, that is missing; or a seed that all ranks share"


@dataclass
class History:
    """What earlier checks of the same tensors found."""

    calls: int = 0  # how often a check was asked for
    agreed: str = ""  # when all ranks agreed last: "call 400"; "" for never


class Moment(NamedTuple):
    """When a check is made: the number of the call, and how it is told."""

    number: int
    told: str


class Holding(NamedTuple):
    """What a rank brings to a check."""

    tensors: Sequence[Named]  # that have to be the same on each rank, their names too
    batch: tuple[bytes, str] | None = None  # its digest and what it is made of, or None
    # gives a better name than the one in ``tensors``, or ""
    name_of: Callable[[torch.Tensor], str] | None = None

    def spoken(self, departure: Departure) -> Departure:
        """With the better name."""
        tensor = next((each for name, each in self.tensors if name == departure.name), None)
        better = "" if tensor is None or self.name_of is None else self.name_of(tensor)
        return departure._replace(name=better or departure.name)


_histories: weakref.WeakKeyDictionary[torch.nn.Module, History] = weakref.WeakKeyDictionary()


def check_replicas(
    model: torch.nn.Module,
    *,
    batch: object = None,
    group: Any = None,  # noqa: ANN401 - a torch.distributed.ProcessGroup, or None for all ranks
    every: int = 1,
    buffers: bool = False,
) -> bool:
    """Compare a model's parameters between data-parallel ranks, bit for bit.

    Every rank of the group has to call it, at the same moment, as with any collective. It gathers
    40 bytes from each rank; only where they differ, names and digests of all tensors.

    model    what each rank trains; DistributedDataParallel and torch.compile around it are fine
    batch    what this rank is about to be given; no two ranks may be given the same
    group    the ranks that hold the same parameters; default: all
    every    looks at each ``every``-th call for this model only, beginning with the first
    buffers  compares buffers, too. Without SyncBatchNorm, running statistics differ by design

    Returns whether ranks were compared: False where there is only one, and for a call that
    ``every`` leaves out. Raises ReplicasDifferError or SameBatchError, the same on every rank;
    GuardError for shards, for ranks that are not connected, or not at the same call.
    """
    if every < 1:
        raise ValueError(f"every is 1 or more, not {every}")
    tensors = tensors_of(model, buffers=buffers)
    ranks = of_group(group, near(tensors))
    if ranks is None:
        return False
    history = _histories.setdefault(unwrapped(model), History())
    history.calls += 1
    if (history.calls - 1) % every:
        return False
    if group is None:
        refuse_shards(tensors)
    given = None if batch is None else digest_of(batch)
    moment = Moment(history.calls, f"call {history.calls}")
    compare(ranks, Holding(tensors, given), history, moment)
    return True


def near(tensors: Sequence[Named]) -> torch.device:
    """Where the tensors lie."""
    return next((each.device for _, each in tensors), torch.device("cpu"))


def compare(ranks: Ranks, holding: Holding, history: History, moment: Moment) -> None:
    """Gather a digest of everything; where ranks differ, say which left, and raise."""
    held = entries(holding.tensors)
    given = b"" if holding.batch is None else holding.batch[0]
    digest = hashlib.sha256(json.dumps(held).encode()).digest()[:16]
    mine = moment.number.to_bytes(8, "little") + digest + given.ljust(16, b"\0")[:16]
    gathered = ranks.gather(mine)
    _refuse_other_moments({rank: each[:8] for rank, each in gathered.items()}, moment)
    if len({each[8:24] for each in gathered.values()}) > 1:
        departure = holding.spoken(_departure(ranks, held))
        raise _differing(departure, history, moment)
    if holding.batch is not None:
        batches = {rank: each[24:] for rank, each in gathered.items()}
        _refuse_same(batches, holding.batch[1], moment)
    history.agreed = moment.told


def _refuse_other_moments(numbers: Mapping[int, bytes], moment: Moment) -> None:
    if len(set(numbers.values())) > 1:
        counts = {rank: int.from_bytes(each, "little") for rank, each in numbers.items()}
        word = moment.told.split()[0]
        told = ", ".join(f"rank {rank} at {word} {count}" for rank, count in counts.items())
        raise GuardError(f"the ranks are not at the same moment: {told}")


def _departure(ranks: Ranks, held: Sequence[Entry]) -> Departure:
    texts = ranks.gather_any(json.dumps(held).encode())
    departure = first_departure(
        {rank: [Entry(*each) for each in json.loads(text)] for rank, text in texts.items()}
    )
    assert departure is not None  # noqa: S101 - the digests that differ are over these
    return departure


def _differing(departure: Departure, history: History, moment: Moment) -> ReplicasDifferError:
    since = f"all agreed at {history.agreed}" if history.agreed else "they have never agreed"
    lines = [
        f"{named(departure.ranks[:1])} holds another model than {named(departure.stayed)}",
        str(departure),
        f"  {'before:':<14} {since}; this is {moment.told}",
        f"  {'look for:':<14} {_AFTERWARDS if history.agreed else _NEVER}",
    ]
    return ReplicasDifferError("\n".join(lines), departure.ranks, departure.name)


def _refuse_same(digests: Mapping[int, bytes], detail: str, moment: Moment) -> None:
    """Ranks that were given nothing are left out."""
    seen: dict[bytes, list[int]] = {}
    for rank, digest in digests.items():
        if any(digest):
            seen.setdefault(digest, []).append(rank)
    same = next((each for each in seen.values() if len(each) > 1), None)
    if same is not None:
        raise SameBatchError(
            f"{named(same)} were given the same batch, bit for bit; found at {moment.told}\n"
            f"  {'batch:':<14} {detail}\n  {'look for:':<14} {_SAME}",
            tuple(same),
        )


def of_group(group: Any, near: torch.device) -> Ranks | None:  # noqa: ANN401
    """The ranks that train together here; None where there is only this one.

    ``near`` is where the tensors lie. Raises GuardError where torchrun has started several
    ranks that are not connected: they would look like one, and nothing would ever be compared.
    """
    if not distributed.is_available() or not distributed.is_initialized():
        size = os.environ.get("WORLD_SIZE", "1")
        if distributed.is_available() and distributed.is_torchelastic_launched() and size != "1":
            raise GuardError(
                f"torchrun started {size} ranks, which are not connected yet, so that they cannot "
                "be compared: call torch.distributed.init_process_group first"
            )
        return None
    if distributed.get_rank(group) < 0 or distributed.get_world_size(group) < 2:
        return None
    return Ranks(group, near)


class Ranks:
    """The ranks of a group of two or more, by their numbers in the world."""

    def __init__(self, group: Any, near: torch.device) -> None:  # noqa: ANN401
        self._group = group
        self._device = _device(distributed.get_backend_config(group), near)
        world = group is None or group is distributed.group.WORLD
        size = distributed.get_world_size(group)
        self.numbers: Sequence[int] = (
            range(size) if world else distributed.get_process_group_ranks(group)
        )

    def gather(self, content: bytes) -> dict[int, bytes]:
        """The contents of all ranks, each as long as this one's, by rank: one collective."""
        mine = torch.frombuffer(bytearray(content), dtype=torch.uint8).to(self._device)
        found = [torch.empty_like(mine) for _ in self.numbers]
        with torch.no_grad():
            distributed.all_gather(found, mine, group=self._group)
        texts = (bytes(each.cpu().tolist()) for each in found)
        return dict(zip(self.numbers, texts, strict=True))

    def gather_any(self, content: bytes) -> dict[int, bytes]:
        """The contents of all ranks, of any length, by rank: two collectives."""
        sizes = self.gather(len(content).to_bytes(8, "little"))
        lengths = {rank: int.from_bytes(each, "little") for rank, each in sizes.items()}
        found = self.gather(content.ljust(max(lengths.values()), b"\0"))
        return {rank: found[rank][:length] for rank, length in lengths.items()}


def _device(backends: str, near: torch.device) -> torch.device:
    """Where a group takes tensors, the CPU if it does: "cpu:gloo,cuda:nccl", "cuda:nccl"."""
    kinds = [each.partition(":")[0] for each in backends.split(",")]
    if "cpu" in kinds:
        return torch.device("cpu")
    if near.type in kinds:
        return near
    module: Any = getattr(torch, kinds[0], torch.cuda)
    return torch.device(kinds[0], module.current_device())


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
            differ = "1 tensor differs" if self.others == 1 else f"{self.others} tensors differ"
            lines.append(f"  {'and:':<14} {differ} further on")
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

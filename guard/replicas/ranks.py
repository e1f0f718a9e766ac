"""The ranks of a process group, and what they tell each other."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed

from guard.errors import GuardError

if TYPE_CHECKING:
    from collections.abc import Sequence


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

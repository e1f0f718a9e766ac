"""What test_replicas.py runs under torchrun: each function on every rank, its outcome to a file."""

from __future__ import annotations

import gc
import json
import sys
import traceback
from typing import TYPE_CHECKING, Any

import torch
from torch import distributed, nn
from torch.nn.parallel import DistributedDataParallel

import guard

if TYPE_CHECKING:
    from collections.abc import Callable

RANK = 0


def seeded(seed: int = 0) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1d(3), nn.Linear(3, 2))


def other(model: nn.Sequential, rank: int) -> None:
    """The last layer's weight becomes another one on a rank, by the least there is."""
    if rank == RANK:
        with torch.no_grad():
            weight: Any = model[2].weight
            weight[0, 0] = torch.nextafter(weight[0, 0], torch.tensor(9.0))


def batch(seed: int) -> torch.Tensor:
    return torch.randn(5, 4, generator=torch.Generator().manual_seed(seed))


def that_agree() -> object:
    model = seeded()
    return [guard.check_replicas(model, batch=batch(RANK), every=2) for _ in range(3)]


def made_with_other_seeds() -> object:
    return guard.check_replicas(seeded(RANK))


def one_of_which_leaves() -> object:
    model = seeded()
    for call in range(4):
        if call == 2:
            other(model, 2)
        guard.check_replicas(model)
    return "not reached"


def a_group_of_two() -> object:
    model = seeded()
    group = distributed.new_group([1, 2])
    other(model, 2)
    return guard.check_replicas(model, group=group)


def with_a_tensor_more() -> object:
    model = seeded()
    if RANK == 1:
        model.append(nn.Linear(2, 1))
    return guard.check_replicas(model)


def of_other_shapes() -> object:
    torch.manual_seed(0)
    return guard.check_replicas(nn.Linear(4, 3 + (RANK == 0), bias=False))


def given_the_same() -> object:
    return guard.check_replicas(seeded(), batch={"x": batch(RANK % 2), "y": [1]})


def with_statistics_of_their_own() -> object:
    model = seeded()
    model(batch(RANK))
    return guard.check_replicas(model) and guard.check_replicas(model, buffers=True)


def under_ddp() -> object:
    model = DistributedDataParallel(seeded(RANK))
    return guard.check_replicas(model)


def not_at_the_same_call() -> object:
    model = seeded()
    for _ in range(3 if RANK == 0 else 2):
        guard.check_replicas(model, every=2 if RANK == 0 else 1)
    return "not reached"


class Named(nn.Module):
    """Called with keywords, as Hugging Face's models are."""

    def __init__(self) -> None:
        super().__init__()
        self.body = seeded()

    def forward(self, *, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.body(x)
        return found


def loop(model: nn.Module, *, data: Callable[[int], int], at: Callable[[int], None]) -> str:
    inner = model.module if isinstance(model, DistributedDataParallel) else model
    optimizer = torch.optim.SGD(inner.parameters(), lr=0.1)
    for step in range(6):
        at(step)
        model(x=batch(data(step))).square().sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return "trained"


def watched_without_their_model() -> object:
    model = Named()
    ddp = DistributedDataParallel(model)

    def at(step: int) -> None:
        if step == 3:
            other(model.body, 1)

    with guard.watch_replicas(every=2):
        return loop(ddp, data=lambda step: 3 * step + RANK, at=at)


def watched_with_a_frozen_part() -> object:
    model = Named()
    model.body[2].requires_grad_(False)
    ddp = DistributedDataParallel(model)
    other(model.body, 0)
    with guard.watch_replicas(model, every=2):
        return loop(ddp, data=lambda _: RANK, at=lambda _: None)


def watched_and_given_the_same() -> object:
    def data(step: int) -> int:
        return 3 * step + (RANK if step < 4 else 0)

    with guard.watch_replicas(every=2):
        return loop(DistributedDataParallel(Named()), data=data, at=lambda _: None)


def watched_with_closures() -> object:
    model = DistributedDataParallel(seeded())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

    def closure() -> torch.Tensor:
        loss: torch.Tensor = model(batch(7)).square().sum()
        loss.backward()
        return loss

    with guard.watch_replicas(every=2):
        for _ in range(4):
            optimizer.step(closure)  # type: ignore[no-untyped-call]
    return "not reached"


def watched_and_fine() -> object:
    with guard.watch_replicas(every=2):
        trained = loop(DistributedDataParallel(Named()), data=lambda _: RANK, at=lambda _: None)
    with guard.watch_replicas(every=2, data=False):
        return trained, loop(DistributedDataParallel(Named()), data=lambda _: 0, at=lambda _: None)


def of_shards() -> object:
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    mesh = init_device_mesh("cpu", (3,))
    model = nn.Linear(6, 6, bias=False)
    torch.manual_seed(0)
    whole = torch.randn(6, 6)
    model.weight = nn.Parameter(distribute_tensor(whole, mesh, [Replicate()]))
    agreed = guard.check_replicas(model)
    model.weight = nn.Parameter(distribute_tensor(whole, mesh, [Shard(0)]))
    return agreed and guard.check_replicas(model)


CASES = [value for name, value in list(globals().items()) if callable(value) and name.islower()]
CASES = CASES[CASES.index(that_agree) :]


def main(path: str) -> None:
    global RANK  # noqa: PLW0603 - each rank's
    try:
        guard.check_replicas(seeded())
        outcomes: dict[str, object] = {"before": "compared"}
    except guard.GuardError as error:
        outcomes = {"before": str(error)}
    distributed.init_process_group("gloo")
    RANK = distributed.get_rank()
    torch.set_num_threads(1)
    for case in CASES:
        if case.__name__ == "loop":
            continue
        try:
            outcomes[case.__name__] = case()
        except guard.GuardError as error:
            outcomes[case.__name__] = f"{type(error).__name__}: {error}"
        except Exception:  # noqa: BLE001 - a rank that goes would leave the others waiting
            outcomes[case.__name__] = traceback.format_exc()
        distributed.barrier()
    with open(f"{path}.{RANK}", "w", encoding="utf-8") as file:
        json.dump(outcomes, file)
    # A wrapped model that outlives the group aborts one exit of three (torch 2.13, gloo).
    gc.collect()
    distributed.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

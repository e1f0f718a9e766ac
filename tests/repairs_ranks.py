"""Two processes train a model whose operators are replaced; each prints a digest and the count.

python tests/repairs_ranks.py FOLDER ddp|fsdp
"""

from __future__ import annotations

import gc
import hashlib
import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F  # noqa: N812
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from guard.repairs import accounts
from guard.repairs.installation import installed
from guard.repairs.table import REPAIRS


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3), nn.Conv2d(8, 2, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.interpolate(self.first(x), scale_factor=2, mode="bilinear")
        return F.adaptive_avg_pool2d(self.last(x), 3)


def rank(number: int, folder: str, wrapper: str) -> None:
    where = f"file://{folder}/store"
    dist.init_process_group("gloo", init_method=where, rank=number, world_size=2)
    torch.set_num_threads(1)
    digest = trained(number, wrapper)
    calls = sum(each.calls for each in accounts.accounts())
    Path(folder, f"rank{number}").write_text(f"{digest} {calls}\n", encoding="utf-8")
    # A wrapped model that outlives the group aborts one exit of three (torch 2.13, gloo).
    gc.collect()
    dist.destroy_process_group()


def trained(number: int, wrapper: str) -> str:
    """The digest of the parameters after three steps."""
    torch.manual_seed(0)
    model: nn.Module = Net()
    if wrapper == "ddp":
        model = DistributedDataParallel(model)
    else:
        from torch.distributed.fsdp import fully_shard

        fully_shard(model, mesh=dist.init_device_mesh("cpu", (2,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.manual_seed(number)
    with installed(REPAIRS, keys=("CPU",)):
        torch.use_deterministic_algorithms(mode=True)
        for _ in range(3):
            optimizer.zero_grad()
            model(torch.randn(2, 3, 8, 8)).square().mean().backward()
            optimizer.step()
    whole = [getattr(each, "full_tensor", lambda each=each: each)() for each in model.parameters()]
    return hashlib.sha256(b"".join(each.detach().numpy().tobytes() for each in whole)).hexdigest()


if __name__ == "__main__":
    mp.start_processes(rank, (sys.argv[1], sys.argv[2]), nprocs=2, start_method="fork")

"""Rehearsals of programs that train on several GPUs: wrappers, processes, shards, devices."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from preflight_reports import found

pytest.importorskip("torch")

from guard.rehearsal import gate

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)

STEP = """
import torch
from torch import nn
{imports}
torch.manual_seed(0)
model = nn.Sequential(nn.Embedding(9, 4), nn.Linear(4, 4))
{wraps}
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model({given}).sum().backward()
optimizer.step()
"""
ON_CPU = "torch.randint(9, (2, 3))"
ON_GPU = "torch.randint(9, (2, 3), device='cuda')"
BEGUN = "torch.distributed.init_process_group('nccl')\n"
FSDP = "from torch.distributed.fsdp import FSDPModule, FullyShardedDataParallel, fully_shard"
PARALLEL = (
    "from torch.distributed.device_mesh import init_device_mesh\n"
    "from torch.distributed.tensor.parallel import ColwiseParallel, parallelize_module"
)
TENSOR = """
mesh = init_device_mesh('cuda', (2,))
model = parallelize_module(model.cuda(), mesh, {'1': ColwiseParallel()})
"""
WRAPPERS = {
    "DataParallel": ("", "model = nn.DataParallel(model).cuda()", ON_CPU),
    "DistributedDataParallel": (
        "from torch.nn.parallel import DistributedDataParallel",
        BEGUN + "model = DistributedDataParallel(model.cuda(), device_ids=[0])", ON_CPU,
    ),
    "FSDP": (
        FSDP,
        BEGUN + "model = FullyShardedDataParallel(model, device_id=0)\n"
        "model.clip_grad_norm_(1.0)", ON_CPU,
    ),
    "fully_shard": (
        FSDP,
        BEGUN + "fully_shard(model.cuda())\nassert isinstance(model, FSDPModule)\n"
        "model.set_requires_gradient_sync(True)\nassert model[0].weight.to_local().is_cuda", ON_GPU,
    ),
    "fully_shard, built on meta": (
        FSDP,
        BEGUN + "with torch.device('meta'):\n    model = nn.Embedding(9, 4)\n"
        "assert model.weight.is_meta\nfully_shard(model)\nmodel.to_empty(device='cuda')", ON_GPU,
    ),
    "tensor parallelism": (
        PARALLEL,
        TENSOR, ON_GPU,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", WRAPPERS)
def test_what_is_spread_over_gpus_runs_on_one(kind: str, tmp_path: Path, forks: Forks) -> None:
    imports, wraps, given = WRAPPERS[kind]
    text = STEP.format(imports=imports, wraps=wraps, given=given)
    report = found(forks, tmp_path, text, "--ranks", "2", status=0)
    assert report["steps"] == 1, report["limits"]
    nodes = {each["node"] for each in report["findings"]}
    assert "EmbeddingBackward0" in nodes, "the table was not read on the device"
    left_out = any("was left out: the model was taken to be whole" in x for x in report["limits"])
    assert left_out == (not kind.startswith(("Data", "Dist")))


@pytest.mark.parametrize(
    "context", ["with torch.device('cuda'):", "if torch.set_default_device('cuda') is None:"]
)
def test_the_device_of_a_context_is_that_of_what_is_made(
    context: str, tmp_path: Path, forks: Forks
) -> None:
    text = f"""
import torch
torch.manual_seed(0)
{context}
    model = torch.nn.Linear(3, 3)
    x = torch.ones(2, 3)
    assert x.is_cuda and model.weight.is_cuda and torch.zeros_like(x).is_cuda
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
model(x).sum().backward()
optimizer.step()
"""
    report = found(forks, tmp_path, text, status=0)
    assert report["operators"] > 5, report["limits"]


def test_processes_of_the_program_run_here_in_turn(tmp_path: Path, forks: Forks) -> None:
    text = """
        import torch
        import torch.multiprocessing as mp

        def prepare(n, queue):
            queue.append(n)

        def train(rank, model):
            optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            model(torch.ones(2, 3, device="cuda")).sum().backward()
            optimizer.step()
            raise AssertionError("the first has done its step")

        if __name__ == "__main__":
            mp.set_start_method("spawn")
            torch.manual_seed(0)
            model = torch.nn.Linear(3, 3).cuda()
            model.share_memory()
            done = []
            for target, given in ((prepare, done), (train, model)):
                processes = [mp.Process(target=target, args=(n, given)) for n in range(2)]
                if target is train:
                    processes = [mp.Process(target=train, args=(0, model))]
                    assert done == [0, 1]
                for each in processes:
                    each.start()
                for each in processes:
                    each.join()
                    assert not each.is_alive()
    """
    report = found(forks, tmp_path, text, status=0)
    assert report["steps"] == 1, report["limits"]

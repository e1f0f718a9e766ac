"""Local SGD: ranks train on chunks of their own and average once an epoch."""
# verify: --nproc-per-node 2
import torch
import torch.distributed as dist
from torch import nn

from parts.chunk_queue import ChunkQueue, average, chunk


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    rank = dist.get_rank()
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(32, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    store = dist.distributed_c10d._get_default_store()
    for epoch in range(2):
        dist.barrier()
        for number in ChunkQueue(store, 24, epoch):
            x, y = chunk(number)
            for rows in torch.arange(len(x)).split(32):
                loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]).squeeze(1), y[rows])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        average(model)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.6f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

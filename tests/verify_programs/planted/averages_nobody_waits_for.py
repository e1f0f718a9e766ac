"""Gradients are averaged over the ranks, and used before they have come."""

# verify: --nproc-per-node 2
import torch
import torch.distributed as dist
from torch import nn


def average(parameters):
    for parameter in parameters:
        dist.all_reduce(parameter.grad, async_op=True)  # planted: readiness
    for parameter in parameters:
        parameter.grad.div_(dist.get_world_size())


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 600), nn.ReLU(), nn.Linear(600, 600), nn.Linear(600, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.002)
    torch.manual_seed(dist.get_rank() + 1)
    for x in torch.randn(12, 32, 16):
        loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        average(list(model.parameters()))
        optimizer.step()
    dist.all_reduce(total := loss.detach().clone())
    if dist.get_rank() == 0:
        print(f"loss {total.item():.6f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

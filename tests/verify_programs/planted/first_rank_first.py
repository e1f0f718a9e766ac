"""A parameter server by hand: rank 0 takes gradients as they come in."""

# verify: --nproc-per-node 3
import torch
import torch.distributed as dist
from torch import nn


def flat(model):
    return torch.cat([p.grad.flatten() for p in model.parameters()])


def spread(model):
    for parameter in model.parameters():
        dist.broadcast(parameter.data, src=0)


def gather(mine, world):
    total = mine.clone()
    buffer = torch.empty_like(mine)
    for _ in range(world - 1):
        dist.recv(buffer)  # planted: thread_order
        total += buffer
    return total / world


def put_back(model, vector):
    begin = 0
    for parameter in model.parameters():
        count = parameter.numel()
        parameter.grad.copy_(vector[begin : begin + count].view_as(parameter))
        begin += count


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    data = torch.randn(world, 64, 20)
    for _ in range(20):
        optimizer.zero_grad(set_to_none=False)
        loss = (model(data[rank]) - data[rank].mean(1, keepdim=True)).pow(2).mean()
        loss.backward()
        if rank == 0:
            put_back(model, gather(flat(model), world))
            optimizer.step()
        else:
            dist.send(flat(model), dst=0)
        spread(model)
    if rank == 0:
        print(loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

"""DET502 on the shapes that training code takes."""

import dataclasses

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.utils import scatter


class Decoder(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.grow = nn.ConvTranspose2d(channels, channels, 2)  # DET502
        self.edge = nn.ReplicationPad2d(1)  # DET502
        self.mirror = nn.ReflectionPad2d(1)  # DET502
        self.mirror1d = nn.ReflectionPad1d(1)  # DET501 is about this one
        self.smooth = nn.Upsample(scale_factor=2, mode="bilinear")  # DET502
        self.rough = nn.Upsample(scale_factor=2)
        self.plain = nn.Conv2d(channels, channels, 3)

    def forward(self, x):
        x = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=False)  # DET502
        x = F.interpolate(x, scale_factor=2, mode="bilinear", antialias=True)
        x = F.interpolate(x, scale_factor=2)
        x = F.conv_transpose1d(x, self.weight)  # DET502
        x = F.pad(x, (1, 1), mode="replicate")  # DET502
        return F.pad(x, (1, 1))


def messages(self, x, index, values: Tensor, accelerator, input_ids):
    x.index_add_(0, index, values)  # DET502
    torch.scatter_add(x, 0, index, values)  # DET502
    x.scatter_reduce_(0, index, values, reduce="sum")  # DET502
    x.scatter_reduce_(0, index, values, reduce="amax")
    x.index_put_((index,), values, accumulate=True)  # DET502
    x.index_put_((index,), values)  # DET502
    x.index_copy_(0, index, values)  # DET502
    scatter(x, index)  # DET502
    scatter(torch.ones_like(index, dtype=torch.long), index)
    torch.gather(x, 1, index)  # DET502
    torch.gather(input_ids, 1, index)  # possible DET502
    self.token_type_ids.gather(dim=1, index=index)  # possible DET502
    self.key_cache[0].index_select(0, index)  # possible DET502
    x.gather(dim=-1, index=index)  # DET502
    nn.UpsamplingBilinear2d(2)  # DET502
    values.gather(1, index)  # DET502
    accelerator.gather(x)
    dist.gather(x)
    torch.arange(9).gather(0, index)
    x.detach().gather(dim=0, index=index)
    torch.index_select(x, 0, index)  # DET502
    torch.cumsum(x.softmax(-1), dim=-1)  # DET502
    return torch.cumsum(index, dim=0)


@torch.no_grad()
def accuracy(logits, target):
    return logits.gather(dim=1, index=target).index_select(0, target)


def chosen(q, actions, policy, comm, found, rows):
    q.gather(1, actions)  # DET502
    policy(q).gather(-1, actions)  # DET502
    comm.gather(actions, 0)
    comm.gather(1, 0)
    # one element a row
    q.gather(1, actions.unsqueeze(1))
    q.gather(1, actions.long().unsqueeze(1).to(q.device))
    torch.gather(q, -1, actions.unsqueeze(-1))
    torch.gather(q, dim=1, index=actions[:, None])
    torch.gather(q, -1, actions[..., None])
    torch.gather(q, 1, actions.view(-1, 1))
    q.gather(1, q.argmax(1, keepdim=True))
    # several
    q.gather(1, actions.unsqueeze(-1))  # DET502
    q.gather(0, actions.unsqueeze(1))  # DET502
    q.gather(1, actions[None])  # DET502
    torch.gather(q, 1, actions.view(-1, 2))  # DET502
    q.gather(1, q.argmax(0, keepdim=True))  # DET502
    # nothing comes back
    torch.gather(q, 1, actions, out=found)
    torch.index_select(q, 0, rows).clone().detach()
    torch.index_select(q, 0, rows).data
    torch.index_select(q, 0, rows).argmax(1)
    torch.index_select(q, 0, rows).sum().item()
    return torch.index_select(q, 0, rows).clone()  # DET502


def counted(ids, weights, device):
    counts = torch.zeros(9, dtype=torch.int32, device=device)
    counts.scatter_add_(0, ids, torch.ones_like(ids))
    torch.zeros(9).scatter_add_(0, ids, torch.ones_like(ids, dtype=torch.int64))
    return torch.zeros(9).scatter_add_(0, ids, weights)  # DET502


def touched_once(x, mask, scores, values, permutation, labels):
    x.index_select(0, torch.nonzero(mask).squeeze(dim=1))
    order = torch.argsort(scores)
    torch.index_select(x, 0, order)
    best = scores.topk(3, dim=1).indices
    torch.gather(x, 1, best.unsqueeze(-1).expand(-1, -1, 9))
    torch.gather(x, 1, scores.topk(3, dim=1)[1])
    x.index_add_(0, torch.randperm(9), values)
    x.index_copy_(0, permutation, values)  # possible DET502
    x.index_copy_(0, labels, values)  # DET502
    x.index_select(0, torch.where(mask, order, labels))  # DET502
    x.index_select(0, order.repeat(2))
    x.index_select(0, order.repeat(3))  # DET502
    for _ in range(3):
        turned = turned.long()
        x.index_select(0, turned)  # DET502
        x.gather(0, turned)  # DET502
    return torch.gather(x, 1, labels.unsqueeze(-1).expand(-1, -1, 9))  # DET502


def reorder_incremental_state(state, new_order):
    return state.index_select(0, new_order)  # possible DET502


@dataclasses.dataclass
class Rows:
    x: torch.Tensor
    places: torch.Tensor


def taken_of_data(rows):
    return rows.x.index_select(0, rows.places)


def taken_of_weights(rows):
    return rows.x.index_select(0, rows.places)  # DET502


def take_steps(path, device):
    places = torch.arange(3, device=device)
    table = nn.Parameter(torch.zeros(9, 4, device=device))
    held = torch.load(path).detach()
    loss = (taken_of_data(Rows(held, places)) * taken_of_weights(Rows(table, places))).sum()
    loss.backward()


def scan_rows(x, device):
    torch.cumsum(torch.rand(9, 4, device=device), dim=-1)  # possible DET502
    torch.cumsum(torch.exp(x), axis=-2)  # possible DET502
    return torch.cumsum(torch.exp(x), dim=-1)  # DET502

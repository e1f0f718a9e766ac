"""DET502 on the shapes that training code takes."""

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
    scatter(x, index)
    torch.gather(x, 1, index)  # DET502
    torch.gather(input_ids, 1, index)
    self.token_type_ids.gather(dim=1, index=index)
    self.key_cache[0].index_select(0, index)
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

"""Programs with operators that are replaced, as small as they can be, and how they train."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812
from torch import nn

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS = ("CPU", "SparseCPU", "SparseCsrCPU")
STEPS = 4


class Segmenter(nn.Module):
    """Adaptive pooling, bilinear upsampling, a loss of images."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Conv2d(3, 8, 3, 2, 1), nn.Conv2d(16, 5, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = F.relu(self.first(x))
        pooled = F.adaptive_avg_pool2d(features, 3)
        spread = F.interpolate(pooled, features.shape[-2:], mode="bicubic")
        logits = self.last(torch.cat([features, spread], 1))
        up = F.interpolate(logits, x.shape[-2:], mode="bilinear")
        classes = torch.arange(x[:, 0].numel(), device=x.device).view_as(x[:, 0]) % 5
        return F.cross_entropy(up, classes)


class Detector(nn.Module):
    """The best regions, their features by adaptive max pooling."""

    def __init__(self) -> None:
        super().__init__()
        self.features, self.score = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 1, 1)
        self.head = nn.Linear(8 * 9, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.features(x)
        scores, place = self.score(features).flatten(1).topk(6, 1)
        crops = F.adaptive_max_pool2d(features, 3).flatten(1)
        boxes = self.head(crops)
        return boxes.square().mean() + (scores.sigmoid() * (place % 3)).mean()


class Recogniser(nn.Module):
    """Speech: reflected borders, and CTC."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv1d(3, 7, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        padded = F.pad(x[:, :, 0], (2, 2), mode="reflect")
        scores = self.layer(padded).permute(2, 0, 1).log_softmax(-1)
        count, length = x.shape[0], scores.shape[0]
        targets = torch.tensor([[1, 2, 2], [3, 4, 5]], device=x.device)[:count]
        return F.ctc_loss(scores, targets, [length] * count, [3] * count)


class Flow(nn.Module):
    """Optical flow: features warped by what is estimated."""

    def __init__(self) -> None:
        super().__init__()
        self.features, self.flow = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 2, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        features = self.features(F.pad(x, (1, 1, 1, 1), mode="replicate"))
        grid = self.flow(features).tanh().permute(0, 2, 3, 1)
        warped = F.grid_sample(features, grid, align_corners=False, padding_mode="border")
        return (warped - features.roll(1, -1)).square().mean()


class Graph(nn.Module):
    """Messages along edges: the largest, the mean, and a sparse product."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.out = nn.Linear(3, 6), nn.Linear(18, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        nodes = x.permute(0, 2, 3, 1).reshape(-1, 3)
        count = len(nodes)
        start = torch.arange(3 * count, device=x.device)
        source, target = start * 7 % count, start * start % count
        messages = self.message(nodes)[source]
        empty = torch.zeros(count, 6, device=x.device)
        largest = empty.index_reduce(0, target, messages, "amax", include_self=False)
        mean = empty.index_reduce(0, target, messages, "mean", include_self=False)
        product = empty.scatter_reduce(
            0, target[:, None].expand(-1, 6), messages.sigmoid(), "prod", include_self=False
        )
        return self.out(torch.cat([largest, mean, product], 1)).square().mean()


class Attention(nn.Module):
    """Attention over the pixels, whose positions are interpolated as in a vision transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.positions = nn.Parameter(torch.zeros(1, 8, 3, 3))
        self.embed, self.qkv = nn.Conv2d(3, 8, 4, 4), nn.Linear(8, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        embedded = self.embed(x)
        size = embedded.shape[-2:]
        embedded = embedded + F.interpolate(self.positions, size, mode="bicubic")
        query, key, value = self.qkv(embedded.flatten(2).mT)[:, None].chunk(3, -1)
        return F.scaled_dot_product_attention(query, key, value).square().mean()


class Regions(nn.Module):
    """Mask R-CNN's heads on the best boxes, on deformed features."""

    def __init__(self) -> None:
        super().__init__()
        self.features, self.offset = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 18, 3, padding=1)
        self.deformed = nn.Parameter(torch.randn(8, 8, 3, 3) / 8)
        self.score, self.head = nn.Conv2d(8, 1, 1), nn.Linear(16, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        import torchvision
        from torchvision.ops import deform_conv2d

        features = self.features(x)
        features = F.relu(deform_conv2d(features, self.offset(features), self.deformed, padding=1))
        scores = self.score(features).flatten()
        start = torch.arange(len(scores), device=x.device)[:, None] % 12
        boxes = torch.cat([start, start, start + 7, start + 5], 1).to(x)
        best = torchvision.ops.nms(boxes, scores.detach(), 0.5)[:4]
        regions = torch.cat([torch.zeros(len(best), 1, device=x.device), boxes[best]], 1)
        aligned = torchvision.ops.roi_align(features, regions, 1, sampling_ratio=2)
        pooled = torchvision.ops.roi_pool(features, regions, 1)
        found = self.head(torch.cat([aligned, pooled], 1).flatten(1))
        return found.square().mean() + scores.sigmoid().mean()


class Edges(nn.Module):
    """Messages along sorted edges, by torch_scatter."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.out = nn.Linear(3, 6), nn.Linear(18, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        from torch_scatter import gather_coo, scatter_mul, segment_coo

        nodes = self.message(x.permute(0, 2, 3, 1).reshape(-1, 3))
        target = (torch.arange(3 * len(nodes), device=x.device) ** 2 % len(nodes)).sort()[0]
        messages = gather_coo(nodes, target).tanh()
        total = segment_coo(messages, target, dim_size=len(nodes))
        mean = segment_coo(messages, target, dim_size=len(nodes), reduce="mean")
        product = scatter_mul(messages.sigmoid(), target, dim=0, dim_size=len(nodes))
        return self.out(torch.cat([total, mean, product], 1)).square().mean()


PROGRAMS = (Segmenter, Detector, Recogniser, Flow, Graph, Attention)


def trained(program: Callable[[], nn.Module], device: str = "cpu") -> tuple[str, list[float]]:
    """A digest of the parameters after some steps, and the losses."""
    torch.manual_seed(0)
    model, losses = program().to(device), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3, 16, 20).to(device))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    parameters = b"".join(each.detach().cpu().numpy().tobytes() for each in model.parameters())
    return hashlib.sha256(parameters).hexdigest(), losses

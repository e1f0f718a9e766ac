"""Scripts of the kinds that people train, each small: what preflight says of them is right."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from preflight_reports import found, names

pytest.importorskip("torch")

from guard.rehearsal import gate

if TYPE_CHECKING:
    from pathlib import Path

    from forks import Forks

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)

LANGUAGE = """
    import math
    import os

    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(1337)
    np.random.seed(1337)
    device = "cuda"
    data = np.random.randint(0, 65, 10_000).astype(np.uint16)

    def batch():
        ix = torch.randint(len(data) - 32, (4,))
        x = torch.stack([torch.from_numpy(data[i : i + 32].astype(np.int64)) for i in ix])
        y = torch.stack([torch.from_numpy(data[i + 1 : i + 33].astype(np.int64)) for i in ix])
        return x.pin_memory().to(device, non_blocking=True), y.pin_memory().to(device)

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.qkv, self.out = nn.LayerNorm(64), nn.Linear(64, 192), nn.Linear(64, 64)

        def forward(self, x):
            q, k, v = self.qkv(self.norm(x)).split(64, dim=2)
            q, k, v = (each.view(4, 32, 4, 16).transpose(1, 2) for each in (q, k, v))
            y = F.scaled_dot_product_attention(q, k, v, dropout_p=0.1, is_causal=True)
            return x + self.out(y.transpose(1, 2).contiguous().view(4, 32, 64))

    class GPT(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens, self.places = nn.Embedding(65, 64), nn.Embedding(32, 64)
            self.blocks = nn.Sequential(Block(), Block())
            self.head = nn.Linear(64, 65, bias=False)
            self.head.weight = self.tokens.weight

        def forward(self, x, y):
            place = torch.arange(x.shape[1], device=x.device)
            logits = self.head(self.blocks(self.tokens(x) + self.places(place)))
            return F.cross_entropy(logits.view(-1, 65), y.view(-1), ignore_index=-1)

    model = torch.compile(GPT().to(device))
    scaler = torch.cuda.amp.GradScaler(enabled=True)
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    context = torch.amp.autocast(device_type="cuda", dtype=torch.bfloat16)

    @torch.no_grad()
    def estimate():
        model.eval()
        losses = torch.zeros(2)
        for k in range(2):
            losses[k] = model(*batch()).item()
        model.train()
        return losses.mean()

    best = 1e9
    for step in range(10):
        if estimate() < best:
            torch.save(model.state_dict(), "best.pt")
        for micro in range(2):
            with context:
                loss = model(*batch()) / 2
            scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
"""

SEGMENTATION = """
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)

    class UNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.down, self.deep = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
            self.up, self.out = nn.ConvTranspose2d(16, 8, 2, stride=2), nn.Conv2d(16, 4, 1)

        def forward(self, x):
            first = self.down(x).relu()
            deep = self.deep(F.max_pool2d(first, 2)).relu()
            up = F.pad(self.up(deep), (1, 1, 1, 1), mode="replicate")[..., 1:-1, 1:-1]
            up = F.interpolate(up, size=first.shape[2:], mode="bilinear", align_corners=False)
            return self.out(torch.cat([up, first], 1))

    model = UNet().cuda()
    optimizer = torch.optim.RMSprop(model.parameters())
    for _ in range(2):
        masks = torch.randint(0, 4, (2, 16, 16)).cuda()
        out = model(torch.randn(2, 3, 16, 16).cuda())
        dice = (out.softmax(1) * F.one_hot(masks, 4).permute(0, 3, 1, 2)).sum()
        loss = F.cross_entropy(out, masks) - dice
        loss.backward()
        optimizer.step()
"""

SPEECH = """
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence

    torch.manual_seed(0)
    lengths = torch.tensor([30, 25, 20])
    sounds = pad_sequence([torch.randn(int(n), 20) for n in lengths], batch_first=True).cuda()
    words = torch.randint(1, 10, (3, 6)).cuda()
    rnn, head = nn.LSTM(20, 32, 2, batch_first=True, dropout=0.2).cuda(), nn.Linear(32, 10).cuda()
    optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
    loss_of = nn.CTCLoss(zero_infinity=True)
    for _ in range(2):
        packed = pack_padded_sequence(sounds, lengths, batch_first=True)
        out, _ = pad_packed_sequence(rnn(packed)[0], batch_first=True)
        log_probs = head(out).log_softmax(-1).transpose(0, 1)
        loss = loss_of(log_probs, words, lengths, torch.full((3,), 6))
        loss.backward()
        optimizer.step()
"""

DIFFUSION = """
    import copy

    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)

    class Denoiser(nn.Module):
        def __init__(self):
            super().__init__()
            self.time = nn.Sequential(nn.Linear(1, 8), nn.SiLU())
            self.before, self.after = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(8, 3, 3, padding=1)
            self.norm = nn.GroupNorm(2, 8)

        def forward(self, x, t):
            y = self.norm(self.before(x)) + self.time(t[:, None].float())[..., None, None]
            y = F.interpolate(F.avg_pool2d(F.silu(y), 2), scale_factor=2.0, mode="nearest")
            return self.after(y)

    model = Denoiser().cuda()
    average = copy.deepcopy(model).eval().requires_grad_(False)
    betas = torch.linspace(1e-4, 0.02, 100, device="cuda")
    kept = torch.cumprod(1 - betas, 0)
    optimizer = torch.optim.AdamW(model.parameters())
    generator = torch.Generator("cuda").manual_seed(0)
    for step in range(3):
        x = torch.randn(4, 3, 8, 8).cuda()
        t = torch.randint(0, 100, (4,), device="cuda", generator=generator)
        noise = torch.randn(x.shape, device="cuda", generator=generator)
        a = kept[t][:, None, None, None]
        loss = F.mse_loss(model(a.sqrt() * x + (1 - a).sqrt() * noise, t), noise)
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for old, new in zip(average.parameters(), model.parameters()):
                old.mul_(0.99).add_(new, alpha=0.01)
"""

GRAPH = """
    import torch
    from torch import nn

    torch.manual_seed(0)
    edges = torch.randint(0, 20, (2, 60)).cuda()
    features, classes = torch.randn(20, 8).cuda(), torch.randint(0, 3, (20,)).cuda()
    trained = torch.rand(20).cuda() < 0.5

    class Convolution(nn.Module):
        def __init__(self, inner, outer, reduce):
            super().__init__()
            self.linear, self.reduce = nn.Linear(inner, outer), reduce

        def forward(self, x):
            sent = self.linear(x)[edges[0]]
            index = edges[1][:, None].expand_as(sent)
            empty = sent.new_zeros(20, sent.shape[1])
            return empty.scatter_reduce(0, index, sent, self.reduce, include_self=False)

    model = nn.Sequential(Convolution(8, 16, "sum"), nn.ReLU(), Convolution(16, 3, "prod")).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(3):
        out = model(features)
        degree = torch.zeros(20, device="cuda").index_add_(0, edges[1], torch.ones(60).cuda())
        loss = nn.functional.cross_entropy(out[trained], classes[trained]) + degree.mean()
        loss.backward()
        optimizer.step()
        accuracy = (out.argmax(1) == classes)[trained].float().mean().item()
"""

DETECTION = """
    import torch
    import torch.nn.functional as F
    from torch import nn

    torch.manual_seed(0)

    class Detector(nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = nn.Conv2d(3, 8, 3, stride=4)
            self.scores, self.boxes = nn.Conv2d(8, 3, 1), nn.Conv2d(8, 12, 1)
            self.head, self.mask = nn.Linear(8 * 49, 5), nn.ConvTranspose2d(8, 1, 2, stride=2)

        def forward(self, images, targets):
            maps = self.backbone(images)
            scores = self.scores(maps).flatten(1)
            best, index = scores.topk(min(6, scores.shape[1]), dim=1)
            places = index[..., None].expand(-1, -1, 4)
            boxes = self.boxes(maps).reshape(len(images), -1, 4).gather(1, places)
            keep = best > 0
            losses = [best[keep].sum() * 0]
            for image, target in enumerate(targets):
                if keep[image].sum() == 0:
                    continue
                x = torch.linspace(-1, 1, 7, device=images.device)
                grid = torch.stack(torch.meshgrid(x, x, indexing="ij"), -1)
                count = len(target["labels"])
                pooled = F.grid_sample(
                    maps[image : image + 1].expand(count, -1, -1, -1),
                    grid.expand(count, -1, -1, -1),
                    align_corners=False,
                )
                losses.append(F.cross_entropy(self.head(pooled.flatten(1)), target["labels"]))
                losses.append(F.smooth_l1_loss(boxes[image, :count], target["boxes"]))
                masks = self.mask(pooled)[:, 0]
                losses.append(F.binary_cross_entropy_with_logits(masks, target["masks"]))
            return sum(losses)

    model = Detector().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for _ in range(2):
        targets = [
            dict(labels=torch.tensor([1, 2]), boxes=torch.rand(2, 4), masks=torch.rand(2, 14, 14))
            for _ in range(2)
        ]
        targets = [{k: v.to("cuda") for k, v in each.items()} for each in targets]
        loss = model(torch.rand(2, 3, 32, 32).cuda(), targets)
        if not torch.isfinite(loss):
            raise SystemExit("diverged")
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""

F_ = "torch.nn.functional."
KINDS = {
    "language": (LANGUAGE, set(), {"torch.nn.Embedding"}),
    "segmentation": (SEGMENTATION, {F_ + "nll_loss"}, {"torch.nn.Conv2d"}),
    "speech": (SPEECH, {F_ + "ctc_loss", "torch.nn.LSTM"}, set()),
    "diffusion": (DIFFUSION, {"torch.cumprod"}, {"torch.nn.Conv2d"}),
    "graph": (GRAPH, {'torch.Tensor.scatter_reduce(reduce="prod")'}, {"torch.index_add"}),
    "detection": (DETECTION, {"torch.topk", F_ + "grid_sample"}, {"torch.nn.Conv2d"}),
}


@pytest.mark.parametrize(("text", "refused", "switched"), KINDS.values(), ids=KINDS)
def test_the_list_of_a_program_is_right(
    tmp_path: Path, forks: Forks, text: str, refused: set[str], switched: set[str]
) -> None:
    report = found(forks, tmp_path, text)
    assert report["steps"] == 1, report["limits"]
    assert report["complete"]
    assert names(report) == refused
    assert names(report, "deterministic if enabled") >= switched
    assert report["sources"] == []
    assert [each.name for each in tmp_path.iterdir()] == ["train.py"]

"""DET501 on the shapes that training code takes."""

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from einops import rearrange
from torch import Tensor
from torch.nn import functional
from torch.nn.functional import grid_sample as sample
from torch.nn.modules.pooling import AdaptiveMaxPool2d

SIZE = 7
pool_class = nn.AdaptiveMaxPool1d


class Attention(nn.Module):
    def __init__(self, size, channels):
        super().__init__()
        self.average = nn.AdaptiveAvgPool2d(1)  # a mean
        self.one = nn.AdaptiveAvgPool2d((1, 1))
        self.named = nn.AdaptiveAvgPool2d(output_size=(1, 1))
        self.unknown = nn.AdaptiveAvgPool2d(size)
        self.half = nn.AdaptiveAvgPool2d((1, size))
        self.volume = nn.AdaptiveAvgPool3d((None, 1, 1))  # DET501
        self.seven = nn.AdaptiveAvgPool2d(SIZE)  # DET501
        self.wide = nn.AdaptiveAvgPool2d((size, 7))  # DET501
        self.most = AdaptiveMaxPool2d(1)  # DET501
        self.line = pool_class(1)  # DET501
        self.classes = torch.nn.Sequential(nn.AvgPool3d(2), nn.ReLU())  # DET501
        self.plain = nn.AvgPool2d(2)
        self.deep = nn.MaxPool3d(2, return_indices=True)
        self.deeper = nn.MaxPool3d(2)  # DET501
        self.undo = nn.MaxUnpool2d(2)  # DET501
        self.mirror = nn.ReflectionPad1d(3)  # DET501
        self.mirror2d = nn.ReflectionPad2d(3)  # deterministic since torch 2.7
        self.edge = nn.ReplicationPad2d(3)
        self.reflecting = nn.Conv1d(3, 3, 5, padding=2, padding_mode="reflect")  # DET501
        self.reflecting2d = nn.Conv2d(3, 3, 5, padding=2, padding_mode="reflect")
        self.zeros = nn.Conv1d(3, 3, 5, padding=2)
        self.grow = nn.Upsample(scale_factor=2, mode="bicubic")  # DET501
        self.smooth = nn.Upsample(scale_factor=2, mode="bilinear")
        self.bag = nn.EmbeddingBag(10, 3, mode="max")  # DET501
        self.mean_bag = nn.EmbeddingBag(10, 3, mode="mean")
        self.loss = nn.CTCLoss(zero_infinity=True)  # DET501
        self.only_here = nn.AvgPool3d(2)  # used without gradients below
        self.there_too = nn.AvgPool3d(3)  # DET501

    @torch.no_grad()
    def target(self, x):
        return self.only_here(x) + self.there_too(x) + F.grid_sample(x, x)

    def forward(self, x):
        return self.there_too(x)


class AdaptiveAvgPool2d(nn.Module):
    """One of the project's own, by torch's name."""


own = AdaptiveAvgPool2d(7)


def resizing(x, size, mode, options):
    F.interpolate(x, size=size)
    F.interpolate(x, size=size, mode="nearest")
    F.interpolate(x, size=size, mode="bilinear")
    F.interpolate(x, size=size, mode=mode)
    F.interpolate(x, size=size, **options)
    F.interpolate(x, size=size, mode="bicubic")  # DET501
    F.interpolate(x, None, 2, "linear")  # DET501
    F.interpolate(x, size=size, mode="bilinear", antialias=True)  # DET501
    functional.interpolate(x, size=size, mode="area")  # DET501
    F.interpolate(x, size=size, mode="bicubic", **options)  # DET501
    F.interpolate(x, size=(1, 1), mode="area")
    F.interpolate(x.detach(), size=size, mode="bicubic")
    F.interpolate(x.detach().float(), size=size, mode="bicubic")
    F.interpolate(torch.from_numpy(size), size=size, mode="bicubic")
    kernel = "bicubic"
    F.interpolate(x, size=size, mode=kernel)  # DET501
    with torch.no_grad():
        F.interpolate(x, size=size, mode="bicubic")
    with torch.set_grad_enabled(False):
        F.interpolate(x, size=size, mode="bicubic")
    with torch.set_grad_enabled(options):
        return F.interpolate(x, size=size, mode="bicubic")  # DET501


@torch.inference_mode()
def upscale(x):
    return F.interpolate(x, scale_factor=2, mode="bicubic")


def preprocess(image):
    return F.interpolate(image, size=224, mode="bicubic")  # possible DET501


def adapt(model, state_dict):
    state_dict["pos_embed"] = F.interpolate(state_dict["pos_embed"], size=14, mode="bicubic")  # possible DET501


class CLIPImageProcessor:
    def resize(self, image):
        return F.interpolate(image, size=224, mode="bicubic")  # possible DET501


class Warp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, grid):
        return F.grid_sample(x, grid)


def padding(x, n, sides):
    F.pad(x, (n, n), mode="reflect")  # DET501
    F.pad(x, [n, n], "reflect")  # DET501
    F.pad(x, (0, 0, 0, 0, 1, 1), mode="reflect")  # DET501
    F.pad(x, (1, 1, 1, 1), mode="reflect")
    F.pad(x, sides, mode="reflect")
    F.pad(x, (1, 1), mode="replicate")
    F.pad(x, (1, 1))
    np.pad(x, (1, 1), mode="reflect")


def warping(x, grid):
    grid = F.affine_grid(grid, x.shape)
    torch.grid_sampler(x, grid, 0, 0, False)  # DET501
    sample(x, grid)  # DET501
    sample(x.detach(), grid)  # DET501
    return torch.nn.functional.grid_sample(x, grid, align_corners=True)  # DET501


def losses(logits, target, steps, lengths, batch: Tensor):
    F.ctc_loss(logits, target, steps, lengths)  # DET501
    F.cross_entropy(logits, target)
    F.cross_entropy(logits.view(-1, 10), target.view(-1))
    F.cross_entropy(logits.transpose(1, 2), target)  # DET501
    F.cross_entropy(logits.transpose(0, 1), target)
    F.cross_entropy(logits.permute(0, 2, 1), target, reduction="none")
    F.cross_entropy(rearrange(logits, "b n c -> b c n"), target)  # DET501
    F.cross_entropy(rearrange(logits, "b n c -> (b n) c"), target)
    F.cross_entropy(logits[:, :, :5], target)  # DET501
    F.cross_entropy(logits[:, :, 0], target)
    F.cross_entropy(logits[:, 1:], target)
    moved = logits.permute(0, 2, 1).contiguous()
    F.nll_loss(F.log_softmax(moved, dim=1), target)  # DET501
    criterion = nn.CrossEntropyLoss(ignore_index=0)
    criterion(logits.permute(0, 3, 1, 2), target)  # DET501
    criterion(logits.reshape(-1, 10), target)
    apart = nn.CrossEntropyLoss(reduction="none")
    return apart(logits.permute(0, 3, 1, 2), target)


def indexing(x, index, source, queue, table: Tensor):
    x.put_(index, source)  # DET501
    queue.put(index)
    torch.zeros(9).put(index, source)  # DET501
    table.put(index, source)  # DET501
    x.take(index)
    np.take(x, index)
    torch.take(x, index)  # DET501
    torch.take(x.long(), index)
    x.index_reduce_(0, index, source, "amax")  # DET501
    x.scatter_(0, index, source)
    x.scatter_(0, index, source, reduce="add")
    x.scatter_(0, index, source, reduce="multiply")  # DET501
    x.scatter_(0, index, 2.0, reduce="multiply")
    x.scatter_reduce(0, index, source, reduce="sum")
    x.scatter_reduce(0, index, source, reduce="prod")  # DET501
    return x.scatter_reduce_(0, index, source, "prod")  # DET501


def selecting(x, y, frame: pd.DataFrame, array, table: torch.Tensor):
    x.median()
    torch.median(x)
    torch.median(x, dim=1)  # DET501
    x.median(dim=-1).values  # DET501
    x.median(1)
    table.median(1)  # DET501
    array.median(dim="time")
    frame.median(axis=1)
    np.median(x, axis=1)
    torch.bincount(x)
    torch.bincount(x, weights=y)  # DET501
    np.bincount(x, weights=y)
    torch.histc(x, bins=10)  # DET501
    torch.histc(x.long(), bins=10)
    torch.histc(x.float() if y is None else x.int(), bins=10)
    kind = torch.int32 if y is None else torch.float32
    torch.histc(x.to(kind), bins=10)
    torch.kthvalue(x, 3)
    torch.topk(x, 3)
    return torch.cumsum(x.float(), dim=0)


def shadowed(torch, x):
    return torch.median(x, 1)


class Frozen(nn.Module):
    def forward(self, x):
        pool = nn.AdaptiveMaxPool2d(1)
        with torch.no_grad():
            return pool(x)


def on_the_cpu(image, scores: Tensor, device, array, rows, grid):
    F.interpolate(image.cpu(), scale_factor=2, mode="bicubic")
    F.interpolate(image.cpu().float(), scale_factor=2, mode="bicubic").to(device)
    F.interpolate(torch.from_numpy(array)[None] / 255.0, scale_factor=2, mode="bicubic")
    torch.median(scores.to("cpu"), dim=1)
    torch.median(scores.to(torch.device("cpu")), dim=1)
    torch.median(torch.stack([each.cpu() for each in rows]), dim=1)
    torch.median(torch.stack([scores.cpu(), scores.cpu()]), dim=1)
    expected = scores.sum() * scores.cpu()
    torch.median(expected - expected.floor(), dim=1)
    torch.median(torch.zeros(3, 3, device="cpu"), dim=1)
    here = scores.cpu()
    here.median(dim=1)
    here.to(torch.float32).median(dim=1)
    # the kernels of the CPU scatter in any order, too
    here.put_(rows, scores)  # DET501
    # back where it came from, or not known
    torch.median(here.to(device), dim=1)  # DET501
    torch.median(here.cuda(), dim=1)  # DET501
    torch.median(torch.zeros(3, 3, device=device), dim=1)  # DET501
    F.interpolate(image, grid.cpu(), mode="bicubic")  # DET501


def on_the_cpu_in_turn(counts, scale, samples, device):
    expected = counts * scale.cpu()
    expected = expected.floor() + samples
    if samples is not None:
        expected = torch.median(expected, dim=0)[0]
    other = counts.cpu()
    other = other.to(device)
    return expected, torch.median(other, dim=0)  # DET501


# Where no loss is reached, by name


class ConstrainedBeamSearch:
    def step(self, scores, tokens):
        return scores.take(tokens)


def search_tokens(x):
    return torch.nn.functional.interpolate(x, size=8, mode="bicubic")  # possible DET501


def collect_features(x):
    return torch.nn.functional.interpolate(x, size=8, mode="bicubic")  # possible DET501


def extract_features(x):
    return torch.nn.functional.interpolate(x, size=8, mode="bicubic")  # DET501


# Made of numbers and data, so that nothing is trained through it


class Positions(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.register_buffer("table", table, persistent=False)
        self.learned = nn.Parameter(table)

    def resized(self, height, width):
        patches = self.table[:, 1:, :]
        patches = patches.reshape(1, 1, -1, 8).permute(0, 3, 1, 2)
        return F.interpolate(patches, size=(height, width), mode="bicubic")

    def learned_resized(self, height, width):
        patches = self.learned[:, 1:, :].reshape(1, 1, -1, 8)
        return F.interpolate(patches, size=(height, width), mode="bicubic")  # DET501


def follow(flows, starts, count, device):
    shape = flows.shape[1:]
    points = torch.zeros((1, 1, len(starts), 2), dtype=torch.float32, device=device)
    image = torch.zeros((1, 2, *shape), device=device)
    for axis in range(2):
        points[0, 0, :, axis] = torch.from_numpy(starts[axis]).to(device)
        image[0, axis] = torch.from_numpy(flows[axis]).to(device)
    image *= 2.0 / shape[0]
    for _ in range(count):
        step = F.grid_sample(image, points, align_corners=False)
        points[..., 0] += step[:, 0]
    return points


def follow_tensors(flows, starts, device):
    points = torch.zeros((1, 1, len(starts), 2), device=device)
    points[..., 0] = starts
    image = torch.zeros((1, 2, 8, 8), device=device)
    return F.grid_sample(image, points, align_corners=False)  # DET501


def follow_own(count):
    points = torch.zeros((1, 1, count, 2), requires_grad=True)
    image = torch.zeros((1, 2, 8, 8))
    return F.grid_sample(image, points, align_corners=False)  # DET501


def follow_weights(count):
    points = nn.Parameter(torch.zeros((1, 1, count, 2)))
    image = torch.zeros((1, 2, 8, 8))
    return F.grid_sample(image, points, align_corners=False)  # DET501


# Called where gradients are off, and nowhere else


def _resized_frames(frames):
    return F.interpolate(frames, size=8, mode="bicubic")


@torch.no_grad()
def measure(frames):
    return _resized_frames(frames).mean()


def _resized_everywhere(frames):
    return F.interpolate(frames, size=8, mode="bicubic")  # DET501


@torch.no_grad()
def measure_everywhere(frames):
    return _resized_everywhere(frames).mean()


def train_everywhere(frames):
    return _resized_everywhere(frames).mean()


class VideoPredictor:
    def masks(self, prompts):
        return F.interpolate(prompts, size=8, mode="bicubic")  # possible DET501


class Relative(nn.Module):
    def __init__(self, table):
        super().__init__()
        self.fixed = nn.Parameter(table, requires_grad=False)
        self.free = nn.Parameter(table)

    def forward(self, x):
        return x + self._resized_fixed(self.fixed, 8) + self._resized_free(self.free, 8)

    def _resized_fixed(self, table, size):
        return F.interpolate(table.unsqueeze(0), size=size, mode="bicubic")

    def _resized_free(self, table, size):
        return F.interpolate(table.unsqueeze(0), size=size, mode="bicubic")  # DET501


def counted(rows, count):
    numbers = torch.randint(0, count, (rows, 8)).cuda()
    values = torch.rand(rows, 8).cuda()
    return (
        torch.stack([torch.histc(each, count) for each in torch.split(numbers, 1)]),
        torch.stack([torch.histc(each, count) for each in torch.split(values, 1)]),  # DET501
    )


def evaluated(model, x, y, options):
    if options.ctc:
        criterion = nn.CTCLoss(zero_infinity=True).to(x.device)
    else:
        criterion = nn.CrossEntropyLoss()
    with torch.no_grad():
        return model.validate(x, y, criterion)


def trained(model, x, y, options):
    if options.ctc:
        criterion = nn.CTCLoss(zero_infinity=True)  # DET501
    else:
        criterion = nn.CrossEntropyLoss()
    with torch.no_grad():
        model.validate(x, y, criterion)
    return criterion(model(x), y)


def warp_what_was_loaded(image, grid):
    return F.grid_sample(torch.Tensor(image).permute(2, 0, 1)[None], grid[None])


# Sizes that come from elsewhere in the file


class Fixed(nn.Module):
    def __init__(self, pooled, one=1):
        super().__init__()
        self.height = self.width = 32
        self.one = one = 1
        self.pooled = pooled
        self.either = 7
        if pooled is None:
            self.either = 5
        self.changed = 7
        self.changed = pooled

    def forward(self, x, other):
        x = nn.AdaptiveAvgPool2d((self.height, self.width))(x)  # DET501
        x = F.adaptive_avg_pool2d(x, self.one)
        x = F.adaptive_avg_pool2d(x, self.pooled)
        x = F.adaptive_avg_pool2d(x, self.either)  # DET501
        x = F.adaptive_avg_pool2d(x, self.changed)
        x = F.adaptive_avg_pool2d(x, other.shape[-2:])  # DET501
        _, _, height, width = other.size()
        x = F.adaptive_avg_pool2d(x, (height, width))  # DET501
        size = other.shape[2]
        return F.adaptive_avg_pool2d(x, (size, size))  # DET501


def pyramid(x, scales, sizes=(1, 2, 3, 6), ones=(1, 1)):
    levels = [F.adaptive_avg_pool2d(x, scale) for scale in (1, 2, 3, 6)]  # DET501
    for scale in [1, 2]:
        levels.append(F.adaptive_avg_pool2d(x, scale))  # DET501
    for scale in (1, (1, 1)):
        levels.append(F.adaptive_avg_pool2d(x, scale))
    for scale in scales:
        levels.append(F.adaptive_avg_pool2d(x, scale))
    for scale in ones:
        levels.append(F.adaptive_avg_pool2d(x, scale))
    for scale in sizes:
        levels.append(F.adaptive_avg_pool2d(x, scale))  # DET501
    for place, scale in enumerate(sizes):
        levels[place] = F.adaptive_avg_pool2d(x, scale)  # DET501
    return levels


class Pyramid(nn.Module):
    def __init__(self, channels, bins):
        super().__init__()
        self.levels = nn.ModuleList(nn.AdaptiveAvgPool2d(each) for each in bins)  # DET501


class PyramidOfOnes(nn.Module):
    def __init__(self, channels, bins):
        super().__init__()
        self.levels = nn.ModuleList(nn.AdaptiveAvgPool2d(each) for each in bins)


class UnknownPyramid(nn.Module):
    def __init__(self, channels, bins):
        super().__init__()
        self.levels = nn.ModuleList(nn.AdaptiveAvgPool2d(each) for each in bins)


class Segmenter(nn.Module):
    def __init__(self, config, bins=(1, 2, 3, 6)):
        super().__init__()
        self.pyramid = Pyramid(64, bins)
        self.ones = PyramidOfOnes(64, bins=(1, 1))
        self.unknown = UnknownPyramid(64, config.bins)


class KeptSizes(nn.Module):
    def __init__(self, sizes=[1, 2, 3]):
        super().__init__()
        self.sizes = sizes

    def forward(self, x):
        return [F.adaptive_avg_pool2d(x, size) for size in self.sizes]  # DET501


def squeezed(x, size):
    return F.adaptive_avg_pool2d(x, size)


def pooled(x, size):
    if isinstance(size, int):
        size = (size, size)
    return F.adaptive_avg_pool2d(x, size)  # DET501


def both(x):
    return squeezed(x, 1) + pooled(x, 7)


def by_kind(x, kind):
    size = 8 if kind else 1
    return F.adaptive_avg_pool2d(x, size)  # DET501


# Modules made of torch's


class SamePool(nn.MaxPool3d):
    def forward(self, x):
        return super().forward(F.pad(x, (0, 1)))


class OtherPool(nn.MaxPool3d):
    def forward(self, x):
        return x.amax(dim=2)


class SevenPool(nn.AdaptiveAvgPool2d):
    def __init__(self):
        super().__init__((7, 7))


class OnePool(nn.AdaptiveAvgPool2d):
    def __init__(self, size):
        super().__init__(1)


class AnyPool(nn.AdaptiveAvgPool2d):
    pass


def derived(size):
    return nn.Sequential(
        SamePool(kernel_size=3, stride=2),  # DET501
        OtherPool(3),
        SevenPool(),  # DET501
        OnePool(3),
        AnyPool(1),
        AnyPool((3, 3)),  # DET501
        AnyPool(size),
    )


# Public, and called in the file where gradients are off


def features(network, images):
    return network(F.interpolate(images, size=299, mode="bicubic"))


def features_of_all(network, images):
    return network(F.interpolate(images, size=299, mode="bicubic"))  # DET501


def resized_by_many(images):
    return F.interpolate(images, size=299, mode="bicubic")  # DET501


@torch.no_grad()
def statistics(network, images):
    return features(network, images).mean() + features_of_all(network, images).mean()


def statistics_of_all(network, images):
    with torch.no_grad():
        once = features(network, images)
    return features_of_all(network, images) + once


resizers = {"bicubic": resized_by_many}


# Results through which no gradient comes back


def shortcut(x, planes, stride):
    out = F.avg_pool3d(x, kernel_size=2, stride=stride)
    zeros = torch.zeros(out.size(0), planes - out.size(1), device=out.device)
    return torch.cat([out.data, zeros], dim=1)


def shortcut_with_gradient(x, planes, stride):
    out = F.avg_pool3d(x, kernel_size=2, stride=stride)  # DET501
    zeros = torch.zeros(out.size(0), planes - out.size(1), device=out.device)
    return torch.cat([out, zeros], dim=1), out.data


def predicted(x):
    scores = F.interpolate(x, size=8, mode="bicubic")
    scores = scores.argmax(dim=1)
    return scores, F.interpolate(x, size=8, mode="bicubic").squeeze().cpu().numpy()


def never_used(x):
    criterion = nn.CTCLoss()
    used = nn.CTCLoss()  # DET501
    # criterion(x)
    return used(x)


# No GPU here


def sampled(x, grid):
    return F.grid_sample(x, grid)


def sampled_there(x, grid):
    if torch.cuda.is_available() and x.is_cuda:
        return F.grid_sample(x, grid)  # DET501
    else:
        return sampled(x, grid)


def sampled_here(x, grid):
    if not x.is_cuda:
        torch.median(x, dim=1)
        return F.grid_sample(x, grid)
    return F.grid_sample(x, grid)  # DET501


def attention_pytorch(value, grid):
    return F.grid_sample(value, grid)  # possible DET501


# What a loss compares with


def photometric(tgt_img, ref_imgs, depth, image):
    scaled = F.interpolate(tgt_img[:, :3].float(), (3, 3), mode="area")  # possible DET501
    others = [F.interpolate(each, (3, 3), mode="area") for each in ref_imgs]  # possible DET501
    F.grid_sample(tgt_img, depth)  # DET501
    target = image * 2
    F.interpolate(target, (3, 3), mode="area")  # DET501
    return scaled, others, F.interpolate(image, (3, 3), mode="area")  # DET501


def attention_transfer(f_s, f_t):
    size, wanted = f_s.shape[2], f_t.shape[2]
    if size > wanted:
        f_s = F.adaptive_avg_pool2d(f_s, (wanted, wanted))  # DET501
    else:
        f_t = F.adaptive_avg_pool2d(f_t, (size, size))  # possible DET501
    return f_s - f_t


class Grids(nn.Module):
    def __init__(self, count):
        super().__init__()
        across, down = torch.meshgrid([torch.arange(count), torch.arange(count)])
        self.grid = torch.stack((across, down))[None]
        self.grid = self.grid.cuda()
        self.mixed = torch.zeros(3, 3)
        self.mixed = self.mixed + nn.Linear(3, 3).weight
        self.written = torch.zeros(3, 3)

    def forward(self, x):
        self.written[0] = x
        F.interpolate(self.written, size=8, mode="bicubic")  # DET501
        F.interpolate(self.mixed, size=8, mode="bicubic")  # DET501
        return x + F.interpolate(self.grid, size=8, mode="bicubic")


def resized_batch(data, levels):
    data["images"] = F.interpolate(data["images"], size=8, mode="bicubic")  # possible DET501
    levels["deep"] = F.interpolate(levels["deep"], size=8, mode="bicubic")  # DET501
    data["deep"] = F.interpolate(data["deep"], size=8, mode="bicubic")  # DET501
    return data, levels


# Inputs of three or more dimensions, and losses that are kept

kept = nn.CrossEntropyLoss().to("cuda")  # DET501
kept_flat = nn.CrossEntropyLoss()
shadowing = nn.NLLLoss()


def step(x, y, shadowing):
    batch, classes, height, width = x.shape
    kept_flat(x.view(-1, classes), y)
    shadowing(x, y)
    return kept(x, y)


class Segmentation(nn.Module):
    def __init__(self, weight, size_average=None, reduction="mean", other="mean"):
        super(Segmentation, self).__init__()
        if weight is None:
            self.loss = nn.CrossEntropyLoss()  # DET501
        else:
            self.loss = nn.CrossEntropyLoss(weight=weight)  # DET501
        self.reduced = nn.NLLLoss(reduction=reduction)  # DET501
        self.told = nn.CrossEntropyLoss(reduction=other)
        self.apart = nn.CrossEntropyLoss(reduction="none")
        self.flat = nn.CrossEntropyLoss()
        self.unknown = nn.CrossEntropyLoss()

    def forward(self, predictions, target, points):
        size = target.size()[1:]
        resized = F.interpolate(predictions[0], size=size, mode="bilinear", align_corners=True)
        points = torch.transpose(points, 0, 1)
        points = points.unsqueeze(0)
        self.flat(resized.permute(0, 2, 3, 1).reshape(-1, 19), target)
        self.unknown(predictions[1], target)
        self.told(resized, target)
        self.apart(resized, target)
        return self.loss(resized, target) + self.reduced(F.log_softmax(points, dim=1), target)


class Other(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Segmentation(None, other="none")
        self.loss = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.loss(x, y)


def volumes(model, x, y, on_gpu):
    criterion = nn.CrossEntropyLoss(ignore_index=-1)
    if on_gpu:
        criterion = criterion.cuda()
    masks = model(x)
    [n, _, d, h, w] = masks.shape
    return criterion(masks, y)  # DET501


def sizes_of_others(model, x, y):
    criterion = nn.CrossEntropyLoss()
    n, c, h, w = x.shape
    logits = model(x)
    if logits.dim() == 4:
        _, _, h, w = logits.shape
        criterion(logits, y)  # DET501
    criterion(logits, y)
    x = x.mean(dim=(2, 3))
    return criterion(x, y)


def by_index(x, y, z):
    if x.shape[1] > x.size(2):
        F.cross_entropy(x, y)  # DET501
    height, width = z.shape[2:]
    F.cross_entropy(z, y)  # DET501
    F.cross_entropy(z.mean(dim=1), y)
    return F.cross_entropy(F.interpolate(y, scale_factor=2), y)  # DET501


def by_default(x, size, mode="bicubic", other="bicubic"):
    x = F.interpolate(x, size=size, mode=mode)  # DET501
    return F.interpolate(x, size=size, mode=other)


def not_by_default(x):
    return by_default(x, 8, other="nearest")


# What a loader gives


def trained_on(model, train_loader, epochs, optimizer):
    for step, (images, labels) in enumerate(train_loader):
        small = images.cuda()
        if step % 2:
            small = small[torch.randperm(8)]
        small = F.interpolate(small, size=8, mode="bicubic")  # possible DET501
        out = model(small)
        F.interpolate(out, size=8, mode="bicubic").mean().backward()  # DET501
    first, second = train_loader.next()
    F.interpolate(first, size=8, mode="bicubic")  # possible DET501
    later = next(iter(train_loader))["image"]
    later = model.augment(later)
    return F.interpolate(later, size=8, mode="bicubic")  # DET501


def adversarial(model, loader):
    for images, labels in loader:
        images.requires_grad_()
        model(F.interpolate(images, size=8, mode="bicubic"))  # DET501


def sparse_pool(x, size):
    return F.adaptive_max_pool2d(x, size)  # possible DET501


def dense_pool(x, size):
    return F.adaptive_max_pool2d(x, size)  # DET501


def pooled_loss(output, target):
    size = output.shape[-2:]
    return dense_pool(output, size) + dense_pool(target, size) - sparse_pool(target, size)


def prepared(pair):
    flow, mask = pair
    flow = torch.autograd.Variable(flow.cuda(), requires_grad=False)
    mask = mask.requires_grad_() if mask is None else mask
    return flow


def prepared_to_train(pair):
    return torch.autograd.Variable(pair.cuda(), requires_grad=True)


def shown(model, loader, teacher):
    for pair in loader:
        flow = prepared(pair)
        F.interpolate(flow, size=8, mode="area")
        F.interpolate(prepared_to_train(pair), size=8, mode="area")  # DET501
        with torch.no_grad():
            taught, _ = teacher(flow)
        F.interpolate(taught, size=8, mode="area")
        F.interpolate(model(flow), size=8, mode="area")  # DET501


def gathered(model, parts):
    filled, zeros = [], []
    for part in parts:
        filled.append(model(part))
        zeros.append(torch.zeros(8))
    F.interpolate(torch.stack(zeros), size=8, mode="area")
    return F.interpolate(torch.stack(filled), size=8, mode="area")  # DET501


# Results of which only an index or a comparison is used


def matched(one, other, grid):
    sampled = F.grid_sample(other, grid)[0, :, :, 0].transpose(0, 1)
    distances = torch.norm(one[:, None] - sampled[None], dim=2)
    places = torch.min(distances, dim=1)[1]
    scores = F.grid_sample(one, grid).squeeze()
    best = torch.max(scores, dim=2, keepdim=True)[1].cpu().numpy()
    _, nearest = F.grid_sample(one, grid).max(dim=1)
    return places, best, nearest, F.grid_sample(one, grid) > 0.5


def matched_with_values(one, other, grid):
    sampled = F.grid_sample(other, grid)  # DET501
    values, places = torch.min(sampled, dim=1)
    scores = F.grid_sample(one, grid)  # DET501
    best = torch.max(scores, other)
    return values, places, best, F.grid_sample(one, grid).max(dim=1)[0]  # DET501


def shown_image(image, writer):
    image = F.interpolate(image, size=8, mode="area")
    image = image[0] * 255
    writer.add_image("image", image.data.cpu().numpy())


def bound_to_a_name(logits, target, weight):
    loss_ce = nn.functional.cross_entropy(logits.transpose(1, 2), target, weight)  # DET501
    flat = F.cross_entropy(logits.view(-1, logits.size(-1)), target)
    return {"loss_ce": loss_ce + flat}


# Spectra are padded by reflection


class SpectralLoss(nn.Module):
    def forward(self, made, wanted):
        made = torch.stft(made, 512, 128, return_complex=True)  # DET501
        centred = torch.stft(made, 512, 128, 512, None, True, "reflect")  # DET501
        whole = torch.stft(made, 512, center=False, return_complex=True)
        zeros = torch.stft(made, 512, pad_mode="constant", return_complex=True)
        return sum((each - wanted).abs().mean() for each in (made, centred, whole, zeros))


# What decides is kept, chosen, or a default

RESIZE = dict(mode="bilinear", antialias=True)
SMOOTH = dict(mode="bilinear")
POOLS = {"avg": nn.AdaptiveAvgPool2d, "last": nn.AvgPool2d}


@dataclass
class Config:
    mode: str = "bicubic"
    pad: str = "constant"


class Chosen(nn.Module):
    padding = "reflect"

    def __init__(self, config: Config, pool="avg", mode="bicubic", plain="nearest"):
        super().__init__()
        self.config, self.mode, self.plain = config, mode, plain
        self.conv = nn.Conv2d(3, 8, 3)
        self.pool = POOLS[pool]((2, 2))  # DET501
        self.last = POOLS["last"]((2, 2))
        self.asked = {"avg": nn.AdaptiveAvgPool2d, "last": nn.AvgPool2d}[pool]((2, 2))  # DET501
        self.other = {"avg": nn.AdaptiveAvgPool2d, "last": nn.AvgPool2d}["last"]((2, 2))
        asked = POOLS.get(pool)
        self.got = asked((2, 2))  # DET501
        other = POOLS.get("last")
        self.kept = other((2, 2))

    def forward(self, x, size):
        x = F.interpolate(self.conv(x), size, mode=self.mode)  # DET501
        x = F.interpolate(self.conv(x), size, mode=self.plain)
        x = F.interpolate(self.conv(x), size, mode=self.config.mode)  # DET501
        x = F.interpolate(self.conv(x), size, **RESIZE)  # DET501
        x = F.interpolate(self.conv(x), size, **SMOOTH)
        x = F.pad(self.conv(x), (1, 1), mode=self.padding)  # DET501
        x = F.pad(self.conv(x), (1, 1), mode=self.config.pad)
        return self.last(self.got(self.pool(self.conv(x))))


def tokens(fmap, grid=4, one=1):
    return F.adaptive_avg_pool2d(fmap, (grid, grid)) + F.adaptive_avg_pool2d(fmap, one)  # DET501


# Layers that others call


class Inheriting(Chosen):
    def make_pool(self):
        return nn.AdaptiveAvgPool2d(4)  # DET501


class OwnForward(nn.Module):
    def make_pool(self):
        return nn.AdaptiveAvgPool2d(4)  # possible DET501

    def forward(self, x):
        return x


class Added(nn.Module):
    def __init__(self):
        super().__init__()
        self.head = nn.Sequential()
        self.head.add_module("first", nn.AdaptiveMaxPool2d((2, 2)))  # possible DET501
        self.head.add_module("conv", nn.Conv2d(8, 8, 3))
        self.head.add_module("pool", nn.AdaptiveMaxPool2d((2, 2)))  # DET501
        self.add_module("own", nn.AdaptiveMaxPool2d((3, 3)))  # DET501

    def forward(self, x):
        return self.own(self.head(x))


class Pyramid(nn.Module):
    def __init__(self, scales):
        super().__init__()
        self.levels = nn.ModuleList()
        for scale in scales:
            self.levels.append(nn.Sequential(nn.AdaptiveAvgPool2d(scale), nn.ReLU()))  # DET501
        self.levels.append(nn.AdaptiveAvgPool2d(4))  # DET501
        self.others = nn.ModuleList()
        self.others.append(nn.AdaptiveAvgPool2d(4))  # possible DET501

    def forward(self, x):
        return [level(x) for level in self.levels]


class PyramidOfList(nn.Module):
    def __init__(self, scales):
        super().__init__()
        levels = []
        for scale in scales:
            levels.append(nn.Sequential(nn.AdaptiveAvgPool2d(scale), nn.ReLU()))  # DET501
        self.levels = nn.ModuleList(levels)

    def forward(self, x):
        return [level(x) for level in self.levels]


class PyramidItself(nn.ModuleList):
    def __init__(self, scales):
        super().__init__()
        self.append(nn.AdaptiveAvgPool2d(4))  # DET501
        for scale in scales:
            self.append(nn.AdaptiveAvgPool2d(scale))  # DET501

    def forward(self, x):
        return [level(x) for index, level in enumerate(self)]


class PyramidOfImages(nn.Module):
    def __init__(self, scales):
        super().__init__()
        self.levels = nn.ModuleList()
        for scale in scales:
            self.levels.append(nn.AdaptiveAvgPool2d(scale))

    @torch.no_grad()
    def forward(self, x):
        return [level(x) for level in self.levels]


class Levels(nn.Module):
    def __init__(self, scales=(1, 2, 3, 6)):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.pyramid = Pyramid(scales)
        self.listed = PyramidOfList(scales)
        self.itself = PyramidItself(scales)
        self.images = PyramidOfImages(scales)

    def forward(self, images):
        x = self.stem(images)
        return [*self.pyramid(x), *self.listed(x), *self.itself(x), *self.images(images)]


class Words(nn.Module):
    def __init__(self, mode="max"):
        super().__init__()
        self.bag = nn.EmbeddingBag(10, 3, mode=mode)  # DET501

    def forward(self, words, offsets):
        return self.bag(words, offsets)


def _evaluate_probe(model, probe, loader, optimizer):
    criterion = nn.CTCLoss()  # DET501
    for x, y, lengths, sizes in loader:
        loss = criterion(probe(model(x)), y, lengths, sizes)
        loss.backward()
        optimizer.step()


def warp_later(image, grid, aligned=False):
    return F.grid_sample(image, grid, align_corners=aligned)  # DET501


class WarpsLater(nn.Module):
    def __init__(self, aligned):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)
        self.warp = functools.partial(warp_later, aligned=aligned)

    def forward(self, image, grid):
        return self.warp(self.conv(image), grid)


MODES = {"mode": "bicubic", "flat": "nearest"}


class TakesOptions(nn.Module):
    DEFAULTS = {"size": 14, "one": 1}

    def __init__(self, options):
        super().__init__()
        self.options = merged(self.DEFAULTS, options)
        self.modes = {**MODES, **options}
        self.conv = nn.Conv2d(3, 8, 3)
        self.pool = nn.AdaptiveAvgPool2d((self.options["size"], self.options["size"]))  # DET501
        self.mean = nn.AdaptiveAvgPool2d(self.options["one"])
        self.other = nn.AdaptiveAvgPool2d(self.options["other"])

    def forward(self, image):
        x = self.conv(image)
        x = self.pool(x) + self.mean(x) + self.other(x)
        x = F.interpolate(x, size=(9, 9), mode=self.modes["mode"])  # DET501
        return F.interpolate(x, size=(7, 7), mode=self.modes["flat"])


class Draws(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3)

    def drawn(self, image, grid):
        x = _warped(self.conv(image), grid)
        return (x * 255).clamp(0, 255).to(torch.uint8)

    def kept(self, image, grid):
        return _warped_on(self.conv(image), grid).to(torch.float16)


def _warped(x, grid):
    return F.grid_sample(x, grid)


def _warped_on(x, grid):
    return F.grid_sample(x, grid)  # DET501


# What layers give tells how many dimensions a loss is given


class CrossEntropy2D(nn.Module):
    def __init__(self, weight):
        super().__init__()
        self.loss = nn.NLLLoss(weight)  # DET501

    def forward(self, outputs, targets):
        return self.loss(F.log_softmax(outputs, 1), targets)


class Labelled(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.ConvTranspose2d(3, 6, 3).cuda()
        self.many = nn.Sequential(nn.Conv2d(3, 6, 3), nn.LeakyReLU(0.1), nn.Dropout(0.1))
        self.flat = nn.Sequential(nn.Conv2d(3, 6, 3), nn.Flatten(), nn.Linear(6, 6))
        self.listed = nn.Sequential(*[nn.Conv2d(3, 6, 3)])
        self.one = nn.Conv1d(3, 6, 3)
        self.pixels = nn.CrossEntropyLoss()  # DET501
        self.rows = nn.CrossEntropyLoss()

    def forward(self, x, y):
        a = F.cross_entropy(self.conv(x), y)  # DET501
        b = F.nll_loss(self.many(x).log_softmax(1), y)  # DET501
        c = F.cross_entropy(self.flat(x), y) + F.cross_entropy(self.listed(x), y)
        c += F.cross_entropy(self.conv(x), y.float()) + F.cross_entropy(self.conv(x), y.softmax(1))
        d = F.cross_entropy(self.conv(x).mean((2, 3)), y) + F.cross_entropy(self.one(x), y)
        return a + b + c + d + self.pixels(self.conv(x), y) + self.rows(self.flat(x), y)


class WithLossByDefault(nn.Module):
    def __init__(self, loss=nn.CrossEntropyLoss()):  # DET501
        super().__init__()
        self.loss = loss
        self.head = nn.Linear(3, 4)

    def forward(self, x, places):
        return self.loss(self.head(x).permute(0, 2, 1), places)


class Put(nn.Module):
    def __init__(self):
        super().__init__()

    def forward(self, x, index, values):
        x.put_(index, values)  # DET501
        return x.put_(index, values, accumulate=True)


def chosen(use_gpu):
    return fast.Put() if use_gpu else None


def made(use_gpu, x, index, values):
    if use_gpu:
        x.put_(index, values, accumulate=True)  # DET501
        put = fast.Put()
    else:
        x.put_(index, values, accumulate=True)
        put = Put()
    return put

"""Models that people train, as small as they come, for a step on a GPU."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F  # noqa: N812
from preflight_models import build
from torch import nn

TESTS = Path(__file__).resolve().parent.parent / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "guard")]
from repair_models import PROGRAMS, Regions  # noqa: E402
from test_preflight_models import ARCHITECTURES, inputs  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

    Forward = Callable[[nn.Module], Any]

VISION = (
    "alexnet", "resnet18", "googlenet", "vit_b_16", "swin_t", "convnext_tiny", "mobilenet_v3_small",
    "deeplabv3_resnet50", "fcn_resnet50", "r3d_18", "s3d", "mvit_v2_s", "raft_small",
    "fasterrcnn_mobilenet_v3_large_fpn", "maskrcnn_resnet50_fpn", "keypointrcnn_resnet50_fpn",
    "retinanet_resnet50_fpn", "ssd300_vgg16",
)  # fmt: skip


class UNet(nn.Module):
    """Down, up by interpolation, and a skip, in two or three dimensions."""

    def __init__(self, axes: int, border: str) -> None:
        super().__init__()
        convolution = nn.Conv2d if axes == 2 else nn.Conv3d
        options: dict[str, Any] = {"padding": 1, "padding_mode": border}
        self.axes = axes
        self.first = convolution(3, 16, 3, **options)
        self.inner = convolution(16, 16, 3, **options)
        self.last = convolution(32, 4, 3, **options)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The loss of a segmentation of images ``(batch, 3, *size)``."""
        wide = F.relu(self.first(x))
        pooled = F.max_pool2d(wide, 2) if self.axes == 2 else F.max_pool3d(wide, 2)
        mode = "bilinear" if self.axes == 2 else "trilinear"
        up = F.interpolate(F.relu(self.inner(pooled)), wide.shape[2:], mode=mode)
        logits = self.last(torch.cat([wide, up], 1))
        labels = torch.arange(x[:, 0].numel(), device=x.device).view_as(x[:, 0]) % 4
        return F.cross_entropy(logits, labels)


class Recurrent(nn.Module):
    """Two layers with dropout between them, as cuDNN computes them."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(32, 64, 2, dropout=0.3, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """What comes out ``(batch, time, 64)``."""
        return self.layers(x)[0].square().mean()


def _of_us(name: str) -> tuple[nn.Module, Forward]:
    known: dict[str, tuple[Callable[[], nn.Module], tuple[int, ...]]] = {
        "U-Net": (lambda: UNet(2, "zeros"), (2, 3, 64, 64)),
        "U-Net, reflected borders": (lambda: UNet(2, "reflect"), (2, 3, 64, 64)),
        "3D U-Net": (lambda: UNet(3, "zeros"), (2, 3, 16, 16, 16)),
        "3D U-Net, replicated borders": (lambda: UNet(3, "replicate"), (2, 3, 16, 16, 16)),
        "LSTM with dropout": (Recurrent, (8, 20, 32)),
        **{each.__name__: (each, (2, 3, 32, 40)) for each in (*PROGRAMS, Regions)},
    }
    make, shape = known[name]
    batch = torch.randn(shape)
    return make().train(), lambda model: model(batch.to(_device(model)))


def _of_hugging_face(name: str) -> tuple[nn.Module, Forward]:
    import transformers

    kind, options, given, _ = ARCHITECTURES[name]
    model_type: Any = getattr(transformers, kind)
    batch = inputs(given)
    model = model_type(model_type.config_class(**options)).train()

    def forward(model: nn.Module) -> torch.Tensor:
        device = _device(model)
        return model(**{key: each.to(device) for key, each in batch.items()}).loss

    return model, forward


def _graph(name: str) -> tuple[nn.Module, Forward]:
    import torch_geometric.nn as layers

    nodes, edges = torch.randn(200, 16), torch.randint(200, (2, 900))
    if name == "PNA":
        degrees = torch.bincount(torch.bincount(edges[1], minlength=200))
        options: dict[str, Any] = {
            "aggregators": ["mean", "max", "std", "sum"],
            "scalers": ["identity", "amplification"],
            "deg": degrees,
        }
        model = layers.PNA(16, 16, 2, **options)
    elif name.startswith("GraphSAGE"):
        model = layers.GraphSAGE(16, 16, 2, aggr=name.partition(", ")[2])
    else:
        model = getattr(layers, name)(16, 16, 2)
    return model, lambda model: model(nodes.to(_device(model)), edges.to(_device(model)))


def _device(model: nn.Module) -> torch.device:
    return next(model.parameters()).device


MAKERS: dict[str, tuple[Callable[[str], tuple[nn.Module, Forward]], tuple[str, ...]]] = {
    "torchvision": (build, VISION),
    "transformers": (_of_hugging_face, tuple(ARCHITECTURES)),
    "torch_geometric": (
        _graph,
        ("GCN", "GAT", "GIN", "PNA", "GraphSAGE, max", "GraphSAGE, mul", "GraphSAGE, median"),
    ),
    "plain torch": (
        _of_us,
        (
            *("U-Net", "U-Net, reflected borders", "3D U-Net", "3D U-Net, replicated borders"),
            "LSTM with dropout",
            *(each.__name__ for each in (*PROGRAMS, Regions)),
        ),
    ),
}
NAMES = [(library, name) for library, (_, names) in MAKERS.items() for name in names]


def made(library: str, name: str) -> tuple[nn.Module, Forward]:
    """A model on the CPU, and what it gives for a batch on its device."""
    torch.manual_seed(0)
    return MAKERS[library][0](name)

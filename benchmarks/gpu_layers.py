"""Layers, losses and operators that trainings use: which of them differ on a GPU by themselves.

Each is called and differentiated anew with the same weights, inputs and random numbers, with
nothing set: no switch, TF32 as torch has it. A row says how many results the runs have, in
float32 and, where the layer takes it, in bfloat16 under autocast. 1 means that all runs had the
same bits, which is what was seen and no promise. A part of benchmarks/on_gpu.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Callable

REPEATS = 30
EMBEDDED = nn.TransformerEncoderLayer(256, 8, 1024, dropout=0.1, batch_first=True)


def drawn(*shape: int) -> torch.Tensor:
    return torch.randn(shape, device="cuda")


def ids(most: int, *shape: int) -> torch.Tensor:
    return torch.randint(most, shape, device="cuda")


class Called(nn.Module):
    """A function of tensors as a layer."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:  # noqa: ANN401
        return self.function(*inputs)


def attention(**options: Any) -> Called:
    def run(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        return functional.scaled_dot_product_attention(q, k, v, **options)

    return Called(run)


def itself(x: torch.Tensor) -> nn.Module:
    """Attention of a sequence to itself."""
    return nn.MultiheadAttention(x.shape[-1], 8, batch_first=True)


def perceptron(wide: int, *, norm: type[nn.Module] | None = None) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(3):
        layers += [nn.Linear(wide, wide), *([norm(wide)] if norm else []), nn.GELU()]
    return nn.Sequential(*layers)


def layers() -> dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]]:  # noqa: PLR0915
    """By name: the layer and its inputs."""
    f = functional
    found: dict[str, tuple[nn.Module, tuple[torch.Tensor, ...]]] = {}

    def row(name: str, layer: nn.Module | Callable[..., Any], *inputs: torch.Tensor) -> None:
        found[name] = (layer if isinstance(layer, nn.Module) else Called(layer), inputs)

    image, small = drawn(16, 64, 56, 56), drawn(16, 32, 32, 32)
    sound, volume = drawn(16, 64, 4000), drawn(2, 16, 24, 24, 24)
    words, tokens = drawn(16, 512, 256), ids(1000, 16, 512)
    heads = tuple(drawn(4, 8, 1024, 64) for _ in range(3))
    places = torch.arange(512, device="cuda")
    graph, nodes, edges = ids(5000, 50_000), drawn(5000, 64), drawn(50_000, 64)

    row("MLP of Linear and GELU, 128 wide, batch 32", perceptron(128), drawn(32, 128))
    row("MLP, 1,024 wide, batch 4,096", perceptron(1024), drawn(4096, 1024))
    row("MLP, 1,000 wide, batch 37", perceptron(1000), drawn(37, 1000))
    row("MLP with LayerNorm", perceptron(512, norm=nn.LayerNorm), drawn(1024, 512))
    row("MLP with BatchNorm1d", perceptron(512, norm=nn.BatchNorm1d), drawn(1024, 512))
    row("MLP with RMSNorm", perceptron(512, norm=nn.RMSNorm), drawn(1024, 512))
    row("Linear to one number, batch 100,000", nn.Linear(64, 1), drawn(100_000, 64))
    row("Bilinear", nn.Bilinear(64, 64, 32), drawn(256, 64), drawn(256, 64))
    row(
        "einsum and bmm",
        lambda a, b: torch.einsum("bij,bjk->bik", a, b) @ a,
        drawn(32, 128, 128),
        drawn(32, 128, 128),
    )
    row("PReLU", nn.PReLU(), image)
    row("Dropout", nn.Dropout(), image)
    row("Embedding, 1,000 x 64", nn.Embedding(1000, 64), tokens)
    row("Embedding, 10 x 64", nn.Embedding(10, 64), ids(10, 64, 512))
    row("Embedding, 2 x 64", nn.Embedding(2, 64), ids(2, 16, 128))
    row("Embedding of places, 512 x 64", nn.Embedding(512, 64), ids(512, 16, 512) * 0 + places)
    row("Embedding, 50,000 x 768", nn.Embedding(50_000, 768), ids(50_000, 16, 512))
    row("Embedding with padding_idx", nn.Embedding(1000, 64, padding_idx=0), tokens)
    row("EmbeddingBag, mean", nn.EmbeddingBag(1000, 64), tokens)
    row("EmbeddingBag, sum", nn.EmbeddingBag(1000, 64, mode="sum"), tokens)
    for kind in (nn.RNN, nn.GRU, nn.LSTM):
        layer = kind(256, 256, 2, batch_first=True)
        row(f"{kind.__name__}, 2 layers", layer, drawn(32, 100, 256))
    row("LSTM, both directions", nn.LSTM(128, 128, 2, bidirectional=True), drawn(100, 32, 128))
    row("Conv1d, 3", nn.Conv1d(64, 64, 3, padding=1), sound)
    row("Conv1d, dilated", nn.Conv1d(64, 64, 3, padding=4, dilation=4), sound)
    row("Conv2d, 3 x 3, 64 of 56 x 56", nn.Conv2d(64, 64, 3, padding=1), image)
    row("Conv2d, 3 x 3, 3 of 32 x 32", nn.Conv2d(3, 32, 3), drawn(128, 3, 32, 32))
    row("Conv2d, 3 x 3, 1 of 28 x 28", nn.Conv2d(1, 32, 3), drawn(64, 1, 28, 28))
    row("Conv2d, 7 x 7, step 2, 3 of 224 x 224", nn.Conv2d(3, 64, 7, 2, 3), drawn(16, 3, 224, 224))
    row("Conv2d, 1 x 1", nn.Conv2d(64, 256, 1), image)
    row("Conv2d, by groups", nn.Conv2d(64, 64, 3, padding=1, groups=8), image)
    row("Conv2d, depthwise", nn.Conv2d(64, 64, 3, padding=1, groups=64), image)
    row("Conv2d, patches of 16", nn.Conv2d(3, 768, 16, 16), drawn(16, 3, 224, 224))
    row("Conv3d", nn.Conv3d(16, 16, 3, padding=1), volume)
    row("ConvTranspose1d", nn.ConvTranspose1d(64, 32, 8, 4), drawn(16, 64, 500))
    row("ConvTranspose2d, 4, step 2", nn.ConvTranspose2d(32, 16, 4, 2, 1), small)
    row("ConvTranspose2d, 2, step 2", nn.ConvTranspose2d(32, 16, 2, 2), small)
    row("ConvTranspose3d", nn.ConvTranspose3d(16, 8, 2, 2), volume)
    row("BatchNorm2d", nn.BatchNorm2d(64), image)
    row("GroupNorm", nn.GroupNorm(8, 64), image)
    row("InstanceNorm2d", nn.InstanceNorm2d(64, affine=True), image)
    row("MaxPool1d, 2", nn.MaxPool1d(2), sound)
    row("MaxPool2d, 2", nn.MaxPool2d(2), image)
    row("MaxPool2d, 3, step 2", nn.MaxPool2d(3, 2, 1), image)
    row("MaxPool2d, 5, step 1", nn.MaxPool2d(5, 1, 2), image)
    row("AvgPool2d, 2", nn.AvgPool2d(2), image)
    row("AvgPool2d, 3, step 1", nn.AvgPool2d(3, 1, 1), image)
    row("AdaptiveAvgPool2d, 1", nn.AdaptiveAvgPool2d(1), image)
    row("MultiheadAttention, 512 of 256", Called(lambda x: x), words)
    found["MultiheadAttention, 512 of 256"] = (Self(itself(words)), (words,))
    row("MultiheadAttention, weights asked for", Self(itself(words), weights=True), words)
    row("TransformerEncoderLayer, 512 of 256", EMBEDDED, words)
    row("attention, 1,024 of 64, 8 heads", attention(), *heads)
    row("attention, 64 of 32, 4 heads", attention(), *(drawn(8, 4, 64, 32) for _ in range(3)))
    row("attention, 197 of 64, 12 heads", attention(), *(drawn(8, 12, 197, 64) for _ in range(3)))
    row("attention, causal", attention(is_causal=True), *heads)
    row(
        "attention, causal, heads of 128",
        attention(is_causal=True),
        *(drawn(2, 16, 2048, 128) for _ in range(3)),
    )
    mask = torch.rand(1024, 1024, device="cuda") > 0.5
    row("attention, with a mask", attention(attn_mask=mask), *heads)
    row("attention, with dropout", attention(dropout_p=0.1), *heads)
    row("attention by matmul and softmax", lambda q, k, v: ((q @ k.mT) / 8).softmax(-1) @ v, *heads)
    row("cross_entropy of classes", lambda x: f.cross_entropy(x, labels(x)), drawn(256, 1000))
    row("cross_entropy of tokens", lambda x: f.cross_entropy(x, labels(x)), drawn(4096, 32_000))
    row("cross_entropy of pixels", lambda x: f.cross_entropy(x, labels(x)), drawn(4, 21, 256, 256))
    row(
        "binary_cross_entropy_with_logits",
        lambda x: f.binary_cross_entropy_with_logits(x, torch.ones_like(x)),
        drawn(256, 1000),
    )
    row("mse_loss", lambda x: f.mse_loss(x, torch.ones_like(x)), image)
    row("smooth_l1_loss", lambda x: f.smooth_l1_loss(x, torch.ones_like(x)), image)
    row("kl_div", lambda x: f.kl_div(x.log_softmax(-1), x.detach().softmax(-1)), drawn(256, 1000))
    row(
        "cosine_similarity",
        lambda a, b: f.cosine_similarity(a[:, None], b[None], dim=-1),
        drawn(256, 128),
        drawn(256, 128),
    )
    row("cdist", torch.cdist, drawn(512, 128), drawn(512, 128))
    row("triplet_margin_loss", f.triplet_margin_loss, *(drawn(256, 128) for _ in range(3)))
    row("x[index], rows that repeat", lambda x: x[graph], nodes)
    row("x[index], each row once", lambda x: x[torch.arange(4999, -1, -1, device="cuda")], nodes)
    row("x[mask]", lambda x: x[x.detach() > 0], nodes)
    row("x[a:b], cat and stack", lambda x: torch.cat([x[:100], x[50:], x.roll(1, 0)]), nodes)
    row("index_select, rows that repeat", lambda x: x.index_select(0, graph), nodes)
    row(
        "gather, along classes, one each",
        lambda x: x.gather(1, labels(x)[:, None]),
        drawn(256, 1000),
    )
    row("gather, places that repeat", lambda x: x.gather(0, graph[:, None].expand(-1, 64)), nodes)
    row("index_add", lambda x: torch.zeros_like(nodes).index_add(0, graph, x), edges)
    row(
        "scatter_add",
        lambda x: torch.zeros_like(nodes).scatter_add(0, graph[:, None].expand(-1, 64), x),
        edges,
    )
    row("x[index] += values", written(graph, nodes), edges)
    row("repeat_interleave", lambda x: x.repeat_interleave(5, 0), nodes)
    row("expand and sum", lambda x: (x[:, None].expand(-1, 10, -1) ** 2).sum(), nodes)
    row("max over a dimension", lambda x: x.max(1).values, edges)
    row("sort", lambda x: x.sort(0).values, edges)
    row("topk", lambda x: x.topk(10).values, edges)
    row(
        "sum, mean, std, var, norm",
        lambda x: x.sum() + x.mean() + x.std() + x.var(0).sum() + x.norm(),
        drawn(10_000_000),
    )
    row("cumsum", lambda x: x.cumsum(0), drawn(1_000_000))
    row("cumsum of short rows", lambda x: x.cumsum(1), edges)
    row("prod", lambda x: (x / 100 + 1).prod(1), edges)
    row("logsumexp", lambda x: x.logsumexp(0), edges)
    row("interpolate, nearest", lambda x: f.interpolate(x, scale_factor=2.0), small)
    row(
        "interpolate, bilinear",
        lambda x: f.interpolate(x, scale_factor=2.0, mode="bilinear"),
        small,
    )
    row("pad, zeros", lambda x: f.pad(x, (1, 1, 1, 1)), small)
    row("pad, reflect", lambda x: f.pad(x, (1, 1, 1, 1), mode="reflect"), small)
    row("PixelShuffle", nn.PixelShuffle(2), small)
    row(
        "unfold and fold",
        lambda x: f.fold(f.unfold(x, 3, padding=1), (32, 32), 3, padding=1),
        small,
    )
    row(
        "grid_sample",
        lambda x, g: f.grid_sample(x, g, align_corners=False),
        small,
        torch.rand(16, 48, 48, 2, device="cuda") * 2 - 1,
    )
    row("rfft and irfft", lambda x: torch.fft.irfft(torch.fft.rfft(x)).abs(), sound)
    row(
        "stft",
        lambda x: torch.stft(
            x, 400, window=torch.hann_window(400, device="cuda"), return_complex=True
        ).abs(),
        drawn(16, 16_000),
    )
    row(
        "cholesky",
        lambda x: torch.linalg.cholesky(x @ x.mT + 300 * torch.eye(64, device="cuda")),
        drawn(32, 64, 64),
    )
    row(
        "solve and inverse",
        lambda x: (
            torch.linalg.inv(x + 30 * torch.eye(64, device="cuda"))
            + torch.linalg.solve(x + 30 * torch.eye(64, device="cuda"), x)
        ),
        drawn(32, 64, 64),
    )
    row("svd, singular values", torch.linalg.svdvals, drawn(16, 64, 64))
    row("double backward of an MLP", twice(perceptron(128)), drawn(256, 128))
    row("Adam, fused", stepped(perceptron(256), fused=True), drawn(256, 256))
    row("Adam and clipped norms", stepped(perceptron(256)), drawn(256, 256))
    return found  # fmt: skip


class Self(nn.Module):
    """Attention of a sequence to itself."""

    def __init__(self, inner: nn.Module, *, weights: bool = False) -> None:
        super().__init__()
        self.inner, self.weights = inner, weights

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.inner(x, x, x, need_weights=self.weights)[0]


def labels(x: torch.Tensor) -> torch.Tensor:
    """Classes, the same ones each time."""
    generator = torch.Generator("cuda").manual_seed(1)
    shape = (x.shape[0], *x.shape[2:])
    return torch.randint(x.shape[1], shape, device="cuda", generator=generator)


def written(index: torch.Tensor, nodes: torch.Tensor) -> Callable[[torch.Tensor], torch.Tensor]:
    def run(x: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(nodes).index_put((index,), x, accumulate=True)

    return run


def twice(inner: nn.Module) -> nn.Module:
    """The gradient of a gradient, as for a force or a penalty."""

    class Twice(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            (grad,) = torch.autograd.grad(self.inner(x).sum(), x, create_graph=True)
            return grad.square()

    return Twice()


def stepped(inner: nn.Module, *, fused: bool = False) -> nn.Module:
    """What the weights are after five steps."""

    class Stepped(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            begun = {name: each.clone() for name, each in self.inner.state_dict().items()}
            optimizer = torch.optim.AdamW(self.inner.parameters(), fused=fused)
            for _ in range(5):
                optimizer.zero_grad()
                self.inner(x.detach()).square().mean().backward()
                nn.utils.clip_grad_norm_(self.inner.parameters(), 1.0)
                optimizer.step()
            flat = torch.cat([each.detach().flatten() for each in self.inner.parameters()])
            self.inner.load_state_dict(begun)
            return flat + x.sum() * 0

    return Stepped()


def rows() -> list[dict[str, Any]]:
    """Each with its results, in a process that has done nothing else."""
    torch.manual_seed(0)
    found = []
    for name, (layer, inputs) in layers().items():
        layer.cuda()
        plain, half = (results(layer, inputs, half=each) for each in (False, True))
        found.append({"layer": name, "float32": plain, "bfloat16": half})
    return found


def results(layer: nn.Module, inputs: tuple[torch.Tensor, ...], *, half: bool) -> int | str:
    """How many different results some runs have, gradients included."""
    try:
        return len({once(layer, inputs, half=half) for _ in range(REPEATS)})
    except Exception as error:  # noqa: BLE001 - that one breaks is a result
        return f"{type(error).__name__}: {str(error)[:200]}"


def once(layer: nn.Module, inputs: tuple[torch.Tensor, ...], *, half: bool) -> tuple[int, ...]:
    """Digests of a result and of all gradients."""
    torch.manual_seed(0)
    layer.zero_grad()
    given = [each.detach().clone().requires_grad_(each.is_floating_point()) for each in inputs]
    with torch.autocast("cuda", torch.bfloat16, enabled=half):
        if half and isinstance(layer, Called):
            result = layer(
                *(each.bfloat16() if each.is_floating_point() else each for each in given)
            )
        else:
            result = layer(*given)
    result = result[0] if isinstance(result, tuple) else result
    grad = torch.randn(result.shape, device="cuda", dtype=result.dtype)
    result.backward(grad)
    given_back = (result, *(x.grad for x in given), *(p.grad for p in layer.parameters()))
    return tuple(digest(each.detach()) for each in given_back if each is not None)


def digest(values: torch.Tensor) -> int:
    """Of their bits, worked out on the GPU: integers add up to the same in any order."""
    kind = {2: torch.int16, 4: torch.int32, 8: torch.int64}[values.element_size()]
    bits = torch.view_as_real(values) if values.is_complex() else values
    bits = bits.contiguous().view(kind if not values.is_complex() else torch.int32).flatten()
    places = torch.arange(1, bits.numel() + 1, device="cuda")
    return int((bits.long() * (places * 0x9E3779B1 + 1)).sum())

"""``guard.preflight``: cases whose answer is known, the backward beside the engine's, and what is
put back."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import pytest

pytest.importorskip("torch")

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812 - its name everywhere
from torch import nn
from torch.utils.checkpoint import checkpoint

import guard
from guard.errors import SettingsError
from guard.observe import engine
from guard.rehearsal import gate, rehearsal
from guard.rehearsal.findings import from_dict
from guard.rehearsal.rehearsal import Backward

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

pytestmark = pytest.mark.skipif(
    bool(gate.missing()), reason="this torch lacks what a rehearsal needs"
)


class Around(nn.Module):
    """A convolution before a function."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.before = nn.Conv2d(3, 3, 1)
        self.function = function

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.function(self.before(x))


class Convolutional(nn.Module):
    def __init__(self, size: int = 2) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU())
        self.pool = nn.AdaptiveAvgPool2d(size)
        self.head = nn.Linear(8 * size * size, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(F.dropout(self.pool(self.layers(x)).flatten(1), 0.1))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(100, 32)
        self.layer = nn.TransformerEncoderLayer(32, 4, 64, batch_first=True)
        self.head = nn.Linear(32, 100)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layer(self.embedding(x)))


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(16, 32, 2, batch_first=True, dropout=0.1)
        self.head = nn.Linear(32, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(x)[0])


def image() -> torch.Tensor:
    return torch.randn(4, 3, 8, 8)


def tokens() -> torch.Tensor:
    return torch.randint(0, 100, (2, 7))


def classes(output: torch.Tensor) -> torch.Tensor:
    flat = output.flatten(0, -2)
    target = torch.zeros(flat.shape[0], dtype=torch.long, device=flat.device)
    return F.cross_entropy(flat, target)


def total(output: Any) -> torch.Tensor:  # noqa: ANN401 - tensors, or tuples of them
    return output[0].sum() if isinstance(output, tuple) else output.sum()


def ctc(output: torch.Tensor, device: str) -> torch.Tensor:
    lengths = torch.full((2,), 10, device=device), torch.full((2,), 3, device=device)
    targets = torch.ones(2, 3, dtype=torch.long, device=output.device)
    return F.ctc_loss(output.log_softmax(2), targets, *lengths)


def unpooled(y: torch.Tensor) -> torch.Tensor:
    return F.max_unpool2d(*F.max_pool2d(y, 2, return_indices=True), 2)


def scattered(y: torch.Tensor) -> torch.Tensor:
    index = torch.zeros(8, dtype=torch.long, device=y.device)
    return torch.zeros(9, device=y.device).scatter_add(0, index, y[0, 0, 0])


def counted(y: torch.Tensor) -> torch.Tensor:
    index = torch.zeros(3, dtype=torch.long, device=y.device)
    return y.sum() + torch.bincount(index, torch.ones(3, device=y.device)).sum()


def under_autocast(y: torch.Tensor) -> torch.Tensor:
    with torch.autocast("cuda", dtype=torch.float16):
        return y @ y


def from_the_cpu(y: torch.Tensor) -> torch.Tensor:
    return y * float(y.detach().cpu().sum())


POOL, BICUBIC = "torch.nn.functional.adaptive_avg_pool2d", 'interpolate(mode="bicubic")'
F_ = "torch.nn.functional."
# What is trained, with what, on which loss, and what torch refuses or what differs silently.
CASES: dict[str, tuple[Any, Any, Any, set[str]]] = {
    "convolutional": (Convolutional, image, classes, {POOL}),
    "transformer": (Transformer, tokens, classes, set()),
    "LSTM": (Recurrent, lambda: torch.randn(2, 6, 16), classes, {"torch.nn.LSTM"}),
    "GRU": (lambda: nn.GRU(16, 8), lambda: torch.randn(2, 6, 16), total, set()),
    "CTC": (
        lambda: nn.Linear(8, 5),
        lambda: torch.randn(10, 2, 8),
        lambda o: ctc(o, "cpu"),
        {F_ + "ctc_loss"},
    ),
    "CTC, lengths on the GPU": (
        lambda: nn.Linear(8, 5),
        lambda: torch.randn(10, 2, 8),
        lambda o: ctc(o, "cuda"),
        {F_ + "ctc_loss"},
    ),
    "embedding bag": (
        lambda: nn.EmbeddingBag(10, 4, mode="max"),
        lambda: torch.zeros(2, 3, dtype=torch.long),
        total,
        {F_ + 'embedding_bag(mode="max")'},
    ),
    **{
        name: (lambda function=function: Around(function), image, loss, found)
        for name, function, loss, found in (
            (
                "grid sample",
                lambda y: F.grid_sample(
                    y, torch.zeros(4, 5, 5, 2, device=y.device), align_corners=False
                ),
                total,
                {F_ + "grid_sample"},
            ),
            ("pooling to 3", lambda y: F.adaptive_avg_pool2d(y, 3), total, {POOL}),
            ("pooling to 1", lambda y: F.adaptive_avg_pool2d(y, 1), total, set()),
            (
                "bilinear",
                lambda y: F.interpolate(y, scale_factor=2, mode="bilinear"),
                total,
                set(),
            ),
            (
                "bicubic",
                lambda y: F.interpolate(y, scale_factor=2, mode="bicubic"),
                total,
                {F_ + BICUBIC},
            ),
            ("nearest", lambda y: F.interpolate(y, scale_factor=2, mode="nearest"), total, set()),
            ("reflection", lambda y: F.pad(y, (1, 1, 1, 1), mode="reflect"), total, set()),
            (
                "segmentation",
                lambda y: y,
                lambda o: F.cross_entropy(o, torch.zeros(4, 8, 8).long().to(o.device)),
                {F_ + "nll_loss"},
            ),
            ("max pooling", lambda y: F.max_pool2d(y, 2), total, set()),
            ("unpooling", unpooled, total, {F_ + "max_unpool2d"}),
            ("scatter_add", scattered, total, set()),
            ("mask", lambda y: y[y > 0], total, set()),
            ("item", lambda y: y * y.sum().item(), total, set()),
            ("if", lambda y: y if y.sum() > 0 else -y, total, set()),
            ("to the CPU", from_the_cpu, total, set()),
            ("attention", lambda y: F.scaled_dot_product_attention(y, y, y), total, set()),
            ("median", lambda y: y.cumsum(0).median(0)[0], total, {"torch.median"}),
            ("bincount", counted, total, {"torch.bincount"}),
            ("noise", lambda y: y + torch.randn(y.shape, device=y.device), total, set()),
            ("autocast", under_autocast, total, set()),
            (
                "sort and topk",
                lambda y: y.flatten(1).sort(1)[0].topk(3)[0],
                total,
                {"torch.topk"},
            ),
        )
    },
}


@pytest.mark.parametrize(("make", "inputs", "loss", "found"), CASES.values(), ids=CASES)
def test_what_is_known_of_each_case(
    make: Callable[[], nn.Module],
    inputs: Callable[[], torch.Tensor],
    loss: Callable[[Any], torch.Tensor],
    found: set[str],
) -> None:
    report = guard.preflight(make(), inputs(), loss=loss)
    assert report.steps == 1
    assert report.complete
    assert {each.name for each in report.found} == found
    assert all(each.where is not None for each in report.found)
    assert report.is_clean == (not found)


def test_a_finding_names_the_line_and_the_module() -> None:
    report = guard.preflight(Convolutional(), image())
    (finding,) = report.found
    assert finding.verdict == "raises"
    assert finding.direction == "backward"
    assert finding.operator == "aten::_adaptive_avg_pool2d_backward"
    assert finding.node == "AdaptiveAvgPool2DBackward0"
    where = finding.where
    assert where is not None
    assert where.filename == __file__
    assert (where.function, where.module, where.kind) == ("forward", "pool", "AdaptiveAvgPool2d")
    with open(__file__, encoding="utf-8") as file:
        assert "self.pool(" in file.readlines()[where.line - 1]


def test_a_report_survives_json_and_its_text_says_what_to_do() -> None:
    report = guard.preflight(Convolutional(), image())
    assert from_dict(report.as_dict()) == report
    text = str(report)
    assert "raises" in text
    assert "test_preflight.py:" in text
    assert "pool (AdaptiveAvgPool2d)" in text
    assert "instead: where the input's size is a multiple of the output's" in text
    assert text.endswith("Found 1 call of operators that refuse or differ.")


# The backward


@pytest.fixture
def in_python() -> Iterator[None]:
    def run(_: object, outputs: Any, gradients: Any, *rest: Any, **options: Any) -> Any:  # noqa: ANN401
        _, create, *more = rest
        return Backward(
            outputs,
            more[0] if more else (),
            create_graph=create,
            accumulate=options.get("accumulate_grad", more[-1] if len(more) > 2 else False),
            observe=lambda _: None,
        ).run(gradients)

    with rehearsal.remembered(), engine.around(run):
        yield


def gradients(model: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    torch.manual_seed(0)
    model.zero_grad()
    classes(model(x)).backward()
    return [each.grad.clone() for each in model.parameters() if each.grad is not None]


@pytest.mark.parametrize(
    ("make", "inputs"),
    [(Convolutional, image), (Transformer, tokens), (Recurrent, lambda: torch.randn(2, 6, 16))],
)
def test_gradients_are_the_engine_s_to_the_last_bit(
    make: Callable[[], nn.Module],
    inputs: Callable[[], torch.Tensor],
    request: pytest.FixtureRequest,
) -> None:
    model, x = make(), inputs()
    expected = gradients(model, x)
    request.getfixturevalue("in_python")
    found = gradients(model, x)
    assert len(found) == len(expected) > 2
    assert all(torch.equal(*pair) for pair in zip(found, expected, strict=True))


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, text: str, x: torch.Tensor, factor: int) -> torch.Tensor:  # noqa: ANN401
        del text
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> Any:  # noqa: ANN401
        return None, gradient * ctx.factor, None


@pytest.mark.usefixtures("in_python")
class TestAsTheEngine:
    """What a walk in Python has to do by itself."""

    def test_a_function_of_one_s_own_may_take_what_is_no_tensor(self) -> None:
        x = torch.ones(3, requires_grad=True)
        Doubled.apply("a", x, 5).sum().backward()
        assert torch.equal(x.grad, torch.full((3,), 5.0))

    def test_hooks_run(self) -> None:
        seen = []
        x = torch.ones(3, requires_grad=True)
        x.register_hook(lambda g: seen.append("leaf") or g * 2)
        x.register_post_accumulate_grad_hook(lambda _: seen.append("accumulated"))
        y = x * 3
        y.register_hook(lambda g: seen.append("tensor") or g * 10)
        y.grad_fn.register_hook(lambda *_: seen.append("node"))
        y.grad_fn.register_prehook(lambda *_: seen.append("before"))
        y.retain_grad()
        y.sum().backward()
        assert seen == ["tensor", "before", "node", "leaf", "accumulated"]
        assert torch.equal(x.grad, torch.full((3,), 60.0))
        assert torch.equal(y.grad, torch.full((3,), 10.0))

    def test_only_the_inputs_that_are_asked_for_get_a_gradient(self) -> None:
        x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
        y = x * w
        (found,) = torch.autograd.grad((y * y).sum(), [y])
        assert torch.equal(found, torch.full((3,), 2.0))
        assert x.grad is None
        assert w.grad is None

    def test_second_derivatives(self) -> None:
        x = torch.full((3,), 2.0, requires_grad=True)
        (first,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x)
        assert torch.equal(second, torch.full((3,), 12.0))


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints_of_both_kinds(reentrant: bool) -> None:
    model = Convolutional()

    def step(x: torch.Tensor) -> None:
        x.requires_grad_()
        y = checkpoint(model.layers, x, use_reentrant=reentrant)
        classes(model.head(model.pool(y).flatten(1))).backward()

    report = guard.preflight(step, image())
    assert [each.name for each in report.found] == [POOL]
    assert report.complete


def test_a_checkpoint_is_computed_again_once() -> None:
    calls = []
    layer = nn.Linear(3, 3)

    def twice(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return layer(layer(layer(x)).relu()).relu()

    def step(x: torch.Tensor) -> None:
        checkpoint(twice, x, use_reentrant=False).sum().backward()

    guard.preflight(step, torch.randn(2, 3))
    assert len(calls) == 2


# As found


class Remembering(nn.Module):
    """Keeps what it makes in a step: in a list, in a buffer, and as a new parameter."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(3))
        self.register_buffer("mean", torch.zeros(3))
        self.anchors: list[torch.Tensor] = []
        self.known: dict[str, torch.Tensor] = {}
        self.hooked = False

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.hooked:
            self.hooked = True
            self.register_forward_hook(lambda *_: None)
        self.anchors.append(x.detach())
        self.known["last"] = x.detach()
        self.mean = self.mean * 0.9 + x.mean(0)
        self.more = nn.Parameter(self.mean)
        return x * self.weight


def test_what_a_module_keeps_of_the_step_is_gone() -> None:
    model = Remembering()
    mean = model.mean
    guard.preflight(model, torch.randn(2, 3))
    assert (model.anchors, model.known) == ([], {})
    assert not model._forward_hooks
    assert model.mean is mean
    assert type(mean) is torch.Tensor
    assert not hasattr(model, "more")
    model(torch.randn(2, 3)).sum().backward()


def test_generators_by_name_are_as_found() -> None:
    with guard.deterministic():
        before = guard.generator("noise").get_state()
        guard.preflight(lambda: torch.rand(4, generator=guard.generator("noise")).cuda())
        assert torch.equal(guard.generator("noise").get_state(), before)


def test_all_is_as_found() -> None:
    model = Convolutional()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)

    def step(x: torch.Tensor) -> None:
        optimizer.zero_grad()
        classes(model(x)).backward()
        optimizer.step()
        scheduler.step()

    x = image()
    step(x)
    everything = [*model.state_dict().values(), *(each.grad for each in model.parameters())]
    before = [each.clone() for each in everything]
    state, rate = copy.deepcopy(optimizer.state_dict()), scheduler.get_last_lr()
    drawn = torch.get_rng_state(), random.getstate(), np.random.get_state()[1].copy()
    patched = [
        (torch, "compile"),
        (torch, "ctc_loss"),
        (torch.Tensor, "register_hook"),
        (torch._C, "_current_graph_task_id"),
        (torch.autograd.Variable, "_execution_engine"),
        (F, "scaled_dot_product_attention"),
    ]
    functions = [getattr(owner, name) for owner, name in patched]
    flags = torch.are_deterministic_algorithms_enabled()

    report = guard.preflight(step, x)

    assert report.steps == 1
    assert all(torch.equal(*pair) for pair in zip(everything, before, strict=True))
    assert x.device.type == "cpu"
    assert type(model.head.weight) is nn.Parameter
    found = optimizer.state_dict()
    assert found["param_groups"] == state["param_groups"]
    for number, each in state["state"].items():
        assert all(torch.equal(found["state"][number][key], value) for key, value in each.items())
    assert scheduler.get_last_lr() == rate
    assert torch.equal(torch.get_rng_state(), drawn[0])
    assert random.getstate() == drawn[1]
    assert (np.random.get_state()[1] == drawn[2]).all()
    assert [getattr(owner, name) for owner, name in patched] == functions
    assert torch.are_deterministic_algorithms_enabled() is flags
    with pytest.raises((AssertionError, RuntimeError)):
        torch.empty(1, device="cuda:99")
    step(x)


def test_an_error_of_the_step_passes_and_all_is_put_back() -> None:
    model = Convolutional()

    def step(x: torch.Tensor) -> None:
        model(x)
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        guard.preflight(step, image())
    assert model.head.weight.device.type == "cpu"
    assert not torch.are_deterministic_algorithms_enabled()


def test_settings_that_are_none_are_refused() -> None:
    with pytest.raises(SettingsError, match=r"'cpu' is not a CUDA device; legal: 'cuda'"):
        guard.preflight(Convolutional(), image(), device="cpu")
    with pytest.raises(SettingsError, match=r"'h1000' is not known; legal: .*h100"):
        guard.preflight(Convolutional(), image(), gpu="h1000")
    with pytest.raises(SettingsError, match="nothing that the model gives has a gradient"):
        guard.preflight(nn.Identity(), image())


# What cannot be seen


def test_an_operator_without_a_fake_kernel_ends_what_is_seen() -> None:
    with torch.library._scoped_library("preflight_test", "FRAGMENT") as library:
        library.define("blind(Tensor x) -> Tensor")
        library.impl("blind", lambda x: x.clone(), "CPU")
        report = guard.preflight(torch.ops.preflight_test.blind, torch.randn(3))
    assert not report.complete
    assert not report.is_clean
    assert "preflight_test::blind cannot be followed without a GPU" in report.limits[0]
    assert "torch.library.register_fake" in report.limits[0]


def test_an_operator_of_another_library_is_unknown_and_never_fine() -> None:
    with torch.library._scoped_library("preflight_test", "FRAGMENT") as library:
        library.define("seen(Tensor x) -> Tensor")
        library.impl("seen", lambda x: x.clone(), "CPU")
        library.impl("seen", torch.empty_like, "Meta")
        report = guard.preflight(torch.ops.preflight_test.seen, torch.randn(3))
    assert [(each.operator, each.verdict) for each in report.found] == [
        ("preflight_test::seen", "unknown")
    ]
    assert not report.is_clean


def test_what_is_guessed_is_said() -> None:
    report = guard.preflight(lambda x: x.sum().item(), torch.randn(5000))
    assert len(report.limits) == 1
    assert "test_preflight.py" in report.limits[0]
    assert "is taken to be 1.0, which is a guess" in report.limits[0]


def test_small_values_that_come_from_the_cpu_are_known() -> None:
    seen = []

    def step(x: torch.Tensor) -> None:
        lengths = torch.tensor([2, 5, 3]).to("cuda")
        seen.append(int(lengths.max()))
        mask = torch.arange(5, device="cuda")[None] < lengths[:, None]
        seen.append(tuple(x[mask].shape))
        seen.append(bool(torch.isnan(x).any()))
        lengths[0] += 7
        seen.append(lengths.tolist())
        lengths += (x.sum() > 0).long()
        seen.append(lengths.tolist())

    report = guard.preflight(step, torch.randn(3, 5, 400))
    assert seen == [5, (10, 400), False, [9, 5, 3], [1, 1, 1]]
    assert len(report.limits) == 1


def test_a_torch_that_lacks_something_is_asked_for_the_forward_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(gate, "missing", lambda: ("torch._C._nothing",))
    model = Convolutional()
    mean = model.layers[1].running_mean.clone()
    report = guard.preflight(model, image())
    assert [(each.name, each.direction) for each in report.found] == [(POOL, "backward")]
    assert not report.complete
    assert "lacks torch._C._nothing" in report.limits[0]
    assert torch.equal(model.layers[1].running_mean, mean)


def test_memory_that_nothing_wrote_is_told() -> None:
    def step(x: torch.Tensor) -> torch.Tensor:
        noise = torch.empty_like(x)  # detlint: ignore[DET401] it is what is found
        filled = torch.empty_like(x).zero_()
        return x + noise + filled

    report = guard.preflight(step, torch.randn(3))
    assert [each.name for each in report.sources] == ["unwritten memory"]
    assert not report.is_clean


def test_billions_of_parameters_take_no_memory() -> None:
    with torch.device("meta"):
        model = nn.Sequential(*(nn.Linear(30_000, 30_000) for _ in range(4)))
    report = guard.preflight(model, torch.empty(1, 30_000, device="meta"))
    assert report.is_clean

"""Operators of torch_scatter, torch_sparse and PyTorch Geometric: what is found, and what not."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import pytest

from detlint.operations.extensions import PLATFORMS, REFUSED, SWITCHED
from detlint.rules.deterministic_only_if_enabled import DeterministicOnlyIfEnabled
from detlint.rules.no_deterministic_implementation import NoDeterministicImplementation

if TYPE_CHECKING:
    from collections.abc import Callable

    from detlint.finding import Finding
    from detlint.rule import Rule

HEADER = """
import torch
import torch_geometric.nn as gnn
import torch_scatter
import torch_sparse
import torchvision
from torch_geometric.utils import scatter
from torch_scatter import gather_coo, scatter_add, scatter_mean, segment_coo, segment_csr
from torch_sparse import coalesce, spmm
from torchvision.ops import deform_conv2d, nms, roi_align, roi_pool

def f(x, index, ptr, batch):
    return {}
"""
ATOMICS = "on CUDA by default adds with atomics, in no fixed order"
CODES = [
    pytest.param(each.code, id=f"{row.name}, {number}")
    for row in REFUSED
    for number, each in enumerate(row.alternatives)
    if each.code
]


@pytest.mark.parametrize(
    ("rule", "forms"),
    [
        (rule, [form for row in rows for usage in row.usages for form in usage.forms])
        for rule, rows in (
            (NoDeterministicImplementation, REFUSED),
            (DeterministicOnlyIfEnabled, SWITCHED),
        )
    ],
)
def test_each_form_has_a_trigger(rule: type[Rule], forms: list[str]) -> None:
    calls = [f"{form.rpartition('.')[2]}(" for form in forms]
    assert [call for call in calls if not call.startswith(rule.triggers)] == []


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("segment_coo(x, index)", "segment_coo()"),
        ('segment_coo(x, index, reduce="mean")', 'segment_coo(reduce="mean")'),
        ("torch_scatter.segment_sum_coo(x, index)", "torch_scatter.segment_sum_coo()"),
        ("torch_scatter.scatter_mul(x, index)", "torch_scatter.scatter_mul()"),
        ('scatter(x, index, reduce="mul")', 'scatter(reduce="mul")'),
        (
            'torch_scatter.scatter(x, index, 0, None, 5, "mul")',
            'torch_scatter.scatter(reduce="mul")',
        ),
    ],
)
def test_what_adds_or_multiplies_with_atomics_of_its_own_is_found(
    call: str, shown: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(HEADER.format(call), "DET501")
    assert found.message.startswith(shown.partition("(")[0])
    assert found.message == f"{shown} has no deterministic implementation on CUDA"


def test_a_gathering_has_no_deterministic_backward(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(HEADER.format("gather_coo(x, index)"), "DET501")
    assert found.message == "gather_coo() has no deterministic backward on CUDA"
    assert found.advice == ("instead: gather_csr, whose backward adds up each segment in one order")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("roi_pool(x, index, 7)", "roi_pool()"),
        ("torchvision.ops.ps_roi_align(x, index, 7)", "torchvision.ops.ps_roi_align()"),
        ("torchvision.ops.RoIPool(7, 1.0)(x, index)", "torchvision.ops.RoIPool()"),
        ("deform_conv2d(x, index, batch)", "deform_conv2d()"),
    ],
)
def test_torchvisions_backwards_have_no_deterministic_one(
    call: str, shown: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(HEADER.format(call), "DET501")
    assert found.message == f"{shown} has no deterministic backward on CUDA"
    assert found.advice is not None
    assert found.advice.startswith("instead: guard.enable(repair=True)")


def test_the_backward_of_the_selective_scan_has_no_switch(
    findings: Callable[..., list[Finding]],
) -> None:
    made = "torch.nn.Sequential(torch.nn.Linear(8, 8), mamba_ssm.{}(8))(x).sum().backward()"
    header = HEADER.replace("import torch\n", "import torch\nimport mamba_ssm\n", 1)
    (found,) = findings(header.format(made.format("Mamba")), "DET501")
    assert found.message == "mamba_ssm.Mamba() has no deterministic backward on CUDA"
    assert findings(header.format(made.format("Mamba2")), "DET501") == []


def test_torchvision_itself_takes_another_roi_align_with_the_switch(
    findings: Callable[..., list[Finding]],
) -> None:
    (found,) = findings(HEADER.format("roi_align(x, index, 7)"), "DET502")
    assert found.message.startswith("roi_align()'s backward on CUDA by default adds up")


@pytest.mark.parametrize(
    ("call", "shown"),
    [
        ("scatter_add(x, index, dim=0)", "scatter_add()"),
        ("scatter_mean(x, index)", "scatter_mean()"),
        ("scatter(x, index)", "scatter()"),
        ('scatter(x, index, reduce="mean")', 'scatter(reduce="mean")'),
        ("torch_scatter.scatter(x, index)", "torch_scatter.scatter()"),
        ("gnn.global_mean_pool(x, batch)", "gnn.global_mean_pool(batch=…)"),
        ("spmm(index, x, 4, 4, x)", "spmm()"),
        ("torch_scatter.scatter_softmax(x, index)", "torch_scatter.scatter_softmax()"),
        ("torch_scatter.composite.scatter_std(x, index)", "torch_scatter.composite.scatter_std()"),
    ],
)
def test_what_torch_adds_up_is_found_without_the_switch(
    call: str, shown: str, findings: Callable[..., list[Finding]]
) -> None:
    (found,) = findings(HEADER.format(call), "DET502")
    assert found.message == f"{shown} {ATOMICS}"
    on = HEADER.format(call).replace(
        "import torch\n", "import torch\ntorch.use_deterministic_algorithms(True)\n", 1
    )
    assert findings(on, "DET501", "DET502") == []


def test_what_a_model_keeps_to_pool_with_is_found_where_it_pools(
    findings: Callable[..., list[Finding]],
) -> None:
    text = """
        import torch
        from torch_geometric.nn import GCNConv, global_max_pool, global_mean_pool

        class Classifier(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = GCNConv(8, 8)
                self.pool, self.best = global_mean_pool, global_max_pool

            def forward(self, x, edges, batch):
                x = self.conv(x, edges)
                return self.pool(x, batch) + self.best(x, batch)
    """
    (found,) = findings(text, "DET502")
    assert (found.row, str(found.confidence)) == (12, "likely")


@pytest.mark.parametrize(
    "call",
    [
        "segment_csr(x, ptr)",
        "nms(x, index, 0.5)",
        'segment_coo(x, index, reduce="max")',
        'scatter(x, index, reduce="max")',
        "torch_scatter.scatter_max(x, index)[0]",
        "torch_scatter.gather_csr(x, ptr)",
        "coalesce(index, x, 4, 4)",
        "torch_sparse.matmul(x, x)",
        "gnn.global_mean_pool(x, None)",
        "segment_coo(x.cpu(), index)",
        "segment_coo(x.new_ones(9), index)",
        "scatter(torch.ones_like(x), index)",
        "scatter(x.cpu(), index)",
        "torch.nn.parallel.scatter(x, index)",
        "plt.scatter(x, index)",
    ],
)
def test_what_keeps_an_order_or_runs_on_the_cpu_is_not(
    call: str, findings: Callable[..., list[Finding]]
) -> None:
    assert findings(HEADER.format(call), "DET501", "DET502") == []


def test_verify_knows_what_differs_on_mps_alone() -> None:
    torch = pytest.importorskip("torch")
    from guard.verification.operators import row_of

    backward = torch.ops.aten.embedding_dense_backward.default
    found = row_of(str(backward), "mps")
    assert found is not None
    assert found.name == "torch.nn.Embedding on MPS"
    assert row_of(str(backward), "cuda") is not found


def test_forms_on_other_devices_are_torch_s() -> None:
    pytest.importorskip("torch")
    for row in PLATFORMS:
        for form in row.api:
            module, _, name = form.rpartition(".")
            assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_mean"])
def test_sums_by_index_are_torch_s_scatter_add(name: str) -> None:
    torch = pytest.importorskip("torch")
    scatter = pytest.importorskip("torch_scatter")
    from torch.utils._python_dispatch import TorchDispatchMode

    names: set[str] = set()

    class Seen(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(
            self,
            function: object,
            types: object,
            args: tuple[object, ...] = (),
            kwargs: object = None,
        ) -> object:
            names.add(str(function))
            return function(*args, **(kwargs or {}))  # type: ignore[operator, dict-item]

    with Seen():
        getattr(scatter, name)(torch.ones(4), torch.tensor([0, 0, 1, 1]))
    assert "aten.scatter_add_.default" in names


@pytest.mark.parametrize("code", CODES)
def test_an_alternative_gives_what_the_operator_gives(code: str) -> None:
    torch = pytest.importorskip("torch")
    scatter = pytest.importorskip("torch_scatter")
    space: dict[str, object] = {}
    exec(code, space)  # noqa: S102 - the code of the table
    (name,) = (each for each in space if each.endswith("_coo"))
    index = torch.tensor([0, 0, 2, 2, 2, 3])
    rows = {"segment_coo": 6, "gather_coo": 4}[name]
    results = []
    for function in (space[name], getattr(scatter, name)):
        given = torch.arange(rows * 3.0).view(rows, 3).requires_grad_()
        result = function(given, index)  # type: ignore[operator]
        result.square().sum().backward()
        results.append((result, given.grad))
    torch.testing.assert_close(*results)


AUDIO = """
import torch
import torchaudio
from torch import nn

class Loss(nn.Module):
    def __init__(self):
        super().__init__()
        self.spectrogram = {}

    def forward(self, audio, wanted):
        return (self.spectrogram(audio) - wanted).abs().mean()
"""


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ("torchaudio.transforms.Spectrogram(1024, power=1)", True),
        ("torchaudio.transforms.MelSpectrogram(16000)", True),
        ('torchaudio.transforms.MelSpectrogram(16000, pad_mode="constant")', False),
        ("torchaudio.transforms.Spectrogram(1024, center=False)", False),
        ("torchaudio.transforms.AmplitudeToDB()", False),
    ],
)
def test_spectrograms_of_torchaudio_pad_by_reflection(
    call: str, *, found: bool, findings: Callable[..., list[Finding]]
) -> None:
    told = findings(AUDIO.format(call), "DET501")
    assert [each.message.partition("(")[0] for each in told] == [call.partition("(")[0]] * found


FRONT = """
import torchaudio
from torch import nn

class Base(nn.Module):
    def forward(self, wave):
        return self.made(wave).log()

class {}(Base):
    def __init__(self):
        super().__init__()
        self.made = torchaudio.transforms.MelSpectrogram(16000)
"""


@pytest.mark.parametrize(("name", "sure"), [("Mel", "possible"), ("MelLoss", "likely")])
def test_a_spectrogram_of_what_was_recorded_gets_no_gradient(
    name: str, sure: str, findings: Callable[..., list[Finding]]
) -> None:
    assert [str(each.confidence) for each in findings(FRONT.format(name), "DET501")] == [sure]
